//! What is learned: the questions that a run asks about its task.
//!
//! A kind of task is one type that answers them: [`Task`]. Those of `[task] kind` are in
//! `src/scenario/task/`, each with the keys that it reads; a plug-in's is [`super::PluginTask`].

use super::{Inspection, PartitionError, QuadraticConfig};
use crate::aggregate::Buffers;
use crate::metric::Metric;
use crate::plugins::PluginError;
use crate::train::{DeviceChoice, Trainer};
use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;

/// The learning problem of a scenario, validated.
#[derive(Clone, Debug)]
pub struct TaskConfig {
    /// Which kind, as `[task] kind` says; "plugin" for one that users bring.
    pub kind: &'static str,
    /// Number of clients m.
    pub clients: usize,
    /// Where the model starts.
    pub init: Init,
    /// What is learned.
    pub problem: Arc<dyn Task>,
}

/// A kind of task.
pub trait Task: Any + Debug + Send + Sync {
    /// Whether another task is the same: `other.downcast_ref() == Some(self)`.
    fn equals(&self, other: &dyn Any) -> bool;

    /// What learns, in a word.
    fn model(&self) -> &'static str;

    /// Number of model parameters d.
    fn parameters(&self) -> usize;

    /// Those of its parameters, at the end, that no gradient moves.
    fn buffers(&self) -> Buffers {
        Buffers::NONE
    }

    /// Entries of a parameter vector as its trainer keeps it, padding included.
    fn stored_parameters(&self) -> usize {
        self.parameters()
    }

    /// Floating-point operations of one local step on a batch of `samples`: a multiplication and an
    /// addition for every weight it uses, once to predict and once to learn.
    fn flops(&self, samples: usize) -> f64;

    /// Whether a metric is measured.
    fn measures(&self, metric: Metric) -> bool;

    /// p_i and n_i for a seed, without drawing the data itself.
    fn shares(&self, clients: usize, seed: u64) -> Result<Shares, ShareError>;

    /// The trainer, with the data of a seed.
    fn trainer(&self, setup: &TrainerSetup) -> Result<Arc<dyn Trainer>, TaskError>;

    /// Bytes of the data of all clients together, if they have `samples` samples in all.
    fn data_bytes(&self, clients: usize, samples: f64) -> f64;

    /// Samples of a typical client, where they are drawn; 0: [`Task::data_bytes`] does not need them.
    fn typical_samples(&self) -> f64 {
        0.0
    }

    /// Samples that an evaluation looks at, where clients have `samples` in all: these, and a tenth of all
    /// for testing.
    fn evaluation_samples(&self, samples: f64) -> f64 {
        samples / 0.9
    }

    /// Bytes that a thread needs for what layers give while it evaluates a model.
    fn evaluation_bytes(&self) -> f64 {
        0.0
    }

    /// The tensors of its model: `[task] init = { file = … }` must have them. Empty where only the
    /// trainer knows.
    fn tensors(&self) -> Result<Vec<(String, Vec<usize>)>, TaskError> {
        Ok(Vec::new())
    }

    /// Whether the bits of its results depend on the kind of processor: those of native models do not.
    fn depends_on_processor(&self) -> bool {
        false
    }

    /// For a task whose clients have no samples: what there is instead of batches.
    fn without_samples(&self) -> Option<&'static str> {
        None
    }

    /// The task as quadratics, whose minimum and fixed points are known.
    fn quadratic(&self) -> Option<&QuadraticConfig> {
        None
    }

    /// The trainer of a task whose local steps may follow a law of their own: it is asked for ‖a‖₁ even
    /// if nothing is trained.
    fn foreign_law(&self, seed: u64) -> Result<Option<Arc<dyn Trainer>>, PluginError> {
        let _ = seed;
        Ok(None)
    }

    /// How its data is spread, for `gruppetto data inspect`; `None` for a task without samples.
    fn inspect(&self, clients: usize, seed: u64) -> Result<Option<Inspection>, PartitionError> {
        let _ = (clients, seed);
        Ok(None)
    }
}

/// What a trainer is made for.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct TrainerSetup {
    /// Number of clients.
    pub clients: usize,
    /// Samples of a batch.
    pub batch: usize,
    /// Seed of the run.
    pub seed: u64,
    /// Where deep models are computed.
    pub device: DeviceChoice,
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

/// How the data is spread: all that the schedule of a run needs to know of the task.
#[derive(Clone, Debug, PartialEq)]
pub struct Shares {
    /// p_i, summing to 1.
    pub p: Vec<f64>,
    /// Training samples n_i; empty where a task has no samples.
    pub samples: Vec<u32>,
}

impl Shares {
    /// Every sample counts the same.
    pub fn by_samples(samples: Vec<u32>) -> Self {
        let all: f64 = samples.iter().map(|&n| f64::from(n)).sum();
        Shares { p: samples.iter().map(|&n| f64::from(n) / all).collect(), samples }
    }
}

/// The clients' shares cannot be known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ShareError {
    /// The data cannot be spread over the clients with this seed.
    #[error("[task.partition]: {0}")]
    Partition(#[from] PartitionError),
    /// The plug-in refuses.
    #[error("[task] kind: {0}")]
    Plugin(#[from] PluginError),
}

/// A task cannot be learned.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TaskError {
    /// The data cannot be divided among the clients with this seed.
    #[error(transparent)]
    Shares(#[from] ShareError),
    /// A plug-in refuses.
    #[error("plug-in: {0}")]
    Plugin(#[from] PluginError),
    /// The model needs libtorch.
    #[error("[task] model: \"{0}\" needs libtorch, and this program was built without it")]
    NoTorch(&'static str),
    /// libtorch cannot do what is asked.
    #[cfg(feature = "torch")]
    #[error(transparent)]
    Torch(#[from] gruppetto_torch::TorchError),
}

impl PartialEq for TaskConfig {
    fn eq(&self, other: &Self) -> bool {
        let (own, others) = (&*self.problem, &*other.problem as &dyn Any);
        (self.kind, self.clients, &self.init) == (other.kind, other.clients, &other.init)
            && own.equals(others)
    }
}

impl TaskConfig {
    /// p_i and n_i without drawing the data itself. Fails only where a data set cannot be spread as
    /// asked with this seed; a scenario that was read is known not to, for its own seeds.
    pub fn shares(&self, seed: u64) -> Result<Shares, ShareError> {
        self.problem.shares(self.clients, seed)
    }

    /// Bytes of the data of all clients together, if they have `samples` samples in all.
    pub fn data_bytes(&self, samples: f64) -> f64 {
        self.problem.data_bytes(self.clients, samples)
    }

    /// Floating-point operations of one local step on a batch of `samples`.
    pub fn flops(&self, samples: usize) -> f64 {
        self.problem.flops(samples)
    }

    /// Number of model parameters d.
    pub fn parameters(&self) -> usize {
        self.problem.parameters()
    }

    /// The configuration of the task, if it is of this type.
    pub fn as_kind<T: Task>(&self) -> Option<&T> {
        let problem: &dyn Any = &*self.problem;
        problem.downcast_ref()
    }
}
