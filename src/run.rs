//! Runs a whole scenario: every variant with every seed, into one folder.

mod build;
mod calibrate;
mod constants;
mod correlation;
mod estimate;
mod evaluation;
mod expect;
mod first_round;
mod one;
mod preflight;
mod recording;
mod schedule;
mod survey;
mod theory;

pub use build::trainer;
pub use build::{BuildError, Built, assemble, build};
pub use calibrate::{Calibration, calibrate};
pub use constants::{Assumptions, KnownConstants};
pub use estimate::{Estimate, estimate};
pub use evaluation::with_evaluations;
pub use expect::{has_failed, judge};
pub use preflight::{check_device, preflight};
pub use recording::{RecordError, Recorded, RunSelector, record};
pub use theory::{
    BestProx, BoundTerms, ClientWeight, FixedPoint, LrLimit, Outlook, Prediction, TruthTerms,
    least_bound, theory,
};

use crate::actors::{ClockMode, Interrupt, RunError};
use crate::clock::Span;
use crate::metric::Bound;
use crate::plugins::{Plugins, RunContext};
use crate::policy::Target;
use crate::report::{
    CELLS, Detail, FileError, Files, Findings, FolderError, LatencyLog, MOST_RUNS, PageError,
    RunFolder, TableFile, Timeline, read_latencies, recorded, write_page,
};
use crate::resume::{CellsFolder, CheckpointError, FinishedCell};
use crate::run_files::{OverSeeds, Phases, Status, Summary, VariantSummary};
use crate::scenario::{Plan, RecordClients, Scenario};
use crate::train::DeviceChoice;
use one::One;
use std::borrow::Cow;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tracing::info;
use xxhash_rust::xxh3::xxh3_128;

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
    /// Threads that compute.
    pub threads: usize,
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
    /// The page about it.
    #[error(transparent)]
    Page(#[from] PageError),
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
    /// Where its files are, if any were written.
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
    let Options { threads, timing_only, clock_mode, .. } = *options;
    let device = (!timing_only).then_some(options.device);
    // The thread of the simulation computes too, except where time really passes: there it must
    // not be late for anything.
    let helpers = match clock_mode {
        ClockMode::Virtual => threads.saturating_sub(1),
        ClockMode::Wall(_) => threads.max(1),
    };
    let build = |plan: &Plan, seed| build(plan, seed, helpers, device);
    let summary = run_with(scenario, options, plugins, &build)?;
    Ok(Run { summary, folder: options.out.clone() })
}

/// How a run is put together for a plan and a seed.
pub type Builder<'a> = &'a dyn Fn(&Plan, u64) -> Result<Built, BuildError>;

/// Like [`run`], for those who bring parts of their own, such as another trainer.
pub fn run_with(
    scenario: &Scenario,
    options: &Options,
    plugins: &Plugins,
    builder: Builder<'_>,
) -> Result<Summary, Error> {
    let scenario = &*match options.timing_only {
        true => Cow::Borrowed(scenario),
        // What is wrong with a variant is told when it is set up.
        false => with_evaluations(scenario).unwrap_or(Cow::Borrowed(scenario)),
    };
    if options.resume && options.clock_mode != ClockMode::Virtual {
        return Err(Error::WallClock);
    }
    let mut earlier = None;
    if let Some(path) = options.out.as_ref().filter(|_| options.resume) {
        earlier = resumable(path, scenario, options)?;
        // One that was killed while it wrote its last files still has to.
        let is_over =
            |run: &mut Summary| run.status == Status::Complete && !path.join(CELLS).exists();
        if let Some(complete) = earlier.take_if(is_over) {
            return Ok(complete);
        }
    }
    let folder = match &options.out {
        Some(path) if earlier.is_some() => Some(RunFolder::resume(path)?),
        Some(path) => Some(RunFolder::create(path, options.force)?),
        None => None,
    };
    let mut summary = Summary {
        name: scenario.name.clone(),
        version: env!("CARGO_PKG_VERSION").into(),
        status: Status::Incomplete,
        timing_only: options.timing_only,
        error: None,
        scenario_digest: format!("{:032x}", xxh3_128(scenario.resolved.as_bytes())),
        variants: Vec::new(),
        over_seeds: Vec::new(),
        expect: Vec::new(),
    };
    let mut findings = Findings {
        description: scenario.description.clone(),
        target: scenario.variants.first().and_then(|variant| target(&variant.plan)),
        flags: flags(options),
        ..Findings::default()
    };
    let mut whole = Whole { scenario, options, folder: folder.as_ref(), plugins, builder };
    let result = whole.run_all((&mut summary, &mut findings));
    summary.over_seeds = OverSeeds::of(&summary.variants);
    match &result {
        Ok(()) if options.interrupt.is_set() => summary.status = Status::Interrupted,
        Ok(()) => {
            summary.expect = judge(scenario, &summary.variants, options.timing_only);
            summary.status = Status::Complete;
        }
        Err(error) => summary.error = Some(error.to_string()),
    }
    let runs = all_runs(scenario);
    findings.left_out = runs.saturating_sub(MOST_RUNS);
    let written = match &folder {
        Some(folder) => {
            settle(folder, &result).and_then(|()| write_all(folder, &summary, &findings))
        }
        None => Ok(()),
    };
    result?;
    written?;
    if let (Some(folder), Status::Complete) = (&folder, summary.status) {
        CellsFolder::of(folder.run_path()).remove();
    }
    Ok(summary)
}

