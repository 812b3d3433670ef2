//! `scripts/libtorch`: finds libtorch where it may be, and says clearly when it cannot. Nothing is
//! downloaded here: networks are cut, and what is found is made of empty files.

use crate::support::{is_left_out, names, stderr, stdout};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// A machine with nothing of libtorch on it: an empty home, and programs but no Python.
struct Machine(TempDir);

impl Machine {
    fn new() -> Self {
        let machine = Machine(tempfile::tempdir().unwrap());
        let programs = machine.path("programs");
        fs::create_dir(&programs).unwrap();
        for name in ["sh", "awk", "cat", "dirname", "find", "head", "ls", "paste", "sed", "uname"] {
            symlink(program(name).unwrap(), programs.join(name)).unwrap();
        }
        // It is looked for, and not used.
        executable(&programs.join("c++"), "#!/bin/sh\nexit 1\n");
        machine
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Where the script keeps what it fetches.
    fn cache(&self) -> PathBuf {
        self.path("home/.cache/gruppetto/libtorch-2.13.0-cpu")
    }

    /// Gives it the Python of the real machine, which may have any torch: the one in `modules`,
    /// here of `version`, comes first.
    fn add_python(&self, version: &str) {
        let torch = self.path("modules/torch");
        libtorch(&torch, version);
        fs::write(torch.join("__init__.py"), "raise ImportError('slow')").unwrap();
        fs::write(torch.join("version.py"), format!("__version__ = '{version}+cu130'")).unwrap();
        // What is called python3 may be a script that chooses among several.
        let which = "import sys; print(sys.executable)";
        let python = Command::new("python3").args(["-c", which]).output();
        let python = python.expect("this test needs python3");
        let script = format!("#!/bin/sh\nexec '{}' \"$@\"\n", stdout(&python).trim_end());
        executable(&self.path("programs/python3"), &script);
    }

    /// `scripts/libtorch ARGUMENTS` with an environment of its own.
    fn script(&self, arguments: &[&str], environment: &[(&str, &str)]) -> Output {
        Command::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/libtorch"))
            .args(arguments)
            .current_dir(self.0.path())
            .env_clear()
            .env("PATH", self.path("programs"))
            .env("HOME", self.path("home"))
            .env("PYTHONPATH", self.path("modules"))
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .envs(environment.iter().copied())
            .output()
            .unwrap()
    }
}

/// Where the real machine has a program.
fn program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap();
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
}

