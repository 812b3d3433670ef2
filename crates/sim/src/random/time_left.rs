//! What is left of a period at a random moment.
//!
//! Periods of random length L follow each other without end. At a moment that has nothing to do with
//! them, long periods are more likely to be met than short ones, and what is left of the one that is met
//! has the density P(L > x)/E L. So E min(L, x)/E L is its distribution function, and solving
//! E min(L, x) = u·E L for x, with u uniform, draws it. For most families that has to be done by
//! Newton's method. E min(L, x) is concave in x, so it comes closer from the left in every step.

use super::{Dist, Shape, Stream};
use rand::RngExt;
use std::f64::consts::{FRAC_1_SQRT_2, PI};

/// The law of what is left of a period whose length is drawn from a [`Dist`] and kept within bounds.
#[derive(Clone, Debug, PartialEq)]
pub struct TimeLeft {
    /// Lengths are never outside.
    least: f64,
    most: f64,
    plus: f64,
    mean: f64,
    family: Family,
}

#[derive(Clone, Debug, PartialEq)]
enum Family {
    /// E min(X, y) is known in closed form.
    Smooth(Shape),
    /// Lengths, from the least on, each with E min(L, length).
    Steps(Vec<(f64, f64)>),
}

impl TimeLeft {
    /// Of periods drawn from `dist`, but not shorter than `least` or longer than `most`, which are
    /// positive.
    pub fn new(dist: &Dist, least: f64, most: f64) -> TimeLeft {
        let within = |value: f64| value.clamp(least, most);
        let values = match &dist.shape {
            Shape::Fixed(value) => Some(vec![*value]),
            Shape::Uniform(lo, hi) if lo == hi => Some(vec![*lo]),
            Shape::Normal { mean, std: 0.0 } => Some(vec![*mean]),
            Shape::Lognormal { median, sigma: 0.0 } => Some(vec![*median]),
            Shape::Choice(values) => Some(values.clone()),
            _ => None,
        };
        if let Some(values) = values {
            let bounded = values.into_iter().map(|value| within(dist.bounded(value)));
            return TimeLeft::of_values(bounded.collect(), least, most);
        }
        let plus = dist.plus;
        let least = within(dist.min.unwrap_or(least));
        let most = within(dist.max.unwrap_or(most)).max(least);
        let family = Family::Smooth(dist.shape.clone());
        let mut time_left = TimeLeft { least, most, plus, mean: 0.0, family };
        time_left.mean = time_left.mean_up_to(most);
        time_left
    }

    fn of_values(mut values: Vec<f64>, least: f64, most: f64) -> TimeLeft {
        values.sort_unstable_by(f64::total_cmp);
        let (n, mut below) = (values.len() as f64, 0.0);
        let step = |(i, value): (usize, f64)| {
            let mean = (below + (n - i as f64) * value) / n;
            below += value;
            (value, mean)
        };
        let steps: Vec<(f64, f64)> = values.into_iter().enumerate().map(step).collect();
        let mean = steps.last().map_or(0.0, |(_, mean)| *mean);
        TimeLeft { least, most, plus: 0.0, mean, family: Family::Steps(steps) }
    }

    /// E L.
    pub fn mean(&self) -> f64 {
        self.mean
    }

    /// What is left of the period that a random moment meets.
    pub fn sample(&self, rng: &mut Stream) -> f64 {
        let wanted = rng.random::<f64>() * self.mean;
        match &self.family {
            Family::Steps(steps) => {
                // E min(L, x) is straight between two lengths.
                let next = steps.partition_point(|(_, mean)| *mean < wanted).min(steps.len() - 1);
                let (from, mean) = next.checked_sub(1).map_or((0.0, 0.0), |before| steps[before]);
                let (to, next_mean) = steps[next];
                let part = (wanted - mean) / (next_mean - mean);
                if next_mean > mean { from + part.clamp(0.0, 1.0) * (to - from) } else { to }
            }
            Family::Smooth(_) if wanted <= self.least => wanted,
            Family::Smooth(shape) => self.solve(shape, wanted),
        }
    }

    /// E min(L, x), for an x within the bounds.
    fn mean_up_to(&self, x: f64) -> f64 {
        match &self.family {
            Family::Steps(_) => self.mean,
            Family::Smooth(shape) => {
                let mean = |x: f64| truncated_mean(shape, x - self.plus);
                self.least + mean(x) - mean(self.least)
            }
        }
    }

    fn solve(&self, shape: &Shape, wanted: f64) -> f64 {
        // Newton's steps grow with the tail; bisection of the exponent takes over where they are short.
        let (mut low, mut high) = (self.least.max(wanted.min(self.most)), self.most);
        if self.mean_up_to(low) > wanted {
            // Rounding alone: E min(L, x) ≤ x.
            return low;
        }
        for turn in 0..200 {
            let missing = wanted - self.mean_up_to(low);
            let survival = survival(shape, low - self.plus);
            let newton = low + missing / survival;
            if missing <= 0.0 || newton <= low * (1.0 + f64::EPSILON) || low >= high {
                break;
            }
            low = newton.min(high);
            if turn % 4 == 3 {
                let middle = (low.sqrt() * high.sqrt()).clamp(low, high);
                match self.mean_up_to(middle) <= wanted {
                    true => low = middle,
                    false => high = middle,
                }
            }
        }
        low
    }
}

