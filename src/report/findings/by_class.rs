//! What the devices of each class did.

use super::rough;
use crate::record::{ClientRow, OUTCOMES, Outcome};
use crate::run_files::{Losses, Phase, Phases};
use hdrhistogram::Histogram;
use serde_json::{Value, json};

/// Classes that are told apart; all further ones are "others".
const MOST: usize = 9;
/// Bars of a histogram.
const BINS: u64 = 40;

/// Which classes are told apart.
#[derive(Clone, Debug)]
pub(in crate::report) struct Classes {
    names: Vec<String>,
    clients: Vec<u64>,
}

impl Classes {
    /// Of a fleet whose classes have these names and so many clients.
    pub(in crate::report) fn new(names: &[String], clients: &[u64]) -> Self {
        let mut all = Classes { names: Vec::new(), clients: vec![0; names.len().min(MOST)] };
        all.names = names.iter().take(MOST).cloned().collect();
        if names.len() > MOST {
            all.names[MOST - 1] = "others".into();
        }
        for (class, count) in clients.iter().enumerate() {
            let place = all.place(class as u16);
            all.clients[place] += count;
        }
        all
    }

    pub(in crate::report) fn len(&self) -> usize {
        self.names.len()
    }

    /// Where a class is told of.
    pub(in crate::report) fn place(&self, class: u16) -> usize {
        usize::from(class).min(self.names.len() - 1)
    }

    pub(super) fn json(&self) -> Value {
        let class = |(name, clients)| json!({ "name": name, "clients": clients });
        self.names.iter().zip(&self.clients).map(class).collect()
    }
}

/// One class in figures.
#[derive(Clone)]
pub(in crate::report) struct ByClass {
    pub(in crate::report) phases: Phases,
    pub(in crate::report) outcomes: [u64; OUTCOMES],
    pub(in crate::report) losses: Losses,
    /// Nanoseconds of computing whose updates were not used.
    pub(in crate::report) wasted: u128,
    tau: Histogram<u64>,
    staleness: Histogram<u64>,
}

impl Default for ByClass {
    fn default() -> Self {
        let histogram = || {
            let mut histogram = Histogram::new(3).expect("three digits are allowed");
            histogram.auto(true);
            histogram
        };
        ByClass {
            phases: Phases::default(),
            outcomes: [0; OUTCOMES],
            losses: Losses::default(),
            wasted: 0,
            tau: histogram(),
            staleness: histogram(),
        }
    }
}

impl ByClass {
    /// Adds a participation that is over, whatever becomes of its update.
    pub(in crate::report) fn arrived(&mut self, row: &ClientRow) {
        if row.outcome == Outcome::Unfinished {
            // It was called back: how long it would have taken nobody knows.
            self.outcomes[Outcome::Unfinished as usize] += 1;
            return;
        }
        self.phases.add(row);
        if row.outcome != Outcome::Used {
            self.outcomes[row.outcome as usize] += 1;
            self.losses.add(row);
            self.wasted += u128::from(row.compute.nanos());
        }
    }

    /// Its update moved the model.
    #[inline]
    pub(in crate::report) fn used(&mut self, tau: u64, staleness: u64) {
        self.outcomes[Outcome::Used as usize] += 1;
        self.tau.record(tau).expect("every u64 fits");
        self.staleness.record(staleness).expect("every u64 fits");
    }

    /// Its round never closed.
    pub(in crate::report) fn unfinished(&mut self, compute: u64) {
        self.outcomes[Outcome::Unfinished as usize] += 1;
        self.wasted += u128::from(compute);
    }

    pub(super) fn outcomes_json(&self, class: usize) -> Value {
        let count = |outcome: Outcome| self.outcomes[outcome as usize];
        json!({
            "class": class,
            "used": count(Outcome::Used),
            "late": count(Outcome::Late),
            "no_step": count(Outcome::NoStep),
            "unfinished": count(Outcome::Unfinished),
            "dropped": self.losses.dropped,
            "offline": self.losses.offline,
        })
    }

