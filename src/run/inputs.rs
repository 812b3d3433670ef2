//! Which scenario it is: its text, and the contents of the files that it names.

use crate::scenario::Scenario;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

/// A digest as it is written.
pub(super) fn digest(bytes: &[u8]) -> String {
    format!("{:032x}", xxh3_128(bytes))
}

/// Digests of the files and folders that a scenario names, by path.
pub(super) fn input_digests(scenario: &Scenario) -> BTreeMap<String, String> {
    let digest = |path: &PathBuf| (path.to_string_lossy().into_owned(), digest_of(path));
    scenario.inputs.iter().map(digest).collect()
}

/// Digest of a scenario: the same wherever its files are, another one if what is in them changes.
pub(super) fn scenario_digest(scenario: &Scenario, inputs: &BTreeMap<String, String>) -> String {
    let mut text = scenario.portable.clone();
    for path in &scenario.inputs {
        text.push_str(inputs.get(&*path.to_string_lossy()).map_or("", String::as_str));
        text.push('\n');
    }
    digest(text.as_bytes())
}

/// A file that a run was made with, and that has changed since: its path.
pub(super) fn changed_input<'a>(
    then: &BTreeMap<String, String>,
    now: &'a BTreeMap<String, String>,
) -> Option<&'a str> {
    let mut changed =
        now.iter().filter(|(path, digest)| then.get(*path).is_some_and(|then| then != *digest));
    changed.next().map(|(path, _)| path.as_str())
}

/// Of what is in a file, or in the files of a folder. Others, such as pipes, can be read only once: they have none.
fn digest_of(path: &Path) -> String {
    let mut hash = Xxh3::new();
    match add(&mut hash, path) {
        Ok(()) => format!("{:032x}", hash.digest128()),
        Err(_) => String::new(),
    }
}

fn add(hash: &mut Xxh3, path: &Path) -> io::Result<()> {
    let kind = fs::metadata(path)?;
    if kind.is_file() {
        io::copy(&mut File::open(path)?, hash)?;
    } else if kind.is_dir() {
        let mut names: Vec<PathBuf> =
            fs::read_dir(path)?.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>()?;
        names.sort();
        for file in names.iter().filter(|file| file.is_file()) {
            hash.update(file.file_name().unwrap_or_default().as_encoded_bytes());
            hash.update(&[0]);
            add(hash, file)?;
        }
    } else {
        return Err(io::ErrorKind::Unsupported.into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plugins::Plugins;

    const SCENARIO: &str = r#"
name = "s"
stop.rounds = 1
task = { kind = "quadratic", clients = 2 }
client = { lr = 0.1, work = { steps = 1 } }
server.close = "all"
[[fleet.class]]
name = "a"
trace = "t.csv"
"#;

    #[test]
    fn a_scenario_is_its_text_and_the_contents_of_its_files_wherever_they_are() {
        let folders = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let of = |folder: &Path, trace: &str| {
            fs::write(folder.join("t.csv"), trace).unwrap();
            fs::write(folder.join("s.toml"), SCENARIO).unwrap();
            let scenario = Scenario::load(folder.join("s.toml"), &Plugins::new()).unwrap();
            let inputs = input_digests(&scenario);
            assert_eq!(inputs.len(), 1);
            scenario_digest(&scenario, &inputs)
        };
        let [one, other] =
            ["1", "2"].map(|step| format!("device,time[s],step_time[s]\na,0,{step}\nb,0,1\n"));
        let first = of(folders[0].path(), &one);
        assert_eq!(first, of(folders[1].path(), &one), "another folder is no other scenario");
        assert_ne!(first, of(folders[0].path(), &other), "another trace is");
    }

    #[test]
    fn folders_are_their_files_and_pipes_are_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let empty = digest_of(folder.path());
        fs::write(folder.path().join("a"), "x").unwrap();
        let one = digest_of(folder.path());
        assert!(empty != one && one.len() == 32);
        fs::rename(folder.path().join("a"), folder.path().join("b")).unwrap();
        assert_ne!(digest_of(folder.path()), one);
        assert_eq!(digest_of(Path::new("/dev/zero")), "");
        assert_eq!(digest_of(&folder.path().join("missing")), "");
    }
}
