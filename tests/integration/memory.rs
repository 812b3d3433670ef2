//! Memory does not grow with rounds. Linux tells how much a process has.

use std::process::{Command, Stdio};
use std::time::Duration;

/// The most memory a run had had, in kB, each time it was looked up.
fn peaks(rounds: u64) -> Vec<u64> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("long.toml");
    // The deadline is far beyond the end of every round, so a timer is left behind by each.
    let text = format!(
        "name = \"long\"\nstop.rounds = {rounds}\n[task]\nkind = \"quadratic\"\nclients = 100\n\
         [client]\nwork = {{ steps = 3 }}\n[server]\nclose = {{ deadline = \"30d\" }}\n\
         evaluate_every = 100\n[[fleet.class]]\nname = \"a\"\njitter = 0.1\nstep_time = \"1ms\"\n"
    );
    std::fs::write(&file, text).unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_gruppetto"))
        .args(["run", file.to_str().unwrap(), "-q", "--threads", "1", "--out"])
        .arg(folder.path().join("run"))
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let status = format!("/proc/{}/status", child.id());
    let mut seen = Vec::new();
    while child.try_wait().unwrap().is_none() {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        seen.extend(line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok()));
        std::thread::sleep(Duration::from_millis(2));
    }
    assert!(child.wait().unwrap().success());
    seen
}

/// A quarter of the way a run has all the memory it will ever have. One leaked row or timer per
/// client-round would be 30 MB and more by the end; what is written then takes two.
#[test]
fn the_last_rounds_take_no_more_memory_than_the_first() {
    let seen = peaks(6000);
    let (early, last) = (seen[seen.len() / 4], seen[seen.len() - 1]);
    assert!(last < early + 6000, "{early} kB early on, {last} kB at the end");
}
