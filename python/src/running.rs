//! A run: on a thread of its own, while the caller's looks for signals and shows how far it is.

use crate::errors::{RunError, ScenarioError, wrong};
use crate::hooks::{Failure, Hooks};
use crate::scenario::Source;
use gruppetto::actors::{ClockMode, Interrupt};
use gruppetto::clock::SimTime;
use gruppetto::observer::{Observer, ObserverError};
use gruppetto::record::RoundRow;
use gruppetto::run::{Error, preflight};
use gruppetto::{Options, Plugins, Run};
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How often the caller's thread looks up.
const GLANCE: Duration = Duration::from_millis(50);

/// How a scenario is run.
#[derive(FromPyObject)]
pub struct RunRequest {
    #[pyo3(item)]
    out: PathBuf,
    #[pyo3(item)]
    force: bool,
    #[pyo3(item)]
    resume: bool,
    #[pyo3(item)]
    checkpoint: Option<f64>,
    #[pyo3(item)]
    threads: Option<usize>,
    #[pyo3(item)]
    timing_only: bool,
    /// How many simulated seconds pass in a real one, on the wall clock.
    #[pyo3(item)]
    speedup: Option<f64>,
}

/// How far a run is.
#[derive(Clone, Debug, Default)]
struct Progress {
    variant: String,
    seed: u64,
    /// From 0 to 1.
    part: f64,
    round: u64,
    cell: usize,
}

/// Runs a scenario; the summary as JSON. `progress` is called with the cell, how many there are, the variant, the seed,
/// the round and the part that is done.
#[pyfunction]
pub fn run(
    py: Python<'_>,
    source: Source,
    request: RunRequest,
    hooks: Hooks,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let failure = Failure::default();
    let told = Arc::new(Mutex::new(Progress::default()));
    let plugins = watched(hooks.plugins(&failure), told.clone());
    let scenario = source.read(&plugins).map_err(|error| failure.take().unwrap_or(error))?;
    preflight(&scenario, request.timing_only).map_err(wrong)?;
    let interrupt = Interrupt::default();
    let defaults = Options::default();
    // In this process, and so one at a time, unless more threads are asked for.
    let trains_in_python = scenario.variants.iter().any(|one| one.plan.task.kind == "plugin");
    let options = Options {
        out: Some(request.out),
        force: request.force,
        resume: request.resume,
        checkpoint: request.checkpoint.map(Duration::from_secs_f64),
        threads: request.threads.unwrap_or(if trains_in_python { 1 } else { defaults.threads }),
        timing_only: request.timing_only,
        clock_mode: request.speedup.map_or(ClockMode::Virtual, ClockMode::Wall),
        interrupt: interrupt.clone(),
        ..defaults
    };
    let cells = scenario.variants.len() * scenario.repeats as usize;
    let (finished, mut outcome) = channel();
    let thread = std::thread::Builder::new().name("gruppetto".into()).spawn(move || {
        // The interpreter knows this thread from now on: to introduce it at every call takes longer than most calls.
        let result =
            Python::attach(|py| py.detach(|| gruppetto::run(&scenario, &options, &plugins)));
        let _ = finished.send(result);
    })?;
    let mut interrupted = None;
    let result: Result<Run, Error> = loop {
        let waiting = &mut outcome;
        match py.detach(move || waiting.recv_timeout(GLANCE)) {
            Ok(result) => break result,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                let error =
                    RunError::new_err("the simulator stopped; this is a fault of Gruppetto");
                return Err(failure.take().unwrap_or(error));
            }
        }
        // The run ends in order, with everything written, before the exception is passed on.
        if let Err(error) = py.check_signals() {
            interrupt.set();
            interrupted.get_or_insert(error);
        }
        if let Some(show) = &progress {
            let Progress { variant, seed, part, round, cell } = locked(&told).clone();
            show.call1(py, (cell, cells, variant, seed, round, part))?;
        }
    };
    py.detach(|| thread.join()).ok();
    match (result, failure.take(), interrupted) {
        (_, Some(error), _) | (Ok(_), None, Some(error)) => Err(error),
        (Ok(run), None, None) => Ok(run.to_json()),
        (Err(error @ (Error::Build { .. } | Error::OtherRun { .. })), None, _) => {
            Err(ScenarioError::new_err(format!("error: {error}")))
        }
        (Err(error), None, _) => Err(RunError::new_err(error.to_string())),
    }
}

fn locked<T>(shared: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The plug-ins, and an observer that tells how far the run is.
fn watched(plugins: Plugins, told: Arc<Mutex<Progress>>) -> Plugins {
    plugins.observer(move |context| {
        let mut now = locked(&told);
        let cell = if now.variant.is_empty() { 0 } else { now.cell + 1 };
        *now = Progress {
            variant: context.variant.into(),
            seed: context.seed,
            cell,
            ..Progress::default()
        };
        let stop = context.stop.clone();
        Some(Box::new(Watcher {
            told: told.clone(),
            rounds: stop.rounds,
            time: stop.time.map(|time| time.seconds()),
        }))
    })
}

struct Watcher {
    told: Arc<Mutex<Progress>>,
    rounds: Option<u64>,
    time: Option<f64>,
}

impl Observer for Watcher {
    fn closed(&mut self, row: &RoundRow) -> Result<(), ObserverError> {
        let by_rounds = self.rounds.map_or(0.0, |all| row.round as f64 / all as f64);
        let by_time = self.time.map_or(0.0, |all| SimTime::seconds(row.closed) / all);
        let mut now = locked(&self.told);
        (now.round, now.part) = (row.round, by_rounds.max(by_time).min(1.0));
        Ok(())
    }
}
