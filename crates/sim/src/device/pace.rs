//! How long each local step takes.

use super::Device;
use crate::clock::{Span, TimeOverflow};
use crate::random::{Purpose, Stream, stream};
use rand_distr::{Distribution, StandardNormal};

/// The durations of one client's steps in one round, one after another.
///
/// A step takes the device's step time multiplied by exp(σz − σ²/2): always positive, mean 1, and
/// for small σ a relative standard deviation of σ.
pub struct Pace {
    step: Span,
    sigma: f64,
    stream: Option<Stream>,
}

impl Pace {
    /// The pace of `device`, as `client` finds it in `round`.
    pub fn new(device: &Device, seed: u64, client: u64, round: u64) -> Self {
        let stream = (device.jitter > 0.0).then(|| stream(seed, Purpose::Jitter, client, round));
        // For σ as the log-scale parameter the relative deviation is sqrt(exp(σ²) − 1); this is
        // the σ whose deviation is the jitter asked for.
        let sigma = f64::from(device.jitter).powi(2).ln_1p().sqrt();
        Pace { step: device.step, sigma, stream }
    }

    /// The one duration of all steps, if they do not differ.
    pub fn constant(&self) -> Option<Span> {
        self.stream.is_none().then_some(self.step)
    }

    /// How many times as long as an undisturbed one the next step takes; `None`: steps do not
    /// differ.
    pub fn next_factor(&mut self) -> Option<f64> {
        let stream = self.stream.as_mut()?;
        let z: f64 = StandardNormal.sample(stream);
        Some((self.sigma * z - 0.5 * self.sigma * self.sigma).exp())
    }

    /// The duration of the next step: at least a nanosecond, so that time always moves on.
    pub fn next_step(&mut self) -> Result<Span, TimeOverflow> {
        match self.next_factor() {
            None => Ok(self.step),
            Some(factor) => scaled(self.step, factor),
        }
    }
}

/// `factor` times `step`, at least a nanosecond.
pub(super) fn scaled(step: Span, factor: f64) -> Result<Span, TimeOverflow> {
    Span::from_nanos_f64((step.nanos() as f64 * factor).max(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jitter_is_the_relative_deviation_and_leaves_the_mean() {
        for jitter in [0.05f32, 0.5, 1.5] {
            let device = Device {
                step: Span::from_nanos(1_000_000),
                download: Span::ZERO,
                upload: Span::ZERO,
                jitter,
                class: 0,
            };
            let mut pace = Pace::new(&device, 1, 2, 3);
            let n = 100_000;
            let draws: Vec<f64> =
                (0..n).map(|_| pace.next_step().unwrap().nanos() as f64 / 1e6).collect();
            let mean = draws.iter().sum::<f64>() / n as f64;
            let var = draws.iter().map(|d| (d - mean).powi(2)).sum::<f64>() / n as f64;
            assert!((mean - 1.0).abs() < 0.03, "jitter {jitter}: mean {mean}");
            let relative = var.sqrt() / f64::from(jitter);
            assert!((relative - 1.0).abs() < 0.15, "jitter {jitter}: deviation {}", var.sqrt());
        }
    }
}
