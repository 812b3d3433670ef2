//! Disks and files that run full: a clear error, and what was written is intact.

#[cfg(target_os = "linux")]
use crate::support::{Tmpfs, assert_beginning_of};
use crate::support::{Workshop, many_rows, names, rows, stderr, summary};
use std::path::Path;
use std::process::{Command, Output};

/// Writes about 3 MB: 5,000 rounds of five clients.
fn three_megabytes() -> String {
    many_rows(5, 5000)
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_leaves_whole_lines_and_says_so() {
    let Some(disk) = Tmpfs::new("size=200k") else {
        return;
    };
    let workshop = Workshop::new(&three_megabytes());
    let whole = workshop.run("whole", &[]);
    let out = disk.path().join("run");
    // The rows alone: a timeline would share the disk with them.
    let alone = ["run", "s.toml", "--set=record.timeline=off", "--out", out.to_str().unwrap()];
    let output = disk.call(":", &workshop.command(&alone));

    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(output.stdout.is_empty(), "there is no result");
    assert!(said.contains("No space left on device"), "{said}");
    let named = ["clients.csv", "rounds.csv"]
        .iter()
        .any(|name| said.contains(&format!("cannot write {}", out.join(name).display())));
    assert!(named, "which file: {said}");

    for (name, at_least) in [("clients.csv", 100_000), ("rounds.csv", 10_000)] {
        let part = std::fs::read(out.join(name)).unwrap();
        assert!(part.ends_with(b"\n"), "{name} ends with a whole line");
        assert!(part.len() >= at_least, "{name}: {} bytes", part.len());
        assert_beginning_of(&part, &std::fs::read(whole.join(name)).unwrap());
    }
    assert_eq!(summary(&out)["status"], "incomplete");
    let left = names(&out);
    assert!(left.iter().all(|name| !name.starts_with('.')), "{left:?}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_disk_without_any_room_is_an_error_too() {
    let Some(disk) = Tmpfs::new("size=16k") else {
        return;
    };
    let workshop = Workshop::new(&three_megabytes());
    let out = disk.path().join("run");
    let run = workshop.command(&["run", "s.toml", "--out", out.to_str().unwrap()]);
    // Filled to the last page.
    let output = disk.call("cat /dev/zero > filler", &run);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("No space left on device"));
}

/// Runs `s.toml` into `out`, where no file may be longer than `limit` bytes.
fn run_limited(workshop: &Workshop, limit: usize, out: &str, arguments: &[&str]) -> Output {
    let run = workshop.command(&[&["run", "s.toml", "--out", out], arguments].concat());
    // With the signal ignored, a write beyond the limit is an error like that of a full disk.
    // The shell counts in blocks of 512 bytes.
    let script = format!("trap '' XFSZ; ulimit -f {}; exec \"$@\"", limit / 512);
    Command::new("sh")
        .args(["-c", &script, "sh"])
        .arg(run.get_program())
        .args(run.get_args())
        .current_dir(run.get_current_dir().unwrap())
        .output()
        .unwrap()
}

fn assert_incomplete_without(output: &Output, out: &Path, missing: &str) {
    assert_incomplete(output, out, missing);
    let left = names(out);
    let of_it = left.iter().find(|name| name.contains(missing));
    assert_eq!(of_it, None, "half a file is worse than none");
}

fn assert_incomplete(output: &Output, out: &Path, missing: &str) {
    let said = stderr(output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    let file = Path::new("out").join(missing);
    let told = format!("cannot write {}: File too large", file.display());
    assert!(said.contains(&told), "{said}");
    let summary = summary(out);
    assert_eq!(summary["status"], "incomplete");
    assert!(summary["error"].as_str().unwrap().contains(&told));
}

#[test]
fn a_model_that_cannot_be_written_is_not_left_in_halves() {
    let workshop = Workshop::new(&three_megabytes());
    let arguments = ["--set", "stop.rounds=3", "--set", "task.dim=4000"];
    let output = run_limited(&workshop, 8192, "out", &arguments);
    let out = workshop.path("out");
    assert_incomplete_without(&output, &out, "model-fednova.safetensors");
    assert_eq!(rows(&out.join("rounds.csv")).len(), 3, "the rest is all there");
    assert!(out.join("latency.hlog").exists());
}

#[test]
fn latencies_that_cannot_be_written_make_a_run_incomplete() {
    // Many different durations make a long histogram; everything else stays short.
    let workshop = Workshop::new(&three_megabytes());
    let arguments = [
        "--timing-only",
        "--set=stop.rounds=3",
        "--set=task.clients=5000",
        "--set=record.clients=off",
        "--set=record.timeline=off",
        "--set=fleet.class.phone.step_time={ lognormal = { median = \"1s\", sigma = 3.0 } }",
    ];
    let output = run_limited(&workshop, 8192, "out", &arguments);
    assert_incomplete(&output, &workshop.path("out"), "latency.hlog");
    let left = std::fs::read_to_string(workshop.path("out/latency.hlog")).unwrap();
    assert!(left.starts_with('#') && left.ends_with('\n'), "whole lines are left");
}
