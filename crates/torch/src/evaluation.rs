//! How good a model is: on all test samples, and on a fixed choice of training samples.

use super::{Shared, loss, one_thread};
use gruppetto_sim::data::{EVALUATED_TOGETHER as BATCH, EVALUATED_TRAINING, Federated, Targets};
use gruppetto_sim::metric::{Metric, Metrics};
use gruppetto_sim::train::Model;
use tch::{Kind, Reduction, no_grad};

/// Samples that are evaluated by one worker in one go.
const PART: usize = 2000;

/// Which samples are evaluated, and in which parts.
pub(super) struct Plan {
    /// Training samples, evenly spread over all clients' data.
    train: Vec<i64>,
    tests: usize,
    classes: bool,
}

impl Plan {
    pub(super) fn new(problem: &Federated) -> Self {
        let all: Vec<i64> = problem.clients.iter().flatten().map(|&i| i.into()).collect();
        let count = all.len().min(EVALUATED_TRAINING);
        let train = (0..count).map(|i| all[i * all.len() / count]).collect();
        let classes = matches!(problem.data.test.y, Targets::Classes(_));
        Plan { train, tests: problem.data.test.len(), classes }
    }

    pub(super) fn parts(&self) -> usize {
        self.tests.div_ceil(PART) + self.train.len().div_ceil(PART)
    }

    /// Part `part`: whether it is of the test samples, and from where to where.
    fn part(&self, part: usize) -> (bool, std::ops::Range<usize>) {
        let of_tests = self.tests.div_ceil(PART);
        let (tests, part, all) = match part < of_tests {
            true => (true, part, self.tests),
            false => (false, part - of_tests, self.train.len()),
        };
        (tests, part * PART..((part + 1) * PART).min(all))
    }

    /// What the sums of all parts stand for.
    pub(super) fn metrics(&self, sums: &[f64]) -> Metrics {
        let mut metrics = Metrics::default();
        if let [train_loss, correct, test_loss] = *sums {
            metrics.set(Metric::TrainLoss, train_loss / self.train.len() as f64);
            if self.tests > 0 {
                metrics.set(Metric::TestLoss, test_loss / self.tests as f64);
                if self.classes {
                    metrics.set(Metric::TestAccuracy, correct / self.tests as f64);
                }
            }
        }
        metrics
    }
}

impl Shared {
    /// Training loss, right answers and test loss of one part, summed over its samples.
    pub(super) fn evaluate(&self, model: &Model, part: usize) -> Vec<f64> {
        one_thread();
        let mut worker = self.worker();
        worker.load(model.narrow());
        let (tests, range) = self.evaluation.part(part);
        let [train, test] =
            self.with_feeds(worker.device, |[train, test]| [train.share(), test.share()]);
        let (mut losses, mut correct) = (0.0, 0);
        for from in range.clone().step_by(BATCH) {
            let to = (from + BATCH).min(range.end);
            let (x, y) = match tests {
                true => test.slice(from, to - from),
                false => train.batch(&self.evaluation.train[from..to]),
            };
            let (mean, right) = no_grad(|| {
                let output = worker.forward(x, &mut None);
                let right = self.evaluation.classes.then(|| output.argmax(-1, false).eq_tensor(&y));
                // Sums of many small numbers, in double precision.
                let mean = loss(&output.to_kind(Kind::Double), &y, self.loss, Reduction::Mean);
                (mean.double_value(&[]), right.map_or(0, |r| r.sum(Kind::Int64).int64_value(&[])))
            });
            losses += mean * (to - from) as f64;
            correct += right;
        }
        self.workers.push(worker);
        match tests {
            true => vec![0.0, correct as f64, losses],
            false => vec![losses, 0.0, 0.0],
        }
    }
}
