//! What is left of a run that was killed can be looked at: the cells that were over, and what there is of the next.

use crate::support::{Workshop, stderr, stdout, summary};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Stdio;

/// Two variants with two seeds, twenty rounds each: four cells.
const SCENARIO: &str = r#"
name = "cells"
description = "Told at the top."
repeats = 2
stop.rounds = 20
[task]
clients = 4
features = 3
classes = 2
size = 10
[client]
lr = 0.1
work = { steps = { uniform = [1, 9] } }
[server]
close = "all"
evaluate_every = 1
[[fleet.class]]
name = "fast"
share = 0.5
step_time = "10ms"
[[fleet.class]]
name = "slow"
share = 0.5
step_time = "90ms"
[[variant]]
name = "one"
[[variant]]
name = "two"
set = { server.weighting = "fedavg" }
"#;

/// Killed in the middle of the third cell, at about its tenth round of twenty.
fn killed() -> Workshop {
    killed_of(SCENARIO)
}

fn killed_of(scenario: &str) -> Workshop {
    let workshop = Workshop::new(scenario);
    let mut command = workshop.command(&["run", "s.toml", "--jobs=1", "-q", "--out", "out"]);
    command.env("GRUPPETTO_FAULT_AFTER", "205").env("GRUPPETTO_CHECKPOINT_EVENTS", "20");
    command.env("GRUPPETTO_FAULT_PAUSE_MS", "600");
    assert_eq!(command.output().unwrap().status.code(), None, "it ended by itself");
    workshop
}

/// The data of a page.
fn page(path: &Path) -> Value {
    let page = fs::read_to_string(path).unwrap();
    let begin = page.find("id=\"data\"").unwrap();
    let begin = begin + page[begin..].find('>').unwrap() + 1;
    let end = begin + page[begin..].find("</script>").unwrap();
    serde_json::from_str(&page[begin..end]).unwrap()
}

