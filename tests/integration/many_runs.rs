//! Cells side by side, parts and merged runs: the same files, whichever process made a cell.

use crate::support::{Workshop, stderr, summary, without_seconds};
use crate::sweeps::SWEPT;
use gruppetto::run::{self, BuildError, RunPart};
use gruppetto::scenario::Plan;
use gruppetto::{Options, Plugins, Scenario};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Everything that a run leaves, without how fast it was.
fn left(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<(String, Vec<u8>)> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| {
            let name = entry.unwrap().file_name().into_string().unwrap();
            let path = folder.join(&name);
            assert!(path.is_file(), "{name} is left over");
            let content = fs::read(&path).unwrap();
            let content = match name.as_str() {
                "summary.json" => {
                    let mut summary: Value = serde_json::from_slice(&content).unwrap();
                    for run in summary["variants"].as_array_mut().unwrap() {
                        run.as_object_mut().unwrap().remove("throughput");
                    }
                    serde_json::to_vec(&summary).unwrap()
                }
                "runs.csv" => without_seconds(&content),
                // It has the summary in it; the findings are compared by themselves.
                "report.html" => Vec::new(),
                _ => content,
            };
            (name, content)
        })
        .collect();
    files.sort();
    files
}

fn assert_same(one: &Path, other: &Path, what: &str) {
    let (one, other) = (left(one), left(other));
    let names = |files: &[(String, Vec<u8>)]| files.iter().map(|f| f.0.clone()).collect::<Vec<_>>();
    assert_eq!(names(&one), names(&other), "{what}");
    for ((name, a), (_, b)) in one.iter().zip(&other) {
        assert!(a == b, "{name} differs: {what}");
    }
}

/// Every way to close a round, with what has a state.
const POLICIES: [&str; 7] = [
    "server.close.deadline = [\"1s\", \"2s\"]\n",
    "server.close = [\"all\", { first = 3, of = 5 }]\nclient.work = [{ steps = 4 }]\n",
    "server.close = [{ buffer = 2 }, \"each\"]\nclient.work = [{ steps = 4 }]\nserver.concurrency = [3]\n",
    "server.close = [{ window = \"1s\" }]\nclient.work = [{ steps = 4 }]\nserver.concurrency = [3, 4]\n",
    "server.scheme = [\"oort\", \"round-robin\"]\nserver.sample = [{ clients = 3 }]\n",
    "client.variance_reduction = [\"scaffold\", \"fednova\"]\n",
    "client.compression = [\"fp16\", { top_k = 0.3 }]\nserver.optimizer = [{ kind = \"adam\", lr = 0.05 }, { kind = \"momentum\", momentum = 0.5 }]\n",
];

fn with(sweep: &str) -> String {
    let lists = "server.close.deadline = [\"1s\", \"2s\", \"3s\"]\nclient.lr = [0.01, 0.1]\n";
    SWEPT.replace(lists, sweep)
}

/// In this process: many more would spend their time on starting.
#[test]
fn threads_jobs_and_parts_do_not_matter_for_any_policy() {
    for sweep in POLICIES {
        let workshop = Workshop::new(&with(sweep));
        let scenario = Scenario::load(workshop.path("s.toml"), &Plugins::new()).unwrap();
        let made = |name: &str, jobs: usize, threads: usize, part: Option<RunPart>| {
            let out = workshop.path(name);
            let (jobs, out_too) = (Some(jobs), Some(out.clone()));
            let options = Options { out: out_too, jobs, threads, part, ..Options::default() };
            run::run(&scenario, &options, &Plugins::new()).unwrap_or_else(|e| panic!("{e}"));
            out
        };
        let whole = made("whole", 1, 1, None);
        for (jobs, threads) in [(1, 7), (2, 2), (5, 7), (5, 1)] {
            let name = format!("jobs-{jobs}-{threads}");
            let other = made(&name, jobs, threads, None);
            assert_same(&whole, &other, &format!("{sweep}, {name}"));
        }
        let before = fs::read(whole.join("report.html")).unwrap();
        assert!(before.len() > 10_000);
        for of in [1, 3, 7] {
            let parts = workshop.path(&format!("parts-{of}"));
            for number in 1..=of {
                made(&format!("parts-{of}/{number}"), 2, 2, Some(RunPart { number, of }));
            }
            let merged = workshop.path(&format!("merged-{of}"));
            run::merge(&[parts], &merged, false, &Plugins::new()).unwrap_or_else(|e| panic!("{e}"));
            assert_same(&whole, &merged, &format!("{sweep}, {of} parts"));
        }
    }
}

