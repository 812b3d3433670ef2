//! The learning problem of a scenario: which task, and data sets from files.
//!
//! A [`TaskConfig`] says which problem. A [`Dataset`] is read once, when the scenario is, by a reader
//! per file format; [`FilesConfig::init`] splits it over the clients for a seed. The problems
//! themselves are in `gruppetto_sim::data`, whose names are repeated here.
//!
//! ```text
//!  files ─► KnownDataset::load, TableConfig::load ─► Dataset ─┐
//!                                                             ├─► Federated ─► a trainer
//!                  seed, [task.partition] ─► PartitionConfig ─┘       └─► Shards (native kernels)
//! ```

mod error;
mod file;
mod images;
mod inspect;
mod plugin_task;
mod split_file;
mod table;

pub use error::DataError;
pub use gruppetto_sim::data::*;
pub use images::{DataFolders, KNOWN, KnownDataset};
pub use inspect::{Glyphs, Heterogeneity, Inspection};
pub use plugin_task::PluginTask;
pub use split_file::read_split;
pub use table::{TableConfig, parse_bytes};

use crate::metric::Metric;
use crate::plugins::PluginError;
use crate::train::TaskDescription;
use std::sync::Arc;

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
    /// Images or tables from files.
    Files(FilesConfig),
    /// A task of the user's own.
    Plugin(PluginTask),
}

impl TaskKind {
    /// Whether a metric is measured.
    pub fn measures(&self, metric: Metric) -> bool {
        match self {
            TaskKind::Quadratic(_) => !matches!(metric, Metric::TestAccuracy | Metric::TestLoss),
            TaskKind::Synthetic(_) => !matches!(metric, Metric::Distance),
            TaskKind::Files(files) => match metric {
                Metric::TestAccuracy => !files.data.test.is_empty() && files.data.classes > 0,
                Metric::TestLoss => !files.data.test.is_empty(),
                metric => !matches!(metric, Metric::Distance),
            },
            TaskKind::Plugin(plugin) => plugin.known().metrics.contains(&metric),
        }
    }
}

/// The model's starting point.
#[derive(Clone, Debug, PartialEq)]
pub enum Init {
    /// As the model itself is made; zeros for those that have no other idea.
    Default,
    /// All zeros.
    Zeros,
    /// Independent normal entries with this standard deviation.
    Normal(f64),
    /// Tensors of an earlier run's `model-….safetensors`.
    File(std::path::PathBuf),
}

/// The clients' shares cannot be known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ShareError {
    /// The data cannot be spread over the clients with this seed.
    #[error("[task.partition]: {0}")]
    Partition(#[from] PartitionError),
    /// The plug-in refuses.
    #[error("[task] kind: {0}")]
    Plugin(#[from] PluginError),
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
    /// p_i and n_i without drawing the data itself. Fails only where a data set cannot be spread as
    /// asked with this seed; a scenario that was read is known not to, for its own seeds.
    pub fn shares(&self, seed: u64) -> Result<Shares, ShareError> {
        let by_size = |samples: Vec<u32>| {
            let all: f64 = samples.iter().map(|&n| f64::from(n)).sum();
            Shares { p: samples.iter().map(|&n| f64::from(n) / all).collect(), samples }
        };
        Ok(match &self.kind {
            TaskKind::Quadratic(quadratic) => {
                let equal = || vec![1.0 / self.clients as f64; self.clients];
                Shares { p: quadratic.weights.clone().unwrap_or_else(equal), samples: Vec::new() }
            }
            TaskKind::Synthetic(synthetic) => {
                let clients = 0..self.clients as u64;
                by_size(clients.map(|client| synthetic.split(seed, client).train).collect())
            }
            TaskKind::Files(files) => {
                by_size(files.partition.sizes(&files.data, self.clients, seed)?)
            }
            TaskKind::Plugin(plugin) => {
                let TaskDescription { p, samples, .. } = plugin.description(seed)?;
                Shares { p, samples }
            }
        })
    }

    /// Bytes of the data of all clients together, if they have `samples` samples in all.
    pub fn data_bytes(&self, samples: f64) -> f64 {
        match &self.kind {
            TaskKind::Quadratic(quadratic) => self.clients as f64 * quadratic.dim as f64 * 8.0,
            // A row has its features, the constant of the bias and the label.
            TaskKind::Synthetic(synthetic) => samples * (synthetic.features as f64 + 2.0) * 4.0,
            // The files, which are there already, and a copy for those who compute.
            TaskKind::Files(FilesConfig { data, backend, .. }) => {
                let all = (data.train.len() + data.test.len()) as f64;
                let copied = match backend {
                    Backend::Native => all * (data.features() as f64 + 2.0) * 4.0,
                    Backend::Libtorch => {
                        [&data.train, &data.test].iter().map(|part| part.copied()).sum::<usize>()
                            as f64
                    }
                };
                data.bytes() as f64 + copied
            }
            // Only the plug-in knows.
            TaskKind::Plugin(_) => 0.0,
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
            TaskKind::Files(files) => samples as f64 * files.cost.flops,
            TaskKind::Plugin(plugin) => {
                let [fixed, each] = plugin.known().flops;
                fixed + each * samples as f64
            }
        }
    }

    /// Bytes that a thread needs for what layers give while it evaluates a model.
    pub fn evaluation_bytes(&self) -> f64 {
        match &self.kind {
            // What a layer gives and what is made of it, in single precision.
            TaskKind::Files(files) => 2.0 * 4.0 * EVALUATED_TOGETHER as f64 * files.cost.units,
            TaskKind::Quadratic(_) | TaskKind::Synthetic(_) | TaskKind::Plugin(_) => 0.0,
        }
    }

    /// Number of model parameters d.
    pub fn parameters(&self) -> usize {
        match &self.kind {
            TaskKind::Quadratic(quadratic) => quadratic.dim,
            TaskKind::Synthetic(synthetic) => synthetic.classes * (synthetic.features + 1),
            TaskKind::Files(files) => files.cost.parameters,
            TaskKind::Plugin(plugin) => plugin.known().parameters,
        }
    }
}

/// `[task] kind = "images"` and `kind = "table"`: data from files, and the model that learns it.
#[derive(Clone, Debug, PartialEq)]
pub struct FilesConfig {
    /// The data, read once for all variants and seeds.
    pub data: Arc<Dataset>,
    /// How it is spread.
    pub partition: PartitionConfig,
    /// What is done to training images.
    pub augment: Augment,
    /// What learns.
    pub model: ModelConfig,
    /// Who computes.
    pub backend: Backend,
    /// How large the model is.
    pub cost: Cost,
}

impl FilesConfig {
    /// Spreads the data over `clients` clients.
    pub fn init(&self, seed: u64, clients: usize) -> Result<Federated, PartitionError> {
        let clients = self.partition.assign(&self.data, clients, seed)?;
        Ok(Federated { data: self.data.clone(), clients, augment: self.augment })
    }
}
