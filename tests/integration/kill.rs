//! A run that is killed leaves what it had.

use crate::support::{Workshop, assert_beginning_of, header, many_rows, rows, stderr, summary};
use std::fs;
use std::process::Stdio;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Would take hours.
fn endless() -> String {
    many_rows(4, 1_000_000_000)
}

#[test]
fn a_killed_run_keeps_its_rows_and_is_marked_incomplete() {
    let workshop = Workshop::new(&endless());
    let mut child = workshop
        .command(&["run", "s.toml", "--out", "killed"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let killed = workshop.path("killed");
    let lines = |name: &str| {
        let bytes = fs::read(killed.join(name)).unwrap_or_default();
        bytes.iter().filter(|byte| **byte == b'\n').count()
    };
    let began = Instant::now();
    while lines("rounds.csv") < 100 || lines("clients.csv") < 100 {
        assert_eq!(child.try_wait().unwrap(), None, "it cannot be over already");
        assert!(began.elapsed() < Duration::from_secs(20), "no rows appear");
        sleep(Duration::from_millis(2));
    }
    child.kill().unwrap();
    assert_eq!(child.wait().unwrap().code(), None, "ended by the signal");

    let told = summary(&killed);
    assert_eq!(told["status"], "incomplete");
    assert_eq!(told["variants"].as_array().unwrap().len(), 0);

    // The rows are those of a run that was left alone. Lines are handed over many at a time and
    // both files on their own, so one may be ahead by as many rounds as fit into a buffer. Only
    // the last line of each may be cut: by the kernel, in the middle of a write.
    let rounds = lines("rounds.csv").max(lines("clients.csv") / 4) + 10;
    let stop = format!("stop.rounds={rounds}");
    let whole = workshop.run("whole", &["--set", &stop]);
    for (name, at_least) in [("rounds.csv", 100), ("clients.csv", 100)] {
        let part = fs::read(killed.join(name)).unwrap();
        let kept = assert_beginning_of(&part, &fs::read(whole.join(name)).unwrap());
        assert!(kept >= at_least, "{name}: {kept} lines");
    }
    assert_eq!(header(&killed.join("rounds.csv")), header(&whole.join("rounds.csv")));
}

#[test]
fn a_killed_run_is_replaced_only_by_force() {
    let workshop = Workshop::new(&endless());
    let mut child = workshop.command(&["run", "s.toml", "--out", "out", "-q"]).spawn().unwrap();
    let out = workshop.path("out");
    let began = Instant::now();
    while !out.join("clients.csv").exists() {
        assert!(began.elapsed() < Duration::from_secs(20), "nothing appears");
        sleep(Duration::from_millis(2));
    }
    child.kill().unwrap();
    child.wait().unwrap();

    let short = ["run", "s.toml", "--out", "out", "--set", "stop.rounds=2", "--json"];
    let refused = workshop.call(&short);
    assert_eq!(refused.status.code(), Some(1));
    assert!(stderr(&refused).contains("--force"), "{}", stderr(&refused));
    let forced = workshop.call(&[&short[..], &["--force"]].concat());
    assert_eq!(forced.status.code(), Some(0), "{}", stderr(&forced));
    assert_eq!(summary(&out)["status"], "complete");
    assert_eq!(rows(&out.join("rounds.csv")).len(), 2);
}

#[test]
fn runs_that_were_over_are_told_of_though_a_later_one_is_killed() {
    let variants =
        "[[variant]]\nname = \"short\"\nset = { stop.rounds = 5 }\n[[variant]]\nname = \"long\"\n";
    let workshop = Workshop::new(&format!("{}{variants}", endless()));
    let mut child =
        workshop.command(&["run", "s.toml", "--jobs=1", "--out", "out", "-q"]).spawn().unwrap();
    let out = workshop.path("out");
    let began = Instant::now();
    let second =
        || fs::read_to_string(out.join("rounds.csv")).is_ok_and(|text| text.contains("\nlong,"));
    while !second() {
        assert!(began.elapsed() < Duration::from_secs(20), "the second run does not begin");
        sleep(Duration::from_millis(2));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let told = summary(&out);
    assert_eq!(told["status"], "incomplete");
    let variants = told["variants"].as_array().unwrap();
    assert_eq!(variants.len(), 1);
    assert_eq!((&variants[0]["name"], &variants[0]["rounds"]), (&"short".into(), &5.into()));
    assert_eq!(variants[0]["status"], "complete");
}
