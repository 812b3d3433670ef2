//! How a run ends, well or badly.

use crate::client::PlanError;
use crate::clock::{SimTime, TimeOverflow};
use crate::observer::ObserverError;
use crate::record::StopReason;
use crate::server::ServerError;
use crate::train::{Panicked, describe};
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use tokio::sync::Notify;

/// A run ended before its time. What was recorded up to then is on disk, marked incomplete.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// A bug: the message says where to look.
    #[error("{place} panicked (seed {seed}): {message}")]
    #[allow(missing_docs)]
    Panicked { place: String, seed: u64, message: Panicked },
    /// Time ran out of numbers.
    #[error("{place} (seed {seed}): {source}")]
    #[allow(missing_docs)]
    Time { place: String, seed: u64, source: TimeOverflow },
    /// A policy made a decision that cannot be carried out.
    #[error("{place} (seed {seed}): {message}")]
    #[allow(missing_docs)]
    Policy { place: String, seed: u64, message: String },
    /// An observer cannot go on: most often a file could not be written.
    #[error("{0}")]
    Observer(ObserverError),
    /// Nobody has anything left to do, but the run is not over: a bug too.
    #[error("the simulation stalled at {now} in round {round} (seed {seed}): nobody is on the way")]
    #[allow(missing_docs)]
    Stalled { now: SimTime, round: u64, seed: u64 },
    /// The threads or the runtime could not be started.
    #[error("cannot start the simulation: {0}")]
    Start(#[from] std::io::Error),
}

/// The one place where a run's end is announced. The first announcement counts, except that
/// trouble on the last meters (the final rows cannot be written) spoils a good end.
pub(super) struct Ending {
    pub(super) seed: u64,
    how: RefCell<Option<Result<StopReason, RunError>>>,
    over: Notify,
}

impl Ending {
    pub(super) fn new(seed: u64) -> Self {
        Ending { seed, how: RefCell::new(None), over: Notify::new() }
    }

    /// Whether the end has been announced.
    pub(super) fn is_over(&self) -> bool {
        self.how.borrow().is_some()
    }

    /// Completes when the end is announced.
    pub(super) async fn wait(&self) {
        self.over.notified().await;
    }

    /// How it ended.
    pub(super) fn take(&self) -> Option<Result<StopReason, RunError>> {
        self.how.take()
    }

    pub(super) fn announce(&self, how: Result<StopReason, RunError>) {
        let mut known = self.how.borrow_mut();
        if matches!((&*known, &how), (None, _) | (Some(Ok(_)), Err(_))) {
            *known = Some(how);
            self.over.notify_one();
        }
    }

    /// Runs a handler's work. An error or a panic in it ends the run; `place` says where it was.
    pub(super) fn watch<T, E: Trouble>(
        &self,
        place: impl Fn() -> String,
        work: impl FnOnce() -> Result<T, E>,
    ) -> Option<T> {
        let error = match catch_unwind(AssertUnwindSafe(work)) {
            Ok(Ok(value)) => return Some(value),
            Ok(Err(error)) => error.into_run_error(place(), self.seed),
            Err(panic) => {
                let message = describe(&*panic);
                RunError::Panicked { place: place(), seed: self.seed, message }
            }
        };
        self.announce(Err(error));
        None
    }
}

/// An error that becomes a [`RunError`] once its place is known.
pub(super) trait Trouble {
    fn into_run_error(self, place: String, seed: u64) -> RunError;
}

impl Trouble for TimeOverflow {
    fn into_run_error(self, place: String, seed: u64) -> RunError {
        RunError::Time { place, seed, source: self }
    }
}

impl Trouble for PlanError {
    fn into_run_error(self, place: String, seed: u64) -> RunError {
        match self {
            PlanError::Time(source) => RunError::Time { place, seed, source },
            PlanError::NoDeadline => RunError::Policy { place, seed, message: self.to_string() },
        }
    }
}

impl Trouble for ServerError {
    fn into_run_error(self, place: String, seed: u64) -> RunError {
        match self {
            ServerError::Time(source) => RunError::Time { place, seed, source },
            ServerError::Unwanted(message) => {
                let place = format!("training of a client that came late, {place}");
                RunError::Panicked { place, seed, message }
            }
            ServerError::Selection(_)
            | ServerError::Extended { .. }
            | ServerError::Replay(_)
            | ServerError::Interrupted => {
                RunError::Policy { place, seed, message: self.to_string() }
            }
            ServerError::Evaluation(message) => {
                RunError::Panicked { place: format!("evaluation, {place}"), seed, message }
            }
            ServerError::Training { client, source: message } => {
                let place = format!("training of client {client}, {place}");
                RunError::Panicked { place, seed, message }
            }
        }
    }
}

impl Trouble for RunError {
    fn into_run_error(self, _: String, _: u64) -> RunError {
        self
    }
}
