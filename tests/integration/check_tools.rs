//! `scripts/check-tools`: a missing tool is named with what needs it, where it comes from and the
//! variable that leaves it out. The machine here has no tools but those that a test gives it. On other
//! systems some are not needed.

use crate::support::{stderr, stdout};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// The tools that a variable leaves out, and those that nothing leaves out.
const TOOLS: [(&str, &[&str]); 10] = [
    ("", &["rustfmt", "clippy", "python3"]),
    ("TORCH", &["c++", "pip"]),
    ("PYTORCH", &["pytorch", "python-torch"]),
    ("TERMINAL", &["tmux"]),
    ("MOUNT", &["mount"]),
    ("STRACE", &["strace"]),
    ("PYTHON", &["python"]),
    ("BROWSER", &["chromium", "playwright"]),
    ("READERS", &["readers"]),
    ("MPI", &["mpicc", "mpirun", "libclang"]),
];

struct Machine(TempDir);

impl Machine {
    /// With what the script itself is made of, and nothing it looks for.
    fn new() -> Self {
        let machine = Machine(tempfile::tempdir().unwrap());
        fs::create_dir(machine.path("programs")).unwrap();
        for name in ["sh", "cat", "dirname", "grep", "paste", "sed", "uname", "uniq"] {
            machine.add(name, name);
        }
        machine
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn program(&self, name: &str) -> PathBuf {
        self.path("programs").join(name)
    }

    /// Adds a program, which is really `original` of the real machine.
    fn add(&self, name: &str, original: &str) {
        let path = std::env::var_os("PATH").unwrap();
        let mut places = std::env::split_paths(&path).map(|folder| folder.join(original));
        symlink(places.find(|file| file.is_file()).unwrap(), self.program(name)).unwrap();
    }

    /// Adds everything that `make test` needs, as programs that succeed at whatever they are asked.
    fn add_tools_of_tests(&self) {
        for name in ["cargo", "python3", "c++", "tmux", "unshare", "mpicc", "mpirun", "llvm-config"]
        {
            self.add(name, "true");
        }
    }

    fn script(&self, arguments: &[&str], left_out: &[&str]) -> Output {
        Command::new(repository().join("scripts/check-tools"))
            .args(arguments)
            .env_clear()
            .env("PATH", self.path("programs"))
            .env("HOME", self.path("home"))
            .env("GRUPPETTO_VENV", self.path("venv"))
            .env("GRUPPETTO_LIBRARIES", self.path("lib"))
            .envs(left_out.iter().map(|variable| (variable, "0")))
            .output()
            .unwrap()
    }
}

fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The tools that a list names.
fn listed(text: &str) -> Vec<&str> {
    let names = text.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    names.map(|line| line.split_whitespace().next().unwrap()).collect()
}

/// Variables without the empty one.
fn variables() -> Vec<&'static str> {
    TOOLS.iter().map(|(variable, _)| *variable).filter(|variable| !variable.is_empty()).collect()
}

#[test]
fn a_machine_without_tools_gets_one_list_and_an_error() {
    let everything: Vec<&str> = TOOLS.iter().flat_map(|(_, tools)| *tools).copied().collect();
    let output = Machine::new().script(&[], &[]);
    let said = stderr(&output);
    assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(1), ""), "{said}");
    assert_eq!(said.matches("error: ").count(), 1, "{said}");
    assert_eq!(listed(&said), everything, "{said}");
    assert!(said.contains(".ci/setup") && said.contains("make check TORCH=0"), "{said}");
}

#[test]
fn a_variable_leaves_out_its_tools_and_no_others() {
    let machine = Machine::new();
    for variable in variables() {
        let output = machine.script(&[], &[variable]);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(1));
        let asked = said.lines().next().unwrap();
        assert!(asked.starts_with("Left out, as asked: "), "{said}");
        assert!(asked.contains(&format!(" {variable}=0")), "{said}");
        // PyTorch is asked about deep models alone.
        let is_asked = |of: &str| of != variable && (of, variable) != ("PYTORCH", "TORCH");
        let others = TOOLS.iter().filter(|(of, _)| is_asked(of));
        // And the Python package trains its models.
        let is_asked = |tool: &&str| (*tool, variable) != ("python-torch", "PYTHON");
        let others = others.flat_map(|(_, tools)| *tools).copied();
        let others: Vec<&str> = others.filter(is_asked).collect();
        assert_eq!(listed(&said), others, "{said}");
    }
    // And all of them leave the tools that have none.
    let output = machine.script(&[], &variables());
    assert_eq!(listed(&stderr(&output)), TOOLS[0].1, "{}", stderr(&output));
    machine.add_tools_of_tests();
    let output = machine.script(&[], &variables());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
}

#[test]
fn each_tool_that_is_hidden_is_the_one_that_is_named() {
    let machine = Machine::new();
    machine.add_tools_of_tests();
    let checks = ["STRACE", "PYTHON", "BROWSER", "READERS"];
    let output = machine.script(&[], &checks);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    for (program, tool, opt_out) in [
        ("tmux", "tmux", "TERMINAL=0"),
        ("c++", "c++", "TORCH=0"),
        ("unshare", "mount", "MOUNT=0"),
        ("mpirun", "mpirun", "MPI=0"),
    ] {
        let hidden = machine.path("hidden");
        fs::rename(machine.program(program), &hidden).unwrap();
        let output = machine.script(&[], &checks);
        let said = stderr(&output);
        assert_eq!((output.status.code(), listed(&said)), (Some(1), vec![tool]), "{said}");
        // `make test` goes on without, and says so.
        let output = machine.script(&["test"], &[]);
        assert_eq!(output.status.code(), Some(0));
        assert_eq!(stdout(&output).trim_end(), opt_out);
        assert_eq!(listed(&stderr(&output)), [tool], "{}", stderr(&output));
        fs::rename(&hidden, machine.program(program)).unwrap();
    }
    let output = machine.script(&["test"], &[]);
    assert_eq!((stdout(&output), stderr(&output)), (String::new(), String::new()));
    // Browsers and readers are no part of it, Python is.
    fs::remove_file(machine.program("python3")).unwrap();
    let output = machine.script(&["test"], &[]);
    assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(1), ""));
    assert!(
        stderr(&output).contains("error: `make test` needs a tool that is missing:\n  python3")
    );
}

#[test]
fn checks_of_their_own_fail_without_their_tools() {
    let machine = Machine::new();
    for (script, variable, tool) in
        [("check-report", "BROWSER=0", "playwright"), ("check-readers", "READERS=0", "readers")]
    {
        let output = Command::new(repository().join("scripts").join(script))
            .arg("no-program")
            .env_clear()
            .env("PATH", machine.path("programs"))
            .env("HOME", machine.path("home"))
            .output()
            .unwrap();
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(listed(&said).contains(&tool) && said.contains(variable), "{said}");
    }
}

#[test]
fn variables_are_those_of_the_makefile_and_of_contributing() {
    for (file, begin) in [("Makefile", "#   "), ("CONTRIBUTING.md", "| `")] {
        let text = fs::read_to_string(repository().join(file)).unwrap();
        let found = text.lines().filter_map(|line| line.strip_prefix(begin)?.split_once("=0"));
        let found: Vec<&str> = found.map(|(variable, _)| variable).collect();
        assert_eq!(found, variables(), "{file}");
    }
}
