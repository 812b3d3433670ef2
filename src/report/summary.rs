//! `summary.json`: the numbers scripts rely on.

use super::latency::{Phase, Phases};
use crate::metric::{Metric, Metrics};
use crate::record::Outcome;
use serde::{Serialize, Serializer, ser::SerializeMap};

/// The whole scenario.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// The scenario's name.
    pub name: String,
    /// Version of Gruppetto.
    pub version: String,
    /// Whether everything that was asked for is here.
    pub status: Status,
    /// What went wrong, if something did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Digest of the resolved scenario.
    pub scenario_digest: String,
    /// One entry per variant and seed.
    pub variants: Vec<VariantSummary>,
    /// One entry per `[[expect]]`.
    pub expect: Vec<ExpectResult>,
}

/// Whether a run or a scenario came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// It did.
    Complete,
    /// It has not, or not yet.
    Incomplete,
}

/// One run.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)]
pub struct VariantSummary {
    pub name: String,
    pub seed: u64,
    pub status: Status,
    /// Why it ended: rounds, time, target or diverged; empty if it failed.
    pub stopped_by: &'static str,
    pub rounds: u64,
    pub virtual_seconds: f64,
    #[serde(serialize_with = "by_name")]
    pub metrics: Metrics,
    #[serde(serialize_with = "by_name")]
    pub best: Metrics,
    pub target: Option<TargetReached>,
    pub chi2: f64,
    pub missing_mass: f64,
    pub tau: TauSummary,
    #[serde(serialize_with = "phases")]
    pub latency_seconds: Phases,
    #[serde(serialize_with = "outcomes")]
    pub outcomes: [u64; 4],
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

fn outcomes<S: Serializer>(outcomes: &[u64; 4], to: S) -> Result<S::Ok, S::Error> {
    let mut map = to.serialize_map(Some(Outcome::ALL.len() + 1))?;
    for outcome in Outcome::ALL {
        map.serialize_entry(outcome.name(), &outcomes[outcome as usize])?;
    }
    // Devices that vanish in the middle of a round are not simulated yet.
    map.serialize_entry("dropped", &0)?;
    map.end()
}
