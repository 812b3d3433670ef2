//! How long the thread that owns MPI sleeps between two looks.
//!
//! Blocking calls of Open MPI spin: on a core that trains as well they would take half of it. Sleeping costs
//! time when a message comes. Right after a message the next one is likely: then it only gives way to
//! other threads. Later it sleeps for a fraction of the time since then, so what a message waits is
//! small beside what it took. (Only giving way would not do: on a core that others use, a thread that gives way
//! comes last, one that sleeps and wakes comes first.)

use std::time::{Duration, Instant};

/// How long nothing may have come before it sleeps.
const AWAKE: Duration = Duration::from_micros(60);
/// The shortest sleep; systems add about as much.
const SHORTEST: Duration = Duration::from_micros(50);
/// The longest sleep.
const LONGEST: Duration = Duration::from_millis(1);

pub(crate) struct Pace(Instant);

impl Pace {
    pub(crate) fn new() -> Self {
        Pace(Instant::now())
    }

    /// Something was sent or received.
    pub(crate) fn heard(&mut self) {
        self.0 = Instant::now();
    }

    /// How long to sleep; `None`: not at all. What is on its way needs this thread to look often.
    pub(crate) fn pause(&self, is_moving: bool) -> Option<Duration> {
        let longest = if is_moving { SHORTEST } else { LONGEST };
        pause(self.0.elapsed()).map(|pause| pause.min(longest))
    }
}

fn pause(quiet: Duration) -> Option<Duration> {
    (quiet > AWAKE).then(|| (quiet / 8).clamp(SHORTEST, LONGEST))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longer_it_is_quiet_the_longer_it_sleeps() {
        let micros = |n| pause(Duration::from_micros(n)).map(|pause| pause.as_micros());
        assert_eq!([10, 100, 4000, 1_000_000].map(micros), [None, Some(50), Some(500), Some(1000)]);
    }
}
