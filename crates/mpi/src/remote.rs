//! A trainer whose steps are made by other ranks.

use crate::change::Change;
use crate::hub::{Cell, Command, Reply, Task};
use crate::message::{Training, What};
use crossbeam::channel::{Sender, bounded};
use gruppetto_sim::solver::Solver;
use gruppetto_sim::train::{
    Job, LocalRun, Measured, Model, Precision, TaskDescription, Tensor, TensorError, Terms, Trainer,
};
use std::panic::resume_unwind;
use std::sync::Arc;

/// Stands where the real trainer would. That one still says what the task is like and where it starts.
pub struct RemoteTrainer {
    own: Arc<dyn Trainer>,
    commands: Sender<Command>,
    cell: Arc<Cell>,
}

impl RemoteTrainer {
    pub(crate) fn new(own: Arc<dyn Trainer>, commands: Sender<Command>, cell: Arc<Cell>) -> Self {
        RemoteTrainer { own, commands, cell }
    }

    fn is_wide(&self) -> bool {
        self.own.precision() == Precision::Double
    }
}

impl Trainer for RemoteTrainer {
    fn description(&self) -> TaskDescription {
        self.own.description()
    }

    fn accumulation(&self, solver: &Solver, lr: f64, tau: u64) -> Option<f64> {
        self.own.accumulation(solver, lr, tau)
    }

    fn remarks(&self) -> Vec<String> {
        self.own.remarks()
    }

    fn precision(&self) -> Precision {
        self.own.precision()
    }

    fn digest(&self) -> u64 {
        self.own.digest()
    }

    fn start(&self, seed: u64, std: f64) -> Vec<f64> {
        self.own.start(seed, std)
    }

    fn default_start(&self, seed: u64) -> Vec<f64> {
        self.own.default_start(seed)
    }

    fn begin(&self, job: Job) -> Box<dyn LocalRun> {
        let (commands, cell) = (self.commands.clone(), self.cell.clone());
        let is_wide = self.is_wide() || Terms::read_doubles(&job.solver, &job.correction);
        Box::new(RemoteRun { commands, cell, job, is_wide, steps: 0, chunk: 0, change: None })
    }

    fn evaluation_parts(&self) -> usize {
        self.own.evaluation_parts()
    }

    fn evaluate(&self, model: &Arc<Model>, part: usize, weights: Option<&[f64]>) -> Vec<f64> {
        let weights = weights.map(|weights| Arc::new(weights.to_vec()));
        let what = What::Evaluate { part: part as u64, weights };
        match ask(&self.commands, &self.cell, model.clone(), self.is_wide(), what) {
            Reply::Sums(sums) => sums,
            _ => Vec::new(),
        }
    }

    fn measured(&self, model: &Model, sums: &[f64]) -> Measured {
        self.own.measured(model, sums)
    }

    fn tensors(&self, values: &[f64]) -> Vec<Tensor> {
        self.own.tensors(values)
    }

    fn values(&self, tensors: &[Tensor]) -> Result<Vec<f64>, TensorError> {
        self.own.values(tensors)
    }
}

/// Sends a job to a rank and waits for what comes of it. What fails there fails here.
fn ask(
    commands: &Sender<Command>,
    cell: &Arc<Cell>,
    model: Arc<Model>,
    is_wide: bool,
    what: What,
) -> Reply {
    let (reply, result) = bounded(1);
    let task = Task { model, is_wide, what, cell: cell.clone(), reply };
    let sent = commands.send(Command::Work(task)).is_ok();
    // Not a mistake of this thread: the pool tells whoever asked for the work.
    let fail = |text: String| resume_unwind(Box::new(text));
    match result.recv() {
        Ok(Reply::Failed(what)) => fail(what),
        Ok(reply) if sent => reply,
        _ => fail("the thread that speaks to the other ranks has ended".into()),
    }
}

/// Counts steps; they are made elsewhere, all at once.
struct RemoteRun {
    commands: Sender<Command>,
    cell: Arc<Cell>,
    job: Job,
    is_wide: bool,
    steps: u64,
    /// As many as were asked for at a time.
    chunk: u64,
    change: Option<Change>,
}

impl LocalRun for RemoteRun {
    fn steps(&mut self, count: u64) {
        self.steps += count;
        self.chunk = self.chunk.max(count);
    }

    fn settle(&mut self) -> bool {
        let Job { model, client, round, solver, correction } = &self.job;
        let len = model.len();
        let vector = (!correction.is_zero()).then(|| match (&correction.shared, &correction.own) {
            (Some(shared), None) => shared.clone(),
            _ => Arc::new(correction.vector(len)),
        });
        let what = What::Train(Training {
            client: *client,
            round: *round,
            solver: *solver,
            correction: vector,
            steps: self.steps,
            chunk: self.chunk,
        });
        if let Reply::Change(change) =
            ask(&self.commands, &self.cell, model.clone(), self.is_wide, what)
        {
            self.change = Some(change);
        }
        self.change.is_some()
    }

    fn change(mut self: Box<Self>) -> Vec<f64> {
        if self.change.is_none() && !self.settle() {
            resume_unwind(Box::new("left, for the run should end".to_string()));
        }
        let change = self.change.take().expect("it is settled");
        change.unpack(&self.job.model)
    }
}
