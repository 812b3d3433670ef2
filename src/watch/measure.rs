//! What can be drawn over time.

use crate::metric::Metric;

/// A quantity that every round has, or some.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Measure {
    /// What the task is judged by.
    Metric(Metric),
    /// Updates used, as a share of the clients asked.
    Arrived,
    /// Mean τ of the updates used.
    Tau,
    /// χ² of the run so far.
    Chi2,
}

impl Measure {
    /// Every measure, the one to look at first in front.
    pub(super) const ALL: [Measure; 8] = [
        Measure::Metric(Metric::TestAccuracy),
        Measure::Metric(Metric::TrainLoss),
        Measure::Arrived,
        Measure::Metric(Metric::TestLoss),
        Measure::Metric(Metric::GradNorm),
        Measure::Metric(Metric::Distance),
        Measure::Tau,
        Measure::Chi2,
    ];

    /// Its place among all.
    pub(super) fn index(self) -> usize {
        Measure::ALL.iter().position(|measure| *measure == self).unwrap_or(0)
    }

    /// What the chart is called.
    pub(super) fn title(self) -> &'static str {
        match self {
            Measure::Metric(metric) => metric.name(),
            Measure::Arrived => "arrived / asked",
            Measure::Tau => "mean τ",
            Measure::Chi2 => "χ²",
        }
    }
}
