//! What `report.html` is drawn from: a run boiled down to a bounded number of figures.
//!
//! ```text
//!   rows ──► ByClass: latencies, τ, outcomes ──┐
//!        └─► Lanes: a window of a few clients ─┼─► RunFindings ──► findings.json ──► report.html
//!   rounds ─► Thinned: curves of 600 points ───┤
//!   end ────► heard: p_i against ŵ_i ──────────┘
//! ```
//!
//! However long a run is and however many clients it has, its findings stay small: a page must open at
//! once. Where something had to be left out, the rest still tells the truth: curves are thinned evenly,
//! clients are counted in cells, classes beyond the eighth are taken together.

mod by_class;
mod gathering;
mod heard;
mod lanes;
mod marks;
mod thinned;

pub(super) use by_class::{ByClass, Classes};
pub use gathering::{Gathering, RunFindings};
pub use marks::Mark;

use serde::{Deserialize, Serialize};

/// `findings.json`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Findings {
    pub description: String,
    /// As in `summary.json`: they belong together.
    pub scenario_digest: String,
    pub target: Option<serde_json::Value>,
    /// How it was asked for beside its scenario, as arguments.
    pub flags: String,
    /// In the order of `summary.json`, as many as there is room for.
    pub runs: Vec<RunFindings>,
    /// Runs that there was no room for.
    pub left_out: usize,
}

impl Findings {
    /// The name of the file.
    pub const FILE: &'static str = "findings.json";
}

/// How much a run may tell, by how many there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Detail {
    /// Points of a curve.
    pub points: usize,
    /// Clients that are told one by one.
    pub clients: usize,
    /// Whether there is room for latencies by class, lanes and clients: other seeds look much the same.
    pub whole: bool,
}

/// Runs that are told of at all.
pub const MOST_RUNS: usize = 300;

impl Detail {
    /// For one of `runs` runs of a page, the first of its variant or not.
    pub fn of(runs: usize, is_first: bool) -> Self {
        let share = |all: usize, least: usize| (all * 8 / runs.max(8)).max(least);
        Detail { points: share(600, 60), clients: share(2000, 250), whole: is_first || runs <= 8 }
    }
}

/// Six digits, for what is drawn and not read.
pub(super) fn rough(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    format!("{value:.5e}").parse().unwrap_or(value)
}
