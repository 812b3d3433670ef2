//! How latencies and local steps are spread.

use crate::record::ClientRow;
use crate::run_files::{LatencySummary, Phase, Phases};
use hdrhistogram::Histogram;

/// The phases that are shown.
pub(super) const SHOWN: [Phase; 4] = [Phase::Round, Phase::Download, Phase::Compute, Phase::Upload];

/// Latencies of the participations of one run that were seen.
pub(super) enum SeenLatencies {
    /// More of them may come.
    Live(Box<Phases>),
    /// All have come. A scenario may have thousands of runs, and histograms are large.
    Settled(Box<[LatencySummary; 4]>),
}

impl Default for SeenLatencies {
    fn default() -> Self {
        SeenLatencies::Settled(Box::new([LatencySummary::default(); 4]))
    }
}

impl SeenLatencies {
    /// Adds a participation.
    pub(super) fn add(&mut self, row: &ClientRow) {
        if let SeenLatencies::Settled(_) = self {
            *self = SeenLatencies::Live(Box::default());
        }
        if let SeenLatencies::Live(phases) = self {
            phases.add(row);
        }
    }

    /// No more will come.
    pub(super) fn settle(&mut self) {
        *self = SeenLatencies::Settled(Box::new(self.percentiles()));
    }

    /// Of the phases that are shown, in their order.
    pub(super) fn percentiles(&self) -> [LatencySummary; 4] {
        match self {
            SeenLatencies::Live(phases) => SHOWN.map(|phase| phases.summary(phase)),
            SeenLatencies::Settled(percentiles) => **percentiles,
        }
    }
}

/// A bar of the histogram: the updates with a number of local steps in a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct HistogramBar {
    /// At least.
    pub from: u64,
    /// At most.
    pub to: u64,
    /// How many clients.
    pub count: u64,
}

/// How many local steps τ the updates took that were used.
pub(super) struct Taus(Histogram<u32>);

impl Default for Taus {
    fn default() -> Self {
        // Exact up to 255, then to one in a hundred: bars are never finer than that.
        let mut histogram = Histogram::new(2).expect("two digits are allowed");
        histogram.auto(true);
        Taus(histogram)
    }
}

impl Taus {
    /// Adds an update.
    pub(super) fn add(&mut self, tau: u64) {
        self.0.saturating_record(tau);
    }

    /// Smallest, mean and largest, if there are any.
    pub(super) fn range(&self) -> Option<(u64, f64, u64)> {
        (!self.0.is_empty()).then(|| (self.0.min(), self.0.mean(), self.0.max()))
    }

    /// At most `most` bars of the same width, from the fewest steps to the most.
    pub(super) fn bars(&self, most: usize) -> Vec<HistogramBar> {
        let Some((least, _, largest)) = self.range().filter(|_| most > 0) else {
            return Vec::new();
        };
        let width = (largest - least) / most as u64 + 1;
        let count = (largest - least) / width + 1;
        let mut bars: Vec<HistogramBar> = (0..count)
            .map(|bar| least + bar * width)
            .map(|from| HistogramBar {
                from,
                to: largest.min(from.saturating_add(width - 1)),
                count: 0,
            })
            .collect();
        for step in self.0.iter_recorded() {
            let value = step.value_iterated_to().clamp(least, largest);
            bars[((value - least) / width) as usize].count += step.count_since_last_iteration();
        }
        bars
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_hold_everybody_and_never_more_than_there_is_room_for() {
        let mut taus = Taus::default();
        assert!(taus.bars(10).is_empty());
        for tau in [3, 3, 4, 9] {
            taus.add(tau);
        }
        let bar = |from, to, count| HistogramBar { from, to, count };
        assert_eq!(taus.bars(3), [bar(3, 5, 3), bar(6, 8, 0), bar(9, 9, 1)]);
        assert_eq!(taus.bars(100).len(), 7, "one for every number of steps");
        assert_eq!(taus.bars(100)[0], bar(3, 3, 2));
        taus.add(1_000_000_000);
        taus.add(0);
        for most in 1..50 {
            let bars = taus.bars(most);
            assert!(bars.len() <= most);
            assert_eq!(bars.iter().map(|bar| bar.count).sum::<u64>(), 6);
        }
    }
}
