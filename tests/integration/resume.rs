//! A run that was killed and goes on leaves the same files as one that was not.

use crate::support::{Workshop, stderr};
use flate2::read::GzDecoder;
use serde_json::Value;
use std::fs;
use std::io::Read;
use std::path::Path;

/// Two variants with two seeds: four cells. A test adds a server.
fn scenario(client: &str, server: &str) -> String {
    format!(
        r#"
name = "again"
repeats = 2
stop.rounds = 8
[task]
clients = 8
features = 5
classes = 3
size = {{ uniform = [20, 60] }}
[client]
lr = 0.1
{client}
[server]
{server}
[[fleet.class]]
name = "fast"
share = 0.4
step_time = {{ lognormal = {{ median = "20ms", sigma = 0.3 }} }}
jitter = 0.3
[[fleet.class]]
name = "slow"
share = 0.6
step_time = {{ lognormal = {{ median = "90ms", sigma = 0.6 }} }}
dropout = 0.1
uplink = "9kbps"
latency = "20ms"
availability = {{ on = {{ uniform = ["1s", "4s"] }}, off = {{ uniform = ["200ms", "2s"] }} }}
[[variant]]
name = "one"
[[variant]]
name = "two"
set = {{ client.lr = 0.05 }}
"#
    )
}

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
                "summary.json" => without_speed(&content),
                "timeline.json.gz" => {
                    let mut text = Vec::new();
                    GzDecoder::new(&content[..]).read_to_end(&mut text).unwrap();
                    text
                }
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

fn without_speed(summary: &[u8]) -> Vec<u8> {
    let mut summary: Value = serde_json::from_slice(summary).unwrap();
    for run in summary["variants"].as_array_mut().unwrap() {
        run.as_object_mut().unwrap().remove("throughput");
    }
    serde_json::to_vec(&summary).unwrap()
}

fn assert_same(one: &Path, other: &Path, what: &str) {
    let (one, other) = (left(one), left(other));
    let names = |files: &[(String, Vec<u8>)]| files.iter().map(|f| f.0.clone()).collect::<Vec<_>>();
    assert_eq!(names(&one), names(&other), "{what}");
    for ((name, a), (_, b)) in one.iter().zip(&other) {
        assert!(a == b, "{name} differs: {what}");
    }
}

/// How many cells have trained less than they would have from the beginning.
fn from_checkpoints(folder: &Path) -> usize {
    let summary = crate::support::summary(folder);
    let runs = summary["variants"].as_array().unwrap().iter();
    let steps = |run: &Value, name: &str| run["throughput"][name].as_u64().unwrap();
    runs.filter(|run| steps(run, "trained_steps") < steps(run, "local_steps")).count()
}

/// Runs with a checkpoint after every fifth event and ends the process after `event`; whether it came that far.
fn crash(workshop: &Workshop, out: &str, event: u64, more: &[&str]) -> bool {
    let arguments = [&["run", "s.toml", "-q", "--out", out], more].concat();
    let mut command = workshop.command(&arguments);
    command.env("GRUPPETTO_FAULT_AFTER", event.to_string());
    command.env("GRUPPETTO_CHECKPOINT_EVENTS", "5");
    !command.output().unwrap().status.success()
}

fn resume(workshop: &Workshop, out: &str, threads: &str) {
    let arguments = ["run", "s.toml", "-q", "--resume", "--threads", threads, "--out", out];
    let output = workshop.call(&arguments);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
}

#[test]
fn a_run_that_crashed_goes_on_and_leaves_the_same_files() {
    let work = "work = { steps = { uniform = [1, 12] } }";
    for (client, server) in [
        ("", "close = { deadline = \"1s\" }"),
        ("variance_reduction = \"fednova\"\nmomentum = 0.5", "close = \"all\"\nsample.clients = 5"),
        (
            "compression = { top_k = 0.4, error_feedback = true }",
            "close = { buffer = 3 }\nconcurrency = 5\noptimizer = { kind = \"adam\" }",
        ),
        ("variance_reduction = \"scaffold\"", "close = { first = 3, of = 6 }\nlate = \"stale\""),
        ("", "close = \"all\"\nscheme = \"oort\"\nsample.clients = 3"),
    ] {
        let client =
            if server.contains("deadline") { client.into() } else { format!("{client}\n{work}") };
        let workshop = Workshop::new(&scenario(&client, server));
        let whole = workshop.run("whole", &["-q"]);
        let mut resumed = 0;
        for (turn, event) in [1, 17, 48, 90, 131, 170].into_iter().enumerate() {
            let out = format!("crashed-{event}");
            if !crash(&workshop, &out, event, &[]) {
                assert!(turn > 2, "it came to its end before event {event}");
                continue;
            }
            // Some crash again while they go on.
            if turn % 2 == 1 {
                crash(&workshop, &out, 25, &["--resume"]);
            }
            resume(&workshop, &out, ["1", "2", "7"][turn % 3]);
            let what = format!("crashed at event {event}: {client} {server}");
            assert_same(&whole, &workshop.path(&out), &what);
            resumed += from_checkpoints(&workshop.path(&out));
        }
        assert!(resumed >= 3, "{resumed} cells went on from a checkpoint");
    }
}
