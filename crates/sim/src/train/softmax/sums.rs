//! What the parts of an evaluation add up to.

use super::super::Measured;
use super::super::quadratic::squared;
use crate::metric::{Gradients, Metric, Metrics};

/// The numbers that add up over the parts of an evaluation: loss, correct tests and loss of
/// tests; the gradient; and where gradients are compared, Σ w_i‖∇F_i‖² and Σ w_i∇F_i.
pub(super) struct Sums {
    numbers: Vec<f64>,
    len: usize,
}

impl Sums {
    pub(super) fn new(len: usize, compared: bool) -> Self {
        let all = if compared { 4 + 2 * len } else { 3 + len };
        Sums { numbers: vec![0.0; all], len }
    }

    /// Adds a client's loss and gradient, both summed over its samples, and if gradients are
    /// compared its weight and how many samples that were.
    pub(super) fn add(&mut self, loss: f64, gradient: &[f64], compared: Option<(f64, f64)>) {
        self.numbers[0] += loss;
        let (sum, rest) = self.numbers[3..].split_at_mut(self.len);
        sum.iter_mut().zip(gradient).for_each(|(sum, g)| *sum += g);
        if let (Some((weight, samples)), [mean_square, surrogate @ ..]) = (compared, rest) {
            *mean_square += weight * squared(gradient) / (samples * samples);
            let factor = weight / samples;
            surrogate.iter_mut().zip(gradient).for_each(|(sum, g)| *sum += factor * g);
        }
    }

    pub(super) fn with_test(mut self, correct: f64, loss: f64) -> Vec<f64> {
        (self.numbers[1], self.numbers[2]) = (correct, loss);
        self.numbers
    }

    /// What the numbers of all parts together stand for, for so many samples.
    pub(super) fn measured(sums: &[f64], len: usize, train: f64, test: f64) -> Measured {
        let (head, rest) = sums.split_at(3);
        let (gradient, compared) = rest.split_at(len);
        let mut metrics = Metrics::default();
        metrics.set(Metric::TrainLoss, head[0] / train);
        metrics.set(Metric::GradNorm, squared(gradient).sqrt() / train);
        if test > 0.0 {
            metrics.set(Metric::TestAccuracy, head[1] / test);
            metrics.set(Metric::TestLoss, head[2] / test);
        }
        let gradients = compared.split_first().map(|(mean_square, surrogate)| Gradients {
            of_surrogate: squared(surrogate),
            mean_square: *mean_square,
        });
        Measured { metrics, gradients }
    }
}
