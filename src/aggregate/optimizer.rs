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
