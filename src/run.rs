//! Runs a whole scenario: every variant with every seed, into one folder.

mod assembly;
mod build;
mod calibrate;
mod cells;
mod constants;
mod correlation;
mod estimate;
mod evaluation;
mod expect;
mod first_round;
mod inputs;
mod jobs;
mod latencies;
mod merge;
mod one;
mod overview;
mod part;
mod preflight;
mod processor;
#[cfg(feature = "mpi")]
mod ranks;
mod recording;
mod resuming;
mod schedule;
mod shared;
mod survey;
mod theory;
mod whole;

pub use build::trainer;
pub use build::{BuildError, Built, assemble, build};
pub use calibrate::{Calibration, calibrate};
pub use cells::{Cell, cell_count, cells};
pub use constants::{Assumptions, KnownConstants};
pub use estimate::{Estimate, estimate};
pub use evaluation::with_evaluations;
pub use expect::{has_failed, judge};
pub use merge::{MergeError, merge};
pub use overview::overview;
pub use part::RunPart;
pub use preflight::{check_device, preflight};
#[cfg(feature = "mpi")]
pub use ranks::{Ranks, train_for_rank_0};
pub use recording::{RecordError, Recorded, RunSelector, record};
pub use theory::{
    BestProx, BoundTerms, ClientWeight, FixedPoint, LrLimit, Outlook, Prediction, TruthTerms,
    least_bound, theory,
};

use crate::actors::{ClockMode, Interrupt, RunError};
use crate::metric::Bound;
use crate::plugins::Plugins;
use crate::policy::Target;
use crate::report::{
    FileError, Findings, FolderError, LATENCIES, MOST_RUNS, RunFolder, write_page,
};
use crate::resume::{CellsFolder, CheckpointError, RunSoFar};
use crate::run_files::{FilesSummary, OverSeeds, PartOfRun, ReadError, Status, Summary};
use crate::scenario::{Plan, Scenario};
use crate::train::DeviceChoice;
use inputs::{digest, input_digests, scenario_digest};
use latencies::LatenciesOverSeeds;
use processor::{other_processor, processor};
use resuming::resumable;
use shared::SharedParts;
use std::borrow::Cow;
use std::ops::Deref;
use std::path::PathBuf;
use std::time::Duration;
use tracing::warn;
use whole::Whole;

/// How a scenario is run; what is run is the scenario's to say.
#[derive(Clone, Debug)]
pub struct Options {
    /// Where the files go; `None`: nowhere (for benchmarks).
    pub out: Option<PathBuf>,
    /// Whether an earlier run there may be replaced.
    pub force: bool,
    /// Whether a run that is there and not finished goes on.
    pub resume: bool,
    /// How much training may be lost at most, in real time; `None`: there are no checkpoints.
    pub checkpoint: Option<Duration>,
    /// Threads that compute, all cells together.
    pub threads: usize,
    /// Cells that run side by side; `None`: as many as suits them and the machine. Results do not depend on it.
    pub jobs: Option<usize>,
    /// Which part of the cells is run; `None`: all of them.
    pub part: Option<RunPart>,
    /// Which clock.
    pub clock_mode: ClockMode,
    /// Run the schedule without training.
    pub timing_only: bool,
    /// Where deep models are computed.
    pub device: DeviceChoice,
    /// Set from elsewhere to end everything before its time.
    pub interrupt: Interrupt,
}

impl Default for Options {
    /// Trains on all cores in virtual time and writes no files.
    fn default() -> Self {
        Options {
            out: None,
            force: false,
            resume: false,
            checkpoint: Some(Duration::from_secs(60)),
            threads: std::thread::available_parallelism().map_or(1, |cores| cores.get()),
            jobs: None,
            part: None,
            clock_mode: ClockMode::Virtual,
            timing_only: false,
            device: DeviceChoice::default(),
            interrupt: Interrupt::default(),
        }
    }
}

