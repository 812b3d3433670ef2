//! What several tests need: the built command in a folder of its own, CSV files as rows of named
//! cells, small disks, and what is left out on purpose.

use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// The built command. The caller's environment must not decide a test.
pub fn gruppetto() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gruppetto"));
    command.env_remove("RUST_LOG").env_remove("NO_COLOR");
    command
}

/// A small quadratic with `clients` clients that draws everything there is to draw, for as many
/// rounds as a test needs.
pub fn many_rows(clients: usize, rounds: u64) -> String {
    format!(
        r#"
name = "many-rows"
stop.rounds = {rounds}
task = {{ kind = "quadratic", clients = {clients}, dim = 3 }}
client.work.steps = {{ uniform = [1, 9] }}
server.close = "all"

[[fleet.class]]
name = "phone"
step_time = {{ lognormal = {{ median = "50ms", sigma = 0.5 }} }}
jitter = 0.3
"#
    )
}

/// A temporary folder with one scenario in it, `s.toml`, where commands are run.
pub struct Workshop(TempDir);

impl Workshop {
    pub fn new(scenario: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("s.toml"), scenario).unwrap();
        Workshop(folder)
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// `gruppetto ARGUMENTS`, not started yet.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = gruppetto();
        command.current_dir(self.0.path()).args(arguments);
        command
    }

    /// `gruppetto ARGUMENTS`, whatever comes of it.
    pub fn call(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// `gruppetto run s.toml --out OUT ARGUMENTS`, which must succeed; returns the run's folder.
    pub fn run(&self, out: &str, arguments: &[&str]) -> PathBuf {
        let output = self.call(&[&["run", "s.toml", "--out", out], arguments].concat());
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        self.path(out)
    }
}

pub fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

pub fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// A run folder's `summary.json`.
pub fn summary(folder: &Path) -> Value {
    let text = fs::read(folder.join("summary.json")).unwrap();
    serde_json::from_slice(&text).unwrap()
}

/// Names of everything in a folder, sorted.
pub fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// A row of a CSV file, by column.
pub struct Row(BTreeMap<String, String>);

impl Row {
    pub fn text(&self, column: &str) -> &str {
        let cell = self.0.get(column);
        cell.unwrap_or_else(|| panic!("no column {column}"))
    }

    pub fn int(&self, column: &str) -> u64 {
        let cell = self.text(column);
        cell.parse().unwrap_or_else(|_| panic!("{column} = {cell:?}"))
    }

    pub fn float(&self, column: &str) -> f64 {
        let cell = self.text(column);
        cell.parse().unwrap_or_else(|_| panic!("{column} = {cell:?}"))
    }

    /// Seconds with nine decimals, as nanoseconds: a double would not do.
    pub fn nanos(&self, column: &str) -> u64 {
        let (seconds, decimals) = self.text(column).split_once('.').unwrap();
        assert_eq!(decimals.len(), 9);
        seconds.parse::<u64>().unwrap() * 1_000_000_000 + decimals.parse::<u64>().unwrap()
    }
}

/// The first line of a CSV file.
pub fn header(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    text.lines().next().unwrap().to_string()
}

/// All rows of a CSV file; every one must have as many cells as the header.
pub fn rows(path: &Path) -> Vec<Row> {
    let mut reader = csv::Reader::from_path(path).unwrap();
    let header = reader.headers().unwrap().clone();
    let row = |record: csv::StringRecord| {
        let cells = header.iter().zip(&record);
        Row(cells.map(|(k, v)| (k.into(), v.into())).collect())
    };
    reader.into_records().map(|record| row(record.unwrap())).collect()
}

/// Asserts that what a run left before it was stopped is the beginning of what it would have
/// written, and says how many whole lines that is.
pub fn assert_beginning_of(part: &[u8], whole: &[u8]) -> usize {
    let same = part.iter().zip(whole).take_while(|(a, b)| a == b).count();
    assert_eq!(same, part.len(), "differs from byte {same} on");
    part.iter().filter(|byte| **byte == b'\n').count()
}

/// Whether the tests that need a tool are left out, with `TERMINAL=0` and the like: the Makefile lists
/// these variables. Without one a missing tool is a failure.
pub fn is_left_out(variable: &str) -> bool {
    std::env::var(variable).is_ok_and(|value| value == "0")
}

/// A folder that is a small file system of its own, in memory. Only the command that is run on it sees
/// it mounted, in a namespace of its own, so this needs no root and leaves no mount behind.
#[cfg(target_os = "linux")]
pub struct Tmpfs {
    folder: TempDir,
    options: &'static str,
}

#[cfg(target_os = "linux")]
impl Tmpfs {
    /// One with these options of `mount`; `None` with `MOUNT=0`.
    pub fn new(options: &'static str) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        (!is_left_out("MOUNT")).then_some(Tmpfs { folder, options })
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Mounts it, runs `command` and leaves in the folder what the file system held at the end.
    /// `prepare` is a shell script that is run before, in the folder.
    pub fn call(&self, prepare: &str, command: &Command) -> Output {
        let script = format!(
            "mount -t tmpfs -o {} tmpfs \"$DISK\" || exit 99\n\
             (cd \"$DISK\" && {prepare})\n\"$@\"\ncode=$?\n\
             cp -R \"$DISK/.\" \"$KEPT\" || exit 99\nexit $code",
            self.options
        );
        let kept = tempfile::tempdir().unwrap();
        let root = Command::new("id").arg("-u").output().unwrap().stdout == b"0\n";
        let user: &[&str] = if root { &[] } else { &["--user", "--map-root-user"] };
        let mut unshare = Command::new("unshare");
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => unshare.env(name, value),
                None => unshare.env_remove(name),
            };
        }
        let output = unshare
            .args(user)
            .args(["--mount", "sh", "-c", &script, "sh"])
            .arg(command.get_program())
            .args(command.get_args())
            .current_dir(command.get_current_dir().unwrap())
            .env("DISK", self.path())
            .env("KEPT", kept.path())
            .output()
            .expect("this test needs `unshare`, of util-linux; MOUNT=0 leaves it out");
        assert!(
            output.status.code() != Some(99),
            "a file system in memory cannot be mounted here; MOUNT=0 leaves this test out: {}",
            stderr(&output)
        );
        fs::remove_dir(self.path()).unwrap();
        fs::rename(kept.path(), self.path()).unwrap();
        output
    }
}

/// `runs.csv` without the columns that tell how fast the machine was.
pub fn without_seconds(runs: &[u8]) -> Vec<u8> {
    let text = str::from_utf8(runs).unwrap();
    let names: Vec<&str> = text.lines().next().unwrap().split(',').collect();
    let machine = ["wall_seconds", "train_seconds", "evaluate_seconds"];
    let mut kept = String::new();
    for line in text.lines() {
        let cells = names.iter().zip(line.split(','));
        let cells = cells.filter(|(name, _)| !machine.contains(name)).map(|(_, cell)| cell);
        kept += &(cells.collect::<Vec<_>>().join(",") + "\n");
    }
    kept.into_bytes()
}
