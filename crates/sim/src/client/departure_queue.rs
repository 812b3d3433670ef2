//! When clients go offline while they take part.

use crate::clock::SimTime;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The departures of clients, earliest first. At most one departure per client is valid: the one
/// that was registered last.
#[derive(Clone, Debug)]
pub struct DepartureQueue {
    queue: BinaryHeap<Reverse<(SimTime, u32)>>,
    /// By client: the departure that is valid, even after it was taken out. The queue may also hold
    /// departures that are no longer valid: they are passed over when their time comes.
    registered: Vec<SimTime>,
}

impl DepartureQueue {
    /// An empty queue for `clients` clients.
    pub fn new(clients: usize) -> Self {
        DepartureQueue { queue: BinaryHeap::new(), registered: vec![SimTime::NEVER; clients] }
    }

    /// `client` goes offline at `at`, and not when it was last said to. Returns whether that is new.
    pub fn register(&mut self, client: u32, at: SimTime) -> bool {
        let known = std::mem::replace(&mut self.registered[client as usize], at);
        if known != at {
            self.queue.push(Reverse((at, client)));
        }
        known != at
    }

    /// When to look at the queue next; `None` if it is empty.
    pub fn earliest(&self) -> Option<SimTime> {
        self.queue.peek().map(|Reverse((at, _))| *at)
    }

    /// Takes out a departure that is due by `now`, if there is one: the earliest first, and those of
    /// one instant in the order of clients. Every departure is returned once.
    pub fn take_due(&mut self, now: SimTime) -> Option<(SimTime, u32)> {
        while let Some(Reverse((at, client))) = self.queue.peek().copied()
            && at <= now
        {
            // Twice if it was registered, replaced and registered again.
            while self.queue.peek() == Some(&Reverse((at, client))) {
                self.queue.pop();
            }
            if self.registered[client as usize] == at {
                return Some((at, client));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(nanos: u64) -> SimTime {
        SimTime::from_nanos(nanos)
    }

    fn due(queue: &mut DepartureQueue, now: u64) -> Vec<(u64, u32)> {
        let due = std::iter::from_fn(|| queue.take_due(at(now)));
        due.map(|(at, client)| (at.nanos(), client)).collect()
    }

    #[test]
    fn departures_come_by_time_and_then_by_client() {
        let mut queue = DepartureQueue::new(4);
        for (client, leaves) in [(3, 20), (1, 20), (0, 30), (2, 10)] {
            assert!(queue.register(client, at(leaves)));
        }
        assert_eq!(queue.earliest(), Some(at(10)));
        assert_eq!(due(&mut queue, 9), []);
        assert_eq!(due(&mut queue, 20), [(10, 2), (20, 1), (20, 3)]);
        assert_eq!(queue.earliest(), Some(at(30)));
        assert_eq!(due(&mut queue, 100), [(30, 0)]);
        assert_eq!(queue.earliest(), None);
    }

    /// A client is asked in many rounds between two departures.
    #[test]
    fn the_same_departure_is_no_news() {
        let mut queue = DepartureQueue::new(1);
        assert!(queue.register(0, at(10)));
        assert!(!queue.register(0, at(10)));
        assert_eq!(due(&mut queue, 10), [(10, 0)]);
        assert!(!queue.register(0, at(10)), "not even after it was due");
        assert_eq!(queue.earliest(), None);
    }

    #[test]
    fn a_departure_replaces_the_one_before() {
        let mut queue = DepartureQueue::new(2);
        queue.register(0, at(10));
        queue.register(1, at(40));
        queue.register(0, at(30));
        queue.register(1, at(20));
        assert_eq!(due(&mut queue, 10), []);
        assert_eq!(due(&mut queue, 50), [(20, 1), (30, 0)]);
    }

    #[test]
    fn a_departure_that_was_replaced_and_comes_back_is_due_once() {
        let mut queue = DepartureQueue::new(1);
        for leaves in [10, 20, 10] {
            assert!(queue.register(0, at(leaves)));
        }
        assert_eq!(due(&mut queue, 50), [(10, 0)]);
    }

    #[test]
    fn a_client_that_does_not_leave_is_not_queued() {
        let mut queue = DepartureQueue::new(1);
        assert!(!queue.register(0, SimTime::NEVER));
        assert_eq!(queue.earliest(), None);
    }

    proptest! {
        /// Against a table that is searched at every instant. Times are so few that many are equal.
        #[test]
        fn what_is_due_is_what_a_table_says(
            calls in proptest::collection::vec((0u64..3, 0u32..4, 1u64..6), 1..60),
        ) {
            let mut queue = DepartureQueue::new(4);
            // By client: its departure, and whether it was due already.
            let mut table = [(u64::MAX, false); 4];
            let mut now = 0;
            for (wait, client, delay) in calls {
                now += wait;
                let mut expected = Vec::new();
                for (client, (leaves, told)) in (0..).zip(&mut table) {
                    if *leaves <= now && !std::mem::replace(told, true) {
                        expected.push((*leaves, client));
                    }
                }
                expected.sort_unstable();
                prop_assert_eq!(due(&mut queue, now), expected);
                let leaves = now + delay;
                let entry = &mut table[client as usize];
                prop_assert_eq!(queue.register(client, at(leaves)), entry.0 != leaves);
                if entry.0 != leaves {
                    *entry = (leaves, false);
                }
            }
        }
    }
}