/// What can go wrong with a run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The folder.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// A file in it.
    #[error(transparent)]
    File(#[from] FileError),
    /// What it left, read again for its page.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// It cannot go on from what was kept of it.
    #[error(transparent)]
    Resume(#[from] CheckpointError),
    /// It is not the run that is to go on.
    #[error("{}: {what}", folder.display())]
    #[allow(missing_docs)]
    OtherRun { folder: PathBuf, what: String },
    /// On the wall clock every run is another.
    #[error("--resume needs virtual time: on the wall clock the same steps would not come again")]
    WallClock,
    /// A run cannot be set up.
    #[error("variant {variant}: {source}")]
    #[allow(missing_docs)]
    Build { variant: String, source: BuildError },
    /// A run ended before its time.
    #[error("variant {variant}: {source}")]
    #[allow(missing_docs)]
    Run { variant: String, source: RunError },
}

/// A scenario that was run: every variant with every seed. It reads like its [`Summary`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Run {
    /// What came out.
    pub summary: Summary,
    /// Where its files are, if any were written and kept.
    pub folder: Option<PathBuf>,
}

impl Deref for Run {
    type Target = Summary;

    fn deref(&self) -> &Summary {
        &self.summary
    }
}

impl From<Run> for Summary {
    fn from(run: Run) -> Summary {
        run.summary
    }
}

/// Runs every variant with every seed. Whatever goes wrong, the folder keeps what was recorded,
/// and its summary says that it is incomplete.
pub fn run(scenario: &Scenario, options: &Options, plugins: &Plugins) -> Result<Run, Error> {
    let device = (!options.timing_only).then_some(options.device);
    let shared = SharedParts::new();
    let build =
        |plan: &Plan, seed, helpers| build::build_with(plan, seed, helpers, device, &shared);
    let (summary, has_its_place) = run_into(scenario, options, plugins, &build)?;
    Ok(Run { summary, folder: options.out.clone().filter(|_| has_its_place) })
}

/// How a run is put together for a plan and a seed, with so many threads to help the simulation's own.
pub type Builder<'a> = &'a (dyn Fn(&Plan, u64, usize) -> Result<Built, BuildError> + Sync);

/// Like [`run`], for those who bring parts of their own, such as another trainer.
pub fn run_with(
    scenario: &Scenario,
    options: &Options,
    plugins: &Plugins,
    builder: Builder<'_>,
) -> Result<Summary, Error> {
    run_into(scenario, options, plugins, builder).map(|(summary, _)| summary)
}

/// The same, and whether it has its place: a run that was interrupted before it had anything replaces no other.
fn run_into(
    scenario: &Scenario,
    options: &Options,
    plugins: &Plugins,
    builder: Builder<'_>,
) -> Result<(Summary, bool), Error> {
    let scenario = &*match options.timing_only {
        true => Cow::Borrowed(scenario),
        // What is wrong with a variant is told when it is set up.
        false => with_evaluations(scenario).unwrap_or(Cow::Borrowed(scenario)),
    };
    if options.resume && options.clock_mode != ClockMode::Virtual {
        return Err(Error::WallClock);
    }
    let cells = cells_of(scenario, options)?;
    let jobs = jobs::jobs(scenario, &cells, options);
    let part = options.part.map(|RunPart { number, of }| PartOfRun {
        number: number.into(),
        of: of.into(),
        cells: cells.iter().map(|cell| cell.number as u64).collect(),
    });
    let mut earlier = None;
    if let Some(path) = options.out.as_ref().filter(|_| options.resume) {
        earlier = resumable(path, scenario, options)?;
        // One that was killed while it wrote its last files still has to.
        let is_over =
            |run: &mut Summary| run.status == Status::Complete && CellsFolder::is_removed(path);
        if let Some(mut complete) = earlier.take_if(is_over) {
            let log = path.join(LATENCIES);
            LatenciesOverSeeds::default().recall(&log, &mut complete, scenario.repeats > 1)?;
            // Killed while it removed it, a run leaves a part of this.
            CellsFolder::remove(path);
            return Ok((complete, true));
        }
    }
    let then = earlier.as_ref().map_or("", |earlier| earlier.processor.as_str());
    if let Some(warning) = other_processor(scenario, then).filter(|_| !options.timing_only) {
        warn!("{warning}");
    }
    let folder = match &options.out {
        Some(path) if earlier.is_some() => Some(RunFolder::resume(path)?),
        Some(path) => Some(RunFolder::create(path, options.force)?),
        None => None,
    };
    let inputs = input_digests(scenario);
    let mut summary = Summary {
        name: scenario.name.clone(),
        version: env!("CARGO_PKG_VERSION").into(),
        status: Status::Incomplete,
        timing_only: options.timing_only,
        wall_clock: options.clock_mode != ClockMode::Virtual,
        error: None,
        scenario_digest: scenario_digest(scenario, &inputs),
        inputs,
        processor: processor(),
        files: FilesSummary {
            scenario: Some(digest(scenario.resolved.as_bytes())),
            ..FilesSummary::default()
        },
        swept: scenario.sweep.clone(),
        part,
        variants: Vec::new(),
        over_seeds: Vec::new(),
        expect: Vec::new(),
    };
    let mut findings = Findings {
        description: scenario.description.clone(),
        scenario_digest: summary.scenario_digest.clone(),
        target: scenario.variants.first().and_then(|variant| target(&variant.plan)),
        flags: flags(options),
        ..Findings::default()
    };
    let whole = Whole { scenario, options, folder: folder.as_ref(), plugins, builder, cells, jobs };
    let result = whole.run_all((&mut summary, &mut findings));
    summary.over_seeds = OverSeeds::of(&summary.variants);
    match &result {
        Ok(()) if options.interrupt.is_set() => summary.status = Status::Interrupted,
        Ok(()) => {
            // A part does not know what the others came to.
            if options.part.is_none() {
                summary.expect = judge(scenario, &summary.variants, options.timing_only);
            }
            summary.status = Status::Complete;
        }
        Err(error) => summary.error = Some(error.to_string()),
    }
    findings.left_out = cell_count(scenario).saturating_sub(MOST_RUNS);
    let written = match &folder {
        Some(folder) => {
            settle(folder, summary.status).and_then(|()| write_all(folder, &summary, &findings))
        }
        None => Ok(()),
    };
    result?;
    written?;
    if let (Some(folder), Status::Complete) = (&folder, summary.status) {
        CellsFolder::remove(&folder.path());
    }
    let has_its_place = folder.as_ref().is_none_or(RunFolder::has_its_place);
    Ok((summary, has_its_place))
}