#[test]
fn a_report_shows_the_cells_that_are_over_and_what_there_is_of_the_next() {
    let workshop = killed();
    let output = workshop.call(&["report", "out"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let said = stderr(&output);
    assert!(said.contains("out was killed before its end"), "{said}");
    assert!(said.contains("two with seed 1 has") && said.contains("--resume"), "{said}");

    let whole = workshop.run("whole", &[]);
    workshop.call(&["report", "whole"]);
    let (cut, whole) = (page(&workshop.path("out/report.html")), page(&whole.join("report.html")));
    let (cut, whole) = (&cut["folders"][0], &whole["folders"][0]);
    assert_eq!(cut["description"], "Told at the top.");
    let [cut_runs, whole_runs] = [cut, whole].map(|page| page["runs"].as_array().unwrap());
    assert_eq!((cut_runs.len(), whole_runs.len()), (3, 4));
    assert_eq!(cut_runs[..2], whole_runs[..2], "cells that are over are drawn as ever");
    // Of the third there is the beginning.
    let [part, all] = [&cut_runs[2], &whole_runs[2]];
    for column in ["round", "time", "tau_mean", "chi2", "arrived"] {
        let [part, all] = [part, all].map(|run| run["rounds"][column].as_array().unwrap());
        assert!((3..20).contains(&part.len()), "{column}: {} rounds", part.len());
        assert_eq!(part[..], all[..part.len()], "{column}");
    }
    let losses = |run: &Value| run["curves"]["values"]["train_loss"].as_array().unwrap().clone();
    let (part_losses, all_losses) = (losses(part), losses(all));
    // The value before the first round is in no file.
    assert_eq!(part_losses[..], all_losses[1..=part_losses.len()]);
    assert_eq!(part["classes"], all["classes"]);
    let counts = |run: &Value| run["outcomes"][0]["used"].as_u64().unwrap();
    assert_eq!(counts(part), 2 * part_losses.len() as u64, "two fast clients in every round");
    let told = &cut["summary"]["variants"][2];
    assert_eq!(
        (&told["status"], &told["rounds"]),
        (&"incomplete".into(), &part_losses.len().into())
    );
    // The page is beside the run, which can still go on.
    let resumed = workshop.call(&["run", "s.toml", "-q", "--out", "out", "--resume"]);
    assert_eq!(resumed.status.code(), Some(0), "{}", stderr(&resumed));
    let same = |name: &str| {
        let [a, b] = ["out", "whole"].map(|run| fs::read(workshop.path(run).join(name)).unwrap());
        assert!(a == b, "{name} differs");
    };
    ["rounds.csv", "clients.csv", "findings.json", "latency.hlog"]
        .iter()
        .for_each(|name| same(name));
}

#[test]
fn compare_export_and_watch_mark_what_did_not_come_to_its_end() {
    let workshop = killed();
    let output = workshop.call(&["compare", "out"]);
    let (said, table) = (stderr(&output), stdout(&output));
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.contains("out was killed before its end"), "{said}");
    let lines: Vec<&str> = table.lines().collect();
    assert!(lines.iter().any(|line| line.starts_with("one  ")), "{table}");
    assert!(lines.iter().any(|line| line.starts_with("two * ")), "{table}");
    assert!(table.contains("* did not come to its end"), "{table}");
    let csv = stdout(&workshop.call(&["compare", "out", "--csv", "-"]));
    let last: Vec<&str> = csv.lines().map(|line| line.rsplit(',').next().unwrap()).collect();
    assert_eq!(last, ["status", "complete", "unfinished"]);
    // With three seeds the third cell is the last of the first variant.
    let workshop = killed_of(&SCENARIO.replace("repeats = 2", "repeats = 3"));
    let table = stdout(&workshop.call(&["compare", "out"]));
    assert!(table.lines().any(|line| line.starts_with("one (2 of 3 seeds) ")), "{table}");
    let csv = stdout(&workshop.call(&["compare", "out", "--csv", "-"]));
    assert!(csv.lines().nth(1).unwrap().ends_with(",partial"), "{csv}");
    let workshop = killed();

    let output = workshop.call(&["export", "out", "--tensorboard", "board", "--parquet"]);
    assert!(stderr(&output).contains("out is not complete"), "{}", stderr(&output));
    assert!(stdout(&output).starts_with("3 runs for TensorBoard"), "{}", stdout(&output));

    let text = stdout(&workshop.call(&["watch", "out"]));
    assert!(text.starts_with("cells · killed · round "), "{text}");
    assert!(text.contains("no process runs it any more"), "{text}");
}

/// A run that goes on is told from one that was killed by its lock.
#[test]
fn a_run_that_goes_on_is_told_from_one_that_was_killed() {
    let endless = SCENARIO.replace("stop.rounds = 20", "stop.rounds = 100000000");
    let workshop = Workshop::new(&endless);
    let mut command = workshop.command(&["run", "s.toml", "--jobs=1", "-q", "--out", "out"]);
    let mut child = command.stdout(Stdio::null()).spawn().unwrap();
    while !fs::read_to_string(workshop.path("out/rounds.csv")).is_ok_and(|rows| rows.len() > 5000) {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let watched = stdout(&workshop.call(&["watch", "out"]));
    let reported = stderr(&workshop.call(&["report", "out", "--out", "page.html"]));
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(watched.starts_with("cells · running · "), "{watched}");
    let process = format!("out goes on: process {} on ", child.id());
    assert!(reported.contains(&process), "{reported}");
    assert!(page(&workshop.path("page.html"))["folders"][0]["holder"].is_string());
    assert!(stdout(&workshop.call(&["watch", "out"])).starts_with("cells · killed · "));
    assert!(stderr(&workshop.call(&["report", "out"])).contains("was killed"));
}

/// The kernel may cut a write when the process dies: that line does not count.
#[test]
fn a_line_that_was_cut_off_does_not_count() {
    let workshop = killed();
    let path = workshop.path("out/rounds.csv");
    let text = fs::read_to_string(&path).unwrap();
    let rounds = |output: &str| -> u64 {
        let place = output.find("has ").unwrap() + 4;
        output[place..].split(' ').next().unwrap().parse().unwrap()
    };
    let before = rounds(&stderr(&workshop.call(&["report", "out"])));
    fs::write(&path, &text[..text.len() - 9]).unwrap();
    assert_eq!(rounds(&stderr(&workshop.call(&["report", "out"]))), before - 1);
    let output = workshop.call(&["export", "out", "--tensorboard", "board"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
}

/// Files of two runs in one folder are noticed by whatever reads them.
#[test]
fn files_of_another_run_are_refused() {
    let workshop = Workshop::new(SCENARIO);
    let one = workshop.run("one", &[]);
    let other = workshop.run("other", &["--set", "stop.rounds=12"]);
    let calls: [(&str, &[&[&str]]); 4] = [
        (
            "scenario.toml",
            &[
                &["report", "one"],
                &["compare", "one"],
                &["trace", "record", "one", "--variant", "one", "--seed", "1", "--out", "t.csv"],
            ],
        ),
        ("findings.json", &[&["report", "one"], &["compare", "one"]]),
        (
            "rounds.csv",
            &[&["export", "one", "--tensorboard", "board"], &["export", "one", "--parquet"]],
        ),
        ("clients.csv", &[&["export", "one", "--parquet"]]),
    ];
    for (file, calls) in calls {
        let own = fs::read(one.join(file)).unwrap();
        fs::copy(other.join(file), one.join(file)).unwrap();
        for call in calls {
            let output = workshop.call(call);
            let said = stderr(&output);
            assert_eq!(output.status.code(), Some(1), "{call:?} with another {file}: {said}");
            assert!(said.contains(file), "{call:?} with another {file}: {said}");
        }
        if file.ends_with(".csv") {
            let text = stdout(&workshop.call(&["watch", "one"]));
            assert!(text.contains(&format!("({file} has ")), "{text}");
        }
        fs::write(one.join(file), own).unwrap();
    }
    for (_, calls) in calls {
        for call in calls {
            let output = workshop.call(call);
            assert_eq!(output.status.code(), Some(0), "{call:?}: {}", stderr(&output));
        }
    }
    // A row that is missing, too.
    let text = fs::read_to_string(one.join("rounds.csv")).unwrap();
    let shorter: Vec<&str> = text.lines().filter(|line| !line.starts_with("two,2,7,")).collect();
    fs::write(one.join("rounds.csv"), shorter.join("\n") + "\n").unwrap();
    let said = stderr(&workshop.call(&["export", "one", "--tensorboard", "board"]));
    assert!(said.contains("it has 79 rows") && said.contains("wrote 80"), "{said}");
}

#[test]
fn means_leave_out_seeds_that_did_not_come_to_their_end() {
    let workshop = killed();
    let csv = stdout(&workshop.call(&["compare", "out", "--csv", "-"]));
    let seeds: Vec<&str> = csv.lines().map(|line| line.split(',').nth(2).unwrap()).collect();
    assert_eq!(seeds, ["seeds", "2", "1"]);
    assert_eq!(summary(&workshop.path("out"))["variants"].as_array().unwrap().len(), 2);
}

#[test]
fn folders_with_odd_names_are_only_names() {
    let workshop = Workshop::new(&SCENARIO.replace("\"two\"", "\"-two\""));
    for name in ["=cmd()", "+1", "@x", "-dash"] {
        let output =
            workshop.call(&["run", "s.toml", "-q", &format!("--out={name}"), "--timing-only"]);
        assert_eq!(output.status.code(), Some(0), "{name}: {}", stderr(&output));
    }
    let csv = workshop.call(&["compare", "--csv=-", "=cmd()", "+1", "@x", "--", "-dash"]);
    let csv = stdout(&csv);
    let names: Vec<&str> =
        csv.lines().skip(1).map(|line| line.split(',').next().unwrap()).collect();
    for name in ["'=cmd()", "'+1", "'@x", "'-dash"] {
        assert!(names.contains(&name), "{names:?}");
    }
    assert!(names.iter().all(|name| name.starts_with('\'')), "{names:?}");
    assert!(csv.contains(",'-two,"), "{csv}");
    let record = ["trace", "record", "+1", "--variant", "-two", "--seed", "1", "--out", "t.csv"];
    let output = workshop.call(&record);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
}

#[test]
fn what_a_run_recorded_is_not_written_over() {
    let workshop = Workshop::new(SCENARIO);
    workshop.run("out", &[]);
    for file in ["out/summary.json", "out/rounds.csv", "out/model-one-1.safetensors"] {
        let before = fs::read(workshop.path(file)).unwrap();
        for arguments in
            [["report", "out", "--out"], ["compare", "out", "--csv"], ["compare", "out", "--html"]]
        {
            let output = workshop.call(&[&arguments[..], &[file]].concat());
            assert_eq!(output.status.code(), Some(2), "{file}");
            assert!(stderr(&output).contains("is a file of a run"), "{}", stderr(&output));
        }
        assert!(fs::read(workshop.path(file)).unwrap() == before, "{file}");
    }
    assert_eq!(
        workshop.call(&["report", "out", "--out", "out/report.html"]).status.code(),
        Some(0)
    );
    assert_eq!(workshop.call(&["compare", "out", "--csv", "out/mine.csv"]).status.code(), Some(0));
}