fn executable(path: &Path, script: &str) {
    use std::os::unix::fs::PermissionsExt;
    fs::write(path, script).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// A folder that looks like a libtorch.
fn libtorch(folder: &Path, version: &str) {
    let numbers: Vec<&str> = version.split('.').collect();
    let header = format!(
        "#define TORCH_VERSION_MAJOR {}\n#define TORCH_VERSION_MINOR {}\n#define TORCH_VERSION_PATCH {}\n",
        numbers[0], numbers[1], numbers[2]
    );
    for (name, text) in [
        ("lib/libtorch_cpu.so", "four"),
        ("lib/libtorch.so", ""),
        ("lib/libc10.so", ""),
        ("include/torch/csrc/api/include/torch/torch.h", ""),
        ("include/torch/headeronly/version.h", &header),
    ] {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

/// What a failure must say: why, and all that can be done about it.
fn assert_explained(output: &Output, reason: &str) {
    let said = stderr(output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert_eq!(stdout(output), "");
    for part in [reason, "pip install torch==2.13.0", "export LIBTORCH=", "TORCH=0", "make demo"] {
        assert!(said.contains(part), "{part:?} is not in:\n{said}");
    }
    assert_eq!(said.matches("error:").count(), 1, "{said}");
}

fn assert_found(output: &Output, folder: &Path) {
    assert_eq!(output.status.code(), Some(0), "{}", stderr(output));
    let found = PathBuf::from(stdout(output).trim_end());
    assert_eq!(found.canonicalize().unwrap(), folder.canonicalize().unwrap());
    assert_eq!(stderr(output), "");
}

#[test]
fn a_wrong_folder_in_libtorch_is_named_with_what_is_wrong() {
    let machine = Machine::new();
    let said = |folder: &str, reason: &str| {
        let output = machine.script(&[], &[("LIBTORCH", folder)]);
        assert_explained(&output, reason);
        assert!(stderr(&output).contains(&format!("LIBTORCH is {folder}")));
    };
    said("nowhere", "there is no such folder");
    fs::create_dir(machine.path("empty")).unwrap();
    said("empty", "empty/lib has no library `torch_cpu`");
    libtorch(&machine.path("old"), "2.5.1");
    said("old", "it is version 2.5.1");
    libtorch(&machine.path("headless"), "2.13.0");
    fs::remove_dir_all(machine.path("headless/include")).unwrap();
    said("headless", "headless/include has no torch/csrc/api/include/torch/torch.h");
}

#[test]
fn libtorch_comes_before_python_and_python_before_the_cache() {
    let machine = Machine::new();
    machine.add_python("2.13.0");
    libtorch(&machine.path("mine"), "2.13.0");
    libtorch(&machine.cache(), "2.13.0");
    fs::write(machine.cache().join("contents"), "5 files, 95 bytes\n").unwrap();

    assert_found(&machine.script(&[], &[("LIBTORCH", "mine")]), &machine.path("mine"));
    assert_found(&machine.script(&[], &[]), &machine.path("modules/torch"));
    fs::remove_file(machine.path("programs/python3")).unwrap();
    assert_found(&machine.script(&[], &[]), &machine.cache());
}

#[test]
fn a_command_is_run_with_libtorch_set_and_its_exit_code_comes_back() {
    let machine = Machine::new();
    libtorch(&machine.path("my torch"), "2.13.0");
    let show = "echo \"$LIBTORCH ${LIBTORCH_USE_PYTORCH:-unset} $1\"; exit 7";
    let output = machine.script(
        &["sh", "-c", show, "sh", "two words"],
        &[("LIBTORCH", "my torch"), ("LIBTORCH_USE_PYTORCH", "1")],
    );
    assert_eq!(output.status.code(), Some(7));
    let folder = machine.path("my torch").canonicalize().unwrap();
    assert_eq!(stdout(&output), format!("{} unset two words\n", folder.display()));
    assert_eq!(stderr(&output), "");

    fs::remove_file(machine.path("programs/c++")).unwrap();
    let output = machine.script(&["sh", "-c", "echo built"], &[("LIBTORCH", "my torch")]);
    assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(1), ""));
    assert!(stderr(&output).contains("no C++ compiler"), "{}", stderr(&output));
}

#[test]
fn without_python_there_is_one_clear_message() {
    let machine = Machine::new();
    let output = machine.script(&["sh", "-c", "echo built"], &[]);
    assert_explained(&output, "without Python 3.7 or later it cannot be fetched");
    let output = machine.script(&[], &[("LIBTORCH_USE_PYTORCH", "1")]);
    assert_explained(&output, "LIBTORCH_USE_PYTORCH is set, but no python3 or python has torch");
    assert!(!machine.path("home").exists());
}

#[test]
fn on_other_systems_nothing_is_fetched() {
    let machine = Machine::new();
    let uname = machine.path("programs/uname");
    fs::remove_file(&uname).unwrap();
    executable(&uname, "#!/bin/sh\n[ \"$1\" = -s ] && echo Darwin || echo arm64\n");
    assert_explained(&machine.script(&[], &[]), "on Darwin arm64 it is not fetched");
}

#[test]
fn a_cache_with_something_missing_is_not_used() {
    let machine = Machine::new();
    libtorch(&machine.cache(), "2.13.0");
    for (name, reason) in [
        ("lib/libc10.so", "lib has no library `c10`"),
        ("include/torch/another.h", "files are missing or cut short"),
        ("contents", "files are missing or cut short"),
    ] {
        fs::write(machine.cache().join("lib/libc10.so"), "").unwrap();
        fs::write(machine.cache().join("include/torch/another.h"), "").unwrap();
        fs::write(machine.cache().join("contents"), "6 files, 95 bytes\n").unwrap();
        assert_found(&machine.script(&[], &[]), &machine.cache());
        fs::remove_file(machine.cache().join(name)).unwrap();
        let output = machine.script(&[], &[]);
        assert_explained(&output, reason);
        assert!(stderr(&output).contains("libtorch-2.13.0-cpu cannot be used"));
    }
    fs::write(machine.cache().join("lib/libtorch_cpu.so"), "one").unwrap();
    assert_explained(&machine.script(&[], &[]), "files are missing or cut short");
}

/// Elsewhere nothing is fetched.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[test]
fn a_network_that_fails_is_explained_and_leaves_no_half_of_a_cache() {
    if is_left_out("TORCH") {
        return;
    }
    let machine = Machine::new();
    machine.add_python("2.5.1");
    let pip = Command::new("python3").args(["-c", "import pip"]).output().unwrap();
    assert!(
        pip.status.success(),
        "this test needs pip: .ci/setup installs it, TORCH=0 leaves the test out"
    );
    let cut = [
        ("PIP_CONFIG_FILE", "/dev/null"),
        ("PIP_INDEX_URL", "http://127.0.0.1:9/simple"),
        ("PIP_RETRIES", "0"),
    ];
    let output = machine.script(&[], &cut);
    assert_explained(&output, "pip could not, and said why above");
    let said = stderr(&output);
    let sizes = "540 MB to download, 510 MB on disk afterwards";
    assert!(said.find(sizes).unwrap() < said.find("127.0.0.1").unwrap(), "{said}");
    assert!(said.contains("modules/torch is not used: it is version 2.5.1"), "{said}");
    assert_eq!(names(machine.cache().parent().unwrap()), ["lock"]);

    // A wheel of that name with something else in it.
    let wheel = "torch-2.13.0-cp312-cp312-manylinux_2_28_x86_64.whl";
    fs::create_dir(machine.path("wheels")).unwrap();
    fs::write(machine.path("wheels").join(wheel), "something else").unwrap();
    let wheels = machine.path("wheels");
    let swapped = [
        ("PIP_CONFIG_FILE", "/dev/null"),
        ("PIP_NO_INDEX", "1"),
        ("PIP_FIND_LINKS", wheels.to_str().unwrap()),
    ];
    let output = machine.script(&[], &swapped);
    assert_explained(&output, "pip could not, and said why above");
    assert!(stderr(&output).contains("DO NOT MATCH THE HASHES"), "{}", stderr(&output));
    assert_eq!(names(machine.cache().parent().unwrap()), ["lock"]);
}

/// The program that is running: it names a symbol of libtorch, so the linker keeps the library.
#[cfg(feature = "torch")]
#[test]
fn programs_find_their_libraries_by_themselves() {
    assert!(!gruppetto::torch::cuda_available() || program("nvidia-smi").is_some());
    for program in
        [std::env::current_exe().unwrap().as_path(), Path::new(env!("CARGO_BIN_EXE_gruppetto"))]
    {
        let output = Command::new(program).arg("--help").env_clear().output().unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
    }
}
