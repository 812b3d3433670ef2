//! Training softmax regression with the native kernel.

mod sums;
#[cfg(test)]
mod tests;

use super::order::BatchOrder;
use super::quadratic::normal_vector;
use super::terms::Terms;
use super::{
    DataDigest, Job, LocalRun, Measured, Model, Precision, TaskDescription, Tensor, TensorError,
    Trainer, Values,
};
use crate::data::{Shard, Shards};
use crate::metric::Metric;
use crate::random::{Purpose, stream};
use crate::solver::Solver;
use crossbeam::queue::SegQueue;
use gruppetto_kernels::{Law, Samples, SoftmaxKernel, SoftmaxShape};
use std::ops::Range;
use std::sync::Arc;
use sums::EvaluationSums;

/// Into how many parts an evaluation is cut at most.
const PARTS: usize = 32;

/// The trainer of softmax regression, on data of any origin. Parameters are in the kernel's layout, classes
/// padded to whole vectors; the padding is and stays zero.
pub struct SoftmaxTrainer {
    shared: Arc<SoftmaxProblem>,
}

/// The data and settings of the training, shared by the trainer and its runs.
struct SoftmaxProblem {
    shape: SoftmaxShape,
    data: Shards,
    batch: usize,
    seed: u64,
    samples: usize,
    /// Kernels own scratch memory; as many are made as are ever used side by side.
    kernels: SegQueue<SoftmaxKernel>,
}

impl SoftmaxProblem {
    fn kernel(&self) -> SoftmaxKernel {
        self.kernels.pop().unwrap_or_else(|| SoftmaxKernel::new(self.shape))
    }
}

impl SoftmaxTrainer {
    /// A trainer of `data` in batches of `batch` samples, or of all a client has if it has fewer.
    pub fn new(data: Shards, batch: usize, seed: u64) -> Self {
        let shape = SoftmaxShape { features: data.features, classes: data.classes };
        let samples = data.train.iter().map(|shard| shard.y.len()).sum();
        let kernels = SegQueue::new();
        let shared = SoftmaxProblem { shape, data, batch, seed, samples, kernels };
        SoftmaxTrainer { shared: Arc::new(shared) }
    }

    fn place(&self, class: usize, row: usize) -> usize {
        self.shared.shape.index(class, row)
    }
}

impl Trainer for SoftmaxTrainer {
    fn description(&self) -> TaskDescription {
        let SoftmaxProblem { shape: SoftmaxShape { features, classes }, data, .. } = &*self.shared;
        let tested = [Metric::TestAccuracy, Metric::TestLoss];
        let metrics = [Metric::TrainLoss, Metric::GradNorm].into_iter();
        TaskDescription::by_samples(
            classes * (features + 1),
            data.train.iter().map(|shard| shard.y.len() as u32).collect(),
            // For every weight and sample once to predict and once to learn.
            4.0 * (features * classes) as f64,
            metrics.chain(tested.into_iter().filter(|_| !data.test.y.is_empty())).collect(),
        )
    }

    fn precision(&self) -> Precision {
        Precision::Single
    }

    fn digest(&self) -> u64 {
        let mut digest = DataDigest::of(&self.description());
        digest.shards(&self.shared.data);
        digest.finish()
    }

    fn start(&self, seed: u64, std: f64) -> Vec<f64> {
        let SoftmaxShape { features, classes } = self.shared.shape;
        let drawn = normal_vector(classes * (features + 1), seed, std);
        let mut values = vec![0.0; self.shared.shape.len()];
        for (class, row) in drawn.chunks_exact(features + 1).enumerate() {
            for (j, value) in row.iter().enumerate() {
                values[self.place(class, j)] = *value;
            }
        }
        values
    }

    fn begin(&self, job: Job) -> Box<dyn LocalRun> {
        let Job { model, client, round, solver, correction } = job;
        let shared = self.shared.clone();
        let shard = &shared.data.train[client as usize];
        let all = shard.y.len();
        let batch = shared.batch.min(all);
        let w = model.narrow().to_vec();
        let order = BatchOrder::new(
            all,
            batch,
            stream(shared.seed, Purpose::Batches, client.into(), round),
        );
        let kernel = Some(shared.kernel());
        let terms = Terms::new(&solver, &model, &correction);
        let buffer = if solver.momentum > 0.0 { vec![0.0; w.len()] } else { Vec::new() };
        let (client, rate) = (client as usize, solver.lr);
        Box::new(SoftmaxRun {
            shared,
            client,
            model,
            w,
            solver,
            terms,
            buffer,
            rate,
            order,
            kernel,
        })
    }

