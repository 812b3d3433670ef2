//! `[task] kind = "synthetic"`: Synthetic(α, β) softmax regression of Li et al. 2018.

use super::{Found, Given, MOST_PARAMETERS};
use crate::data::{
    Init, Inspection, ModelConfig, PartitionError, ShareError, Shares, SyntheticConfig, Task,
    TaskError, TrainerSetup,
};
use crate::metric::Metric;
use crate::random::{Dist, Shape};
use crate::scenario::error::ScenarioError;
use crate::scenario::section::Section;
use crate::scenario::tree::Node;
use crate::scenario::value::Unit;
use crate::scenario::{dist, model};
use crate::train::{SoftmaxTrainer, Trainer};
use gruppetto_kernels::SoftmaxShape;
use std::any::Any;
use std::sync::Arc;

/// Reads the keys of a synthetic task.
pub(super) fn read(section: &mut Section<'_>, given: &Given<'_>) -> Result<Found, ScenarioError> {
    if let Some(node) = section.get("model")
        && model::read(node)? != ModelConfig::Softmax
    {
        let error = node.at.error("a synthetic task is learned by softmax regression");
        return Err(error
            .expected("\"softmax\"")
            .help("other models learn from kind = \"images\" or kind = \"table\""));
    }
    let mut spread = |key| match section.get(key) {
        Some(node) => node.number_that(key, "a number, 0 or more", |number| number >= 0.0),
        None => Ok(1.0),
    };
    let (alpha, beta) = (spread("alpha")?, spread("beta")?);
    let features = match section.get("features") {
        Some(node) => node.whole("features", 1..=10_000_000)?,
        None => 60,
    };
    let classes = match section.get("classes") {
        Some(node) => {
            let classes = node.whole("classes", 2..=1_000_000)?;
            if (features + 1) * classes > MOST_PARAMETERS {
                let error = node.at.error("the model has too many parameters");
                return Err(error
                    .expected(format_args!("(features + 1) × classes up to {MOST_PARAMETERS}")));
            }
            classes
        }
        None => 10,
    };
    let size = section.get("size").map_or_else(|| Ok(usual_size()), read_size)?;
    let (features, classes) = (features as usize, classes as usize);
    let model_difference = match section.get("model_difference") {
        Some(node) => node.number_that("model_difference", "a number from 0 to 1", |part| {
            (0.0..=1.0).contains(&part)
        })?,
        None => 1.0,
    };
    let problem =
        Arc::new(SyntheticConfig { alpha, beta, model_difference, features, classes, size });
    Ok(Found { clients: given.clients(), init: Init::Zeros, problem })
}

/// The sizes of Li et al.: heavy-tailed, and never below 50.
fn usual_size() -> Dist {
    let shape = Shape::Lognormal { median: 54.6, sigma: 2.0 };
    Dist { shape, plus: 50.0, min: None, max: Some(2000.0) }
}

fn read_size(node: &Node) -> Result<Dist, ScenarioError> {
    let size = dist::read(node, Unit::Plain)?;
    // One sample to learn from and one to test with.
    dist::never_below(&size, 2.0, "2 samples", "size", node)?;
    match size.typical() <= 1e8 {
        true => Ok(size),
        false => Err(node
            .at
            .error("`size` is too large")
            .expected("up to 100 million samples per client")),
    }
}

/// Stands where a task is not known yet.
pub(super) fn smallest() -> SyntheticConfig {
    SyntheticConfig {
        alpha: 0.0,
        beta: 0.0,
        model_difference: 1.0,
        features: 1,
        classes: 2,
        size: usual_size(),
    }
}

impl Task for SyntheticConfig {
    fn equals(&self, other: &dyn Any) -> bool {
        other.downcast_ref() == Some(self)
    }

    fn model(&self) -> &'static str {
        "softmax"
    }

    fn parameters(&self) -> usize {
        self.classes * (self.features + 1)
    }

    fn stored_parameters(&self) -> usize {
        SoftmaxShape { features: self.features, classes: self.classes }.len()
    }

    fn flops(&self, samples: usize) -> f64 {
        4.0 * (samples * self.features * self.classes) as f64
    }

    fn measures(&self, metric: Metric) -> bool {
        !matches!(metric, Metric::Distance)
    }

    fn shares(&self, clients: usize, seed: u64) -> Result<Shares, ShareError> {
        let sizes = (0..clients as u64).map(|client| self.split(seed, client).train);
        Ok(Shares::by_samples(sizes.collect()))
    }

    fn trainer(&self, setup: &TrainerSetup) -> Result<Arc<dyn Trainer>, TaskError> {
        let data = self.init(setup.seed, setup.clients);
        Ok(Arc::new(SoftmaxTrainer::new(data, setup.batch, setup.seed)))
    }

    /// A row has its features, the constant of the bias and the label.
    fn data_bytes(&self, _clients: usize, samples: f64) -> f64 {
        samples * (self.features as f64 + 2.0) * 4.0
    }

    fn typical_samples(&self) -> f64 {
        self.size.typical()
    }

    fn tensors(&self) -> Result<Vec<(String, Vec<usize>)>, TaskError> {
        Ok(super::files_task::softmax_tensors(self.features, self.classes))
    }

    fn inspect(&self, clients: usize, seed: u64) -> Result<Option<Inspection>, PartitionError> {
        Ok(Some(Inspection::of_synthetic(self, clients, seed)))
    }
}
