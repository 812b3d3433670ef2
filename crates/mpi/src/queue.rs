//! Jobs that a worker rank was sent, and the threads that do them.

use crate::change::Change;
use crate::message::{Answer, Outcome, Training, What};
use crossbeam::channel::Sender;
use gruppetto_sim::solver::Correction;
use gruppetto_sim::train::{Interrupt, Job, Model, Trainer, describe};
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// A job that can be begun.
pub(crate) struct Ready {
    pub(crate) id: u64,
    pub(crate) trainer: Arc<dyn Trainer>,
    pub(crate) model: Arc<Model>,
    pub(crate) what: What,
    /// Set if it is to be left.
    pub(crate) leave: Interrupt,
}

/// Jobs in the order in which they came, evaluations first: the simulation waits for these.
#[derive(Default)]
pub(crate) struct Queue {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    jobs: VecDeque<Ready>,
    evaluations: VecDeque<Ready>,
    is_over: bool,
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn add(&self, ready: Ready) {
        let mut state = self.lock();
        match ready.what {
            What::Train(_) => state.jobs.push_back(ready),
            What::Evaluate { .. } => state.evaluations.push_back(ready),
        }
        self.changed.notify_one();
    }

    /// Nothing more comes.
    pub(crate) fn end(&self) {
        self.lock().is_over = true;
        self.changed.notify_all();
    }

    fn next(&self) -> Option<Ready> {
        let mut state = self.lock();
        loop {
            let next = state.evaluations.pop_front();
            if let Some(ready) = next.or_else(|| state.jobs.pop_front()) {
                return Some(ready);
            }
            if state.is_over {
                return None;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Does one job after the other until there are no more.
    pub(crate) fn work(&self, answers: &Sender<Answer>) {
        while let Some(ready) = self.next() {
            let (id, began) = (ready.id, Instant::now());
            let outcome = catch_unwind(AssertUnwindSafe(|| compute(ready)))
                .unwrap_or_else(|panic| Outcome::Failed(describe(&*panic).0));
            let nanos = began.elapsed().as_nanos() as u64;
            // Nobody hears it once the job is over.
            let _ = answers.send(Answer::Done { id, nanos, outcome });
        }
    }
}

fn compute(ready: Ready) -> Outcome {
    let Ready { trainer, model, what, leave, .. } = ready;
    if leave.is_set() {
        return Outcome::Left;
    }
    match what {
        What::Evaluate { part, weights } => {
            let weights = weights.as_ref().map(|weights| weights.as_slice());
            Outcome::Sums(trainer.evaluate(&model, part as usize, weights))
        }
        What::Train(training) => train(&*trainer, model, training, &leave),
    }
}

fn train(
    trainer: &dyn Trainer,
    model: Arc<Model>,
    training: Training,
    leave: &Interrupt,
) -> Outcome {
    let Training { client, round, solver, correction, steps, chunk } = training;
    // All that a trainer asks of a correction is the vector as a whole.
    let correction = Correction { shared: correction, own: None };
    let job = Job { model: model.clone(), client, round, solver, correction };
    let mut run = trainer.begin(job);
    let mut left = steps;
    while left > 0 {
        if leave.is_set() {
            return Outcome::Left;
        }
        let now = left.min(chunk.max(1));
        run.steps(now);
        left -= now;
    }
    Outcome::Change(Change::pack(run.change(), &model))
}
