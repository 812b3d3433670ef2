//! Runs that are interrupted before they have anything, or while they are replayed.

use gruppetto::actors::Interrupt;
use gruppetto::{Options, Plugins, Run, Scenario, run};
use std::fs;
use std::path::Path;

const TEXT: &str = "name = \"early\"\nrepeats = 2\nstop.rounds = 30\n[task]\nclients = 4\nfeatures = 3\nclasses = 2\n\
                    size = 10\n[client]\nwork = { steps = 3 }\n[server]\nclose = \"all\"\nevaluate_every = 1\n";

/// Runs it into `out`; interrupted before it begins, if asked.
fn early(out: &Path, seed: u64, (force, resume, interrupted): (bool, bool, bool)) -> Run {
    let scenario = Scenario::parse("early.toml", TEXT, &[], Some(seed)).unwrap();
    let interrupt = Interrupt::default();
    if interrupted {
        interrupt.set();
    }
    let options = Options {
        out: Some(out.into()),
        force,
        resume,
        threads: 1,
        interrupt,
        ..Options::default()
    };
    run(&scenario, &options, &Plugins::new()).unwrap_or_else(|error| panic!("{error}"))
}

fn digests(run: &Run) -> Vec<String> {
    run.variants.iter().map(|cell| format!("{} {}", cell.digest, cell.model_digest)).collect()
}

#[test]
fn a_run_without_a_first_evaluation_begins_anew() {
    let folder = tempfile::tempdir().unwrap();
    let whole = early(&folder.path().join("whole"), 1, (false, false, false));
    let out = folder.path().join("out");
    assert_eq!(early(&out, 1, (false, false, true)).status.name(), "interrupted");
    assert_eq!(early(&out, 1, (false, true, true)).status.name(), "interrupted");
    assert_eq!(digests(&early(&out, 1, (false, true, false))), digests(&whole));
}

#[test]
fn it_replaces_no_earlier_run() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    early(&out, 1, (false, false, false));
    let before = fs::read(out.join("rounds.csv")).unwrap();
    let run = early(&out, 2, (true, false, true));
    assert_eq!((run.status.name(), run.folder.as_deref()), ("interrupted", None));
    assert_eq!(fs::read(out.join("rounds.csv")).unwrap(), before);
    assert_eq!(crate::support::names(folder.path()), ["out"], "nothing is left beside it");
    assert_eq!(early(&out, 2, (true, false, false)).folder.as_deref(), Some(&*out));
    assert_ne!(fs::read(out.join("rounds.csv")).unwrap(), before);
}

/// A process that ended in its second cell, with a checkpoint there, goes on and is interrupted during the replay.
#[test]
fn a_run_that_is_interrupted_while_it_is_replayed_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let whole = early(&folder.path().join("whole"), 1, (false, false, false));
    let out = folder.path().join("out");
    let file = folder.path().join("early.toml");
    fs::write(&file, TEXT).unwrap();
    let mut command = crate::support::gruppetto();
    command.args(["run", "-q", "--seed", "1", "--out"]).arg(&out).arg(&file);
    command.env("GRUPPETTO_FAULT_AFTER", "200").env("GRUPPETTO_CHECKPOINT_EVENTS", "10");
    assert_eq!(command.output().unwrap().status.code(), None);
    let checkpoint = out.join("cells/1/checkpoint.safetensors");
    let before = fs::read(&checkpoint).unwrap();
    assert_eq!(early(&out, 1, (false, true, true)).status.name(), "interrupted");
    assert_eq!(fs::read(&checkpoint).unwrap(), before, "the checkpoint stays");
    let resumed = early(&out, 1, (false, true, false));
    assert_eq!(digests(&resumed), digests(&whole));
    let steps = &resumed.variants[1].throughput;
    assert!(steps.trained_steps < steps.local_steps, "it was not begun again");
}
