//! What a local step computes, and who computes it.
//!
//! Timing decides *that* a client makes τ steps from a model; what they give is a pure function
//! of (model, client, round), so it may be computed anywhere, any time before it is needed:
//! the [`Pool`] does, on worker threads, in the order in which results will be asked for.
//! A [`Trainer`] is the task as the workers see it. Convex tasks have native trainers here; deep models
//! are computed by the crate `gruppetto-torch`.

mod choice;
mod digest;
mod interrupt;
mod model;
mod order;
mod pool;
mod quadratic;
mod softmax;
mod terms;

pub use choice::DeviceChoice;
pub use digest::DataDigest;
pub use interrupt::Interrupt;
pub use model::{Model, Tensor, TensorError, Values};
pub use order::BatchOrder;
pub use pool::{Elsewhere, Panicked, Pool, Ticket, describe};
pub use quadratic::{QuadraticTrainer, normal_vector};
pub use softmax::SoftmaxTrainer;
pub use terms::Terms;

use crate::aggregate::Buffers;
use crate::metric::{Gradients, Metric, Metrics};
use crate::solver::{Correction, Solver};
use std::sync::Arc;

/// A task that can be trained and measured. Parameters travel as flat `f64` vectors.
pub trait Trainer: Send + Sync {
    /// How large it is, whose data counts how much, what a step costs, what is measured: transfer
    /// times, weights and `check` follow from it.
    fn description(&self) -> TaskDescription;

    /// ‖a‖₁ of `tau` local steps by `solver`, relative to the common learning rate `lr`; `None`: as the
    /// solver's own law has it. A trainer whose steps follow another law says so here.
    fn accumulation(&self, solver: &Solver, lr: f64, tau: u64) -> Option<f64> {
        let _ = (solver, lr, tau);
        None
    }

    /// What a reader of the results must know of how they were trained, a sentence each.
    fn remarks(&self) -> Vec<String> {
        Vec::new()
    }

    /// In which precision it reads models. Processes that are sent one get no more than that.
    fn precision(&self) -> Precision {
        Precision::Double
    }

    /// A digest of the data: where processes train together, each has built the same. What is described is
    /// all that can be told of a plug-in's.
    fn digest(&self) -> u64 {
        DataDigest::of(&self.description()).finish()
    }

    /// The starting point drawn for `seed`: zeros, or normal with standard deviation `std`.
    fn start(&self, seed: u64, std: f64) -> Vec<f64> {
        normal_vector(self.description().parameters, seed, std)
    }

    /// The model's own starting point for `seed`; zeros, unless the model has a better one.
    fn default_start(&self, seed: u64) -> Vec<f64> {
        self.start(seed, 0.0)
    }

    /// A client's local training in one round.
    fn begin(&self, job: Job) -> Box<dyn LocalRun>;

    /// In how many parts an evaluation can be made side by side. Fixed by the task, never by the
    /// number of workers: the parts are summed in order.
    fn evaluation_parts(&self) -> usize {
        1
    }

    /// One part of an evaluation: numbers that add up over parts. With `weights`, one per client,
    /// how far the clients' gradients are apart is measured too. A trainer whose numbers come from other
    /// processes may give none once the run should end.
    fn evaluate(&self, model: &Arc<Model>, part: usize, weights: Option<&[f64]>) -> Vec<f64>;

    /// What the summed parts stand for.
    fn measured(&self, model: &Model, sums: &[f64]) -> Measured;

    /// The parameters as named tensors.
    fn tensors(&self, values: &[f64]) -> Vec<Tensor> {
        let (name, shape) = ("parameters".into(), vec![values.len()]);
        vec![Tensor { name, shape, values: Values::F64(values.to_vec()) }]
    }

    /// The parameters from named tensors; the reverse of [`Trainer::tensors`].
    fn values(&self, tensors: &[Tensor]) -> Result<Vec<f64>, TensorError> {
        Tensor::find(tensors, "parameters", &[self.description().parameters])
    }
}

