//! What is learned: generators of federated problems.
//!
//! A [`TaskConfig`] says which problem; [`TaskConfig::init`] draws it for a seed. Nothing here
//! knows of time or devices.

mod quadratic;
mod synthetic;

pub use quadratic::{Centers, Curvature, Quadratic, QuadraticConfig};
pub use synthetic::{Shard, Synthetic, SyntheticConfig};

/// The learning problem of a scenario, validated.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskConfig {
    /// Number of clients m.
    pub clients: usize,
    /// Where the model starts.
    pub init: Init,
    /// Which family of problems.
    pub kind: TaskKind,
}

/// The families of problems.
#[derive(Clone, Debug, PartialEq)]
pub enum TaskKind {
    /// F_i(x) = ½xᵀH_i x − e_iᵀx + ½e_iᵀH_i⁻¹e_i (appendix A of the paper).
    Quadratic(QuadraticConfig),
    /// Synthetic(α, β) softmax regression of Li et al. 2018.
    Synthetic(SyntheticConfig),
}

/// The model's starting point.
#[derive(Clone, Debug, PartialEq)]
pub enum Init {
    /// All zeros.
    Zeros,
    /// Independent normal entries with this standard deviation.
    Normal(f64),
    /// Tensors of an earlier run's `model-….safetensors`.
    File(std::path::PathBuf),
}
