//! Memory does not grow with rounds.

use std::process::{Command, Stdio};
use std::time::Duration;

/// The most memory a run of this many rounds ever had, in kB; `None` where that cannot be read.
fn peak(rounds: u64) -> Option<u64> {
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
    let mut most = None;
    while child.try_wait().unwrap().is_none() {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
        most = most.max(kilobytes);
        std::thread::sleep(Duration::from_millis(2));
    }
    assert!(child.wait().unwrap().success());
    most
}

#[test]
fn ten_times_the_rounds_take_no_more_memory() {
    // Looking in now and then can miss the end of a short run, so the most of several counts.
    let short = (0..4).map(|_| peak(400)).max().flatten();
    let (Some(short), Some(long)) = (short, peak(4000)) else {
        println!("skipped: this system does not tell how much memory a process has");
        return;
    };
    assert!(long < short + 4000, "{short} kB for 400 rounds, {long} kB for 4000");
}
