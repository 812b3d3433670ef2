//! What a plug-in is told of the run it is made for.

use crate::clock::Span;
use std::sync::Arc;

/// The clients of a run, as policies see them before the first round.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FleetView {
    /// The seed of the run.
    pub seed: u64,
    /// Shares of the data, one for every client.
    pub p: Arc<[f64]>,
    /// How long a client's round takes when nothing disturbs it: download, the steps of a typical
    /// round, upload. Where work lasts until the deadline or is unknown, how long one step takes.
    pub expected_duration: Arc<[Span]>,
    /// Parameters of the model.
    pub parameters: usize,
}

impl FleetView {
    pub(crate) fn new(
        seed: u64,
        p: Arc<[f64]>,
        expected_duration: Arc<[Span]>,
        parameters: usize,
    ) -> Self {
        FleetView { seed, p, expected_duration, parameters }
    }

    /// How many clients there are.
    pub fn clients(&self) -> usize {
        self.p.len()
    }
}

/// What a task is made for.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct TaskSetup {
    /// How many clients there are.
    pub clients: usize,
    /// The seed of the run, which decides what is drawn.
    pub seed: u64,
    /// Samples in a local step, as the scenario says; `usize::MAX` for all that a client has.
    pub batch: usize,
}

impl TaskSetup {
    pub(crate) fn new(clients: usize, seed: u64, batch: usize) -> Self {
        TaskSetup { clients, seed, batch }
    }
}
