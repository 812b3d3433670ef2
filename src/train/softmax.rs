//! Training softmax regression with the native kernel.

use super::kernel::{Samples, SoftmaxKernel, SoftmaxShape};
use super::quadratic::normal_vector;
use super::{LocalRun, Model, Tensor, TensorError, Trainer, Values};
use crate::data::{Shard, Synthetic};
use crate::metric::{Metric, Metrics};
use crate::random::{Purpose, Stream, shuffle, stream};
use crate::solver::Solver;
use crossbeam::queue::SegQueue;
use std::ops::Range;
use std::sync::Arc;

/// Into how many parts an evaluation is cut at most.
const PARTS: usize = 32;

/// The trainer of `[task] kind = "synthetic"`. Parameters are in the kernel's layout, classes
/// padded to whole vectors; the padding is and stays zero.
pub struct SoftmaxTrainer {
    shared: Arc<Shared>,
}

struct Shared {
    shape: SoftmaxShape,
    data: Synthetic,
    batch: usize,
    solver: Solver,
    seed: u64,
    samples: usize,
    /// Kernels own scratch memory; as many are made as are ever used side by side.
    kernels: SegQueue<SoftmaxKernel>,
}

impl Shared {
    fn kernel(&self) -> SoftmaxKernel {
        self.kernels.pop().unwrap_or_else(|| SoftmaxKernel::new(self.shape))
    }
}

impl SoftmaxTrainer {
    /// A trainer of `data` in batches of `batch` samples, or of all a client has if it has fewer.
    pub fn new(data: Synthetic, batch: usize, solver: Solver, seed: u64) -> Self {
        let shape = SoftmaxShape { features: data.features, classes: data.classes };
        let samples = data.train.iter().map(|shard| shard.y.len()).sum();
        let kernels = SegQueue::new();
        let shared = Shared { shape, data, batch, solver, seed, samples, kernels };
        SoftmaxTrainer { shared: Arc::new(shared) }
    }

    fn place(&self, class: usize, row: usize) -> usize {
        self.shared.shape.index(class, row)
    }
}

impl Trainer for SoftmaxTrainer {
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

    fn begin(&self, model: Arc<Model>, client: u32, round: u64) -> Box<dyn LocalRun> {
        let shared = self.shared.clone();
        let shard = &shared.data.train[client as usize];
        let all = shard.y.len();
        let batch = shared.batch.min(all);
        let w = model.narrow().to_vec();
        let order =
            Order::new(all, batch, stream(shared.seed, Purpose::Batches, client.into(), round));
        let kernel = Some(shared.kernel());
        Box::new(SoftmaxRun { shared, client: client as usize, model, w, order, kernel })
    }

    fn evaluation_parts(&self) -> usize {
        self.shared.data.train.len().min(PARTS)
    }

    fn evaluate(&self, model: &Model, part: usize) -> Vec<f64> {
        let shared = &*self.shared;
        let (data, parts) = (&shared.data, self.evaluation_parts());
        let mut kernel = shared.kernel();
        let mut sums = vec![0.0; 3 + shared.shape.len()];
        let (head, gradient) = sums.split_at_mut(3);
        let w = model.narrow();
        for client in slice(data.train.len(), part, parts) {
            let shard = &data.train[client];
            let all = 0..shard.y.len();
            head[0] += kernel.evaluate(w, samples(shard), all, Some(gradient)).loss_sum;
        }
        let tested = slice(data.test.y.len(), part, parts);
        let test = kernel.evaluate(w, samples(&data.test), tested, None);
        head[1] = test.correct as f64;
        head[2] = test.loss_sum;
        shared.kernels.push(kernel);
        sums
    }

