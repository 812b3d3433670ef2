//! What the server does with the aggregated update.
//!
//! The aggregated normalized gradient, `δ = −τ_eff Σ w_i η d_i`, need not be applied as it is: it
//! may feed a buffer or an adaptive method of the server's own (section 5 of the paper,
//! "Combination with Acceleration Techniques"). Clients may have momentum of their own at the same
//! time: the paper's hybrid.

mod adaptive;
mod slowmo;

pub use adaptive::{AdaptiveOptimizer, Moment};
pub use slowmo::SlowMo;

use super::{Applied, Contribution};
use std::sync::Arc;

/// `[server] optimizer`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum OptimizerConfig {
    /// x ← x + lr·δ.
    #[allow(missing_docs)]
    Sgd { lr: f64 },
    /// Momentum of the server.
    #[allow(missing_docs)]
    Momentum { lr: f64, momentum: f64 },
    /// Adagrad, Adam or Yogi.
    #[allow(missing_docs)]
    Adaptive { moment: Moment, lr: f64, beta1: f64, epsilon: f64 },
    /// One that the user brings; `collects` if it keeps all updates of a round.
    #[allow(missing_docs)]
    Plugin { collects: bool },
}

impl OptimizerConfig {
    /// The update is applied as it is.
    pub const PLAIN: OptimizerConfig = OptimizerConfig::Sgd { lr: 1.0 };

    /// How far an update may go, as a multiple of the way to the point it aims at, if rounds are to
    /// come nearer to that: the roots of z² − (1 + β − lr·S)z + β are within 1 up to
    /// S = 2(1 + β)/lr. Adaptive methods choose their own lengths.
    pub fn largest_stretch(self) -> Option<f64> {
        match self {
            OptimizerConfig::Sgd { lr } => Some(2.0 / lr),
            OptimizerConfig::Momentum { lr, momentum } => Some(2.0 * (1.0 + momentum) / lr),
            OptimizerConfig::Adaptive { .. } | OptimizerConfig::Plugin { .. } => None,
        }
    }

    /// Whether it keeps all updates of a round, so that their parts in the movement are unknown.
    pub fn collects(self) -> bool {
        matches!(self, OptimizerConfig::Plugin { collects: true })
    }

    /// Vectors as long as the model that it keeps; those of a plug-in are unknown.
    pub fn vectors(self) -> usize {
        match self {
            OptimizerConfig::Sgd { .. } | OptimizerConfig::Plugin { .. } => 0,
            OptimizerConfig::Momentum { .. } => 1,
            OptimizerConfig::Adaptive { .. } => 2,
        }
    }
}

/// Moves the model.
///
/// Streaming by default: it sees the sum of all updates, which costs no memory however many arrive.
/// An optimiser that [collects](ServerOptimizer::collects) sees every update instead, for medians and
/// trimmed means; then it is unknown which client moved the model how far, and the run says so.
pub trait ServerOptimizer: Send {
    /// Moves `x`. Called once an aggregation, if any update arrived; `x` is empty in runs that do not
    /// train.
    fn apply(&mut self, x: &mut [f64], update: &AggregatedUpdate<'_>);

    /// The same with a model that is given away and comes back: for an optimiser that hands it on, as the one for
    /// Python does, and must not copy it.
    fn moved(&mut self, mut x: Vec<f64>, update: &AggregatedUpdate<'_>) -> Vec<f64> {
        self.apply(&mut x, update);
        x
    }

    /// Whether it wants the updates themselves. Asked once, before the first round.
    fn collects(&self) -> bool {
        false
    }

    /// Its state, for a checkpoint.
    fn save(&self) -> Vec<f64> {
        Vec::new()
    }

    /// Takes over a state that [`ServerOptimizer::save`] gave.
    fn load(&mut self, state: &[f64]) {
        let _ = state;
    }
}

/// What the updates of a round come to.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct AggregatedUpdate<'a> {
    /// Σ_i raw_i Δ_i/‖a_i‖₁; empty for an optimiser that collects.
    pub direction: &'a Arc<Vec<f64>>,
    /// τ_eff · scale: `factor` · `direction` is the update δ of the general rule.
    pub factor: f64,
    /// The two of them apart.
    pub applied: Applied,
    /// The clients' common learning rate η.
    pub client_lr: f64,
    /// Every update, in the order of arrival, for an optimiser that collects.
    pub updates: &'a [HeldUpdate],
}