/// The run in a folder that is to go on; `None` if there is none and it begins.
fn resumable(
    path: &Path,
    scenario: &Scenario,
    options: &Options,
) -> Result<Option<Summary>, Error> {
    if !path.join(Summary::FILE).exists() {
        return Ok(None);
    }
    let other = |what: String| Error::OtherRun { folder: path.to_owned(), what };
    let summary = Summary::read(path).map_err(|error| other(error.to_string()))?;
    // Without it the run was killed before it had anything.
    let text = std::fs::read_to_string(path.join("scenario.toml")).ok();
    let difference = text.as_deref().and_then(|text| first_difference(&scenario.resolved, text));
    if let Some((now, then)) = difference {
        return Err(other(format!(
            "its scenario is another one: `{then}` there is `{now}` now\n  = help: go on with the same \
             scenario and --set as before, or begin anew with --force"
        )));
    }
    if summary.timing_only != options.timing_only {
        let [there, now] = [summary.timing_only, options.timing_only]
            .map(|timing_only| if timing_only { "with" } else { "without" });
        return Err(other(format!("it was made {there} --timing-only, and this would be {now}")));
    }
    Ok(Some(summary))
}

/// The first line in which two texts differ.
fn first_difference<'a>(now: &'a str, then: &'a str) -> Option<(&'a str, &'a str)> {
    let (mut now, mut then) = (now.lines(), then.lines());
    loop {
        match (now.next(), then.next()) {
            (None, None) => return None,
            (a, b) if a != b => return Some((a.unwrap_or(""), b.unwrap_or(""))),
            _ => {}
        }
    }
}

/// All cells of a scenario, each a variant with a seed.
struct Whole<'a> {
    scenario: &'a Scenario,
    options: &'a Options,
    folder: Option<&'a RunFolder>,
    plugins: &'a Plugins,
    builder: Builder<'a>,
}

