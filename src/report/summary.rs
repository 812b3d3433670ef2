//! `summary.json`: the numbers scripts rely on.

use super::latency::{Phase, Phases};
use crate::clock::Span;
use crate::metric::{Metric, Metrics};
use crate::record::{Account, ClientRow, Leg, OUTCOMES, Outcome};
use serde::{Serialize, Serializer, ser::SerializeMap};
use std::collections::BTreeMap;

/// The whole scenario.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// The scenario's name.
    pub name: String,
    /// Version of Gruppetto.
    pub version: String,
    /// Whether everything that was asked for is here.
    pub status: Status,
    /// Whether the schedule alone was run.
    pub timing_only: bool,
    /// What went wrong, if something did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Digest of the resolved scenario.
    pub scenario_digest: String,
    /// One entry per variant and seed.
    pub variants: Vec<VariantSummary>,
    /// One entry per variant: mean and spread over its seeds.
    pub over_seeds: Vec<OverSeeds>,
    /// One entry per `[[expect]]`.
    pub expect: Vec<ExpectResult>,
}

/// A variant over all its seeds.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)]
pub struct OverSeeds {
    pub name: String,
    pub seeds: usize,
    pub metrics: BTreeMap<&'static str, Spread>,
    pub rounds: Spread,
    pub virtual_seconds: Spread,
    pub chi2: Spread,
    pub missing_mass: Spread,
    pub waste: Spread,
}

/// The mean of a quantity and, with several seeds, its standard deviation between them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[allow(missing_docs)]
pub struct Spread {
    pub mean: f64,
    pub std: Option<f64>,
}

impl Spread {
    /// Of these values, of which there is at least one.
    pub fn of(values: &[f64]) -> Self {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        Spread { mean, std: (n > 1.0).then(|| (squares / (n - 1.0)).sqrt()) }
    }
}

impl OverSeeds {
    /// Groups runs by variant, in their order.
    pub fn of(runs: &[VariantSummary]) -> Vec<OverSeeds> {
        let groups = runs.chunk_by(|a, b| a.name == b.name);
        groups.map(OverSeeds::of_one).collect()
    }

    fn of_one(runs: &[VariantSummary]) -> OverSeeds {
        let spread = |of: &dyn Fn(&VariantSummary) -> f64| {
            Spread::of(&runs.iter().map(of).collect::<Vec<_>>())
        };
        let metric = |metric: Metric| {
            let values: Option<Vec<f64>> = runs.iter().map(|run| run.metrics.get(metric)).collect();
            Some((metric.name(), Spread::of(&values?)))
        };
        OverSeeds {
            name: runs[0].name.clone(),
            seeds: runs.len(),
            metrics: Metric::ALL.into_iter().filter_map(metric).collect(),
            rounds: spread(&|run| run.rounds as f64),
            virtual_seconds: spread(&|run| run.virtual_seconds),
            chi2: spread(&|run| run.chi2),
            missing_mass: spread(&|run| run.missing_mass),
            waste: spread(&|run| run.waste),
        }
    }
}

/// Whether a run or a scenario came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// It did.
    Complete,
    /// It has not, or not yet.
    Incomplete,
    /// Its model blew up.
    Diverged,
    /// The user ended it: everything up to then is here.
    Interrupted,
}

/// How a run's model blew up.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[allow(missing_docs)]
pub struct Diverged {
    pub round: u64,
    pub cause: String,
}

/// One run.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)]
pub struct VariantSummary {
    pub name: String,
    pub seed: u64,
    pub status: Status,
    /// Why it ended: rounds, time, target, deserted, unreachable, interrupted or diverged; empty if it failed.
    pub stopped_by: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diverged: Option<Diverged>,
    pub rounds: u64,
    pub virtual_seconds: f64,
    /// Before the first round.
    #[serde(serialize_with = "by_name")]
    pub start: Metrics,
    #[serde(serialize_with = "by_name")]
    pub metrics: Metrics,
    #[serde(serialize_with = "by_name")]
    pub best: Metrics,
    pub target: Option<TargetReached>,
    pub chi2: f64,
    pub missing_mass: f64,
    /// What Theorem 2 predicts; nothing where gradients were not compared.
    pub theory: Option<TheorySummary>,
    /// Only where an `[[expect]]` speaks of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schedule: Option<ScheduleSummary>,
    pub tau: TauSummary,
    #[serde(serialize_with = "phases")]
    pub latency_seconds: Phases,
    #[serde(serialize_with = "outcomes")]
    pub outcomes: [u64; OUTCOMES],
    /// Those who were lost on their way, by what happened and where.
    pub losses: Losses,
    /// How often and how long the server waited because too few clients were there.
    pub waited: Waited,
    /// Where the time of everybody's devices went, by class; empty if the run failed.
    #[serde(serialize_with = "accounts")]
    pub time: Vec<(String, Account)>,
    /// Share of the computed device time whose updates were not used.
    pub waste: f64,
    pub throughput: Throughput,
    /// Digest of everything that happened, in order.
    pub digest: String,
    /// Digest of the final parameters; empty in runs that do not train.
    pub model_digest: String,
}

impl std::fmt::Debug for Phases {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(Phase::ALL.map(|phase| (phase, self.get(phase).len()))).finish()
    }
}

/// Those who were lost on their way, by where they were.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[allow(missing_docs)]
pub struct Losses {
    pub dropped: Legs,
    pub offline: Legs,
}

/// A count for every leg of a way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[allow(missing_docs)]
pub struct Legs {
    pub download: u64,
    pub compute: u64,
    pub upload: u64,
}

