//! Transfers on a shared link from their announcement to their completion.
//!
//! A client knows when its transfer will start before it starts: an update reaches the server's
//! link when the steps are done and the latency has passed. [`LinkTransfers`] accepts transfers
//! that start later, starts each at its instant, and says when it has to be asked again. It knows
//! no tasks and no wakers: the caller passes `now` and waits.
//!
//! ```text
//!   announce ──► announced ──► started ──► completed ──► remove
//!                    └─────────────┴── remove: cancelled
//! ```

use super::{Flow, Link};
use crate::clock::{SimTime, Span, TimeOverflow};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// All transfers of one shared link. As for [`Link`], `now` never goes back.
#[derive(Clone, Debug)]
pub struct LinkTransfers {
    link: Link,
    capacity: u64,
    /// By id.
    states: Vec<TransferState>,
    unused: Vec<u32>,
    /// The id of every transfer that has started, by its slot on the link.
    ids: Vec<u32>,
    announced: u64,
    /// Transfers that start later: when, the number of the announcement, the id.
    starts: BinaryHeap<Reverse<(SimTime, u64, u32)>>,
    /// When each of them completes at the earliest. A start changes nothing that a caller waits
    /// for, so [`LinkTransfers::next_change`] does not report it: starts that have passed are made
    /// up for at the next call.
    earliest_ends: BinaryHeap<Reverse<(SimTime, u64, u32)>>,
}

/// Names a transfer of one [`LinkTransfers`]. Ids are small numbers, and those of removed transfers
/// are used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransferId(u32);

impl TransferId {
    /// The id as an index into a table of transfers.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

#[derive(Clone, Copy, Debug)]
enum TransferState {
    /// The id names no transfer.
    Unused,
    /// Starts at `at`. The number distinguishes it from earlier transfers with the same id.
    Announced {
        at: SimTime,
        number: u64,
        bits: u64,
        cap: u64,
    },
    Started(Flow),
    Completed,
}

impl LinkTransfers {
    /// An idle link of `capacity` bits per second, more than none.
    pub fn new(capacity: u64) -> Self {
        LinkTransfers {
            link: Link::new(capacity),
            capacity,
            states: Vec::new(),
            unused: Vec::new(),
            ids: Vec::new(),
            announced: 0,
            starts: BinaryHeap::new(),
            earliest_ends: BinaryHeap::new(),
        }
    }

    /// A transfer of `bits` that starts at `at`, or now if that has passed, and never gets more than
    /// `cap` bits per second.
    pub fn announce(&mut self, now: SimTime, at: SimTime, bits: u64, cap: u64) -> TransferId {
        self.announced += 1;
        let number = self.announced;
        let id = self.unused.pop().unwrap_or_else(|| {
            self.states.push(TransferState::Unused);
            u32::try_from(self.states.len() - 1).expect("fewer than four billion transfers at once")
        });
        if at <= now {
            self.start_announced(now);
            self.start(now, id, bits, cap);
        } else {
            self.states[id as usize] = TransferState::Announced { at, number, bits, cap };
            self.starts.push(Reverse((at, number, id)));
            self.expect_end(at, number, id, bits, cap);
        }
        TransferId(id)
    }

    /// Gives a transfer another cap from now on, or from its start if it has not started. One that
    /// is completed stays so.
    pub fn set_cap(&mut self, now: SimTime, id: TransferId, cap: u64) {
        self.start_announced(now);
        match &mut self.states[id.index()] {
            TransferState::Announced { at, number, bits, cap: known } => {
                *known = cap;
                // With a larger cap it may complete before the end that was noted.
                let (at, number, bits) = (*at, *number, *bits);
                self.expect_end(at, number, id.0, bits, cap);
            }
            TransferState::Started(flow) => self.link.set_cap(now, *flow, cap),
            TransferState::Completed | TransferState::Unused => {}
        }
    }

    /// Forgets a transfer, and cancels it if it is not completed. Returns whether it was cancelled:
    /// then [`LinkTransfers::next_change`] may have changed.
    pub fn remove(&mut self, now: SimTime, id: TransferId) -> bool {
        self.start_announced(now);
        self.unused.push(id.0);
        let state = std::mem::replace(&mut self.states[id.index()], TransferState::Unused);
        if let TransferState::Started(flow) = state {
            self.link.cancel(now, flow);
        }
        !matches!(state, TransferState::Completed)
    }

    /// Whether a transfer was returned by [`LinkTransfers::complete`].
    pub fn is_completed(&self, id: TransferId) -> bool {
        matches!(self.states[id.index()], TransferState::Completed)
    }

    /// When to call [`LinkTransfers::complete`] next: no later than the next transfer completes,
    /// possibly earlier. `None` if no transfer ever completes. An error if the next one completes
    /// past the end of the clock.
    pub fn next_change(&mut self) -> Result<Option<SimTime>, TimeOverflow> {
        // The link itself knows the ends of transfers that have started.
        while let Some(Reverse((_, announced, id))) = self.earliest_ends.peek()
            && !matches!(&self.states[*id as usize], TransferState::Announced { number, .. } if number == announced)
        {
            self.earliest_ends.pop();
        }
        let earliest = self.earliest_ends.peek().map(|Reverse((at, ..))| *at);
        Ok([self.link.next()?, earliest].into_iter().flatten().min())
    }

    /// Completes a transfer whose last bit is carried by `now`, if there is one: the earliest first,
    /// and those of one instant in the order in which they started.
    pub fn complete(&mut self, now: SimTime) -> Option<TransferId> {
        self.start_announced(now);
        let flow = self.link.finish(now)?;
        let id = TransferId(self.ids[flow.slot()]);
        self.states[id.index()] = TransferState::Completed;
        Some(id)
    }

    /// Starts every transfer that was announced for an instant up to `now`, each at its instant.
    fn start_announced(&mut self, now: SimTime) {
        while let Some(Reverse((at, announced, id))) = self.starts.peek().copied()
            && at <= now
        {
            self.starts.pop();
            // Otherwise the transfer was removed before its start.
            if let TransferState::Announced { number, bits, cap, .. } = self.states[id as usize]
                && number == announced
            {
                self.start(at, id, bits, cap);
            }
        }
    }

    fn start(&mut self, now: SimTime, id: u32, bits: u64, cap: u64) {
        let flow = self.link.start(now, bits, cap);
        self.ids.resize(self.ids.len().max(flow.slot() + 1), 0);
        self.ids[flow.slot()] = id;
        self.states[id as usize] = TransferState::Started(flow);
    }

    /// Notes when an announced transfer completes at the earliest: if it gets as much of the link as
    /// its cap allows.
    fn expect_end(&mut self, at: SimTime, number: u64, id: u32, bits: u64, cap: u64) {
        let nanos = match cap.min(self.capacity) {
            // Its cap has to change first. Asked again at its start, the link knows more.
            0 => 0,
            rate => (u128::from(bits) * 1_000_000_000).div_ceil(rate.into()),
        };
        let nanos = Span::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX));
        let end = at.after(nanos).unwrap_or(SimTime::NEVER);
        self.earliest_ends.push(Reverse((end, number, id)));
    }
}
