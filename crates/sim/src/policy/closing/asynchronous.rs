//! Policies under which clients are sent off one by one, as others come back. Every update counts in
//! the open round, whichever model it started from.

use super::{Character, Closing, Opened, RoundOpened, UpdateArrived, Verdict};
use crate::clock::{SimTime, Span, TimeOverflow};

/// Closes when so many updates have arrived (FedBuff; one is FedAsync).
#[derive(Debug)]
pub struct Buffer {
    size: usize,
    arrived: usize,
}

impl Buffer {
    /// Of so many updates.
    pub fn new(size: usize) -> Self {
        Buffer { size, arrived: 0 }
    }
}

impl Closing for Buffer {
    fn character(&self) -> Character {
        Character::ONE_BY_ONE
    }

    fn opened(&mut self, _: &RoundOpened) -> Result<Opened, TimeOverflow> {
        self.arrived = 0;
        Ok(Opened::default())
    }

    fn arrived(&mut self, _: &UpdateArrived) -> Verdict {
        self.arrived += 1;
        if self.arrived == self.size { Verdict::COUNT_AND_CLOSE } else { Verdict::COUNT }
    }
}

/// Closes at fixed intervals, with whatever has arrived.
#[derive(Debug)]
pub struct Window {
    length: Span,
    end: SimTime,
}

impl Window {
    /// Of this length.
    pub fn new(length: Span) -> Self {
        Window { length, end: SimTime::NEVER }
    }
}

impl Closing for Window {
    fn character(&self) -> Character {
        Character::ONE_BY_ONE
    }

    fn opened(&mut self, round: &RoundOpened) -> Result<Opened, TimeOverflow> {
        self.end = round.now.after(self.length)?;
        // Clients are not told: their work goes on into the next window.
        Ok(Opened { deadline: None, wake: Some(self.end) })
    }

    fn arrived(&mut self, update: &UpdateArrived) -> Verdict {
        if update.now > self.end { Verdict::DROP } else { Verdict::COUNT }
    }
}
