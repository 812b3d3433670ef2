//! The distributions a scenario may name wherever it says DIST.

use super::Stream;
use rand::RngExt;
use rand_distr::{Distribution, Exp1, Pareto, StandardNormal};

/// A distribution over real numbers, in the base unit of the key it stands for
/// (nanoseconds for times, bits per second for rates).
#[derive(Clone, Debug, PartialEq)]
pub struct Dist {
    /// The shape before `plus`, `min` and `max`.
    pub shape: Shape,
    /// Added to every draw.
    pub plus: f64,
    /// Draws below are moved up to it (after `plus`).
    pub min: Option<f64>,
    /// Draws above are moved down to it (after `plus`).
    pub max: Option<f64>,
}

/// The families of [`Dist`].
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// Always this value.
    Fixed(f64),
    /// Uniform between two ends.
    Uniform(f64, f64),
    /// Normal.
    #[allow(missing_docs)]
    Normal { mean: f64, std: f64 },
    /// `median · exp(sigma · z)`.
    #[allow(missing_docs)]
    Lognormal { median: f64, sigma: f64 },
    /// Pareto: never below `scale`, tail exponent `shape`.
    #[allow(missing_docs)]
    Pareto { scale: f64, shape: f64 },
    /// Exponential with this mean.
    Exponential(f64),
    /// One of these, equally likely (also what an `empirical` column becomes).
    Choice(Vec<f64>),
}

impl Dist {
    /// The distribution that always gives `value`.
    pub const fn fixed(value: f64) -> Self {
        Dist { shape: Shape::Fixed(value), plus: 0.0, min: None, max: None }
    }

    /// One draw.
    pub fn sample(&self, rng: &mut Stream) -> f64 {
        let raw = match &self.shape {
            Shape::Fixed(value) => *value,
            Shape::Uniform(lo, hi) => lo + (hi - lo) * rng.random::<f64>(),
            Shape::Normal { mean, std } => mean + std * normal(rng),
            Shape::Lognormal { median, sigma } => median * (sigma * normal(rng)).exp(),
            Shape::Pareto { scale, shape } => {
                Pareto::new(*scale, *shape).expect("validated").sample(rng)
            }
            Shape::Exponential(mean) => {
                let e: f64 = Exp1.sample(rng);
                mean * e
            }
            Shape::Choice(values) => values[rng.random_range(0..values.len())],
        };
        self.bounded(raw)
    }

    /// The mean before `min` and `max` cut it: what estimates are made from.
    pub fn typical(&self) -> f64 {
        self.bounded(match &self.shape {
            Shape::Fixed(value) => *value,
            Shape::Uniform(lo, hi) => 0.5 * (lo + hi),
            Shape::Normal { mean, .. } => *mean,
            Shape::Lognormal { median, sigma } => median * (0.5 * sigma * sigma).exp(),
            Shape::Pareto { scale, shape } if *shape > 1.0 => scale * shape / (shape - 1.0),
            Shape::Pareto { scale, .. } => *scale,
            Shape::Exponential(mean) => *mean,
            Shape::Choice(values) => values.iter().sum::<f64>() / values.len() as f64,
        })
    }

    /// Whether every draw is the same.
    pub fn is_fixed(&self) -> bool {
        matches!(self.shape, Shape::Fixed(_))
    }

    /// A draw of the shape, with `plus`, `min` and `max`.
    pub fn bounded(&self, raw: f64) -> f64 {
        let value = raw + self.plus;
        let value = self.min.map_or(value, |min| value.max(min));
        self.max.map_or(value, |max| value.min(max))
    }
}

/// A standard normal draw.
fn normal(rng: &mut Stream) -> f64 {
    StandardNormal.sample(rng)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, stream};

    fn moments(dist: &Dist) -> (f64, f64) {
        let mut rng = stream(5, Purpose::Data, 0, 0);
        let draws: Vec<f64> = (0..40_000).map(|_| dist.sample(&mut rng)).collect();
        let mean = draws.iter().sum::<f64>() / draws.len() as f64;
        let var = draws.iter().map(|d| (d - mean).powi(2)).sum::<f64>() / draws.len() as f64;
        (mean, var.sqrt())
    }

    fn plain(shape: Shape) -> Dist {
        Dist { shape, plus: 0.0, min: None, max: None }
    }

    #[test]
    fn draws_have_the_moments_of_their_family() {
        for (shape, mean, std) in [
            (Shape::Fixed(3.0), 3.0, 0.0),
            (Shape::Uniform(2.0, 6.0), 4.0, 4.0 / 12f64.sqrt()),
            (Shape::Normal { mean: 5.0, std: 2.0 }, 5.0, 2.0),
            (Shape::Exponential(3.0), 3.0, 3.0),
            (Shape::Choice(vec![1.0, 3.0]), 2.0, 1.0),
            // Lognormal: mean = median·exp(σ²/2), std = mean·sqrt(exp(σ²)−1).
            (
                Shape::Lognormal { median: 2.0, sigma: 0.5 },
                2.0 * 0.125f64.exp(),
                2.0 * 0.125f64.exp() * (0.25f64.exp() - 1.0).sqrt(),
            ),
            // Pareto with shape 5: mean 5/4, variance 5/(16·3).
            (Shape::Pareto { scale: 1.0, shape: 5.0 }, 1.25, (5.0 / 48.0f64).sqrt()),
        ] {
            let dist = plain(shape);
            let (m, s) = moments(&dist);
            assert!((m - mean).abs() <= 0.03 * mean, "{dist:?}: mean {m}, not {mean}");
            assert!((s - std).abs() <= 0.06 * std.max(1e-9), "{dist:?}: std {s}, not {std}");
            assert!((dist.typical() - mean).abs() < 1e-12);
        }
    }

    #[test]
    fn plus_comes_before_the_bounds() {
        let dist = Dist { plus: 50.0, max: Some(60.0), min: Some(55.0), ..Dist::fixed(3.0) };
        assert_eq!(dist.sample(&mut stream(1, Purpose::Data, 0, 0)), 55.0);
        let dist = Dist { plus: 50.0, max: Some(60.0), min: None, ..Dist::fixed(30.0) };
        assert_eq!(dist.sample(&mut stream(1, Purpose::Data, 0, 0)), 60.0);
    }
}
