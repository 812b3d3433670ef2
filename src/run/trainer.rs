//! From a plan's task to the trainer that computes it.

use super::build::BuildError;
use crate::data::{Backend, Federated, FilesConfig, ModelConfig, ShareError, TaskKind};
use crate::scenario::Plan;
use crate::train::{DeviceChoice, QuadraticTrainer, SoftmaxTrainer, Trainer};
#[cfg(feature = "torch")]
use gruppetto_torch::TorchTrainer;
use std::sync::Arc;

/// The trainer of a plan's task, with the data of `seed`.
pub fn trainer(
    plan: &Plan,
    seed: u64,
    device: DeviceChoice,
) -> Result<Arc<dyn Trainer>, BuildError> {
    let batch = plan.client.batch.size();
    Ok(match &plan.task.kind {
        TaskKind::Quadratic(config) => {
            let problem = config.init(seed, &plan.task.shares(seed)?.p);
            Arc::new(QuadraticTrainer::new(problem, seed))
        }
        TaskKind::Synthetic(config) => {
            let data = config.init(seed, plan.task.clients);
            Arc::new(SoftmaxTrainer::new(data, batch, seed))
        }
        TaskKind::Plugin(plugin) => plugin.trainer(seed)?,
        TaskKind::Files(config) => {
            let FilesConfig { model, backend, .. } = config;
            let problem = config.init(seed, plan.task.clients).map_err(ShareError::from)?;
            of_files(model, *backend, problem, batch, seed, device)?
        }
    })
}

/// The one place where a model of data from files becomes a trainer. Deep models, and softmax with
/// `backend = "libtorch"`, are dispatched to libtorch from here.
fn of_files(
    model: &ModelConfig,
    backend: Backend,
    problem: Federated,
    batch: usize,
    seed: u64,
    device: DeviceChoice,
) -> Result<Arc<dyn Trainer>, BuildError> {
    match (model, backend) {
        (ModelConfig::Softmax, Backend::Native) => {
            Ok(Arc::new(SoftmaxTrainer::new(problem.shards(), batch, seed)))
        }
        #[cfg(feature = "torch")]
        _ => Ok(Arc::new(TorchTrainer::new(model, problem, batch, seed, device)?)),
        #[cfg(not(feature = "torch"))]
        _ => {
            let _ = device;
            Err(BuildError::NoTorch(model.name()))
        }
    }
}
