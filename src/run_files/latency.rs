//! Where time went: a histogram per phase, and the percentiles of it that `summary.json` has.

use super::summary_json::nan_if_null;
use crate::clock::Span;
use crate::record::{ClientRow, Leg, Outcome};
use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};
use std::fmt;

/// What is timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Fetching the model.
    Download,
    /// Local steps.
    Compute,
    /// Sending the update.
    Upload,
    /// From being asked to being back.
    Round,
    /// How long an arriving update's model had been out of date.
    Staleness,
    /// From being back to being asked again, without the time away.
    Idle,
}

impl Phase {
    /// Every phase, in file order.
    pub const ALL: [Phase; 6] = [
        Phase::Download,
        Phase::Compute,
        Phase::Upload,
        Phase::Round,
        Phase::Staleness,
        Phase::Idle,
    ];

    /// The name in files.
    pub const fn name(self) -> &'static str {
        match self {
            Phase::Download => "download",
            Phase::Compute => "compute",
            Phase::Upload => "upload",
            Phase::Round => "round",
            Phase::Staleness => "staleness",
            Phase::Idle => "idle",
        }
    }
}

/// A histogram of nanoseconds per phase, three significant digits. Counts and maxima are exact.
#[derive(Clone)]
pub struct Phases {
    histograms: [Histogram<u64>; 6],
    longest: [Span; 6],
}

impl Default for Phases {
    fn default() -> Self {
        let histograms = std::array::from_fn(|_| {
            let mut histogram = Histogram::new(3).expect("three digits are allowed");
            histogram.auto(true);
            histogram
        });
        Phases { histograms, longest: [Span::ZERO; 6] }
    }
}

impl Phases {
    /// Adds the histogram of a phase, with its longest time.
    pub fn add_histogram(&mut self, phase: Phase, histogram: &Histogram<u64>, longest: Span) {
        let own = &mut self.histograms[phase as usize];
        own.add(histogram).expect("histograms that grow as needed");
        self.longest[phase as usize] = self.longest[phase as usize].max(longest);
    }

    /// Adds a participation: what it came to the end of. Who made no step gave up, perhaps in the
    /// middle of its download, and has no latencies to speak of.
    pub fn add(&mut self, row: &ClientRow) {
        if let Some(idle) = row.idle {
            self.record(Phase::Idle, idle);
        }
        if row.outcome == Outcome::NoStep {
            return;
        }
        if row.leg > Leg::Download {
            self.record(Phase::Download, row.download);
        }
        if row.leg > Leg::Compute {
            self.record(Phase::Compute, row.compute);
        }
        if row.leg > Leg::Upload {
            self.record(Phase::Upload, row.upload);
            self.record(Phase::Round, row.arrived.since(row.dispatched));
            self.record(Phase::Staleness, row.superseded);
        }
    }

    /// Adds everything of another run.
    pub fn merge(&mut self, other: &Phases) {
        for phase in Phase::ALL {
            let i = phase as usize;
            self.histograms[i].add(&other.histograms[i]).expect("histograms that grow as needed");
            self.longest[i] = self.longest[i].max(other.longest[i]);
        }
    }

    /// The histogram of a phase.
    pub fn get(&self, phase: Phase) -> &Histogram<u64> {
        &self.histograms[phase as usize]
    }

    /// The longest time of a phase, exactly.
    pub fn longest(&self, phase: Phase) -> Span {
        self.longest[phase as usize]
    }

    /// Percentiles of a phase, in seconds.
    pub fn summary(&self, phase: Phase) -> LatencySummary {
        let histogram = self.get(phase);
        let seconds = |nanos: u64| Span::from_nanos(nanos).seconds();
        let longest = self.longest[phase as usize];
        // A bucket's upper end may lie beyond the longest time that was ever seen.
        let quantile = |q| seconds(histogram.value_at_quantile(q).min(longest.nanos()));
        LatencySummary {
            count: histogram.len(),
            mean: histogram.mean() / 1e9,
            p50: quantile(0.5),
            p90: quantile(0.9),
            p99: quantile(0.99),
            p999: quantile(0.999),
            max: longest.seconds(),
        }
    }

    fn record(&mut self, phase: Phase, span: Span) {
        // The histogram grows as needed, up to the clock's whole range.
        let histogram = &mut self.histograms[phase as usize];
        histogram.record(span.nanos()).expect("every u64 of nanoseconds fits");
        self.longest[phase as usize] = self.longest[phase as usize].max(span);
    }
}

impl fmt::Debug for Phases {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(Phase::ALL.map(|phase| (phase, self.get(phase).len()))).finish()
    }
}

/// One phase's latencies in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[allow(missing_docs)]
pub struct LatencySummary {
    pub count: u64,
    #[serde(deserialize_with = "nan_if_null")]
    pub mean: f64,
    pub p50: f64,
    pub p90: f64,
    pub p99: f64,
    pub p999: f64,
    pub max: f64,
}

/// The latencies of every phase, as `summary.json` has them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Latencies([LatencySummary; 6]);

impl Latencies {
    /// Of these histograms.
    pub fn of(phases: &Phases) -> Self {
        Latencies(Phase::ALL.map(|phase| phases.summary(phase)))
    }

    /// Of one phase.
    pub fn get(&self, phase: Phase) -> LatencySummary {
        self.0[phase as usize]
    }

    /// Sets those of one phase.
    pub fn set(&mut self, phase: Phase, latency: LatencySummary) {
        self.0[phase as usize] = latency;
    }

    /// Whether nothing was timed.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|latency| latency.count == 0)
    }
}
