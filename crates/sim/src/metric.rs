//! The measured quantities, under the names that files and scenarios use.

use std::fmt;

/// A measured quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Metric {
    /// F(x) = Σ p_i F_i(x).
    TrainLoss,
    /// ‖∇F(x)‖.
    GradNorm,
    /// Share of test samples classified rightly.
    TestAccuracy,
    /// Mean loss on test samples.
    TestLoss,
    /// ‖x − x*‖, where x* is known.
    Distance,
}

impl Metric {
    /// Every metric, in the order in which files list them.
    pub const ALL: [Metric; 5] = [
        Metric::TrainLoss,
        Metric::GradNorm,
        Metric::TestAccuracy,
        Metric::TestLoss,
        Metric::Distance,
    ];

    /// The name in `summary.json`, `rounds.csv` and scenarios.
    pub const fn name(self) -> &'static str {
        match self {
            Metric::TrainLoss => "train_loss",
            Metric::GradNorm => "grad_norm",
            Metric::TestAccuracy => "test_accuracy",
            Metric::TestLoss => "test_loss",
            Metric::Distance => "distance",
        }
    }

    /// Whether `a` is a better value than `b`.
    pub fn better(self, a: f64, b: f64) -> bool {
        match self {
            Metric::TestAccuracy => a > b,
            _ => a < b,
        }
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// One side of a value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bound {
    /// This or more.
    AtLeast(f64),
    /// This or less.
    AtMost(f64),
}

impl Bound {
    /// Whether `value` lies on the asked side. Not-a-number never does.
    pub fn met(self, value: f64) -> bool {
        match self {
            Bound::AtLeast(bound) => value >= bound,
            Bound::AtMost(bound) => value <= bound,
        }
    }
}

/// The values of one evaluation; `None` where a task has no such metric.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Metrics([Option<f64>; 5]);

impl Metrics {
    /// The value of a metric, if the task has it.
    pub fn get(&self, metric: Metric) -> Option<f64> {
        self.0[metric as usize]
    }

    /// Sets a metric.
    pub fn set(&mut self, metric: Metric, value: f64) {
        self.0[metric as usize] = Some(value);
    }

    /// Takes over every value of `other` that is better than ours.
    pub fn keep_best(&mut self, other: &Metrics) {
        for metric in Metric::ALL {
            if let Some(value) = other.get(metric)
                && self.get(metric).is_none_or(|best| metric.better(value, best))
            {
                self.set(metric, value);
            }
        }
    }

    /// Every metric the task has, in file order.
    pub fn iter(&self) -> impl Iterator<Item = (Metric, f64)> + '_ {
        Metric::ALL.into_iter().filter_map(|metric| Some((metric, self.get(metric)?)))
    }
}

/// How far the clients' gradients are apart at a model, seen with the weights w that it was really
/// moved by (Assumption 3).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gradients {
    /// ‖Σ w_i∇F_i‖²: the squared gradient of the surrogate objective.
    pub of_surrogate: f64,
    /// Σ w_i‖∇F_i‖².
    pub mean_square: f64,
}

impl Gradients {
    /// β² here, with κ² = 0: Σ w_i‖∇F_i‖²/‖Σ w_i∇F_i‖².
    pub fn beta2(&self) -> f64 {
        self.mean_square / self.of_surrogate
    }

    /// κ² here, with β² = 1: Σ w_i‖∇F_i − Σ w_j∇F_j‖².
    pub fn kappa2(&self) -> f64 {
        (self.mean_square - self.of_surrogate).max(0.0)
    }
}
