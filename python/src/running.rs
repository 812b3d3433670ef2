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
use std::collections::BTreeMap;
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
    /// Cells side by side.
    #[pyo3(item)]
    jobs: Option<usize>,
    #[pyo3(item)]
    timing_only: bool,
    /// How many simulated seconds pass in a real one, on the wall clock.
    #[pyo3(item)]
    speedup: Option<f64>,
}

/// How far a run is.
#[derive(Clone, Debug, Default)]
struct Progress {
    /// Of the cell that was heard of last.
    variant: String,
    seed: u64,
    round: u64,
    /// How much of each cell is done, from 0 to 1.
    parts: BTreeMap<(String, u64), f64>,
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
    let brings_observers = hooks.has_observers();
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
        // What users bring hears of one cell after the other, unless it is asked otherwise.
        jobs: request.jobs.or(brings_observers.then_some(1)),
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
            let Progress { variant, seed, round, parts } = locked(&told).clone();
            let done: f64 = parts.values().sum();
            show.call1(py, (done.floor() as usize, cells, variant, seed, round, done.fract()))?;
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

/// Makes one run of several, into a folder; the summary as JSON.
#[pyfunction]
pub fn merge(
    py: Python<'_>,
    folders: Vec<PathBuf>,
    out: PathBuf,
    force: bool,
    hooks: Hooks,
) -> PyResult<String> {
    let failure = Failure::default();
    let plugins = hooks.plugins(&failure);
    let merged = py.detach(|| gruppetto::run::merge(&folders, &out, force, &plugins));
    match (merged, failure.take()) {
        (_, Some(error)) => Err(error),
        (Ok((run, _)), None) => Ok(run.to_json()),
        (Err(error), None) => Err(RunError::new_err(format!("error: {error}"))),
    }
}

fn locked<T>(shared: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The plug-ins, and an observer that tells how far the run is.
fn watched(plugins: Plugins, told: Arc<Mutex<Progress>>) -> Plugins {
    plugins.observer(move |context| {
        let cell = (context.variant.to_string(), context.seed);
        let stop = context.stop.clone();
        let watcher = Watcher {
            told: told.clone(),
            cell,
            rounds: stop.rounds,
            time: stop.time.map(|time| time.seconds()),
        };
        watcher.tell(0, 0.0);
        Some(Box::new(watcher))
    })
}

struct Watcher {
    told: Arc<Mutex<Progress>>,
    cell: (String, u64),
    rounds: Option<u64>,
    time: Option<f64>,
}

impl Watcher {
    fn tell(&self, round: u64, part: f64) {
        let mut now = locked(&self.told);
        (now.variant, now.seed, now.round) = (self.cell.0.clone(), self.cell.1, round);
        now.parts.insert(self.cell.clone(), part);
    }
}

impl Observer for Watcher {
    fn closed(&mut self, row: &RoundRow) -> Result<(), ObserverError> {
        let by_rounds = self.rounds.map_or(0.0, |all| row.round as f64 / all as f64);
        let by_time = self.time.map_or(0.0, |all| SimTime::seconds(row.closed) / all);
        self.tell(row.round, by_rounds.max(by_time).min(1.0));
        Ok(())
    }
}

impl Drop for Watcher {
    /// The cell is over, also one that reached its target early.
    fn drop(&mut self) {
        locked(&self.told).parts.insert(self.cell.clone(), 1.0);
    }
}
