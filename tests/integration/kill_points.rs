//! The process is ended at every event of one small run of each policy, and goes on: to the same files, and without
//! training anything that was trained before the checkpoint.

use crate::replay::policies;
use crate::support::{Workshop, rows, stderr, summary};
use safetensors::SafeTensors;
use serde_json::Value;
use std::fs;
use std::path::Path;

/// Fewer events than the replay's own tests: each of them takes two processes.
fn shorter(text: &str) -> String {
    let lines = text.lines().map(|line| match line {
        line if line.starts_with("rounds = ") => "rounds = 3",
        line if line.starts_with("time = \"") => "time = \"1500ms\"",
        line => line,
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Arrivals before the checkpoint of the only cell, if there is one.
fn arrivals(folder: &Path) -> Option<u64> {
    let bytes = fs::read(folder.join("cells/0/checkpoint.safetensors")).ok()?;
    let (_, header) = SafeTensors::read_metadata(&bytes).unwrap();
    let meta: Value = serde_json::from_str(&header.metadata().as_ref()?["gruppetto"]).unwrap();
    meta["arrivals"].as_u64()
}

#[test]
fn a_process_that_ends_at_any_event_goes_on() {
    let (mut crashes, mut from_checkpoints) = (0, 0);
    for text in policies().iter().map(|text| shorter(text)) {
        let workshop = Workshop::new(&text);
        let whole = workshop.run("whole", &["-q", "--threads", "1"]);
        let steps = |folder: &Path| -> u64 {
            summary(folder)["variants"][0]["throughput"]["trained_steps"].as_u64().unwrap()
        };
        let all = steps(&whole);
        // In the order in which they were heard.
        let taus: Vec<u64> =
            rows(&whole.join("clients.csv")).iter().map(|row| row.int("tau")).collect();
        for event in 1.. {
            let out = workshop.path("out");
            let _ = fs::remove_dir_all(&out);
            let mut command =
                workshop.command(&["run", "s.toml", "-q", "--threads", "1", "--out", "out"]);
            command.env("GRUPPETTO_FAULT_AFTER", event.to_string());
            command.env("GRUPPETTO_CHECKPOINT_EVENTS", "4");
            if command.output().unwrap().status.success() {
                break;
            }
            crashes += 1;
            let before = arrivals(&out).unwrap_or(0) as usize;
            let arguments = ["run", "s.toml", "-q", "--threads", "1", "--out", "out", "--resume"];
            let output = workshop.call(&arguments);
            assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
            for file in ["rounds.csv", "clients.csv", "findings.json", "latency.hlog"] {
                let [a, b] = [&out, &whole].map(|run| fs::read(run.join(file)).unwrap());
                assert!(a == b, "{file}, ended at event {event} of\n{text}");
            }
            let told = summary(&out);
            let digest = |summary: &Value| summary["variants"][0]["model_digest"].clone();
            assert_eq!(digest(&told), digest(&summary(&whole)), "event {event} of\n{text}");
            let kept: u64 = taus[..before].iter().sum();
            let again = steps(&out);
            assert!(
                again + kept <= all,
                "{again} steps after {kept} of {all}: event {event} of\n{text}"
            );
            from_checkpoints += usize::from(before > 0);
        }
    }
    assert!(crashes > 100 && from_checkpoints > crashes / 2, "{from_checkpoints} of {crashes}");
}
