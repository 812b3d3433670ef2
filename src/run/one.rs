//! One run of a scenario: a variant with a seed.

use super::cells::Cell;
use super::{BuildError, Builder, Built, Error, schedule};
use crate::actors::{Checkpoints, ClockMode, Finished, Interrupt, Simulation, simulate};
use crate::clock::{SimTime, Span};
use crate::observer::Observer;
use crate::report::{
    Detail, FileError, Files, Gathering, Ledger, Mark, RunFindings, RunFolder, latency_lines,
    save_tensors,
};
use crate::resume::{CellPath, Keeper};
use crate::run_files::{CellId, Phases, VariantSummary};
use crate::scenario::Scenario;
use crate::server::Resume;
use crate::train::Training;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tracing::{info, warn};
use xxhash_rust::xxh3::xxh3_128;

/// One run of a scenario.
pub(super) struct One<'a> {
    pub(super) scenario: &'a Scenario,
    pub(super) cell: Cell<'a>,
    pub(super) builder: Builder<'a>,
    /// Threads that help the simulation's own.
    pub(super) helpers: usize,
    pub(super) clock_mode: ClockMode,
    pub(super) folder: Option<&'a RunFolder>,
    /// How much of it can be shown; `None`: nothing.
    pub(super) detail: Option<Detail>,
    pub(super) interrupt: Interrupt,
    /// Where it can be reached while it goes on.
    pub(super) live: Arc<LiveCell>,
}

/// A cell that goes on, for those who run it beside others.
#[derive(Default)]
pub(super) struct LiveCell {
    ledger: Mutex<Option<Arc<Mutex<Ledger>>>>,
    is_at_top: AtomicBool,
}

impl LiveCell {
    /// The cell's turn has come: what it has written goes to the files at the top, and what it writes from now on. Gives
    /// the files back if it has not begun, or is over.
    pub(super) fn move_to(&self, top: Files, cell: &CellPath) -> Result<Option<Files>, FileError> {
        let Some(ledger) = locked(&self.ledger).clone() else { return Ok(Some(top)) };
        let mut ledger = locked(&ledger);
        let back = cell.using(|cell| ledger.move_to(top, cell))?;
        self.is_at_top.store(back.is_none(), Ordering::Release);
        Ok(back)
    }

