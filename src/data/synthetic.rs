//! Synthetic(α, β): softmax regression data as Li et al. 2018 generate it.

use crate::random::Dist;

/// `[task] kind = "synthetic"`.
#[derive(Clone, Debug, PartialEq)]
pub struct SyntheticConfig {
    /// Standard deviation of the clients' model means u_i.
    pub alpha: f64,
    /// Standard deviation of the clients' feature means B_i.
    pub beta: f64,
    /// Features per sample.
    pub features: usize,
    /// Classes.
    pub classes: usize,
    /// Samples per client, before the 90/10 split.
    pub size: Dist,
}

/// A drawn problem.
pub struct Synthetic {}
/// One client's samples.
pub struct Shard {}
