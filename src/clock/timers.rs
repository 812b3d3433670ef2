//! The heap behind the virtual clock.

use super::SimTime;
use std::cmp::Ordering;
use std::collections::{BinaryHeap, HashSet};
use std::task::Waker;

/// Where an entry stands among all others: by instant, then by `order`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    pub(super) at: SimTime,
    order: u64,
}

/// Set in `order` for entries that wake after all others of their instant.
const END_OF_INSTANT: u64 = 1 << 63;

struct Entry {
    key: Key,
    waker: Waker,
}

/// Sleepers, earliest first.
#[derive(Default)]
pub(super) struct Timers {
    heap: BinaryHeap<Entry>,
    asked: u64,
    /// Orders of entries whose sleepers are gone. They are passed over, never woken.
    gone: HashSet<u64>,
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
    pub(super) fn ask(&mut self, at: SimTime, end_of_instant: bool, waker: Waker) -> Key {
        self.asked += 1;
        let order = if end_of_instant { self.asked | END_OF_INSTANT } else { self.asked };
        // Who asks for the past is woken now: the clock never goes back.
        let key = Key { at: at.max(self.now), order };
        self.heap.push(Entry { key, waker });
        key
    }

    /// Forgets a sleeper that is not waiting any more. Rounds that close before their deadline leave
    /// such sleepers behind; when they are most of the heap, it is swept.
    pub(super) fn forget(&mut self, key: Key) {
        self.gone.insert(key.order);
        if self.gone.len() > 64 + self.heap.len() / 2 {
            let gone = std::mem::take(&mut self.gone);
            self.heap.retain(|entry| !gone.contains(&entry.key.order));
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
        let Entry { key, waker } = loop {
            let Some(entry) = self.heap.pop() else {
                self.stalled = true;
                return self.on_stall.take();
            };
            if self.gone.is_empty() || !self.gone.remove(&entry.key.order) {
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
        self.heap.len()
    }

    /// Room for `sleepers` more, so that the heap does not grow by doubling.
    pub(super) fn reserve(&mut self, sleepers: usize) {
        self.heap.reserve_exact(sleepers);
    }
}

// `BinaryHeap` gives the greatest first; the order is turned round so that the earliest is.
impl Ord for Entry {
    fn cmp(&self, other: &Self) -> Ordering {
        other.key.cmp(&self.key)
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl Eq for Entry {}