/// E min(X, y), the integral of [`survival`].
fn truncated_mean(shape: &Shape, y: f64) -> f64 {
    match shape {
        Shape::Uniform(lo, hi) => match y {
            y if y <= *lo => y,
            y if y >= *hi => 0.5 * (lo + hi),
            y => y - (y - lo).powi(2) / (2.0 * (hi - lo)),
        },
        Shape::Normal { mean, std } => {
            let z = (y - mean) / std;
            let density = (-0.5 * z * z).exp() / (2.0 * PI).sqrt();
            mean * normal_below(z) - std * density + y * normal_above(z)
        }
        Shape::Lognormal { median, sigma } if y > 0.0 => {
            let z = (y / median).ln() / sigma;
            let mean = median * (0.5 * sigma * sigma).exp();
            mean * normal_below(z - sigma) + y * normal_above(z)
        }
        Shape::Pareto { scale, shape } if y > *scale => {
            let (excess, log) = (shape - 1.0, (y / scale).ln());
            // (1 − (scale/y)^excess)/excess, which is the logarithm where excess is 0.
            let part = if excess == 0.0 { log } else { -(-excess * log).exp_m1() / excess };
            scale + scale * part
        }
        Shape::Exponential(mean) if y > 0.0 => -mean * (-y / mean).exp_m1(),
        Shape::Lognormal { .. } | Shape::Pareto { .. } | Shape::Exponential(_) => y,
        Shape::Fixed(value) => y.min(*value),
        Shape::Choice(values) => {
            values.iter().map(|value| y.min(*value)).sum::<f64>() / values.len() as f64
        }
    }
}

/// P(X > y).
fn survival(shape: &Shape, y: f64) -> f64 {
    match shape {
        Shape::Uniform(lo, hi) => ((hi - y) / (hi - lo)).clamp(0.0, 1.0),
        Shape::Normal { mean, std } => normal_above((y - mean) / std),
        Shape::Lognormal { median, sigma } if y > 0.0 => normal_above((y / median).ln() / sigma),
        Shape::Pareto { scale, shape } if y > *scale => (scale / y).powf(*shape),
        Shape::Exponential(mean) if y > 0.0 => (-y / mean).exp(),
        Shape::Lognormal { .. } | Shape::Pareto { .. } | Shape::Exponential(_) => 1.0,
        Shape::Fixed(value) => f64::from(u8::from(*value > y)),
        Shape::Choice(values) => {
            values.iter().filter(|value| **value > y).count() as f64 / values.len() as f64
        }
    }
}

/// P(Z ≤ z) of a standard normal Z.
fn normal_below(z: f64) -> f64 {
    0.5 * libm::erfc(-z * FRAC_1_SQRT_2)
}

/// P(Z > z).
fn normal_above(z: f64) -> f64 {
    0.5 * libm::erfc(z * FRAC_1_SQRT_2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, stream};

    fn dist(shape: Shape, plus: f64, min: Option<f64>, max: Option<f64>) -> Dist {
        Dist { shape, plus, min, max }
    }

    /// Every family, with and without bounds.
    fn dists() -> Vec<Dist> {
        let shapes = [
            Shape::Fixed(8.0),
            Shape::Uniform(2.0, 30.0),
            Shape::Normal { mean: 10.0, std: 8.0 },
            Shape::Lognormal { median: 10.0, sigma: 2.0 },
            Shape::Lognormal { median: 10.0, sigma: 0.2 },
            Shape::Pareto { scale: 3.0, shape: 2.5 },
            Shape::Exponential(12.0),
            Shape::Choice(vec![1.0, 40.0, 3.0, 3.0]),
        ];
        let bounds = [(0.0, None, None), (5.0, Some(9.0), Some(40.0)), (-4.0, Some(0.5), None)];
        let pairs = shapes.iter().flat_map(|shape| bounds.iter().map(move |bound| (shape, bound)));
        pairs.map(|(shape, (plus, min, max))| dist(shape.clone(), *plus, *min, *max)).collect()
    }

    /// The law is defined by what it must do: at a random moment of a long time, x or less is left of
    /// a period with probability E min(L, x)/E L, both estimated from plain draws.
    #[test]
    fn what_is_left_follows_from_draws_of_whole_periods() {
        for dist in dists() {
            let time_left = TimeLeft::new(&dist, 1e-3, 1e12);
            let mut rng = stream(3, Purpose::Availability, 0, 0);
            let n = 200_000;
            let lengths: Vec<f64> =
                (0..n).map(|_| dist.sample(&mut rng).clamp(1e-3, 1e12)).collect();
            let mean = lengths.iter().sum::<f64>() / n as f64;
            assert!((time_left.mean() / mean - 1.0).abs() < 0.08, "{dist:?}: {mean}");
            let left: Vec<f64> = (0..20_000).map(|_| time_left.sample(&mut rng)).collect();
            for x in [0.5, 2.0, 5.0, 9.0, 12.0, 25.0, 60.0, 300.0] {
                let want =
                    lengths.iter().map(|length| length.min(x)).sum::<f64>() / n as f64 / mean;
                let got = left.iter().filter(|left| **left <= x).count() as f64 / 20_000.0;
                assert!((got - want).abs() < 0.02, "{dist:?} at {x}: {got}, not {want}");
            }
        }
    }

    #[test]
    fn the_equation_is_solved_to_rounding() {
        let heavy =
            [Shape::Pareto { scale: 1e9, shape: 1.0 }, Shape::Pareto { scale: 1e9, shape: 0.5 }];
        let heavy = heavy.into_iter().map(|shape| dist(shape, 0.0, None, None));
        for dist in dists().into_iter().chain(heavy) {
            let time_left = TimeLeft::new(&dist, 1.0, 9e18);
            let Family::Smooth(shape) = &time_left.family else { continue };
            for k in 1..1000 {
                let wanted = time_left.mean * f64::from(k) / 1000.0;
                let x = time_left.solve(shape, wanted.max(time_left.least));
                let got = time_left.mean_up_to(x);
                assert!(
                    (got / wanted.max(time_left.least) - 1.0).abs() < 1e-9,
                    "{dist:?} {k}: {x}"
                );
            }
        }
    }
}
