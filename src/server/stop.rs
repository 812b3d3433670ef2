//! When a run is over.

use crate::clock::SimTime;
use crate::policy::Stop;
use crate::record::{RoundRow, StopReason};

/// Whether the run ends with this aggregation.
pub fn stop_reason(stop: &Stop, row: &RoundRow) -> Option<StopReason> {
    if let Some(metrics) = &row.metrics {
        if metrics.iter().any(|(_, value)| !value.is_finite()) {
            return Some(StopReason::Diverged);
        }
        let reached = stop.target.and_then(|target| {
            let value = metrics.get(target.metric)?;
            target.bound.met(value).then_some(StopReason::Target)
        });
        if reached.is_some() {
            return reached;
        }
    }
    if stop.rounds.is_some_and(|rounds| row.round >= rounds) {
        return Some(StopReason::Rounds);
    }
    let end = stop.time.map(|time| SimTime::from_nanos(time.nanos()));
    end.is_some_and(|end| row.closed >= end).then_some(StopReason::Time)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Span;
    use crate::metric::{Bound, Metric, Metrics};
    use crate::policy::Target;

    fn row(round: u64, closed: u64, accuracy: Option<f64>) -> RoundRow {
        let metrics = accuracy.map(|value| {
            let mut metrics = Metrics::default();
            metrics.set(Metric::TestAccuracy, value);
            metrics
        });
        RoundRow {
            round,
            closed: SimTime::from_nanos(closed),
            asked: 1,
            arrived: 1,
            tau_eff: 1.0,
            tau: [1.0; 3],
            chi2: 0.0,
            missing_mass: 0.0,
            weight_scale: 1.0,
            metrics,
        }
    }

    #[test]
    fn the_first_condition_reached_ends_the_run() {
        let stop = Stop {
            rounds: Some(10),
            time: Some(Span::from_nanos(1000)),
            target: Some(Target { metric: Metric::TestAccuracy, bound: Bound::AtLeast(0.8) }),
        };
        assert_eq!(stop_reason(&stop, &row(9, 999, Some(0.79))), None);
        assert_eq!(stop_reason(&stop, &row(10, 999, None)), Some(StopReason::Rounds));
        assert_eq!(stop_reason(&stop, &row(9, 1000, None)), Some(StopReason::Time));
        assert_eq!(stop_reason(&stop, &row(3, 5, Some(0.8))), Some(StopReason::Target));
        assert_eq!(stop_reason(&stop, &row(3, 5, Some(f64::NAN))), Some(StopReason::Diverged));
    }
}
