//! What a server begins with, and what can go wrong with it.

use super::{Attendance, EventSchedule};
use crate::aggregate::{Buffers, ServerOptimizer, Weighting};
use crate::clock::{SimTime, TimeOverflow};
use crate::policy::{Closing, Selection, SelectionError, ServerConfig, Stop};
use crate::solver::{Recipe, VarianceReduction};
use crate::train::{Panicked, Training};
use std::sync::Arc;

/// What a server begins with.
pub struct Setup {
    /// `[server]`.
    pub config: ServerConfig,
    /// `[stop]`.
    pub stop: Stop,
    /// Who is asked.
    pub selection: Selection,
    /// When rounds close.
    pub closing: Box<dyn Closing>,
    /// What updates weigh.
    pub weighting: Box<dyn Weighting>,
    /// How the model moves.
    pub optimizer: Box<dyn ServerOptimizer>,
    /// `None`: the schedule alone is run.
    pub training: Option<Training>,
    /// The clients' shares p_i.
    pub p: Arc<[f64]>,
    /// The model.
    pub x: Vec<f64>,
    /// The entries at its end that no gradient moves.
    pub buffers: Buffers,
    /// The clients' learning rates, which server momentum and variance reduction need to know.
    pub recipe: Recipe,
    /// Variance reduction, if any.
    pub variance_reduction: Option<VarianceReduction>,
    /// Who is there.
    pub attendance: Attendance,
    /// What is scripted.
    pub schedule: EventSchedule,
    /// Whether clients remember what their updates lost on the way.
    pub error_feedback: bool,
}

/// A result could not be had.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ServerError {
    /// Time ran out of numbers.
    #[error(transparent)]
    Time(#[from] TimeOverflow),
    /// Local training panicked.
    #[error("training client {client} panicked: {source}")]
    #[allow(missing_docs)]
    Training { client: u32, source: Panicked },
    /// The training of a client panicked whose update was not wanted any more.
    #[error("training a client that came late panicked: {0}")]
    Unwanted(Panicked),
    /// A selector chose clients that cannot be asked.
    #[error(transparent)]
    Selection(#[from] SelectionError),
    /// A closing policy went on after a deadline that it had called final.
    #[error(
        "the closing policy wants to go on until {until}, after the deadline of {deadline} that clients \
         were told; its character must say that it may extend rounds"
    )]
    #[allow(missing_docs)]
    Extended { until: SimTime, deadline: SimTime },
    /// The run should end, and what it waits for was left.
    #[error("the run was interrupted")]
    Interrupted,
    /// The replay of a run came to something else than the run that is resumed.
    #[error(
        "the run cannot be resumed: its replay came to {0}, so it was made by another program or from \
         another scenario"
    )]
    Replay(&'static str),
    /// An evaluation panicked.
    #[error("evaluating the model panicked: {0}")]
    Evaluation(Panicked),
}