    fn metrics(&self, _: &Model, sums: &[f64]) -> Metrics {
        let train = self.shared.samples as f64;
        let test = self.shared.data.test.y.len() as f64;
        let mut metrics = Metrics::default();
        metrics.set(Metric::TrainLoss, sums[0] / train);
        let squares: f64 = sums[3..].iter().map(|g| g * g).sum();
        metrics.set(Metric::GradNorm, squares.sqrt() / train);
        if test > 0.0 {
            metrics.set(Metric::TestAccuracy, sums[1] / test);
            metrics.set(Metric::TestLoss, sums[2] / test);
        }
        metrics
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

/// The order in which samples are visited: one random permutation after another, cut into batches
/// of one size. A batch may end one pass and begin the next, so τ = ⌊E·n/B⌋ for any E.
struct Order {
    items: Vec<u32>,
    next: usize,
    size: usize,
    batch: Vec<u32>,
    rng: Stream,
}

impl Order {
    fn new(all: usize, size: usize, rng: Stream) -> Self {
        let batch = Vec::with_capacity(size);
        Order { items: (0..all as u32).collect(), next: all, size, batch, rng }
    }

    fn next_batch(&mut self) -> &[u32] {
        // A full batch has no order to draw.
        if self.size == self.items.len() {
            return &self.items;
        }
        self.batch.clear();
        while self.batch.len() < self.size {
            if self.next == self.items.len() {
                shuffle(&mut self.items, &mut self.rng);
                self.next = 0;
            }
            let wanted = self.size - self.batch.len();
            let end = (self.next + wanted).min(self.items.len());
            self.batch.extend_from_slice(&self.items[self.next..end]);
            self.next = end;
        }
        &self.batch
    }
}

struct SoftmaxRun {
    shared: Arc<Shared>,
    client: usize,
    model: Arc<Model>,
    w: Vec<f32>,
    order: Order,
    kernel: Option<SoftmaxKernel>,
}

impl LocalRun for SoftmaxRun {
    fn steps(&mut self, count: u64) {
        let shard = &self.shared.data.train[self.client];
        let lr = self.shared.solver.lr as f32;
        let kernel = self.kernel.as_mut().expect("there until the run is dropped");
        for _ in 0..count {
            kernel.sgd_step(&mut self.w, samples(shard), self.order.next_batch(), lr);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::SyntheticConfig;
    use crate::random::Dist;

    fn trainer(batch: usize) -> SoftmaxTrainer {
        let size = Dist::fixed(60.0);
        let config = SyntheticConfig { alpha: 1.0, beta: 1.0, features: 7, classes: 5, size };
        SoftmaxTrainer::new(config.init(2, 4), batch, Solver { lr: 0.1 }, 2)
    }

    #[test]
    fn every_pass_visits_every_sample_once() {
        let mut order = Order::new(10, 4, stream(1, Purpose::Batches, 0, 0));
        let visited: Vec<u32> = (0..5).flat_map(|_| order.next_batch().to_vec()).collect();
        for pass in visited.chunks(10) {
            let mut pass = pass.to_vec();
            pass.sort_unstable();
            assert_eq!(pass, (0..10).collect::<Vec<u32>>());
        }
        assert_ne!(visited[..10], visited[10..]);
    }

    #[test]
    fn steps_in_one_go_and_one_by_one_are_the_same() {
        let trainer = trainer(8);
        let model = Arc::new(Model::new(trainer.start(3, 0.1)));
        let mut at_once = trainer.begin(model.clone(), 1, 5);
        at_once.steps(23);
        let mut singly = trainer.begin(model, 1, 5);
        (0..23).for_each(|_| singly.steps(1));
        assert_eq!(at_once.change(), singly.change());
    }

    /// Full-batch steps on all clients follow −∇F: the evaluation's gradient and the kernel's
    /// steps are two ways to the same thing.
    #[test]
    fn one_full_step_of_everyone_is_a_step_down_the_global_gradient() {
        let trainer = trainer(usize::MAX);
        let model = Arc::new(Model::new(trainer.start(3, 0.3)));
        let shares = trainer
            .shared
            .data
            .train
            .iter()
            .map(|s| s.y.len() as f64 / trainer.shared.samples as f64);
        let mut moved = vec![0.0; model.values().len()];
        for (client, p) in shares.enumerate() {
            let mut run = trainer.begin(model.clone(), client as u32, 1);
            run.steps(1);
            moved.iter_mut().zip(run.change()).for_each(|(sum, d)| *sum += p * d);
        }
        let mut sums = vec![0.0; 3 + moved.len()];
        for part in 0..trainer.evaluation_parts() {
            let part = trainer.evaluate(&model, part);
            sums.iter_mut().zip(part).for_each(|(sum, v)| *sum += v);
        }
        for (moved, gradient) in moved.iter().zip(&sums[3..]) {
            let expected = -0.1 * gradient / trainer.shared.samples as f64;
            assert!((moved - expected).abs() < 1e-6, "{moved} {expected}");
        }
        let norm = trainer.metrics(&model, &sums).get(Metric::GradNorm).unwrap();
        let length = moved.iter().map(|m| m * m).sum::<f64>().sqrt();
        assert!((length - 0.1 * norm).abs() < 1e-6);
    }

    #[test]
    fn tensors_have_pytorchs_layout_and_come_back() {
        let trainer = trainer(usize::MAX);
        let values: Vec<f64> = trainer.start(3, 0.3).iter().map(|v| f64::from(*v as f32)).collect();
        let tensors = trainer.tensors(&values);
        assert_eq!((tensors[0].shape.clone(), tensors[1].shape.clone()), (vec![5, 7], vec![5]));
        assert_eq!(trainer.values(&tensors).unwrap(), values);
        assert!(
            trainer.values(&tensors[..1]).unwrap_err().to_string().contains("no tensor `bias`")
        );
    }
}
