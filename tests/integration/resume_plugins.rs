//! A run with plug-ins that remember things goes on to the same bytes: policies remember what they are told again by
//! the replay, a server optimiser what it saves.

use gruppetto::actors::Interrupt;
use gruppetto::aggregate::{
    AggregatedUpdate, Buffers, Contribution, ServerOptimizer, Weight, Weighting,
};
use gruppetto::clock::TimeOverflow;
use gruppetto::metric::{Metric, Metrics};
use gruppetto::observer::{Observer, ObserverError};
use gruppetto::policy::{
    Character, Closing, Feedback, KeyedRng, Opened, RoundOpened, Selector, UpdateArrived, Verdict,
    View, Work, WorkAmount, WorkAsked,
};
use gruppetto::record::ClientRow;
use gruppetto::train::{Job, LocalRun, Measured, Model, TaskDescription, Trainer};
use gruppetto::{Options, Plugins, Run, Scenario, run};
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Asks the clients with the largest norms so far, and counts how often it was asked.
#[derive(Default)]
struct LargestNorms {
    sums: Vec<f64>,
    calls: u64,
}

impl Selector for LargestNorms {
    fn select(&mut self, view: &View<'_>, _: &KeyedRng) -> Vec<u32> {
        self.calls += 1;
        self.sums.resize(view.clients(), 0.0);
        let mut clients: Vec<u32> = view.available_clients().collect();
        let key = |client: u32| {
            let waits = (u64::from(client) + self.calls).is_multiple_of(7);
            self.sums[client as usize] + if waits { 1e6 } else { 0.0 }
        };
        clients.sort_by(|a, b| key(*b).total_cmp(&key(*a)).then(a.cmp(b)));
        clients.truncate(view.wanted);
        clients
    }

    fn heard(&mut self, feedback: &Feedback) {
        if feedback.norm.is_finite() {
            let sum = &mut self.sums[feedback.client as usize];
            *sum = 0.5 * *sum + feedback.norm;
        }
    }
}

/// More steps from call to call.
#[derive(Default)]
struct Growing(u64);

impl Work for Growing {
    fn amount(&mut self, _: &WorkAsked, _: &KeyedRng) -> WorkAmount {
        self.0 += 1;
        WorkAmount::Steps(1 + self.0 / 5)
    }
}

/// Closes with the third update, in every fourth round with the second.
#[derive(Default)]
struct InTurns {
    rounds: u64,
    arrived: u64,
}

impl Closing for InTurns {
    fn character(&self) -> Character {
        Character::ROUNDS.leaving_behind()
    }

    fn opened(&mut self, _: &RoundOpened) -> Result<Opened, TimeOverflow> {
        (self.rounds, self.arrived) = (self.rounds + 1, 0);
        Ok(Opened::default())
    }

    fn arrived(&mut self, _: &UpdateArrived) -> Verdict {
        self.arrived += 1;
        let enough = if self.rounds.is_multiple_of(4) { 2 } else { 3 };
        if self.arrived == enough { Verdict::COUNT_AND_CLOSE } else { Verdict::COUNT }
    }
}

/// A client weighs less the more often it was heard.
#[derive(Default)]
struct LessEachTime(Vec<u32>);

impl Weighting for LessEachTime {
    fn weigh(&mut self, update: &Contribution) -> Weight {
        let client = update.client as usize;
        self.0.resize(self.0.len().max(client + 1), 0);
        self.0[client] += 1;
        Weight::from(update.p / f64::from(self.0[client]))
    }
}

/// The median of the updates, with momentum; or their sum, with momentum.
struct Momentum {
    collects: bool,
    velocity: Vec<f64>,
}

impl ServerOptimizer for Momentum {
    fn collects(&self) -> bool {
        self.collects
    }

    fn apply(&mut self, x: &mut [f64], update: &AggregatedUpdate<'_>) {
        self.velocity.resize(x.len(), 0.0);
        for (i, x) in x.iter_mut().enumerate() {
            let step = if self.collects {
                let of = |held: &_| middle(held, i);
                let mut all: Vec<f64> = update.updates.iter().map(of).collect();
                all.sort_by(f64::total_cmp);
                update.applied.tau_eff * all[all.len() / 2]
            } else {
                update.factor * update.direction[i]
            };
            self.velocity[i] = 0.7 * self.velocity[i] + step;
            *x += self.velocity[i];
        }
    }

    fn save(&self) -> Vec<f64> {
        self.velocity.clone()
    }

    fn load(&mut self, state: &[f64]) {
        self.velocity = state.to_vec();
    }
}

fn middle(held: &gruppetto::aggregate::HeldUpdate, i: usize) -> f64 {
    held.delta[i] / held.update.accumulation
}

/// Client i pulls to (i, −i), by a power of its distance.
struct Pulls(usize);

impl Trainer for Pulls {
    fn description(&self) -> TaskDescription {
        let (p, metrics) = (vec![1.0 / self.0 as f64; self.0], vec![Metric::TrainLoss]);
        TaskDescription {
            buffers: Buffers::NONE,
            parameters: 2,
            p,
            samples: vec![],
            flops: [8.0, 0.0],
            metrics,
        }
    }

    fn begin(&self, job: Job) -> Box<dyn LocalRun> {
        Box::new(Pulled { x: job.model.values().to_vec(), job })
    }

    fn evaluate(&self, model: &Arc<Model>, _: usize, _: Option<&[f64]>) -> Vec<f64> {
        vec![model.values().iter().map(|x| x * x).sum()]
    }

