//! What is learned: generators of federated problems.
//!
//! A [`TaskConfig`] says which problem; [`QuadraticConfig::init`] and [`SyntheticConfig::init`]
//! draw it for a seed, client by client from the client's own stream, so that client 7 has the
//! same data whether there are 10 clients or a million. Nothing here knows of time or devices.

mod quadratic;
mod synthetic;

pub use quadratic::{Centers, Curvature, LocalCurvature, Quadratic, QuadraticConfig};
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

/// How the data is spread: all that the schedule of a run needs to know of the task.
#[derive(Clone, Debug, PartialEq)]
pub struct Shares {
    /// p_i, summing to 1.
    pub p: Vec<f64>,
    /// Training samples n_i; empty where a task has no samples.
    pub samples: Vec<u32>,
}

impl TaskConfig {
    /// p_i and n_i without drawing the data itself.
    pub fn shares(&self, seed: u64) -> Shares {
        match &self.kind {
            TaskKind::Quadratic(quadratic) => {
                let equal = || vec![1.0 / self.clients as f64; self.clients];
                Shares { p: quadratic.weights.clone().unwrap_or_else(equal), samples: Vec::new() }
            }
            TaskKind::Synthetic(synthetic) => {
                let samples: Vec<u32> = (0..self.clients as u64)
                    .map(|client| synthetic.split(seed, client).train)
                    .collect();
                let all: f64 = samples.iter().map(|&n| f64::from(n)).sum();
                Shares { p: samples.iter().map(|&n| f64::from(n) / all).collect(), samples }
            }
        }
    }

    /// Bytes of the data of all clients together, if they have `samples` samples in all.
    pub fn data_bytes(&self, samples: f64) -> f64 {
        match &self.kind {
            TaskKind::Quadratic(quadratic) => self.clients as f64 * quadratic.dim as f64 * 8.0,
            // A row has its features, the constant of the bias and the label.
            TaskKind::Synthetic(synthetic) => samples * (synthetic.features as f64 + 2.0) * 4.0,
        }
    }

    /// Floating-point operations of one local step on a batch of `samples`: a multiplication and an
    /// addition for every entry of H_i, or for every weight and sample once to predict and once to
    /// learn.
    pub fn flops(&self, samples: usize) -> f64 {
        match &self.kind {
            TaskKind::Quadratic(QuadraticConfig { dim, curvature, .. }) => match curvature {
                Curvature::Full(_) => 2.0 * (dim * dim) as f64,
                Curvature::Identity | Curvature::Diagonal(_) => 2.0 * *dim as f64,
            },
            TaskKind::Synthetic(SyntheticConfig { features, classes, .. }) => {
                4.0 * (samples * features * classes) as f64
            }
        }
    }

    /// Number of model parameters d.
    pub fn parameters(&self) -> usize {
        match &self.kind {
            TaskKind::Quadratic(quadratic) => quadratic.dim,
            TaskKind::Synthetic(synthetic) => synthetic.classes * (synthetic.features + 1),
        }
    }
}
