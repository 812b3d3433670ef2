//! Data from files, and the model that learns it: what a run asks about such a task.

use crate::data::{
    Augment, Backend, Cost, Dataset, EVALUATED_TOGETHER, EVALUATED_TRAINING, Federated, Inspection,
    ModelConfig, PartitionConfig, PartitionError, ShareError, Shares, Task, TaskError,
    TrainerSetup,
};
use crate::metric::Metric;
use crate::train::{SoftmaxTrainer, Trainer};
use gruppetto_kernels::SoftmaxShape;
#[cfg(feature = "torch")]
use gruppetto_torch::TorchTrainer;
use std::any::Any;
use std::sync::Arc;

/// `[task] kind = "images"` and `kind = "table"`.
#[derive(Debug, PartialEq)]
pub(super) struct FilesTask {
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

impl FilesTask {
    /// Spreads the data over `clients` clients.
    fn spread(&self, seed: u64, clients: usize) -> Result<Federated, PartitionError> {
        let clients = self.partition.assign(&self.data, clients, seed)?;
        Ok(Federated { data: self.data.clone(), clients, augment: self.augment })
    }
}

impl Task for FilesTask {
    fn equals(&self, other: &dyn Any) -> bool {
        other.downcast_ref() == Some(self)
    }

    fn model(&self) -> &'static str {
        self.model.name()
    }

    fn parameters(&self) -> usize {
        self.cost.parameters
    }

    fn stored_parameters(&self) -> usize {
        let (features, classes) = (self.data.features(), self.data.classes);
        match self.backend {
            Backend::Native => SoftmaxShape { features, classes }.len(),
            Backend::Libtorch => self.parameters(),
        }
    }

    fn flops(&self, samples: usize) -> f64 {
        samples as f64 * self.cost.flops
    }

    fn measures(&self, metric: Metric) -> bool {
        let is_tested = !self.data.test.is_empty();
        match metric {
            Metric::TestAccuracy => is_tested && self.data.classes > 0,
            Metric::TestLoss => is_tested,
            metric => !matches!(metric, Metric::Distance),
        }
    }

    fn shares(&self, clients: usize, seed: u64) -> Result<Shares, ShareError> {
        Ok(Shares::by_samples(self.partition.sizes(&self.data, clients, seed)?))
    }

    /// The one place where a model of data from files becomes a trainer. Deep models, and softmax with
    /// `backend = "libtorch"`, are dispatched to libtorch from here.
    fn trainer(&self, setup: &TrainerSetup) -> Result<Arc<dyn Trainer>, TaskError> {
        let TrainerSetup { clients, batch, seed, device } = *setup;
        let problem = self.spread(seed, clients).map_err(ShareError::from)?;
        match (&self.model, self.backend) {
            (ModelConfig::Softmax, Backend::Native) => {
                Ok(Arc::new(SoftmaxTrainer::new(problem.shards(), batch, seed)))
            }
            #[cfg(feature = "torch")]
            (model, _) => Ok(Arc::new(TorchTrainer::new(model, problem, batch, seed, device)?)),
            #[cfg(not(feature = "torch"))]
            (model, _) => {
                let _ = device;
                Err(TaskError::NoTorch(model.name()))
            }
        }
    }

    /// The files, which are there already, and a copy for those who compute.
    fn evaluation_samples(&self, _: f64) -> f64 {
        let Dataset { train, test, .. } = &*self.data;
        let of_training = match self.backend {
            Backend::Native => train.len(),
            Backend::Libtorch => train.len().min(EVALUATED_TRAINING),
        };
        (of_training + test.len()) as f64
    }

    fn data_bytes(&self, _clients: usize, _samples: f64) -> f64 {
        let Dataset { train, test, .. } = &*self.data;
        let copied = match self.backend {
            Backend::Native => {
                (train.len() + test.len()) as f64 * (self.data.features() as f64 + 2.0) * 4.0
            }
            Backend::Libtorch => (train.copied() + test.copied()) as f64,
        };
        self.data.bytes() as f64 + copied
    }

    fn depends_on_processor(&self) -> bool {
        self.backend == Backend::Libtorch
    }

    /// What a layer gives and what is made of it, in single precision.
    fn evaluation_bytes(&self) -> f64 {
        2.0 * 4.0 * EVALUATED_TOGETHER as f64 * self.cost.units
    }

    fn tensors(&self) -> Result<Vec<(String, Vec<usize>)>, TaskError> {
        match self.backend {
            Backend::Native => Ok(softmax_tensors(self.data.features(), self.data.classes)),
            #[cfg(feature = "torch")]
            Backend::Libtorch => Ok(gruppetto_torch::tensor_shapes(&self.model, &self.data)?),
            // Without libtorch there is nothing that could be started.
            #[cfg(not(feature = "torch"))]
            Backend::Libtorch => Ok(Vec::new()),
        }
    }

    fn inspect(&self, clients: usize, seed: u64) -> Result<Option<Inspection>, PartitionError> {
        let federated = self.spread(seed, clients)?;
        let scheme = &self.partition.scheme;
        Ok(Some(Inspection::of_data(&federated.data, &federated.clients, scheme, seed)))
    }
}

/// The tensors of softmax regression.
pub(super) fn softmax_tensors(features: usize, classes: usize) -> Vec<(String, Vec<usize>)> {
    vec![("weight".into(), vec![classes, features]), ("bias".into(), vec![classes])]
}