impl Whole<'_> {
    fn run_all(&mut self, (summary, findings): (&mut Summary, &mut Findings)) -> Result<(), Error> {
        let Whole { scenario, options, folder, plugins, builder } = *self;
        let mut cells = folder.map(|folder| CellsFolder::of(folder.run_path()));
        let finished = match &mut cells {
            Some(cells) if options.resume => cells.finished()?,
            _ => Vec::new(),
        };
        let mut files = match folder {
            Some(folder) => Some(self.open_files(folder, summary, &finished)?),
            None => None,
        };
        let over = finished.len();
        for FinishedCell { summary: told, findings: drawn, .. } in finished {
            summary.variants.push(told);
            findings.runs.extend(drawn);
        }
        if let Some(folder) = folder.filter(|_| over > 0) {
            recall_latencies(folder, summary, scenario.repeats)?;
        }
        let clock_mode = options.clock_mode;
        let mut told = Instant::now();
        let seeds = |variant| {
            (0..scenario.repeats).map(move |repeat| (variant, scenario.seed.wrapping_add(repeat)))
        };
        let all = scenario.variants.iter().flat_map(seeds).enumerate();
        for (number, (variant, seed)) in all.skip(over) {
            let has_room = folder.is_some() && findings.runs.len() < MOST_RUNS;
            let detail = has_room.then(|| Detail::of(all_runs(scenario), seed == scenario.seed));
            let interrupt = options.interrupt.clone();
            let one =
                One { scenario, variant, seed, builder, clock_mode, folder, detail, interrupt };
            info!(variant = variant.name, seed, "run begins");
            let checkpoints = match &cells {
                Some(cells) if !options.timing_only && clock_mode == ClockMode::Virtual => {
                    let resume = if options.resume { cells.resume(number)? } else { None };
                    Some((cells.folder(number), options.checkpoint, resume))
                }
                _ => None,
            };
            let resume = checkpoints.as_ref().and_then(|(.., resume)| resume.as_ref());
            let replayed = resume.map_or(0, |resume| resume.checkpoint.position.rounds);
            let context = RunContext::new(&variant.name, seed, &variant.plan.stop, replayed);
            let observers = plugins.observers(&context);
            let drawn = findings.runs.len();
            let result = one.run(&mut files, observers, checkpoints, (summary, findings));
            one.log_end(&result, summary);
            result?;
            if one.interrupt.is_set() {
                break;
            }
            if let (Some(cells), Some(files), Some(run)) =
                (&mut cells, &mut files, summary.variants.last())
            {
                let findings = findings.runs.get(drawn);
                cells.finish(number, run, findings, || files.checkpoint())?;
            }
            // Killed in a later run, the folder still tells of those that are over; thousands of
            // short ones need not be told one by one.
            if let Some(folder) = folder
                && (summary.variants.len() < 64 || told.elapsed() > Duration::from_secs(1))
            {
                folder.write_summary(summary)?;
                told = Instant::now();
            }
        }
        if let Some(cells) = &mut cells {
            cells.flush()?;
        }
        let Some(mut files) = files else { return Ok(()) };
        files.latencies.flush()?;
        match files.timeline {
            Some(timeline) => Ok(timeline.finish()?),
            None => Ok(()),
        }
    }

    /// Opens the files of the run, to go on after the cells that are over.
    fn open_files(
        &self,
        folder: &RunFolder,
        summary: &Summary,
        finished: &[FinishedCell],
    ) -> Result<Files, Error> {
        let scenario = self.scenario;
        // Killed at any moment from now on, the folder says that it is incomplete.
        let mut known = summary.clone();
        known.variants.extend(finished.iter().map(|cell| cell.summary.clone()));
        folder.write_summary(&known)?;
        let all = scenario.variants.iter().map(|variant| variant.plan.task.clients).max();
        let shown = |which| recorded(which, scenario.seed, all.unwrap_or(0));
        let (path, timeline) = (&*folder.path(), folder.file("timeline.json.gz"));
        let latencies = folder.file("latency.hlog");
        let has_rows = scenario.record_clients != RecordClients::Off;
        let has_timeline = scenario.record_timeline != RecordClients::Off;
        if let Some(FinishedCell { lengths, .. }) = finished.last() {
            let (bytes, arrows) = lengths.timeline;
            let place = (bytes, finished.len() as u64, arrows);
            let shown = || shown(scenario.record_timeline);
            return Ok(Files {
                rounds: TableFile::resume(path, lengths.rounds)?,
                clients: has_rows.then(|| TableFile::resume(path, lengths.clients)).transpose()?,
                timeline: has_timeline
                    .then(|| Timeline::resume(&timeline, shown(), place))
                    .transpose()?,
                latencies: LatencyLog::resume(&latencies, lengths.latencies)?,
            });
        }
        folder.write("scenario.toml", scenario.resolved.as_bytes())?;
        let shown = || shown(scenario.record_timeline);
        Ok(Files {
            clients: has_rows.then(|| TableFile::create(path)).transpose()?,
            rounds: TableFile::create(path)?,
            timeline: has_timeline.then(|| Timeline::create(&timeline, shown())).transpose()?,
            latencies: LatencyLog::create(&latencies)?,
        })
    }
}

/// Latencies of cells that were over before, from their file: they are shown together with the others.
fn recall_latencies(
    folder: &RunFolder,
    summary: &mut Summary,
    repeats: u64,
) -> Result<(), FileError> {
    for (run, phase, histogram) in read_latencies(&folder.file("latency.hlog"))? {
        let its_own = |told: &VariantSummary| run_name(&told.name, told.seed, repeats) == run;
        let Some(told) = summary.variants.iter().find(|told| its_own(told)) else { continue };
        let longest = Span::from_nanos_f64(told.latency_seconds.get(phase).max * 1e9);
        let name = told.name.clone();
        if let Some(phases) = phases_of(summary, &name) {
            phases.add_histogram(phase, &histogram, longest.unwrap_or_default());
        }
    }
    Ok(())
}

/// Where the latencies of a variant are kept, over all seeds: with its first run.
fn phases_of<'a>(summary: &'a mut Summary, variant: &str) -> Option<&'a mut Phases> {
    let first = summary.variants.iter_mut().find(|run| run.name == variant)?;
    Some(first.histograms.get_or_insert_default())
}

fn all_runs(scenario: &Scenario) -> usize {
    scenario.variants.len() * scenario.repeats as usize
}

/// A run that came to some end takes the place of an earlier one, unless it failed before it had anything.
fn settle(folder: &RunFolder, result: &Result<(), Error>) -> Result<(), Error> {
    match result {
        Err(Error::Build { .. } | Error::File(_)) => Ok(()),
        _ => Ok(folder.run_path().settle()?),
    }
}

/// What is written when everything is over, the summary first: it is what counts.
fn write_all(folder: &RunFolder, summary: &Summary, findings: &Findings) -> Result<(), Error> {
    folder.write_summary(summary)?;
    folder.write_findings(findings)?;
    Ok(write_page(&[folder.path()], &folder.file("report.html"))?)
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
    format!("{timing}{clock}")
}

/// The variant's name, and its seed where there are several.
fn run_name(variant: &str, seed: u64, repeats: u64) -> String {
    if repeats > 1 { format!("{variant}-{seed}") } else { variant.to_string() }
}
