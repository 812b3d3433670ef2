//! Times the first and the last aggregation of a run.

use crate::actors::Progress;
use crate::run::Observer;
use crate::scenario::Variant;
use std::cell::Cell;
use std::rc::Rc;
use std::time::Instant;

/// When the first and the last round closed. What comes before the first is set-up.
#[derive(Default)]
pub(super) struct Laps(Rc<Cell<Option<(Instant, Instant)>>>);

impl Laps {
    pub(super) fn between_first_and_last(&self) -> f64 {
        self.0.get().map_or(f64::NAN, |(first, last)| (last - first).as_secs_f64())
    }

    pub(super) fn first_after(&self, began: Instant) -> f64 {
        self.0.get().map_or(f64::NAN, |(first, _)| (first - began).as_secs_f64())
    }
}

impl Observer for Laps {
    fn begin(&mut self, _: &Variant, _: u64) -> Option<Progress> {
        let times = self.0.clone();
        Some(Box::new(move |_| {
            let now = Instant::now();
            times.set(Some((times.get().map_or(now, |(first, _)| first), now)));
        }))
    }

    fn end(&mut self) {}
}
