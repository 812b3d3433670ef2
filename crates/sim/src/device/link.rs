//! A link that many transfers share.
//!
//! Behind a server's network card everyone is slower when many send at once. A [`Link`] divides a
//! capacity max-min fairly: everybody gets the same, except that nobody gets more than their own
//! connection carries, and what they leave goes to the others. A transfer is through in the first
//! whole nanosecond in which all its bits are carried.
//!
//! ```text
//!   start ──►┐                          ┌──► next: when will somebody be through?
//!            │  groups of equal caps    │
//!  cancel ──►│  ── level ───────────────│──► finish: who is?
//!            │                          │
//! set_cap ──►┘                          └
//! ```
//!
//! Each call costs a logarithm of the number of transfers, however many there are and however
//! many share one cap: see [`level`] for why. [`LinkTransfers`] adds transfers that start later.

mod group;
mod heap;
mod level;
#[cfg(test)]
mod tests;
mod transfers;

pub use transfers::{LinkTransfers, TransferId};

use crate::clock::{SimTime, TimeOverflow};
use group::amount;
use level::Level;
use std::collections::VecDeque;

/// A link that all transfers through it share: max-min fair under each one's own cap.
///
/// `now` is an argument of most calls and never goes back. It may skip over ends that were not
/// asked for: who was through gave way to the others at that very instant.
#[derive(Clone, Debug)]
pub struct Link {
    level: Level,
    slots: Vec<Slot>,
    free: Vec<u32>,
    started: u64,
    len: usize,
    /// Who is through and was not yet taken out, and since when. Some may have been cancelled.
    through: VecDeque<(SimTime, Flow)>,
}

/// Names a transfer on its link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flow {
    slot: u32,
    /// How many had the slot before.
    generation: u32,
}

impl Flow {
    /// Its place among those on the link: small, and free again when it is through.
    pub fn slot(self) -> usize {
        self.slot as usize
    }
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    generation: u32,
    /// Or [`NO_GROUP`], for one that is through.
    group: u32,
    /// Its place in the order of starts.
    started: u64,
}

const NO_GROUP: u32 = u32::MAX;

impl Link {
    /// An idle link of `capacity` bits per second, more than none.
    pub fn new(capacity: u64) -> Self {
        Link {
            level: Level::new(capacity),
            slots: Vec::new(),
            free: Vec::new(),
            started: 0,
            len: 0,
            through: VecDeque::new(),
        }
    }

    /// Starts a transfer that never gets more than `cap` bits per second. `u64::MAX` is no limit;
    /// 0 is no connection for now: it waits and takes no share. No bits at all are through at once.
    pub fn start(&mut self, now: SimTime, bits: u64, cap: u64) -> Flow {
        self.go_to(now);
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot { generation: 0, group: NO_GROUP, started: 0 });
            u32::try_from(self.slots.len() - 1).expect("fewer than four billion transfers at once")
        });
        let group = if bits > 0 { self.level.join(slot, amount(bits), cap) } else { NO_GROUP };
        let entry = &mut self.slots[slot as usize];
        (entry.group, entry.started) = (group, self.started);
        let flow = Flow { slot, generation: entry.generation };
        if bits == 0 {
            self.through.push_back((now, flow));
        }
        self.started += 1;
        self.len += 1;
        flow
    }

    /// Gives a transfer another cap from now on. One that is through stays so.
    pub fn set_cap(&mut self, now: SimTime, flow: Flow, cap: u64) {
        self.go_to(now);
        if let Some(group) = self.group(flow) {
            let owed = self.level.leave(flow.slot, group);
            self.slots[flow.slot as usize].group = self.level.join(flow.slot, owed, cap);
        }
    }

    /// Takes a transfer out before it is through (a client that leaves in the middle of its
    /// upload). Does nothing if it is no longer there.
    pub fn cancel(&mut self, now: SimTime, flow: Flow) {
        self.go_to(now);
        if self.is_here(flow) {
            if let Some(group) = self.group(flow) {
                self.level.leave(flow.slot, group);
            }
            self.vacate(flow);
        }
    }

    /// When the next transfer will be through if nothing changes; `None` if none ever will. An
    /// error if that is past the end of the clock.
    // Not an iterator's: asking twice gives the same answer.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Result<Option<SimTime>, TimeOverflow> {
        match self.waiting() {
            Some((since, _)) => Ok(Some(since)),
            None => self.soonest(),
        }
    }

    /// Takes out a transfer that is through by `now`, if there is one: the earliest first, and
    /// those of one instant in the order in which they started.
    pub fn finish(&mut self, now: SimTime) -> Option<Flow> {
        if self.waiting().is_none() {
            match self.soonest() {
                Ok(Some(at)) if at <= now => self.collect(at),
                _ => return None,
            }
        }
        let (_, flow) = self.through.pop_front()?;
        self.vacate(flow);
        Some(flow)
    }

    /// How many transfers there are, with those that are through but not yet taken out.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Carries everything on to `now`. Within an instant nothing is carried, so there is nothing to
    /// do, and the level need not be settled between two changes.
    fn go_to(&mut self, now: SimTime) {
        if now <= self.level.now() {
            return;
        }
        while let Ok(Some(at)) = self.soonest()
            && at <= now
        {
            self.collect(at);
        }
        self.level.go_to(now);
    }

    fn soonest(&mut self) -> Result<Option<SimTime>, TimeOverflow> {
        self.level.settle();
        self.level.soonest()
    }

    /// Goes on to `at`, the soonest end, and takes everyone off the level who is through then.
    fn collect(&mut self, at: SimTime) {
        self.level.go_to(at);
        let before = self.through.len();
        while let Some(slot) = self.level.take() {
            let entry = &mut self.slots[slot as usize];
            entry.group = NO_GROUP;
            self.through.push_back((at, Flow { slot, generation: entry.generation }));
        }
        if self.through.len() - before > 1 {
            let started = |(_, flow): &(SimTime, Flow)| self.slots[flow.slot as usize].started;
            self.through.make_contiguous()[before..].sort_unstable_by_key(started);
        }
    }

    /// The first that is through and was neither taken out nor cancelled.
    fn waiting(&mut self) -> Option<(SimTime, Flow)> {
        while let Some(&(since, flow)) = self.through.front() {
            if self.is_here(flow) {
                return Some((since, flow));
            }
            self.through.pop_front();
        }
        None
    }

    fn is_here(&self, flow: Flow) -> bool {
        self.slots[flow.slot as usize].generation == flow.generation
    }

    /// The group of a transfer that is here and not yet through.
    fn group(&self, flow: Flow) -> Option<u32> {
        let slot = self.slots[flow.slot as usize];
        (slot.generation == flow.generation && slot.group != NO_GROUP).then_some(slot.group)
    }

    /// Makes a slot free for another transfer.
    fn vacate(&mut self, flow: Flow) {
        let slot = &mut self.slots[flow.slot as usize];
        slot.generation = slot.generation.wrapping_add(1);
        slot.group = NO_GROUP;
        self.free.push(flow.slot);
        self.len -= 1;
    }
}