/// An update that is kept until its round closes.
#[derive(Clone, Debug)]
pub struct HeldUpdate {
    /// Whose it is and how it was made.
    pub update: Contribution,
    /// Its raw weight, discounted; times the scale it is w_i.
    pub raw: f64,
    /// Δ_i.
    pub delta: Arc<Vec<f64>>,
}

impl OptimizerConfig {
    /// The built-in optimiser of this configuration, for models with `len` parameters; `None` for a
    /// plug-in.
    pub fn init(self, len: usize) -> Option<Box<dyn ServerOptimizer>> {
        Some(match self {
            OptimizerConfig::Sgd { lr } => Box::new(Sgd { lr }),
            OptimizerConfig::Momentum { lr, momentum } => Box::new(SlowMo::new(lr, momentum, len)),
            OptimizerConfig::Adaptive { moment, lr, beta1, epsilon } => {
                Box::new(AdaptiveOptimizer::new(moment, lr, beta1, epsilon, len))
            }
            OptimizerConfig::Plugin { .. } => return None,
        })
    }
}

/// x ← x + lr·δ; lr = 1 is the general rule itself (eq. 4).
#[derive(Clone, Copy, Debug)]
pub struct Sgd {
    /// The server's learning rate.
    pub lr: f64,
}

impl ServerOptimizer for Sgd {
    fn apply(&mut self, x: &mut [f64], update: &AggregatedUpdate<'_>) {
        for (x, direction) in x.iter_mut().zip(&**update.direction) {
            *x += self.lr * (update.factor * direction);
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// δ = `factor`·`direction`.
    pub(in crate::aggregate) fn update(
        direction: &Arc<Vec<f64>>,
        factor: f64,
        client_lr: f64,
    ) -> AggregatedUpdate<'_> {
        let applied = Applied { tau_eff: factor, scale: 1.0 };
        AggregatedUpdate { direction, factor, applied, client_lr, updates: &[] }
    }

    /// What is left of the way after many updates that each go S times the way to the minimum.
    fn left(config: OptimizerConfig, stretch: f64) -> f64 {
        let (mut optimizer, mut x) = (config.init(1).unwrap(), [1.0]);
        (0..2000).for_each(|_| {
            let direction = Arc::new(vec![-stretch * x[0]]);
            optimizer.apply(&mut x, &update(&direction, 1.0, 0.05));
        });
        x[0].abs()
    }

    #[test]
    fn a_stretch_beyond_the_largest_goes_further_off_every_round() {
        for config in [
            OptimizerConfig::PLAIN,
            OptimizerConfig::Sgd { lr: 0.4 },
            OptimizerConfig::Momentum { lr: 1.0, momentum: 0.5 },
            OptimizerConfig::Momentum { lr: 0.7, momentum: 0.9 },
        ] {
            let limit = config.largest_stretch().unwrap();
            assert!(left(config, 0.99 * limit) < 1e-3, "{config:?}");
            assert!(left(config, 1.01 * limit) > 1e3, "{config:?}");
        }
    }

    /// Half of a run, saved and loaded into a new optimiser, ends where the whole run does.
    #[test]
    fn a_state_that_is_saved_and_loaded_goes_on_to_the_bit() {
        let adaptive =
            |moment| OptimizerConfig::Adaptive { moment, lr: 0.1, beta1: 0.9, epsilon: 1e-3 };
        for config in [
            OptimizerConfig::PLAIN,
            OptimizerConfig::Momentum { lr: 0.7, momentum: 0.9 },
            adaptive(Moment::Adagrad),
            adaptive(Moment::Adam { beta2: 0.99 }),
            adaptive(Moment::Yogi { beta2: 0.99 }),
        ] {
            let (mut whole, mut first) = (config.init(2).unwrap(), config.init(2).unwrap());
            let (mut x, mut y) = ([1.0, -2.0], [1.0, -2.0]);
            let step = |optimizer: &mut dyn ServerOptimizer, x: &mut [f64; 2]| {
                let direction = Arc::new(vec![-x[0] + 0.3, 0.5 * x[1]]);
                optimizer.apply(x, &update(&direction, 0.8, 0.05));
            };
            (0..9).for_each(|_| step(&mut *whole, &mut x));
            (0..4).for_each(|_| step(&mut *first, &mut y));
            let mut second = config.init(2).unwrap();
            second.load(&first.save());
            (0..5).for_each(|_| step(&mut *second, &mut y));
            assert_eq!(x.map(f64::to_bits), y.map(f64::to_bits), "{config:?}");
        }
    }
}
