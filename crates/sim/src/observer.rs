//! Observers: they are told everything that happens in a run, and decide nothing.
//!
//! Rows, files, progress bars and the survey behind `theory` are observers; several listen to one run.
//! They are called on a thread of their own, in the order of events, so the simulation does not wait
//! for them and they cannot change its results.
//!
//! To look at an observer after the run, hand in an `Arc<Mutex<…>>` of it and keep a second handle.

use crate::clock::SimTime;
use crate::device::AvailabilityChange;
use crate::metric::Metrics;
use crate::record::{Account, ClientRow, RoundRow, Weights};
use crate::theory::Consistency;
use crate::train::Measured;
use std::error::Error;
use std::sync::{Arc, Mutex, PoisonError};

/// Why an observer cannot go on. It ends the run.
pub type ObserverError = Box<dyn Error + Send + Sync>;

/// Is told what happens in a run. Every method has a default that does nothing.
pub trait Observer: Send {
    /// The model was measured before the first round. Not called in runs that do not train.
    fn started(&mut self, metrics: &Metrics) -> Result<(), ObserverError> {
        let _ = metrics;
        Ok(())
    }

    /// Clients came or went. Called only where some observer asked for it when the run was set up.
    fn availability(&mut self, changes: &[AvailabilityChange]) -> Result<(), ObserverError> {
        let _ = changes;
        Ok(())
    }

    /// Participations ended, in this order. Weights are raw: the row of the round in which an update
    /// counts has the factor that scales them.
    fn arrived(&mut self, rows: &[ClientRow]) -> Result<(), ObserverError> {
        let _ = rows;
        Ok(())
    }

    /// A round closed. Every update that counts in it was reported by [`Observer::arrived`] since the
    /// round before closed.
    fn closed(&mut self, round: &RoundRow) -> Result<(), ObserverError> {
        let _ = round;
        Ok(())
    }

    /// The model was measured at the end of a run that did not end with a round.
    fn measured(&mut self, now: SimTime, measured: &Measured) -> Result<(), ObserverError> {
        let _ = (now, measured);
        Ok(())
    }

    /// Nothing has happened for a fifth of a second of real time. What should not wait any longer, such
    /// as rows that are not yet on disk, has its chance here.
    fn idle(&mut self) -> Result<(), ObserverError> {
        Ok(())
    }

    /// The run ended. Not called if it failed.
    fn ended(&mut self, end: &RunEnd) -> Result<(), ObserverError> {
        let _ = end;
        Ok(())
    }
}

/// What is known when a run has ended.
#[derive(Clone, Debug)]
pub struct RunEnd {
    /// When.
    pub now: SimTime,
    /// Where the clients' time went, by class.
    pub accounts: Vec<Account>,
    /// The meter, read once more from all its sums.
    pub consistency: Consistency,
    /// What every client weighed.
    pub weights: Weights,
}

/// One handle listens, the other is kept to look at the observer later.
impl<T: Observer> Observer for Arc<Mutex<T>> {
    fn started(&mut self, metrics: &Metrics) -> Result<(), ObserverError> {
        locked(self).started(metrics)
    }

    fn availability(&mut self, changes: &[AvailabilityChange]) -> Result<(), ObserverError> {
        locked(self).availability(changes)
    }

    fn arrived(&mut self, rows: &[ClientRow]) -> Result<(), ObserverError> {
        locked(self).arrived(rows)
    }

    fn closed(&mut self, round: &RoundRow) -> Result<(), ObserverError> {
        locked(self).closed(round)
    }

    fn measured(&mut self, now: SimTime, measured: &Measured) -> Result<(), ObserverError> {
        locked(self).measured(now, measured)
    }

    fn idle(&mut self) -> Result<(), ObserverError> {
        locked(self).idle()
    }

    fn ended(&mut self, end: &RunEnd) -> Result<(), ObserverError> {
        locked(self).ended(end)
    }
}

fn locked<T>(shared: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