/// The default folder of a part is known to merge.
#[test]
fn parts_are_found_in_their_folder() {
    let workshop = Workshop::new(SWEPT);
    for part in ["1/2", "2/2"] {
        let output = workshop.call(&["run", "s.toml", "-q", "--part", part]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    }
    assert!(workshop.path("runs/swept.parts/2-of-2/summary.json").exists());
    let told = summary(&workshop.path("runs/swept.parts/2-of-2"));
    assert_eq!((&told["part"]["number"], &told["part"]["of"]), (&2.into(), &2.into()));
    let output = workshop.call(&["merge", "runs/swept.parts", "--out", "out"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(summary(&workshop.path("out")).get("part").is_none());
}

/// Seeds and values that were run in folders of their own become one run; if a scenario can say all of them, the run of
/// that scenario.
#[test]
fn separate_runs_are_merged() {
    let workshop = Workshop::new(SWEPT);
    let whole = workshop.run("whole", &[]);
    for seed in ["1", "2"] {
        let arguments = ["--repeats=1", "--seed", seed, "--sweep=client.lr=0.01,0.1"];
        let deadlines = "--sweep=server.close.deadline=1s,2s";
        workshop.run(&format!("runs/{seed}"), &[&arguments[..], &[deadlines]].concat());
    }
    workshop.run("runs/3", &["--sweep=server.close.deadline=3s"]);
    let output = workshop.call(&["merge", "runs/1", "runs/2", "runs/3", "--out", "merged"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let (mut one, mut other) = (left(&whole), left(&workshop.path("merged")));
    // More is drawn of a run of fewer cells.
    one.retain(|(name, _)| name != "findings.json");
    other.retain(|(name, _)| name != "findings.json");
    for ((name, a), (_, b)) in one.iter().zip(&other) {
        assert!(a == b, "{name} differs");
    }
    assert_eq!(one.len(), other.len());

    // Seeds with gaps between them.
    workshop.run("runs/9", &["--repeats=1", "--seed=9"]);
    let output = workshop.call(&["merge", "whole", "runs/9", "--out", "gaps"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let told = summary(&workshop.path("gaps"));
    let seeds: Vec<u64> =
        told["variants"].as_array().unwrap().iter().map(|v| v["seed"].as_u64().unwrap()).collect();
    assert_eq!(seeds[..6], [1, 2, 9, 1, 2, 9]);
    assert_eq!(told["over_seeds"][0]["seeds"], 3);
}

/// Without a sweep, too, and without rows of clients.
#[test]
fn seeds_of_a_plain_scenario_are_merged() {
    let plain = SWEPT.replace(
        "[sweep]\nserver.close.deadline = [\"1s\", \"2s\", \"3s\"]\nclient.lr = [0.01, 0.1]\n",
        "[record]\nclients = \"off\"\n",
    );
    let workshop = Workshop::new(&plain);
    let whole = workshop.run("whole", &["--repeats=3"]);
    for seed in ["1", "2", "3"] {
        workshop.run(&format!("runs/{seed}"), &["--repeats=1", "--seed", seed]);
    }
    let output = workshop.call(&["merge", "runs", "--out", "merged"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let (one, other) = (left(&whole), left(&workshop.path("merged")));
    let kept = |files: Vec<(String, Vec<u8>)>| {
        let kept = files.into_iter().filter(|(name, _)| name != "findings.json");
        kept.collect::<Vec<_>>()
    };
    for ((name, a), (_, b)) in kept(one).iter().zip(&kept(other)) {
        // Which key of the scenario was written first may differ.
        let may_differ = ["scenario.toml", "summary.json"].contains(&name.as_str());
        assert!(a == b || may_differ, "{name} differs");
    }
}

#[test]
fn what_does_not_belong_together_is_named() {
    let workshop = Workshop::new(SWEPT);
    for part in ["1/3", "2/3", "3/3"] {
        workshop.run(&format!("p/{}", &part[..1]), &["--part", part]);
    }
    workshop.run("other/1", &["--part=1/3", "--set=stop.rounds=5"]);
    workshop.run("halves/1", &["--part=1/2"]);
    workshop.run("whole", &[]);
    workshop.run("timing", &["--timing-only"]);
    workshop.run("longer", &["--set=stop.rounds=5"]);
    workshop.run("sweeps-more", &["--sweep=client.momentum=0.5"]);
    let refused = |folders: &[&str], said: &[&str]| {
        let arguments = [&["merge", "--out", "m"], folders].concat();
        let output = workshop.call(&arguments);
        let error = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{folders:?}: {error}");
        for text in said {
            assert!(error.contains(text), "{folders:?}: {error}");
        }
        assert!(!workshop.path("m").exists(), "{folders:?}");
    };
    refused(&["p/1", "p/3"], &["part 2 of 3 is missing", "--part 2/3"]);
    refused(&["p/1"], &["parts 2, 3 of 3 are missing"]);
    refused(&["p/1", "p/2", "p/1", "p/3"], &["p/1 and p/1 both have part 1 of 3"]);
    refused(&["p", "other/1"], &["p/1 and other/1 are not of one run", "rounds = 4", "rounds = 5"]);
    refused(&["p/1", "halves/1"], &["one is of 3 parts, the other of 2"]);
    refused(&["p", "whole"], &["they are a part and a whole run"]);
    refused(&["whole", "timing"], &["with training and with --timing-only"]);
    refused(&["whole", "whole"], &["both have nova deadline=1s lr=0.01 with seed 1"]);
    refused(&["whole", "longer"], &["not of one run", "rounds"]);
    refused(&["whole", "sweeps-more"], &["the one sweeps", "client.momentum"]);
    refused(&["missing"], &["missing"]);
    fs::create_dir(workshop.path("empty")).unwrap();
    refused(&["empty"], &["empty has no runs in it"]);

    // Not finished.
    let mut command =
        workshop.command(&["run", "s.toml", "-q", "--part=2/3", "--jobs=1", "--out", "q/2"]);
    command.env("GRUPPETTO_FAULT_AFTER", "60").env("GRUPPETTO_CHECKPOINT_EVENTS", "20");
    assert!(!command.output().unwrap().status.success());
    refused(&["p/1", "q/2", "p/3"], &["q/2 is not finished", "--part 2/3 --resume"]);
    // What it says goes on.
    let resume = ["run", "q/2/scenario.toml", "-q", "--out", "q/2", "--part=2/3", "--resume"];
    let output = workshop.call(&resume);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let output = workshop.call(&["merge", "p/1", "q/2", "p/3", "--out", "m"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_same(&workshop.path("whole"), &workshop.path("m"), "a part that went on");
    // Nothing is replaced without a word, least of all a source.
    let output = workshop.call(&["merge", "p/1", "p/2", "p/3", "--out", "m"]);
    assert_eq!(output.status.code(), Some(1));
    let output = workshop.call(&["merge", "p/1", "p/2", "p/3", "--out", "p/1", "--force"]);
    assert!(stderr(&output).contains("p/1 is one of the runs"), "{}", stderr(&output));
}

/// Files that were changed since, cut off, or are no files of a run.
#[test]
fn broken_files_are_named() {
    let workshop = Workshop::new(SWEPT);
    for part in ["1/2", "2/2"] {
        workshop.run(&format!("p/{}", &part[..1]), &["--part", part]);
    }
    let path = |name: &str| workshop.path("p/2").join(name);
    for name in [
        "summary.json",
        "rounds.csv",
        "clients.csv",
        "latency.hlog",
        "findings.json",
        "timeline.json.gz",
        "scenario.toml",
    ] {
        let good = fs::read(path(name)).unwrap();
        let third = &good[..good.len() / 3];
        let noise: Vec<u8> = (0..4000u32).map(|n| (n * 7919 % 251) as u8).collect();
        for bad in [Vec::new(), third.to_vec(), noise] {
            fs::write(path(name), &bad).unwrap();
            let output = workshop.call(&["merge", "p", "--out", "m", "--force"]);
            let error = stderr(&output);
            assert!(matches!(output.status.code(), Some(1 | 2)), "{name}: {error}");
            assert!(error.contains(name) && !error.contains("panicked"), "{name}: {error}");
        }
        fs::remove_file(path(name)).unwrap();
        let output = workshop.call(&["merge", "p", "--out", "m", "--force"]);
        let is_optional = ["clients.csv", "timeline.json.gz"].contains(&name);
        assert_eq!(output.status.success(), is_optional, "{name}: {}", stderr(&output));
        let _ = fs::remove_dir_all(workshop.path("m"));
        fs::write(path(name), good).unwrap();
    }
    let output = workshop.call(&["merge", "p", "--out", "m"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
}

/// Crashes with cells side by side, and goes on with another number of them.
#[test]
fn cells_side_by_side_go_on_after_a_crash() {
    let workshop = Workshop::new(SWEPT);
    let whole = workshop.run("whole", &[]);
    let mut from_checkpoints = 0;
    for (event, jobs, then) in
        [(150, "3", "1"), (240, "1", "5"), (200, "5", "2"), (300, "4", "4"), (60, "2", "3")]
    {
        let out = format!("crash-{event}-{jobs}");
        let mut command = workshop.command(&["run", "s.toml", "-q", "--jobs", jobs, "--out", &out]);
        command.env("GRUPPETTO_FAULT_AFTER", event.to_string());
        command.env("GRUPPETTO_CHECKPOINT_EVENTS", "5");
        assert!(!command.output().unwrap().status.success(), "it came to its end");
        // What there is can be looked at.
        let report = workshop.call(&["report", &out]);
        assert_eq!(report.status.code(), Some(0), "{}", stderr(&report));
        assert!(stderr(&report).contains("was killed before its end"), "{}", stderr(&report));
        let arguments = ["run", "s.toml", "-q", "--jobs", then, "--out", &out, "--resume"];
        let output = workshop.call(&arguments);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let _ = fs::remove_file(workshop.path(&out).join("lock"));
        for run in summary(&workshop.path(&out))["variants"].as_array().unwrap() {
            let steps = |name: &str| run["throughput"][name].as_u64().unwrap();
            from_checkpoints += usize::from(steps("trained_steps") < steps("local_steps"));
        }
        // The compressed timeline was written in other pieces.
        let mut files = [left(&whole), left(&workshop.path(&out))];
        for files in &mut files {
            files.retain(|(name, _)| name != "timeline.json.gz");
        }
        let [one, other] = files;
        for ((name, a), (_, b)) in one.iter().zip(&other) {
            assert!(a == b, "{name} differs: crashed after {event} with {jobs}, then {then}");
        }
    }
    assert!(from_checkpoints > 0, "every cell began anew");
}

/// A cell that fails ends the run; those before it are complete, those after it are not told of. It goes on as if that
/// had not happened.
#[test]
fn a_cell_that_fails_ends_the_run() {
    let workshop = Workshop::new(SWEPT);
    let whole = workshop.run("whole", &[]);
    let scenario = Scenario::load(workshop.path("s.toml"), &Plugins::new()).unwrap();
    for jobs in [1, 4] {
        let out = workshop.path(&format!("out-{jobs}"));
        let options = Options { out: Some(out.clone()), jobs: Some(jobs), ..Options::default() };
        let failing = &scenario.variants[3].plan;
        let builder = |plan: &Plan, seed, helpers| match plan == failing && seed == 2 {
            true => Err(BuildError::Threads(std::io::Error::other("no more threads"))),
            false => run::build(plan, seed, helpers, Some(Default::default())),
        };
        let error = run::run_with(&scenario, &options, &Plugins::new(), &builder).unwrap_err();
        assert!(error.to_string().contains("no more threads"), "{error}");
        let [told, all] = [&out, &whole].map(|folder| summary(folder)["variants"].clone());
        let (told, all) = (told.as_array().unwrap(), all.as_array().unwrap());
        assert_eq!(told.len(), 7, "{jobs} jobs");
        for (told, one) in told.iter().zip(all) {
            assert_eq!((&told["name"], &told["digest"]), (&one["name"], &one["digest"]));
        }
        let resumed = ["run", "s.toml", "-q", "--resume", "--out", out.to_str().unwrap()];
        let output = workshop.call(&resumed);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let without_timeline = |folder: &Path| {
            let files = left(folder).into_iter();
            files.filter(|(name, _)| name != "timeline.json.gz").collect::<Vec<_>>()
        };
        assert!(without_timeline(&out) == without_timeline(&whole), "{jobs} jobs");
    }
}

/// Cells that came to their end while one before them failed need not be made again.
#[test]
fn what_came_to_its_end_after_a_cell_that_failed_is_kept() {
    let workshop = Workshop::new(SWEPT);
    let scenario = Scenario::load(workshop.path("s.toml"), &Plugins::new()).unwrap();
    let out = workshop.path("out");
    let options = Options { out: Some(out.clone()), jobs: Some(4), ..Options::default() };
    let failing = &scenario.variants[0].plan;
    let built = AtomicUsize::new(0);
    let builder = |plan: &Plan, seed, helpers| {
        if plan == failing && seed == 1 {
            // The others are over by then, but for the last.
            while built.load(Ordering::Relaxed) < 23 {
                std::thread::sleep(Duration::from_millis(5));
            }
            std::thread::sleep(Duration::from_millis(200));
            return Err(BuildError::Threads(std::io::Error::other("no more threads")));
        }
        built.fetch_add(1, Ordering::Relaxed);
        run::build(plan, seed, helpers, Some(Default::default()))
    };
    run::run_with(&scenario, &options, &Plugins::new(), &builder).unwrap_err();
    assert!(summary(&out)["variants"].as_array().unwrap().is_empty());
    let kept = |cell: &usize| out.join(format!("cells/{cell}/finished.json")).exists();
    assert!((1..24).filter(kept).count() >= 20);
    let again = run::run(&scenario, &Options { resume: true, ..options }, &Plugins::new()).unwrap();
    // Rows and figures are those of a run that was left alone.
    assert_eq!(again.variants.len(), 24);
    let whole = workshop.run("whole", &[]);
    let files = |folder: &Path| {
        let files = left(folder).into_iter();
        files.filter(|(name, _)| name != "timeline.json.gz").collect::<Vec<_>>()
    };
    assert!(files(&out) == files(&whole));
}