impl Legs {
    fn merge(&mut self, other: &Legs) {
        self.download += other.download;
        self.compute += other.compute;
        self.upload += other.upload;
    }
}

impl Losses {
    /// Adds everybody of another count.
    pub fn merge(&mut self, other: &Losses) {
        self.dropped.merge(&other.dropped);
        self.offline.merge(&other.offline);
    }

    /// Counts a client that was lost.
    pub fn add(&mut self, row: &ClientRow) {
        let legs = match row.outcome {
            Outcome::Dropped => &mut self.dropped,
            Outcome::Offline => &mut self.offline,
            _ => return,
        };
        match row.leg {
            Leg::Download => legs.download += 1,
            Leg::Compute => legs.compute += 1,
            Leg::Upload | Leg::Done => legs.upload += 1,
        }
    }
}

/// How often and how long the server waited because too few clients were there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[allow(missing_docs)]
pub struct Waited {
    pub rounds: u64,
    pub seconds: f64,
}

impl Waited {
    /// Adds a round that was waited for.
    pub fn add(&mut self, span: Span) {
        if span > Span::ZERO {
            self.rounds += 1;
            self.seconds += span.seconds();
        }
    }
}

/// When `[stop] target` was first met.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[allow(missing_docs)]
pub struct TargetReached {
    pub reached: bool,
    pub rounds: Option<u64>,
    pub virtual_seconds: Option<f64>,
}

/// τ over all updates used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[allow(missing_docs)]
pub struct TauSummary {
    pub min: u64,
    pub mean: f64,
    pub max: u64,
}

/// Measured beside predicted (Theorem 2).
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct TheorySummary {
    /// κ² at the last model compared, with β² = 1: Σ ŵ_i‖∇F_i − Σ ŵ_j∇F_j‖².
    pub kappa2: f64,
    /// 2χ²κ²; `None` where some client was never heard.
    pub floor: Option<f64>,
    /// ‖∇F‖² as measured at the end.
    pub grad_norm_squared: Option<f64>,
    /// β² of the tightest pair of constants that holds for all models compared (Assumption 3).
    pub tightest_beta2: f64,
    /// κ² of that pair.
    pub tightest_kappa2: f64,
}

/// The schedule in the words of Theorem 1, averaged over the rounds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[allow(missing_docs)]
pub struct ScheduleSummary {
    pub tau_eff: f64,
    /// τ̄/τ_eff.
    pub slowdown: f64,
    #[serde(rename = "A")]
    pub a: f64,
    #[serde(rename = "B")]
    pub b: f64,
    #[serde(rename = "C")]
    pub c: f64,
    /// On quadratics, where the theory says how it ends.
    pub fixed_point: Option<RestSummary>,
}

/// Where the run comes to rest by appendix A, at the learning rate of its last round.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RestSummary {
    /// ‖x̃ − x*‖.
    pub distance: f64,
    /// ‖x − x̃‖: how far from it the run ended; `None` if it diverged or nothing was trained.
    pub gap: Option<f64>,
    /// Steps or participants change from round to round, so the model keeps moving about it.
    pub on_average: bool,
}

/// How fast this machine was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[allow(missing_docs)]
pub struct Throughput {
    pub wall_seconds: f64,
    pub train_seconds: f64,
    pub local_steps: u64,
    pub client_rounds: u64,
}

/// One phase's latencies in seconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[allow(missing_docs)]
pub struct LatencySummary {
    pub count: u64,
    pub mean: f64,
    pub p50: f64,
    pub p90: f64,
    pub p99: f64,
    pub p999: f64,
    pub max: f64,
}

/// One `[[expect]]`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[allow(missing_docs)]
pub struct ExpectResult {
    pub that: String,
    pub ok: bool,
    /// Not measured, because nothing was trained.
    pub skipped: bool,
    pub measured: Option<f64>,
}

fn by_name<S: Serializer>(metrics: &Metrics, to: S) -> Result<S::Ok, S::Error> {
    let mut map = to.serialize_map(Some(Metric::ALL.len()))?;
    for metric in Metric::ALL {
        // Not a number is not JSON; null says that there is none.
        map.serialize_entry(metric.name(), &metrics.get(metric).filter(|v| v.is_finite()))?;
    }
    map.end()
}

fn phases<S: Serializer>(phases: &Phases, to: S) -> Result<S::Ok, S::Error> {
    let mut map = to.serialize_map(Some(Phase::ALL.len()))?;
    for phase in Phase::ALL {
        map.serialize_entry(phase.name(), &phases.summary(phase))?;
    }
    map.end()
}

fn outcomes<S: Serializer>(outcomes: &[u64; OUTCOMES], to: S) -> Result<S::Ok, S::Error> {
    let mut map = to.serialize_map(Some(Outcome::ALL.len()))?;
    for outcome in Outcome::ALL {
        map.serialize_entry(outcome.name(), &outcomes[outcome as usize])?;
    }
    map.end()
}

fn accounts<S: Serializer>(accounts: &[(String, Account)], to: S) -> Result<S::Ok, S::Error> {
    let seconds = |nanos: u128| nanos as f64 / 1e9;
    let mut map = to.serialize_map(Some(accounts.len()))?;
    for (class, Account { compute, transfer, idle, offline }) in accounts {
        let parts = [
            ("compute_seconds", seconds(*compute)),
            ("transfer_seconds", seconds(*transfer)),
            ("idle_seconds", seconds(*idle)),
            ("offline_seconds", seconds(*offline)),
        ];
        map.serialize_entry(class, &BTreeMap::from(parts))?;
    }
    map.end()
}
