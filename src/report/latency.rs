//! Where time went: one HdrHistogram per phase, and `latency.hlog`.

use super::folder::write_whole;
use super::row_file::FileError;
use super::summary::LatencySummary;
use crate::clock::Span;
use crate::record::{ClientRow, Leg, Outcome};
use hdrhistogram::Histogram;
use hdrhistogram::serialization::V2DeflateSerializer;
use hdrhistogram::serialization::interval_log::{IntervalLogWriterBuilder, Tag};
use std::path::Path;
use std::time::Duration;

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
    /// From being back to being asked again.
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
    /// Adds a participation: what it came to the end of. Who made no step gave up, perhaps in the
    /// middle of its download, and has no latencies to speak of.
    pub fn add(&mut self, row: &ClientRow) {
        self.record(Phase::Idle, row.idle);
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

/// Writes `latency.hlog` in the standard interval-log format: for every run one interval as long
/// as its simulated time, with a histogram of nanoseconds tagged `run.phase` for each phase.
pub fn write_hlog(path: &Path, runs: &[(String, Span, &Phases)]) -> Result<(), FileError> {
    let mut text = Vec::new();
    let mut serializer = V2DeflateSerializer::new();
    let mut log = IntervalLogWriterBuilder::new()
        .add_comment("Gruppetto: simulated latencies in nanoseconds, tagged run.phase")
        // The column of maxima is in milliseconds, as the stock tools print it.
        .with_max_value_divisor(1e6)
        .begin_log_with(&mut text, &mut serializer)
        .expect("writing to memory");
    for (run, length, phases) in runs {
        for phase in Phase::ALL {
            let tag = format!("{run}.{}", phase.name());
            let tag = Tag::new(&tag).expect("run names are plain");
            let length = Duration::from_nanos(length.nanos());
            log.write_histogram(phases.get(phase), Duration::ZERO, length, Some(tag))
                .expect("writing to memory");
        }
    }
    write_whole(path, &text)
}