/// What a trainer reads of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    /// [`Model::narrow`] alone, but for what [`Terms`] makes of the start.
    Single,
    /// [`Model::values`].
    Double,
}

/// What a task is like.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskDescription {
    /// Parameters of the model: what travels, buffers included.
    pub parameters: usize,
    /// Those at the end that no gradient moves.
    pub buffers: Buffers,
    /// Shares p_i of the clients, summing to 1.
    pub p: Vec<f64>,
    /// Training samples n_i of the clients; empty where a task has none.
    pub samples: Vec<u32>,
    /// Floating-point operations of a local step: in any case, and for every sample.
    pub flops: [f64; 2],
    /// What is measured.
    pub metrics: Vec<Metric>,
}

impl TaskDescription {
    /// Of a task in which every sample counts the same, and a step costs so many operations for each.
    pub fn by_samples(
        parameters: usize,
        samples: Vec<u32>,
        flops: f64,
        metrics: Vec<Metric>,
    ) -> Self {
        let all: f64 = samples.iter().map(|&n| f64::from(n)).sum();
        let p = samples.iter().map(|&n| f64::from(n) / all).collect();
        let buffers = Buffers::NONE;
        TaskDescription { parameters, buffers, p, samples, flops: [0.0, flops], metrics }
    }
}

/// What training a run needs: the task and who computes it.
#[derive(Clone)]
pub struct Training {
    /// The task.
    pub trainer: Arc<dyn Trainer>,
    /// The workers.
    pub pool: Arc<Pool>,
}

/// What an evaluation found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    /// The metrics.
    pub metrics: Metrics,
    /// How far the clients' gradients are apart, if that was asked.
    pub gradients: Option<Gradients>,
}

/// What a client is to train.
#[derive(Clone)]
pub struct Job {
    /// Where it starts.
    pub model: Arc<Model>,
    /// Whose data.
    pub client: u32,
    /// In which round.
    pub round: u64,
    /// By which law.
    pub solver: Solver,
    /// What variance reduction adds to every gradient.
    pub correction: Correction,
}

/// Local training that has begun. Steps can be taken in one go or one by one.
pub trait LocalRun: Send {
    /// Takes `count` local steps.
    fn steps(&mut self, count: u64);

    /// Waits for steps that are made elsewhere. `false`: they are left, for the run should end.
    fn settle(&mut self) -> bool {
        true
    }

    /// Δ = where it is − where it began. Of buffers, if the task has any, the values themselves.
    fn change(self: Box<Self>) -> Vec<f64>;
}

/// Evaluates `model` on all workers and blocks until done; with `weights`, the clients' gradients
/// too. `None` if the run should end before that.
pub fn evaluate(
    trainer: &Arc<dyn Trainer>,
    pool: &Pool,
    model: &Arc<Model>,
    weights: Option<Arc<Vec<f64>>>,
) -> Result<Option<Measured>, Panicked> {
    let interrupt = pool.interrupt();
    let tickets: Vec<_> = (0..trainer.evaluation_parts())
        .map(|part| {
            let (trainer, model, weights) = (trainer.clone(), model.clone(), weights.clone());
            let interrupt = interrupt.clone();
            pool.submit_evaluation(move || {
                let weights = weights.as_ref().map(|weights| weights.as_slice());
                let sums = (!interrupt.is_set()).then(|| trainer.evaluate(&model, part, weights));
                sums.filter(|sums| !sums.is_empty() || !interrupt.is_set())
            })
        })
        .collect();
    let mut sums: Vec<f64> = Vec::new();
    for ticket in tickets {
        let Some(part) = ticket.wait()? else {
            return Ok(None);
        };
        sums.resize(part.len(), 0.0);
        sums.iter_mut().zip(part).for_each(|(sum, value)| *sum += value);
    }
    Ok(Some(trainer.measured(model, &sums)))
}
