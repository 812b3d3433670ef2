//! One run of a scenario: a variant with a seed.

use super::whole::LatenciesOverSeeds;
use super::{BuildError, Builder, Built, Error, run_name, schedule};
use crate::actors::{Checkpoints, ClockMode, Finished, Interrupt, Simulation, simulate};
use crate::clock::{SimTime, Span};
use crate::observer::Observer;
use crate::report::{
    Detail, Files, Findings, Gathering, Ledger, Mark, RunFolder, latency_lines, save_tensors,
};
use crate::resume::{CellPath, Keeper};
use crate::run_files::{Summary, VariantSummary};
use crate::scenario::{Scenario, Variant};
use crate::server::Resume;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tracing::{info, warn};
use xxhash_rust::xxh3::xxh3_128;

/// One run of a scenario.
pub(super) struct One<'a> {
    pub(super) scenario: &'a Scenario,
    pub(super) variant: &'a Variant,
    pub(super) seed: u64,
    pub(super) builder: Builder<'a>,
    pub(super) clock_mode: ClockMode,
    pub(super) folder: Option<&'a RunFolder>,
    /// How much of it can be shown; `None`: nothing.
    pub(super) detail: Option<Detail>,
    pub(super) interrupt: Interrupt,
}

impl One<'_> {
    /// Runs it, and tells the summary and the findings of it.
    pub(super) fn run(
        &self,
        files: &mut Option<Files>,
        others: Vec<Box<dyn Observer>>,
        checkpoints: Option<(CellPath, Option<Duration>, Option<Resume>)>,
        (summary, findings, latencies): (&mut Summary, &mut Findings, &mut LatenciesOverSeeds),
    ) -> Result<(), Error> {
        let began = Instant::now();
        let plan = &self.variant.plan;
        let wrong = |source| Error::Build { variant: self.variant.name.clone(), source };
        let built = (self.builder)(plan, self.seed).map_err(wrong)?;
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
        if let Some(timeline) = files.as_mut().and_then(|files| files.timeline.as_mut()) {
            timeline.begin(&self.name(), &classes, plan.server.close.is_asynchronous());
            server.log_availability(timeline.shown());
        }
        let mut ledger = Ledger::new(
            &self.variant.name,
            self.seed,
            (classes, &sizes),
            plan.stop.target,
            (self.scenario.record_clients, self.scenario.seed),
            files.take(),
        );
        if let Some(detail) = self.detail {
            ledger.gather(Gathering::new(detail, plan.task.clients, marks));
        }
        let survey = match self.scenario.asks_for_schedule() {
            true => Some(schedule::survey(plan, self.seed).map_err(wrong)?),
            false => None,
        };
        let ledger = Arc::new(Mutex::new(ledger));
        let mut observers: Vec<Box<dyn Observer>> = Vec::new();
        // What is written down first; what looks at it may fail.
        observers.push(Box::new(ledger.clone()));
        observers.extend(survey.iter().map(|survey| Box::new(survey.clone()) as Box<dyn Observer>));
        observers.extend(others);
        let stop_time = plan.stop.time.map(|time| SimTime::from_nanos(time.nanos()));
        let (seed, clock_mode) = (self.seed, self.clock_mode);
        let interrupt = self.interrupt.clone();
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
        let fail = |source| Error::Run { variant: self.variant.name.clone(), source };
        let Finished { parameters, result } = simulate(simulation).map_err(fail)?;
        let mut ledger = ledger.lock().unwrap_or_else(PoisonError::into_inner);
        let returned = ledger.take_files();
        let busy = training.as_ref().map_or([Duration::ZERO; 2], |training| training.pool.busy());
        let bytes: Vec<u8> = parameters.iter().flat_map(|v| v.to_le_bytes()).collect();
        let digest = training.as_ref().map(|_| format!("{:032x}", xxh3_128(&bytes)));
        findings.runs.extend(ledger.findings());
        let (told, phases) = ledger.summary(
            result.as_ref().ok().copied(),
            began.elapsed(),
            (busy, training.as_ref().map_or(0, |training| training.pool.steps())),
            digest.unwrap_or_default(),
        );
        let schedule = survey.and_then(|survey| {
            let trained = training.is_some().then_some(&parameters[..]);
            schedule::conclude(plan, self.seed, &survey, trained)
        });
        let remarks = plan.task.problem.foreign_law(self.seed).map_err(BuildError::from);
        let remarks = remarks.map_err(wrong)?.map_or(Vec::new(), |trainer| trainer.remarks());
        summary.variants.push(VariantSummary { schedule, remarks, ..told });
        latencies.add(summary, &self.variant.name, &phases);
        let trouble = result.err().map(fail);
        *files = match (returned, trouble.is_some()) {
            (Ok(returned), _) => returned,
            // The first trouble is the one to report; it may well be the cause of the next.
            (Err(_), true) => None,
            (Err(error), false) => return Err(error.into()),
        };
        if let (Some(files), Some(run)) = (files, summary.variants.last()) {
            let length = Span::from_nanos_f64(run.virtual_seconds * 1e9).unwrap_or_default();
            files.latencies.add(&latency_lines(&self.name(), length, &phases))?;
        }
        if let Some(trouble) = trouble {
            return Err(trouble);
        }
        // Interrupted while it was replayed, it has no numbers yet: those of its checkpoint stay.
        if let (Some(folder), Some(training), false) =
            (self.folder, &training, parameters.is_empty())
        {
            let name = format!("model-{}.safetensors", self.name());
            save_tensors(&folder.file(&name), &training.trainer.tensors(&parameters))?;
        }
        Ok(())
    }

    /// Logs how it ended.
    pub(super) fn log_end(&self, result: &Result<(), Error>, summary: &Summary) {
        let (variant, seed) = (&self.variant.name, self.seed);
        match (result, summary.variants.last()) {
            (Ok(()), Some(run)) => info!(
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

    fn name(&self) -> String {
        run_name(&self.variant.name, self.seed, self.scenario.repeats)
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
