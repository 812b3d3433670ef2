//! What the server does with the aggregated update.
//!
//! The aggregated normalized gradient, `δ = −τ_eff Σ w_i η d_i`, need not be applied as it is: it
//! may feed a buffer or an adaptive method of the server's own (section 5 of the paper,
//! "Combination with Acceleration Techniques"). Clients may have momentum of their own at the same
//! time: the paper's hybrid.

mod adaptive;
mod slowmo;

pub use adaptive::{Adaptive, Moment};
pub use slowmo::SlowMo;

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
            OptimizerConfig::Adaptive { .. } => None,
        }
    }

    /// Vectors as long as the model that it keeps.
    pub fn vectors(self) -> usize {
        match self {
            OptimizerConfig::Sgd { .. } => 0,
            OptimizerConfig::Momentum { .. } => 1,
            OptimizerConfig::Adaptive { .. } => 2,
        }
    }
}

/// An optimiser with its state.
pub enum Optimizer {
    /// x ← x + lr·δ; lr = 1 is the general rule itself (eq. 4).
    #[allow(missing_docs)]
    Sgd { lr: f64 },
    /// Momentum.
    Momentum(SlowMo),
    /// An adaptive method.
    Adaptive(Adaptive),
}

impl Optimizer {
    /// An optimiser of models with `len` parameters that has seen nothing yet.
    pub fn new(config: OptimizerConfig, len: usize) -> Self {
        match config {
            OptimizerConfig::Sgd { lr } => Optimizer::Sgd { lr },
            OptimizerConfig::Momentum { lr, momentum } => {
                Optimizer::Momentum(SlowMo::new(lr, momentum, len))
            }
            OptimizerConfig::Adaptive { moment, lr, beta1, epsilon } => {
                Optimizer::Adaptive(Adaptive::new(moment, lr, beta1, epsilon, len))
            }
        }
    }

    /// Moves `x` by the update δ = `factor`·`direction`, made by clients with learning rate
    /// `client_lr`.
    pub fn apply(&mut self, x: &mut [f64], direction: &[f64], factor: f64, client_lr: f64) {
        match self {
            Optimizer::Sgd { lr } => {
                for (x, direction) in x.iter_mut().zip(direction) {
                    *x += *lr * (factor * direction);
                }
            }
            Optimizer::Momentum(slowmo) => slowmo.apply(x, direction, factor, client_lr),
            Optimizer::Adaptive(adaptive) => adaptive.apply(x, direction, factor),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is left of the way after many updates that each go S times the way to the minimum.
    fn left(config: OptimizerConfig, stretch: f64) -> f64 {
        let (mut optimizer, mut x) = (Optimizer::new(config, 1), [1.0]);
        (0..2000).for_each(|_| {
            let direction = [-stretch * x[0]];
            optimizer.apply(&mut x, &direction, 1.0, 0.05);
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
}
