//! How values are spread: weighted quantiles and a histogram, in one pass and little memory.

use crate::{Change, Recording};
use serde::Serialize;
use std::collections::BTreeMap;

/// Quantiles, extremes and a histogram.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Spread {
    /// The smallest value.
    pub min: f64,
    /// What 1 % is not above.
    pub p1: f64,
    /// What 10 % are not above.
    pub p10: f64,
    /// The median.
    pub p50: f64,
    /// What 90 % are not above.
    pub p90: f64,
    /// What 99 % are not above.
    pub p99: f64,
    /// The largest value.
    pub max: f64,
    /// From small to large, each a constant factor wide. Zeros have a bin of their own.
    pub histogram: Vec<Bin>,
}

/// A bar of a histogram.
#[derive(Clone, Debug, Serialize)]
pub struct Bin {
    /// From here on.
    pub from: f64,
    /// To here.
    pub to: f64,
    /// The share of everything that lies within.
    pub share: f64,
}

/// Bars of a histogram, besides one for zeros.
const BARS: usize = 12;

/// Weights of values. Values that agree in their first 12 binary digits share a place, under the
/// smallest of them: quantiles are right to 0.03 %, and exact when there are few values.
#[derive(Default)]
pub(crate) struct Weights {
    places: BTreeMap<u32, (f64, f64)>,
    min: f64,
    max: f64,
    /// Devices that told a value.
    pub(super) devices: u64,
}

impl Weights {
    /// Adds what a recording tells of an aspect. A last value without an end counts as long as
    /// the others on average.
    pub(super) fn add(&mut self, recording: &Recording, aspect: impl Fn(&Change) -> Option<f64>) {
        let told = || recording.changes.iter().filter_map(|c| Some((c.at.nanos(), aspect(c)?)));
        let Some((first, _)) = told().next() else {
            return;
        };
        // Since the first: late instants are too long for a double to tell apart.
        let told = || told().map(|(at, value)| ((at - first) as f64, value));
        let count = told().count();
        let last = told().last().map_or(0.0, |(at, _)| at);
        let total = match recording.end {
            Some(end) => (end.nanos() - first) as f64,
            None if count == 1 => 1.0,
            None => last + last / (count - 1) as f64,
        };
        let ends = told().skip(1).map(|(at, _)| at).chain([total]);
        for ((at, value), until) in told().zip(ends) {
            self.weigh(value, (until - at) / total);
        }
        self.devices += 1;
    }

    /// Adds a value.
    pub(crate) fn weigh(&mut self, value: f64, weight: f64) {
        let is_first = self.places.is_empty();
        self.min = if is_first { value } else { self.min.min(value) };
        self.max = if is_first { value } else { self.max.max(value) };
        // Doubles that are not negative are in the order of their bits.
        let place = self.places.entry((value.to_bits() >> 40) as u32).or_insert((value, 0.0));
        place.0 = place.0.min(value);
        place.1 += weight;
    }

    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Everything about them, in a unit of `scale`.
    pub(crate) fn spread(&self, scale: f64) -> Spread {
        let total: f64 = self.places.values().map(|(_, weight)| weight).sum();
        let quantile = |share: f64| {
            let mut below = 0.0;
            for (value, weight) in self.places.values() {
                below += weight;
                // Sums of weights are off by their rounding.
                if below >= share * total * (1.0 - 1e-12) {
                    return value / scale;
                }
            }
            self.max / scale
        };
        Spread {
            min: self.min / scale,
            p1: quantile(0.01),
            p10: quantile(0.1),
            p50: quantile(0.5),
            p90: quantile(0.9),
            p99: quantile(0.99),
            max: self.max / scale,
            histogram: self.histogram(total, scale),
        }
    }

    fn histogram(&self, total: f64, scale: f64) -> Vec<Bin> {
        let mut bins = Vec::new();
        let share = |weight: f64| if total > 0.0 { weight / total } else { 0.0 };
        if let Some((_, zeros)) = self.places.get(&0) {
            bins.push(Bin { from: 0.0, to: 0.0, share: share(*zeros) });
        }
        let above = || self.places.values().filter(|(value, _)| *value > 0.0);
        let Some((low, _)) = above().next() else {
            return bins;
        };
        let (low, high) = (low.ln(), self.max.ln());
        let width = (high - low) / BARS as f64;
        if width < 1e-9 {
            let weight = above().map(|(_, weight)| weight).sum();
            bins.push(Bin { from: low.exp() / scale, to: self.max / scale, share: share(weight) });
            return bins;
        }
        let mut bars = [0.0; BARS];
        for (value, weight) in above() {
            bars[(((value.ln() - low) / width) as usize).min(BARS - 1)] += weight;
        }
        let edge = |bar: usize| (low + width * bar as f64).exp() / scale;
        bins.extend(bars.iter().enumerate().map(|(bar, weight)| Bin {
            from: edge(bar),
            to: edge(bar + 1),
            share: share(*weight),
        }));
        bins
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gruppetto_sim::clock::Span;

    fn recording(rows: &[(u64, f64)], end: Option<u64>) -> Recording {
        let change = |(at, up): &(u64, f64)| Change {
            at: Span::from_nanos(*at),
            up: Some(*up),
            ..Change::default()
        };
        let changes = rows.iter().map(change).collect();
        Recording { device: "a".into(), changes, end: end.map(Span::from_nanos) }
    }

    #[test]
    fn values_count_for_as_long_as_they_held() {
        let mut weights = Weights::default();
        // 10 for a twentieth of the time, 20 for nine, 40 for half.
        weights.add(&recording(&[(0, 10.0), (5, 20.0), (50, 40.0)], Some(100)), |change| change.up);
        let spread = weights.spread(1.0);
        let Spread { min, p1, p10, p50, p90, max, .. } = spread;
        assert_eq!([min, p1, p10, p50, p90, max], [10.0, 10.0, 20.0, 20.0, 40.0, 40.0]);
        let shares: f64 = spread.histogram.iter().map(|bin| bin.share).sum();
        assert!((shares - 1.0).abs() < 1e-12);
    }

    #[test]
    fn every_device_counts_the_same() {
        let mut weights = Weights::default();
        weights.add(&recording(&[(0, 0.0)], Some(1_000_000)), |change| change.up);
        weights.add(&recording(&[(0, 2.0)], None), |change| change.up);
        weights.add(&recording(&[(0, 2.0), (5, 4.0)], None), |change| change.up);
        assert_eq!(weights.devices, 3);
        let spread = weights.spread(2.0);
        assert_eq!((spread.min, spread.p50, spread.p90, spread.max), (0.0, 1.0, 2.0, 2.0));
        assert_eq!(spread.histogram[0].to, 0.0, "zeros apart");
        assert!((spread.histogram[0].share - 1.0 / 3.0).abs() < 1e-12);
    }

    #[test]
    fn late_instants_are_told_apart() {
        let mut weights = Weights::default();
        let late = u64::MAX - 10;
        weights.add(&recording(&[(late, 1.0), (late + 1, 2.0)], Some(late + 10)), |c| c.up);
        weights.add(&recording(&[(late, 1.0)], None), |c| c.up);
        let spread = weights.spread(1.0);
        assert_eq!((spread.p50, spread.p90), (1.0, 2.0));
    }

    #[test]
    fn nothing_is_no_trouble() {
        let spread = Weights::default().spread(1.0);
        assert_eq!((spread.p50, spread.histogram.len()), (0.0, 0));
    }
}