/// The cells that are to be run: all, or those of a part.
fn cells_of<'a>(scenario: &'a Scenario, options: &Options) -> Result<Vec<Cell<'a>>, Error> {
    let all: Vec<Cell<'_>> = cells(scenario).collect();
    let Some(part) = options.part else { return Ok(all) };
    let wrong = |source| Error::Build { variant: scenario.variants[0].name.clone(), source };
    let costs: Vec<f64> =
        estimate(scenario, 1).map_err(wrong)?.iter().map(Estimate::cost).collect();
    Ok(part.of_cells(all, |cell| costs[cell.number / scenario.repeats as usize]))
}

/// A run that is complete takes the place of an earlier one, and so does one of which a cell is: with a checkpoint it
/// has done so before. Any other leaves the earlier one where it is.
fn settle(folder: &RunFolder, status: Status) -> Result<(), Error> {
    if status != Status::Complete && CellsFolder::is_removed(&folder.path()) {
        return Ok(());
    }
    folder.run_path().settle().inspect_err(|_| folder.keep_beside())?;
    Ok(())
}

/// What is written when everything is over.
fn write_all(folder: &RunFolder, summary: &Summary, findings: &Findings) -> Result<(), Error> {
    // Where it says "complete", its runs are there.
    folder.write_runs(summary)?;
    folder.write_summary(summary)?;
    folder.write_findings(findings)?;
    let mut run = RunSoFar::read(&folder.path())?;
    // It is this process that holds the folder, and it is done.
    run.holder = None;
    Ok(write_page(&[run.page_run()?], &folder.file("report.html"))?)
}

/// The metric that ends a run, as the page wants it.
fn target(plan: &Plan) -> Option<serde_json::Value> {
    let Target { metric, bound } = plan.stop.target?;
    let mut target = serde_json::Map::new();
    target.insert("metric".into(), metric.name().into());
    let (name, value) = match bound {
        Bound::AtLeast(value) => ("at_least", value),
        Bound::AtMost(value) => ("at_most", value),
    };
    target.insert(name.into(), value.into());
    Some(target.into())
}

/// How a run was asked for beside its scenario.
fn flags(options: &Options) -> String {
    let timing = if options.timing_only { " --timing-only" } else { "" };
    let clock = match options.clock_mode {
        ClockMode::Virtual => String::new(),
        ClockMode::Wall(speedup) => format!(" --clock wall --speedup {speedup}"),
    };
    let part = options.part.map_or(String::new(), |part| format!(" --part {part}"));
    format!("{timing}{clock}{part}")
}