    fn measured(&self, _: &Model, sums: &[f64]) -> Measured {
        let mut metrics = Metrics::default();
        metrics.set(Metric::TrainLoss, sums[0]);
        Measured { metrics, gradients: None }
    }
}

struct Pulled {
    job: Job,
    x: Vec<f64>,
}

impl LocalRun for Pulled {
    fn steps(&mut self, count: u64) {
        for _ in 0..count {
            let client = f64::from(self.job.client) + 0.01 * self.job.round as f64;
            for (x, goal) in self.x.iter_mut().zip([client, -client]) {
                *x -= self.job.solver.lr * (*x - goal).tanh();
            }
        }
    }

    fn change(self: Box<Self>) -> Vec<f64> {
        self.x.iter().zip(self.job.model.values()).map(|(end, start)| end - start).collect()
    }
}

/// Interrupts the run once it was told of so many participations.
struct Interrupts {
    left: u64,
    interrupt: Interrupt,
    told: Arc<AtomicU64>,
}

impl Observer for Interrupts {
    fn arrived(&mut self, rows: &[ClientRow]) -> Result<(), ObserverError> {
        self.told.fetch_add(rows.len() as u64, Ordering::Relaxed);
        self.left = self.left.saturating_sub(rows.len() as u64);
        if self.left == 0 {
            self.interrupt.set();
        }
        Ok(())
    }
}

const SCENARIO: &str = r#"
name = "remembers"
repeats = 2
stop.rounds = 60
[task]
kind = { plugin = "pulls" }
clients = 9
[client]
lr = 0.05
work = { plugin = "growing" }
[server]
sample.clients = 5
late = "stale"
staleness = { polynomial = 0.5 }
close = { plugin = "in-turns" }
scheme = { plugin = "largest-norms" }
weighting = { plugin = "less-each-time" }
[[fleet.class]]
name = "phone"
step_time = { lognormal = { median = "40ms", sigma = 0.8 } }
jitter = 0.4
[[variant]]
name = "sum"
set = { server.optimizer = { plugin = "momentum" } }
[[variant]]
name = "median"
set = { server.optimizer = { plugin = "momentum", collects = true } }
"#;

/// Runs it into `out`; interrupted after so many participations, if asked. Also how many were told.
fn remembering(out: &Path, resume: bool, interrupt_after: u64, threads: usize) -> (Run, u64) {
    let (interrupt, told) = (Interrupt::default(), Arc::new(AtomicU64::new(0)));
    let (given, counted) = (interrupt.clone(), told.clone());
    let plugins = Plugins::new()
        .selector("largest-norms", |_, _| Ok(Box::new(LargestNorms::default())))
        .work("growing", |_, _| Ok(Box::new(Growing::default())))
        .closing("in-turns", |_, _| Ok(Box::new(InTurns::default())))
        .weighting("less-each-time", |_, _| Ok(Box::new(LessEachTime::default())))
        .optimizer("momentum", |parameters, _| {
            let collects = parameters.get_or("collects", false)?;
            Ok(Box::new(Momentum { collects, velocity: Vec::new() }))
        })
        .task("pulls", |_, setup| Ok(Box::new(Pulls(setup.clients))))
        .observer(move |_| {
            let (interrupt, told) = (given.clone(), counted.clone());
            let left = interrupt_after.saturating_sub(told.load(Ordering::Relaxed));
            Some(Box::new(Interrupts { left, interrupt, told }))
        });
    let scenario = Scenario::parse_with("remembers.toml", SCENARIO, &[], None, &plugins)
        .unwrap_or_else(|error| panic!("{error}"));
    let options =
        Options { out: Some(out.into()), resume, threads, interrupt, ..Options::default() };
    let run = run(&scenario, &options, &plugins).unwrap_or_else(|error| panic!("{error}"));
    (run, told.load(Ordering::Relaxed))
}

#[test]
fn plug_ins_that_remember_go_on_to_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let whole = folder.path().join("whole");
    let (undisturbed, all) = remembering(&whole, false, u64::MAX, 1);
    assert!(all > 400, "{all} participations");
    let (mut went_on, mut again) = (0, 0);
    for (index, after) in [1, 30, 77, 150, 203, 260, 333, 390, 480, 555].into_iter().enumerate() {
        let out = folder.path().join(format!("{index}"));
        let (first, _) = remembering(&out, false, after, 1 + index % 3);
        assert_eq!(first.status.name(), "interrupted", "after {after}");
        if index.is_multiple_of(2) {
            // And once more, a little later.
            remembering(&out, true, 25, 2);
        }
        let (second, _) = remembering(&out, true, u64::MAX, 1);
        for (cell, expected) in second.variants.iter().zip(&undisturbed.variants) {
            assert_eq!(cell.model_digest, expected.model_digest, "after {after}");
            assert_eq!(cell.digest, expected.digest, "after {after}");
            let steps = &cell.throughput;
            went_on += usize::from(steps.trained_steps < steps.local_steps);
        }
        again += second.variants.iter().map(|cell| cell.throughput.trained_steps).sum::<u64>();
        for file in ["rounds.csv", "clients.csv", "findings.json", "latency.hlog", "scenario.toml"]
        {
            let [a, b] = [&out, &whole].map(|run| fs::read(run.join(file)).unwrap());
            assert!(a == b, "{file}, interrupted after {after}");
        }
    }
    assert!(went_on >= 8, "{went_on} cells went on from a checkpoint");
    let steps: u64 = undisturbed.variants.iter().map(|cell| cell.throughput.trained_steps).sum();
    assert!(again < 10 * steps, "{again} steps of {}", 10 * steps);
}