    pub(super) fn tau_json(&self, class: usize) -> Value {
        json!({
            "class": class,
            "count": self.tau.len(),
            "mean": rough(self.tau.mean()),
            "bins": bins(&self.tau),
        })
    }
}

/// How stale the updates used were, in bins; none if nobody's was.
pub(super) fn staleness(classes: &[ByClass]) -> Vec<[u64; 3]> {
    let mut all = ByClass::default().staleness;
    for class in classes {
        all.add(&class.staleness).expect("histograms that grow as needed");
    }
    if all.is_empty() || all.max() == 0 {
        return Vec::new();
    }
    bins(&all)
}

/// Whole numbers from `low` to `high` and how many there are, in at most [`BINS`] bars. Widths are powers
/// of two and bars begin at their multiples, so that those of other seeds fit into them or around them.
fn bins(histogram: &Histogram<u64>) -> Vec<[u64; 3]> {
    if histogram.is_empty() {
        return Vec::new();
    }
    let (low, high) = (histogram.min(), histogram.max());
    let width = ((high - low) / (BINS - 1) + 1).next_power_of_two();
    let low = low / width * width;
    let mut bins: Vec<[u64; 3]> = (0..=(high - low) / width)
        .map(|bin| {
            let from = low + bin * width;
            [from, from.saturating_add(width - 1), 0]
        })
        .collect();
    for value in histogram.iter_recorded() {
        let at = value.value_iterated_to().clamp(low, high);
        bins[((at - low) / width) as usize][2] += value.count_at_value();
    }
    bins
}

/// Percentile curves of every phase, of everybody or of one class.
pub(super) fn latencies(phases: &Phases, class: Option<usize>) -> impl Iterator<Item = Value> + '_ {
    Phase::ALL.into_iter().filter(|phase| !phases.get(*phase).is_empty()).map(move |phase| {
        let summary = phases.summary(phase);
        let (histogram, longest) = (phases.get(phase), phases.longest(phase).nanos());
        // Even steps on an axis on which every further nine is as far as the one before.
        let nines = (histogram.len() as f64).log10().clamp(1.0, 6.0);
        let steps = (6.0 * nines) as usize;
        let at = |step: usize| 1.0 - 10f64.powf(-nines * step as f64 / steps as f64);
        let seconds = |q| histogram.value_at_quantile(q).min(longest) as f64 / 1e9;
        let mut curve: Vec<[f64; 2]> =
            (0..=steps).map(|step| [rough(at(step)), rough(seconds(at(step)))]).collect();
        curve.push([1.0, summary.max]);
        json!({
            "class": class,
            "phase": phase.name(),
            "count": summary.count,
            "p50": summary.p50,
            "p90": summary.p90,
            "p99": summary.p99,
            "p999": summary.p999,
            "max": summary.max,
            "curve": curve,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_hold_everything_once() {
        let mut histogram = ByClass::default().tau;
        for (value, count) in [(3, 5), (4, 1), (200, 7), (1999, 2)] {
            histogram.record_n(value, count).unwrap();
        }
        let bins = bins(&histogram);
        assert!(bins.len() <= BINS as usize);
        assert_eq!(bins.iter().map(|bin| bin[2]).sum::<u64>(), 15);
        assert!(bins.windows(2).all(|pair| pair[0][1] + 1 == pair[1][0]));
        assert_eq!((bins[0][0], bins[0][2]), (0, 6));
        assert!(bins.last().unwrap()[1] >= 1999);
        // Bars of other widths fit into these, or around them.
        let width = bins[0][1] - bins[0][0] + 1;
        assert!(width.is_power_of_two() && bins.iter().all(|bin| bin[0] % width == 0));
    }

    #[test]
    fn many_classes_are_taken_together() {
        let names: Vec<String> = (0..20).map(|class| format!("c{class}")).collect();
        let classes = Classes::new(&names, &[2; 20]);
        assert_eq!((classes.len(), classes.place(3), classes.place(19)), (9, 3, 8));
        let json = classes.json();
        assert_eq!((&json[8]["name"], &json[8]["clients"]), (&json!("others"), &json!(24)));
    }
}
