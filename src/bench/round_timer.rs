//! Times the first and the last aggregation of a run.

use crate::observer::{Observer, ObserverError};
use crate::plugins::Plugins;
use crate::record::RoundRow;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// When the first and the last round closed. What comes before the first is set-up.
#[derive(Default)]
pub(super) struct RoundTimer(Arc<Mutex<Option<(Instant, Instant)>>>);

impl RoundTimer {
    pub(super) fn between_first_and_last(&self) -> f64 {
        self.times().map_or(f64::NAN, |(first, last)| (last - first).as_secs_f64())
    }

    /// Seconds from the first round to now.
    pub(super) fn since_first(&self) -> f64 {
        self.times().map_or(f64::NAN, |(first, _)| first.elapsed().as_secs_f64())
    }

    pub(super) fn first_after(&self, began: Instant) -> f64 {
        self.times().map_or(f64::NAN, |(first, _)| (first - began).as_secs_f64())
    }

    fn times(&self) -> Option<(Instant, Instant)> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RoundTimer {
    /// What makes it observe a run.
    pub(super) fn plugins(&self) -> Plugins {
        let times = self.0.clone();
        Plugins::new().observer(move |_| Some(Box::new(RoundTimer(times.clone()))))
    }
}

impl Observer for RoundTimer {
    fn closed(&mut self, _: &RoundRow) -> Result<(), ObserverError> {
        let now = Instant::now();
        let mut times = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *times = Some((times.map_or(now, |(first, _)| first), now));
        Ok(())
    }
}
