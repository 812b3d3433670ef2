//! What an entry of `summary.json` consists of.

use super::nan_if_null;
use crate::clock::Span;
use crate::record::{ClientRow, Leg, Outcome};
use serde::{Deserialize, Serialize};

/// How a run's model blew up.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[allow(missing_docs)]
pub struct Diverged {
    pub round: u64,
    pub cause: String,
}

/// Participations that were lost, by where the client was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[allow(missing_docs)]
pub struct Losses {
    pub dropped: Legs,
    pub offline: Legs,
}

/// A count for every leg of a participation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
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
    /// Adds another count.
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[allow(missing_docs)]
pub struct Waited {
    pub rounds: u64,
    #[serde(deserialize_with = "nan_if_null")]
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[allow(missing_docs)]
pub struct TargetReached {
    pub reached: bool,
    pub rounds: Option<u64>,
    pub virtual_seconds: Option<f64>,
}

/// τ over all updates used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[allow(missing_docs)]
#[non_exhaustive]
pub struct TauSummary {
    pub min: u64,
    #[serde(deserialize_with = "nan_if_null")]
    pub mean: f64,
    pub max: u64,
}

/// Measured beside predicted (Theorem 2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TheorySummary {
    /// κ² at the last model compared, with β² = 1: Σ ŵ_i‖∇F_i − Σ ŵ_j∇F_j‖².
    #[serde(deserialize_with = "nan_if_null")]
    pub kappa2: f64,
    /// 2χ²κ²; `None` where some client was never heard.
    pub floor: Option<f64>,
    /// ‖∇F‖² as measured at the end.
    pub grad_norm_squared: Option<f64>,
    /// β² of the tightest pair of constants that holds for all models compared (Assumption 3).
    #[serde(deserialize_with = "nan_if_null")]
    pub tightest_beta2: f64,
    /// κ² of that pair.
    #[serde(deserialize_with = "nan_if_null")]
    pub tightest_kappa2: f64,
}

/// The schedule in the words of Theorem 1, averaged over the rounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[allow(missing_docs)]
pub struct ScheduleSummary {
    #[serde(deserialize_with = "nan_if_null")]
    pub tau_eff: f64,
    /// τ̄/τ_eff.
    #[serde(deserialize_with = "nan_if_null")]
    pub slowdown: f64,
    #[serde(rename = "A", deserialize_with = "nan_if_null")]
    pub a: f64,
    #[serde(rename = "B", deserialize_with = "nan_if_null")]
    pub b: f64,
    #[serde(rename = "C", deserialize_with = "nan_if_null")]
    pub c: f64,
    /// On quadratics, where the theory says how it ends.
    pub fixed_point: Option<RestSummary>,
}

/// Where the run comes to rest by appendix A, at the learning rate of its last round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RestSummary {
    /// ‖x̃ − x*‖.
    #[serde(deserialize_with = "nan_if_null")]
    pub distance: f64,
    /// ‖x − x̃‖: how far from it the run ended; `None` if it diverged or nothing was trained.
    pub gap: Option<f64>,
    /// Steps or participants change from round to round, so the model keeps moving about it.
    pub on_average: bool,
}

/// Bytes that travelled, of transfers that came to their end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[allow(missing_docs)]
pub struct Bytes {
    pub up: u64,
    pub down: u64,
    pub up_wasted: u64,
    pub down_wasted: u64,
}

/// Which cells of a scenario a part of its run has.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[allow(missing_docs)]
pub struct PartOfRun {
    pub number: u64,
    pub of: u64,
    /// Numbers of its cells, from 0.
    pub cells: Vec<u64>,
}

/// How fast this machine was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[allow(missing_docs)]
#[non_exhaustive]
pub struct Throughput {
    #[serde(deserialize_with = "nan_if_null")]
    pub wall_seconds: f64,
    #[serde(deserialize_with = "nan_if_null")]
    pub train_seconds: f64,
    #[serde(deserialize_with = "nan_if_null")]
    pub evaluate_seconds: f64,
    pub local_steps: u64,
    pub trained_steps: u64,
    pub client_rounds: u64,
}

/// One `[[expect]]`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[allow(missing_docs)]
pub struct ExpectResult {
    pub that: String,
    pub ok: bool,
    /// Not measured, because nothing was trained.
    pub skipped: bool,
    pub measured: Option<f64>,
}

/// What belongs to a summary.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[allow(missing_docs)]
pub struct FilesSummary {
    #[serde(rename = "scenario.toml", skip_serializing_if = "Option::is_none")]
    pub scenario: Option<String>,
    #[serde(rename = "rounds.csv", skip_serializing_if = "Option::is_none")]
    pub rounds: Option<u64>,
    #[serde(rename = "clients.csv", skip_serializing_if = "Option::is_none")]
    pub clients: Option<u64>,
}