    /// Whether it writes to the files at the top.
    pub(super) fn is_at_top(&self) -> bool {
        self.is_at_top.load(Ordering::Acquire)
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a run came to.
pub(super) struct CellOutcome {
    /// Its entry in `summary.json`, if it came as far as that.
    pub(super) told: Option<Told>,
    /// Its files, as they were given to it.
    pub(super) files: Option<Files>,
    /// What went wrong.
    pub(super) trouble: Option<Error>,
}

/// What is known of a run that is over.
pub(super) struct Told {
    pub(super) summary: VariantSummary,
    pub(super) findings: Option<RunFindings>,
    pub(super) phases: Phases,
}

/// Where the checkpoints of a run go, how often there is one, and the one that it goes on from.
pub(super) type CellCheckpoints = (CellPath, Option<Duration>, Option<Resume>);

impl One<'_> {
    /// Runs it.
    pub(super) fn run(
        &self,
        files: Option<Files>,
        others: Vec<Box<dyn Observer>>,
        checkpoints: Option<CellCheckpoints>,
    ) -> CellOutcome {
        info!(variant = self.cell.variant.name, seed = self.cell.seed, "run begins");
        let mut outcome = CellOutcome { told: None, files, trouble: None };
        if let Err(error) = self.run_into(&mut outcome, others, checkpoints) {
            outcome.trouble.get_or_insert(error);
        }
        self.log_end(&outcome);
        outcome
    }

    fn run_into(
        &self,
        outcome: &mut CellOutcome,
        others: Vec<Box<dyn Observer>>,
        checkpoints: Option<CellCheckpoints>,
    ) -> Result<(), Error> {
        let began = Instant::now();
        let Cell { variant, seed, number } = self.cell;
        let plan = &variant.plan;
        let wrong = |source| Error::Build { variant: variant.name.clone(), source };
        let built = (self.builder)(plan, seed, self.helpers).map_err(wrong)?;
        let Built { mut server, client_side, training } = built;
        let mut keeper = None;
        if let Some((folder, interval, resume)) = checkpoints {
            if let Some(resume) = resume {
                let position = resume.checkpoint.position;
                info!(
                    rounds = position.rounds,
                    arrivals = position.arrivals,
                    "replays up to its checkpoint"
                );
                server.replay(resume);
            }
            let start = |interval| Keeper::start(folder, interval);
            keeper = interval.map(start).transpose()?;
        }
        let keeper = keeper.map(|keeper| Box::new(keeper) as Box<dyn Checkpoints>);
        let (classes, sizes) = (client_side.fleet.class_names(), client_side.fleet.class_sizes());
        let marks = plan.events.iter().map(|event| Mark::of(event, &classes)).collect();
        let id = self.id();
        if let Some(timeline) = outcome.files.as_mut().and_then(|files| files.timeline.as_mut()) {
            let one_by_one = plan.server.close.is_asynchronous();
            timeline.begin(number as u64, &self.name_in_timeline(&id), &classes, one_by_one);
            server.log_availability(timeline.shown());
        }
        let mut ledger = Ledger::new(
            id.clone(),
            plan.payload(),
            (classes, &sizes),
            plan.stop.target,
            (self.scenario.record_clients, self.scenario.seed),
            outcome.files.take(),
        );
        if let Some(detail) = self.detail {
            ledger.gather(Gathering::new(detail, plan.task.clients, marks));
        }
        let survey = match self.scenario.asks_for_schedule() {
            true => Some(schedule::survey(plan, seed).map_err(wrong)?),
            false => None,
        };
        let ledger = Arc::new(Mutex::new(ledger));
        *locked(&self.live.ledger) = Some(ledger.clone());
        let mut observers: Vec<Box<dyn Observer>> = Vec::new();
        // What is written down first; what looks at it may fail.
        observers.push(Box::new(ledger.clone()));
        observers.extend(survey.iter().map(|survey| Box::new(survey.clone()) as Box<dyn Observer>));
        observers.extend(others);
        let stop_time = plan.stop.time.map(|time| SimTime::from_nanos(time.nanos()));
        let (clock_mode, interrupt) = (self.clock_mode, self.interrupt.clone());
        let simulation = Simulation {
            seed,
            server,
            client_side,
            observers,
            clock_mode,
            stop_time,
            interrupt,
            checkpoints: keeper,
        };
        warn_if_too_fast(&simulation);
        let fail = |source| Error::Run { variant: variant.name.clone(), source };
        let Finished { parameters, result } = simulate(simulation).map_err(fail)?;
        let mut ledger = locked(&ledger);
        let returned = ledger.take_files();
        let busy = training.as_ref().map_or([Duration::ZERO; 2], |training| training.pool.busy());
        let bytes: Vec<u8> = parameters.iter().flat_map(|v| v.to_le_bytes()).collect();
        let digest = training.as_ref().map(|_| format!("{:032x}", xxh3_128(&bytes)));
        let (told, phases) = ledger.summary(
            result.as_ref().ok().copied(),
            began.elapsed(),
            (busy, training.as_ref().map_or(0, |training| training.pool.steps())),
            digest.unwrap_or_default(),
        );
        let schedule = survey.and_then(|survey| {
            let trained = training.is_some().then_some(&parameters[..]);
            schedule::conclude(plan, seed, &survey, trained)
        });
        let remarks = plan.task.problem.foreign_law(seed).map_err(BuildError::from);
        let remarks = remarks.map_err(wrong)?.map_or(Vec::new(), |trainer| trainer.remarks());
        let length = Span::from_nanos_f64(told.virtual_seconds * 1e9).unwrap_or_default();
        let lines = latency_lines(&id.file_name(), length, &phases);
        let summary = VariantSummary { schedule, remarks, ..told };
        outcome.told = Some(Told { summary, findings: ledger.findings(), phases });
        // The first trouble is the one to report; it may well be the cause of the next.
        outcome.trouble = result.err().map(fail);
        outcome.files = returned?;
        if let Some(files) = &mut outcome.files {
            files.latencies.add(&lines)?;
        }
        if outcome.trouble.is_none() {
            self.save_model(&id, training.as_ref(), &parameters)?;
        }
        Ok(())
    }

    fn save_model(
        &self,
        id: &CellId,
        training: Option<&Training>,
        parameters: &[f64],
    ) -> Result<(), Error> {
        // Interrupted while it was replayed, it has no numbers yet: those of its checkpoint stay.
        if let (Some(folder), Some(training), false) =
            (self.folder, training, parameters.is_empty())
        {
            let name = format!("model-{}.safetensors", id.file_name());
            let tensors = training.trainer.tensors(parameters);
            folder.run_path().using(|folder| save_tensors(&folder.join(name), &tensors))?;
        }
        Ok(())
    }

    fn name_in_timeline(&self, id: &CellId) -> String {
        if id.cell.is_some() { id.title() } else { id.file_name() }
    }

    /// Logs how it ended.
    fn log_end(&self, outcome: &CellOutcome) {
        let Cell { variant, seed, .. } = self.cell;
        let variant = &variant.name;
        match (&outcome.trouble, &outcome.told) {
            (None, Some(Told { summary: run, .. })) => info!(
                variant,
                seed,
                stopped_by = run.stopped_by,
                rounds = run.rounds,
                virtual_seconds = run.virtual_seconds,
                wall_seconds = run.throughput.wall_seconds,
                "run ends"
            ),
            // The error itself is told by whoever asked for the run.
            _ => info!(variant, seed, "run fails"),
        }
    }

    fn id(&self) -> CellId {
        self.cell.id(self.scenario)
    }
}

/// Timers of the operating system tick in milliseconds: steps that are shorter than that in real time
/// take longer than they should, and there are fewer of them.
fn warn_if_too_fast(simulation: &Simulation) {
    let ClockMode::Wall(speedup) = simulation.clock_mode else {
        return;
    };
    let steps = simulation.client_side.fleet.devices.iter().map(|device| device.step.seconds());
    let real = steps.fold(f64::INFINITY, f64::min) / speedup;
    if real < 0.002 {
        warn!(
            "the shortest step takes {:.3} ms of real time, less than timers can tell; \
             expect fewer local steps than in virtual time, or use a smaller --speedup",
            real * 1e3
        );
    }
}
