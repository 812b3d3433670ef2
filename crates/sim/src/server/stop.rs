//! When a run is over.

use crate::clock::SimTime;
use crate::metric::Metric;
use crate::policy::Stop;
use crate::record::{Divergence, RoundRow, StopReason};

/// What tells a model that blew up.
#[derive(Clone, Copy, Debug)]
pub struct Health {
    /// Whether all parameters are finite.
    pub finite: bool,
    /// The training loss before the first round.
    pub start_loss: Option<f64>,
}

/// Whether the run ends with this aggregation.
pub fn stop_reason(stop: &Stop, row: &RoundRow, health: Health) -> Option<StopReason> {
    if let Some(divergence) = divergence(stop, row, health) {
        return Some(StopReason::Diverged(divergence));
    }
    if let Some(metrics) = &row.metrics {
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

fn divergence(stop: &Stop, row: &RoundRow, health: Health) -> Option<Divergence> {
    if !health.finite {
        return Some(Divergence::Model);
    }
    let metrics = row.metrics.as_ref()?;
    if let Some((metric, _)) = metrics.iter().find(|(_, value)| !value.is_finite()) {
        return Some(Divergence::Metric(metric));
    }
    let (now, start) = (metrics.get(Metric::TrainLoss)?, health.start_loss?);
    // Times nothing is nothing: who starts at a loss of 0 can only be told by what is not finite.
    let above = stop.divergence.is_some_and(|times| start > 0.0 && now > times * start);
    above.then_some(Divergence::Loss { now, start })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Span;
    use crate::metric::{Bound, Metrics};
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
            waited: Span::ZERO,
            lr_factor: 1.0,
            asked: 1,
            arrived: 1,
            busy: 0,
            tau_eff: 1.0,
            tau: [1.0; 3],
            chi2: 0.0,
            missing_mass: 0.0,
            weight_scale: 1.0,
            metrics,
            gradients: None,
        }
    }

    #[test]
    fn the_first_condition_reached_ends_the_run() {
        let stop = Stop {
            rounds: Some(10),
            time: Some(Span::from_nanos(1000)),
            target: Some(Target { metric: Metric::TestAccuracy, bound: Bound::AtLeast(0.8) }),
            divergence: Some(100.0),
        };
        let well = Health { finite: true, start_loss: Some(2.0) };
        let stop_reason = |stop: &Stop, row: &RoundRow| stop_reason(stop, row, well);
        assert_eq!(stop_reason(&stop, &row(9, 999, Some(0.79))), None);
        assert_eq!(stop_reason(&stop, &row(10, 999, None)), Some(StopReason::Rounds));
        assert_eq!(stop_reason(&stop, &row(9, 1000, None)), Some(StopReason::Time));
        assert_eq!(stop_reason(&stop, &row(3, 5, Some(0.8))), Some(StopReason::Target));
        assert_eq!(
            stop_reason(&stop, &row(3, 5, Some(f64::NAN))),
            Some(StopReason::Diverged(Divergence::Metric(Metric::TestAccuracy)))
        );
    }

    #[test]
    fn a_model_that_blew_up_is_told_by_its_loss_or_its_parameters() {
        let mut stop = Stop { rounds: Some(9), time: None, target: None, divergence: Some(100.0) };
        let loss = |value| {
            let mut metrics = Metrics::default();
            metrics.set(Metric::TrainLoss, value);
            RoundRow { metrics: Some(metrics), ..row(3, 5, None) }
        };
        let health = |finite, start_loss| Health { finite, start_loss };
        let well = health(true, Some(2.0));
        assert_eq!(stop_reason(&stop, &loss(200.0), well), None);
        let (now, start) = (200.1, 2.0);
        let blown = Some(StopReason::Diverged(Divergence::Loss { now, start }));
        assert_eq!(stop_reason(&stop, &loss(now), well), blown);
        assert_eq!(stop_reason(&stop, &loss(now), health(true, Some(0.0))), None);
        let broken = stop_reason(&stop, &row(3, 5, None), health(false, Some(2.0)));
        assert_eq!(broken, Some(StopReason::Diverged(Divergence::Model)));
        stop.divergence = None;
        assert_eq!(stop_reason(&stop, &loss(1e9), well), None);
    }
}
