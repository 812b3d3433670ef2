//! The sleepers of the virtual clock, earliest first.
//!
//! A heap of a million entries is slow for a dull reason: every pop walks twenty levels of memory
//! that is not in the cache. But sleepers come in waves: a round opens, everyone asks for its
//! arrival, and then they wake one after another. So entries are asked for in a heap, and when
//! there are many they are sorted once into a *run*, which is then read from its end like a list.
//! Whoever asks meanwhile goes to the heap again; the earlier of the two wakes.

use super::SimTime;
use std::cmp::Ordering;
use std::collections::{BinaryHeap, HashSet};
use std::task::Waker;

/// Where an entry stands among all others: by instant, then by `order`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Key {
    pub(super) at: SimTime,
    order: u64,
}

/// The parts of an instant, in the order in which they come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InstantPart {
    /// What moves on: transfers that complete, links that change.
    Transfers,
    /// Who arrives, by a number that the sleeper has: those that were asked first come first.
    Arrivals(u64),
    /// What is lost: a transfer that completes at this instant still counts.
    Losses,
    /// What decides on all of that.
    End,
}

impl InstantPart {
    /// Set in `order`, so that those of a later part wake later.
    const fn bits(self) -> u64 {
        match self {
            InstantPart::Transfers => 0,
            InstantPart::Arrivals(_) => 1 << 61,
            InstantPart::Losses => 1 << 62,
            InstantPart::End => 1 << 63,
        }
    }
}

struct TimerEntry {
    key: Key,
    waker: Waker,
}

/// Fewer than this are not worth sorting.
const FEW: usize = 256;

/// Sleepers, earliest first.
#[derive(Default)]
pub(super) struct Timers {
    /// Who asked lately.
    heap: BinaryHeap<TimerEntry>,
    /// Who asked before, the earliest last.
    run: Vec<TimerEntry>,
    asked: u64,
    /// Entries whose sleepers are gone. They are passed over, never woken.
    gone: HashSet<Key>,
    now: SimTime,
    fired: Option<Key>,
    stalled: bool,
    on_stall: Option<Waker>,
}

impl Timers {
    pub(super) fn now(&self) -> SimTime {
        self.now
    }

    /// Puts a sleeper in line.
    pub(super) fn ask(&mut self, at: SimTime, part: InstantPart, waker: Waker) -> Key {
        self.asked += 1;
        let order = match part {
            InstantPart::Arrivals(number) => number,
            _ => self.asked,
        };
        let order = order | part.bits();
        // Who asks for the past is woken now: the clock never goes back.
        let key = Key { at: at.max(self.now), order };
        self.heap.push(TimerEntry { key, waker });
        key
    }

    /// Takes out the earliest entry.
    fn pop(&mut self) -> Option<TimerEntry> {
        // As many new ones as old ones: the sorting is paid for by the new.
        if self.heap.len() >= self.run.len().max(FEW) {
            self.sort();
        }
        let from_run = match (self.run.last(), self.heap.peek()) {
            // In the heap's order the earlier is the greater.
            (Some(settled), Some(fresh)) => settled > fresh,
            (settled, _) => settled.is_some(),
        };
        if !from_run {
            return self.heap.pop();
        }
        let entry = self.run.pop();
        if self.run.is_empty() && self.run.capacity() > self.heap.capacity() {
            // The next wave takes the place of the last: one piece of memory serves both.
            let mut place = std::mem::take(&mut self.run);
            place.extend(self.heap.drain());
            self.heap = place.into();
        }
        entry
    }

    fn sort(&mut self) {
        let fresh = std::mem::take(&mut self.heap).into_vec();
        if self.run.is_empty() {
            self.run = fresh;
        } else {
            self.run.extend(fresh);
        }
        self.run.sort_unstable();
    }

    /// Forgets a sleeper that is not waiting any more. Rounds that close before their deadline leave
    /// such sleepers behind; when they are most of all entries, those are swept.
    pub(super) fn forget(&mut self, key: Key) {
        self.gone.insert(key);
        if self.gone.len() > 64 + (self.heap.len() + self.run.len()) / 2 {
            let gone = std::mem::take(&mut self.gone);
            self.heap.retain(|entry| !gone.contains(&entry.key));
            self.run.retain(|entry| !gone.contains(&entry.key));
        }
    }

    /// Whether `key` is the entry that was woken last. The runtime runs dry between two wakes,
    /// so a sleeper that is polled because it was woken always finds itself here.
    pub(super) fn has_fired(&self, key: Key) -> bool {
        self.fired == Some(key)
    }

    /// Takes the earliest sleeper and moves the clock to its instant. If nobody sleeps, whoever
    /// asked to hear of that is returned instead.
    pub(super) fn next(&mut self) -> Option<Waker> {
        let TimerEntry { key, waker } = loop {
            let Some(entry) = self.pop() else {
                self.stalled = true;
                return self.on_stall.take();
            };
            if self.gone.is_empty() || !self.gone.remove(&entry.key) {
                break entry;
            }
        };
        self.now = key.at;
        self.fired = Some(key);
        Some(waker)
    }

    /// Whether the clock was ever asked to move on with nobody asleep; if not, `waker` hears of it.
    pub(super) fn poll_stalled(&mut self, waker: &Waker) -> bool {
        if !self.stalled {
            self.on_stall = Some(waker.clone());
        }
        self.stalled
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.heap.len() + self.run.len()
    }

    /// Room for `sleepers` more, so that the heap does not grow by doubling.
    pub(super) fn reserve(&mut self, sleepers: usize) {
        self.heap.reserve_exact(sleepers);
    }
}

// `BinaryHeap` gives the greatest first; the order is turned round so that the earliest is.
impl Ord for TimerEntry {
    fn cmp(&self, other: &Self) -> Ordering {
        other.key.cmp(&self.key)
    }
}

impl PartialOrd for TimerEntry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for TimerEntry {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl Eq for TimerEntry {}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Against a plain sorted list, in waves large enough to be sorted into runs.
        #[test]
        fn the_earliest_comes_first_however_waves_overlap(
            waves in proptest::collection::vec((1usize..1500, 0usize..1500, 0u64..5000), 1..12),
        ) {
            let mut timers = Timers::default();
            let mut model: Vec<Key> = Vec::new();
            for (asks, pops, spread) in waves {
                let now = timers.now().nanos();
                for i in 0..asks as u64 {
                    let at = SimTime::from_nanos(now + (i * 7919) % (spread + 1));
                    let part = match i % 5 {
                        0 => InstantPart::End,
                        1 => InstantPart::Losses,
                        2 => InstantPart::Arrivals(1_000_000 - model.len() as u64),
                        _ => InstantPart::Transfers,
                    };
                    model.push(timers.ask(at, part, Waker::noop().clone()));
                }
                model.sort_by(|a, b| b.cmp(a));
                for _ in 0..pops.min(model.len()) {
                    timers.next().unwrap();
                    prop_assert_eq!(timers.fired, model.pop());
                }
                if let Some(key) = model.pop() {
                    timers.forget(key);
                }
                prop_assert!(timers.len() >= model.len());
            }
            while let Some(key) = model.pop() {
                timers.next().unwrap();
                prop_assert_eq!(timers.fired, Some(key));
            }
            prop_assert!(timers.next().is_none());
        }
    }
}
