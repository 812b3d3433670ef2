//! What a device carries from one round to the next.

use crate::clock::{SimTime, Span};
use crate::device::{Alternation, Episode, Fleet, LegTimes, Thermal, Warmth};
use std::cell::RefCell;

/// What is remembered of every device; nothing where no device needs it.
pub struct DeviceHistory {
    seed: u64,
    /// The slow or undisturbed period in which each client last set out.
    episodes: RefCell<Vec<Option<Episode>>>,
    /// The continuous work behind each client, and when it ended.
    work: RefCell<Vec<(Span, SimTime)>>,
}

impl DeviceHistory {
    /// Of a fleet that is about to begin.
    pub fn new(seed: u64, fleet: &Fleet) -> Self {
        let clients = fleet.devices.len();
        let slow = fleet.classes.iter().any(|class| class.slowdown.is_some());
        let warm = fleet.classes.iter().any(|class| class.thermal.is_some());
        DeviceHistory {
            seed,
            episodes: RefCell::new(if slow { vec![None; clients] } else { Vec::new() }),
            work: RefCell::new(if warm {
                vec![(Span::ZERO, SimTime::ZERO); clients]
            } else {
                Vec::new()
            }),
        }
    }

    /// A client sets out at `now`: it will never look further back.
    pub fn depart(&self, law: &Alternation, client: u32, now: SimTime) {
        let episode = self.episode(law, client, now);
        self.episodes.borrow_mut()[client as usize] = Some(episode);
    }

    /// The period of `law` in which a client is at `now`, not before it last set out.
    pub fn episode(&self, law: &Alternation, client: u32, now: SimTime) -> Episode {
        let known = self.episodes.borrow()[client as usize];
        let known = known.unwrap_or_else(|| law.first(self.seed, u64::from(client)));
        law.at(self.seed, u64::from(client), known, now)
    }

    /// How warm a client's device is.
    pub fn warmth<'a>(&self, thermal: &'a Thermal, client: u32) -> Warmth<'a> {
        let (worked, at) = self.work.borrow()[client as usize];
        Warmth::after(thermal, worked, at)
    }

    /// A client has computed; what it did then counts as work even if it was lost.
    pub fn worked(&self, thermal: &Thermal, client: u32, way: &LegTimes) {
        let before = self.warmth(thermal, client).rested(way.downloaded).before;
        let worked = before.nanos().saturating_add(way.computed.since(way.downloaded).nanos());
        self.work.borrow_mut()[client as usize] = (Span::from_nanos(worked), way.computed);
    }
}
