//! What a server begins with, and what can go wrong with it.

use super::{Agenda, Attendance};
use crate::clock::TimeOverflow;
use crate::policy::{Selector, ServerConfig, Stop};
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
    pub selector: Selector,
    /// `None`: the schedule alone is run.
    pub training: Option<Training>,
    /// The clients' shares p_i.
    pub p: Arc<[f64]>,
    /// The model.
    pub x: Vec<f64>,
    /// The clients' learning rates, which server momentum and variance reduction need to know.
    pub recipe: Recipe,
    /// Variance reduction, if any.
    pub variance_reduction: Option<VarianceReduction>,
    /// Who is there.
    pub attendance: Attendance,
    /// What is scripted.
    pub agenda: Agenda,
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
    /// An evaluation panicked.
    #[error("evaluating the model panicked: {0}")]
    Evaluation(Panicked),
}