    fn evaluation_parts(&self) -> usize {
        self.shared.data.train.len().min(PARTS)
    }

    fn evaluate(&self, model: &Arc<Model>, part: usize, weights: Option<&[f64]>) -> Vec<f64> {
        let shared = &*self.shared;
        let (data, parts, len) = (&shared.data, self.evaluation_parts(), shared.shape.len());
        let mut kernel = shared.kernel();
        let w = model.narrow();
        let mut sums = EvaluationSums::new(len, weights.is_some());
        let mut own = vec![0.0; len];
        for client in slice(data.train.len(), part, parts) {
            let shard = &data.train[client];
            own.fill(0.0);
            let all = 0..shard.y.len();
            let loss = kernel.evaluate(w, samples(shard), all, Some(&mut own)).loss_sum;
            sums.add(loss, &own, weights.map(|weights| (weights[client], shard.y.len() as f64)));
        }
        let tested = slice(data.test.y.len(), part, parts);
        let test = kernel.evaluate(w, samples(&data.test), tested, None);
        shared.kernels.push(kernel);
        sums.with_test(test.correct as f64, test.loss_sum)
    }

    fn measured(&self, _: &Model, sums: &[f64]) -> Measured {
        let (train, test) = (self.shared.samples as f64, self.shared.data.test.y.len() as f64);
        EvaluationSums::measured(sums, self.shared.shape.len(), train, test)
    }

    fn tensors(&self, values: &[f64]) -> Vec<Tensor> {
        let SoftmaxShape { features, classes } = self.shared.shape;
        let at = |class, row| values[self.place(class, row)] as f32;
        let pairs = (0..classes).flat_map(|class| (0..features).map(move |row| (class, row)));
        let weight = pairs.map(|(class, row)| at(class, row)).collect();
        let bias = (0..classes).map(|class| at(class, features)).collect();
        let tensor = |name: &str, shape, values| Tensor {
            name: name.into(),
            shape,
            values: Values::F32(values),
        };
        vec![tensor("weight", vec![classes, features], weight), tensor("bias", vec![classes], bias)]
    }

    fn values(&self, tensors: &[Tensor]) -> Result<Vec<f64>, TensorError> {
        let SoftmaxShape { features, classes } = self.shared.shape;
        let weight = Tensor::find(tensors, "weight", &[classes, features])?;
        let bias = Tensor::find(tensors, "bias", &[classes])?;
        let mut values = vec![0.0; self.shared.shape.len()];
        for class in 0..classes {
            for row in 0..features {
                values[self.place(class, row)] = weight[class * features + row];
            }
            values[self.place(class, features)] = bias[class];
        }
        Ok(values)
    }
}

fn samples(shard: &Shard) -> Samples<'_> {
    Samples { x: &shard.x, y: &shard.y }
}

/// Part `part` of `parts` of `0..len`, as even as can be.
fn slice(len: usize, part: usize, parts: usize) -> Range<usize> {
    len * part / parts..len * (part + 1) / parts
}

struct SoftmaxRun {
    shared: Arc<SoftmaxProblem>,
    client: usize,
    model: Arc<Model>,
    w: Vec<f32>,
    solver: Solver,
    terms: Terms,
    /// Momentum; empty without.
    buffer: Vec<f32>,
    /// The learning rate of the next step.
    rate: f64,
    order: BatchOrder,
    kernel: Option<SoftmaxKernel>,
}

impl LocalRun for SoftmaxRun {
    fn steps(&mut self, count: u64) {
        let shard = &self.shared.data.train[self.client];
        let kernel = self.kernel.as_mut().expect("there until the run is dropped");
        let Terms { shrink, pull } = &self.terms;
        let buffer = &mut self.buffer;
        for _ in 0..count {
            let law = Law {
                lr: self.rate as f32,
                momentum: self.solver.momentum as f32,
                shrink: *shrink,
                pull: pull.as_deref(),
                buffer: (!buffer.is_empty()).then_some(buffer),
            };
            kernel.step(&mut self.w, samples(shard), self.order.next_batch(), law);
            self.rate *= self.solver.lr_decay;
        }
    }

    fn change(self: Box<Self>) -> Vec<f64> {
        let then = self.model.narrow();
        self.w.iter().zip(then).map(|(now, then)| f64::from(*now) - f64::from(*then)).collect()
    }
}

impl Drop for SoftmaxRun {
    fn drop(&mut self) {
        if let Some(kernel) = self.kernel.take() {
            self.shared.kernels.push(kernel);
        }
    }
}
