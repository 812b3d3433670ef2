//! A client's local training.

use super::worker::{Step, Worker};
use super::{Shared, loss, one_thread};
use gruppetto_sim::data::{Augment, CropFlip};
use gruppetto_sim::random::{Purpose, Stream, stream};
use gruppetto_sim::solver::Solver;
use gruppetto_sim::train::{Job, LocalRun, Model, Order, Terms};
use std::sync::Arc;
use tch::{Reduction, Tensor};

use super::feed::Feed;

pub(super) struct TorchRun {
    shared: Arc<Shared>,
    worker: Option<Worker>,
    feed: Feed,
    client: usize,
    model: Arc<Model>,
    solver: Solver,
    shrink: f32,
    pull: Option<Vec<Tensor>>,
    /// The learning rate of the next step.
    rate: f64,
    order: Order,
    crops: Stream,
    masks: Option<Stream>,
    indices: Vec<i64>,
}

impl TorchRun {
    pub(super) fn begin(shared: Arc<Shared>, job: Job) -> Self {
        one_thread();
        let Job { model, client, round, solver, correction } = job;
        let mut worker = shared.worker();
        worker.load(model.narrow());
        if solver.momentum > 0.0 {
            worker.rest();
        }
        let feed = shared.feed(worker.device);
        let Terms { shrink, pull } = Terms::new(&solver, &model, &correction);
        let pull = pull.map(|pull| worker.pieces(&pull));
        let all = shared.problem.clients[client as usize].len();
        let stream = |purpose| stream(shared.seed, purpose, client.into(), round);
        TorchRun {
            order: Order::new(all, shared.batch.min(all), stream(Purpose::Batches)),
            crops: CropFlip::stream(shared.seed, client, round),
            masks: Some(stream(Purpose::Mask)),
            worker: Some(worker),
            feed,
            client: client as usize,
            model,
            rate: solver.lr,
            solver,
            shrink,
            pull,
            indices: Vec::new(),
            shared,
        }
    }

    fn step(&mut self) {
        let worker = self.worker.as_mut().expect("there until the run is dropped");
        let own = &self.shared.problem.clients[self.client];
        self.indices.clear();
        self.indices.extend(self.order.next_batch().iter().map(|&i| i64::from(own[i as usize])));
        let (mut x, y) = self.feed.batch(&self.indices);
        if self.shared.problem.augment != Augment::None {
            x = self.feed.augmented(x, self.shared.problem.augment, &mut self.crops);
        }
        let output = worker.forward(x, &mut self.masks);
        let gradient = worker.gradient(&loss(&output, &y, self.shared.loss, Reduction::Mean));
        let (rate, momentum) = (self.rate, self.solver.momentum);
        let pull = self.pull.as_deref();
        worker.step(&gradient, &Step { rate, momentum, shrink: self.shrink, pull });
        self.rate *= self.solver.lr_decay;
    }
}

impl LocalRun for TorchRun {
    fn steps(&mut self, count: u64) {
        // It may go on in another thread than it began in.
        one_thread();
        (0..count).for_each(|_| self.step());
    }

    fn change(self: Box<Self>) -> Vec<f64> {
        let worker = self.worker.as_ref().expect("there until the run is dropped");
        let (now, then) = (worker.save(), self.model.narrow());
        now.iter().zip(then).map(|(now, then)| f64::from(*now) - f64::from(*then)).collect()
    }
}

impl Drop for TorchRun {
    fn drop(&mut self) {
        if let Some(worker) = self.worker.take() {
            self.shared.workers.push(worker);
        }
    }
}
