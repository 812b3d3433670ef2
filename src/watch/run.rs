//! One run of a scenario, as far as its rows have been seen.

use super::curve::Curve;
use super::event::{Event, RecentEvents, What};
use super::measure::Measure;
use super::rows::RoundLine;
use super::spread::{SHOWN, SeenLatencies, Taus};
use crate::clock::SimTime;
use crate::record::{OUTCOMES, Outcome};
use crate::run_files::ClientLine;
use crate::run_files::{LatencySummary, VariantSummary};
use std::collections::VecDeque;

/// Rounds whose arrivals are kept.
const RECENT: usize = 512;

/// A run that is watched: a variant with a seed.
#[derive(Default)]
pub(super) struct WatchedRun {
    /// The variant's name.
    pub variant: String,
    /// The seed.
    pub seed: u64,
    /// Clients asked and updates used in the last rounds.
    pub recent: VecDeque<(u64, u64)>,
    /// Updates by local steps.
    pub taus: Taus,
    /// What happened last.
    pub events: RecentEvents,
    /// What its summary says, once it is over.
    pub over: Option<VariantSummary>,
    round: u64,
    seconds: f64,
    chi2: Option<f64>,
    /// Participations seen.
    outcomes: [u64; OUTCOMES],
    curves: [Curve; Measure::ALL.len()],
    latencies: SeenLatencies,
    /// Time of all participations without a gap, in nanoseconds, and from when to when they were.
    busy: u128,
    spell: Option<(SimTime, SimTime)>,
}

impl WatchedRun {
    /// Of which nothing is known yet.
    pub(super) fn new(variant: &str, seed: u64) -> Self {
        WatchedRun { variant: variant.into(), seed, ..WatchedRun::default() }
    }

    /// An aggregation.
    pub(super) fn close(&mut self, line: &RoundLine<'_>) {
        let RoundLine { round, seconds, asked, arrived, tau_mean: tau, chi2, waited, .. } = *line;
        (self.round, self.seconds) = (round, seconds);
        self.chi2 = chi2;
        if self.recent.len() == RECENT {
            self.recent.pop_front();
        }
        self.recent.push_back((asked, arrived));
        for (measure, curve) in Measure::ALL.into_iter().zip(&mut self.curves) {
            let value = match measure {
                Measure::Metric(metric) => line.metrics.get(metric),
                Measure::Arrived => (asked > 0).then(|| arrived as f64 / asked as f64),
                Measure::Tau => (arrived > 0).then_some(tau),
                Measure::Chi2 => chi2,
            };
            if let Some(value) = value {
                curve.push(seconds, value);
            }
        }
        if waited > 0.0 {
            self.events.add(Event { seconds, what: What::Wait { round, waited } });
        }
        self.events.add(Event { seconds, what: What::Aggregation { round, asked, arrived, tau } });
    }

    /// A participation.
    pub(super) fn take_part(&mut self, line: &ClientLine<'_>) {
        let row = &line.row;
        self.outcomes[row.outcome as usize] += 1;
        self.latencies.add(row);
        self.busy += u128::from(row.arrived.since(row.dispatched).nanos());
        let (from, to) = self.spell.unwrap_or((row.dispatched, row.arrived));
        self.spell = Some((from.min(row.dispatched), to.max(row.arrived)));
        match row.outcome {
            Outcome::Used => self.taus.add(row.tau),
            // The run ended before they could do any better.
            Outcome::Unfinished => {}
            outcome => {
                self.events.lose(row.arrived, row.round, outcome, row.client, line.class);
            }
        }
    }

    /// Rows were left out: who was busy meanwhile is not known.
    pub(super) fn lose_sight(&mut self) {
        (self.busy, self.spell) = (0, None);
    }

    /// No more participations will come.
    pub(super) fn settle(&mut self) {
        self.latencies.settle();
    }

    /// What the summary says of it.
    pub(super) fn end(&mut self, over: VariantSummary) {
        if self.over.is_none() {
            let why = match over.stopped_by.as_str() {
                "" => "it failed".to_string(),
                why => format!("stopped by {why}"),
            };
            let seconds = finite(over.virtual_seconds).unwrap_or(self.seconds);
            self.events.add(Event { seconds, what: What::End { why } });
        }
        self.over = Some(over);
    }

    /// Aggregations so far.
    pub(super) fn round(&self) -> u64 {
        self.over.as_ref().map_or(self.round, |over| over.rounds.max(self.round))
    }

    /// Simulated seconds so far.
    pub(super) fn seconds(&self) -> f64 {
        let end = self.over.as_ref().and_then(|over| finite(over.virtual_seconds));
        end.unwrap_or(0.0).max(self.seconds)
    }

    /// χ², if there was a round.
    pub(super) fn chi2(&self) -> Option<f64> {
        self.chi2.or(self.over.as_ref().and_then(|over| finite(over.chi2)))
    }

    /// How a measure went.
    pub(super) fn curve(&self, measure: Measure) -> &Curve {
        &self.curves[measure.index()]
    }

    /// All participations by outcome if the run is over, those seen if not.
    pub(super) fn outcomes(&self) -> [u64; OUTCOMES] {
        match &self.over {
            Some(over) if over.outcomes != [0; OUTCOMES] => over.outcomes,
            _ => self.outcomes,
        }
    }

    /// Percentiles of all participations if the run is over, of those seen if not.
    pub(super) fn percentiles(&self) -> [LatencySummary; 4] {
        match &self.over {
            Some(over) if !over.latency_seconds.is_empty() => {
                SHOWN.map(|phase| over.latency_seconds.get(phase))
            }
            _ => self.latencies.percentiles(),
        }
    }

    /// Clients that were busy on average, of those that have rows. A client that is still on its way
    /// has no row yet, so nothing can be said of the very moment.
    pub(super) fn busy(&self) -> Option<f64> {
        let (from, to) = self.spell?;
        let nanos = to.since(from).nanos();
        (nanos > 0).then(|| self.busy as f64 / nanos as f64)
    }
}

/// What a summary has no number for is not finite.
fn finite(value: f64) -> Option<f64> {
    Some(value).filter(|value| value.is_finite())
}
