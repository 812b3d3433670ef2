//! A client's own link, as the server's end of a transfer sees it.
//!
//! Times of transfers are those at the server. What leaves the server now meets the client's link a
//! latency later; what arrives at the server now has left the client's link before.

use super::ClientSide;
use crate::clock::{SimTime, Span, TimeOverflow};
use crate::device::{Direction, LinkRate, Transfer, transfer};

/// What a client's own link allows a transfer at the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkCap {
    /// How fast.
    pub rate: LinkRate,
    /// Until when, as far as is known; [`SimTime::NEVER`] if it does not change.
    pub until: SimTime,
}

impl LinkCap {
    /// Whether there is no connection, and there will be none.
    pub fn is_gone(self) -> bool {
        self.rate == LinkRate::NONE && self.until == SimTime::NEVER
    }

    /// Whether there is a connection that does not change.
    pub fn is_constant(self) -> bool {
        self.rate > LinkRate::NONE && self.until == SimTime::NEVER
    }

    /// When the rate changes, if it does.
    pub fn change(self) -> Option<SimTime> {
        (self.until < SimTime::NEVER).then_some(self.until)
    }
}

impl ClientSide {
    /// Before the first bit of a client arrives.
    pub fn latency(&self, client: u32) -> Span {
        self.fleet.wires[client as usize].latency
    }

    /// How much later than at the server a transfer is at the client's link.
    fn ahead(&self, client: u32, direction: Direction) -> Span {
        match direction {
            Direction::Down => self.latency(client),
            Direction::Up => Span::ZERO,
        }
    }

    /// What a client's link allows what is at the server now.
    pub fn link_cap(&self, client: u32, direction: Direction, now: SimTime) -> LinkCap {
        let ahead = self.ahead(client, direction);
        let there = now.after(ahead).unwrap_or(SimTime::NEVER);
        let (rate, until) = self.links(client, &self.script.borrow()).link(direction, there);
        let until = match until {
            SimTime::NEVER => SimTime::NEVER,
            until => until.before(ahead).unwrap_or(now),
        };
        LinkCap { rate, until }
    }

    /// How a transfer ends that begins now, on a link that is the client's alone: when at the
    /// server.
    pub fn transfer(
        &self,
        client: u32,
        direction: Direction,
        now: SimTime,
    ) -> Result<Transfer, TimeOverflow> {
        let script = self.script.borrow();
        let mut profile = self.links(client, &script);
        let ahead = self.ahead(client, direction);
        let here = |at: SimTime| at.before(ahead).unwrap_or(now);
        let bits = self.payload.bits(direction);
        Ok(match transfer(&mut profile, direction, now.after(ahead)?, bits)? {
            Transfer::Through(at) => Transfer::Through(here(at)),
            Transfer::Broken(at) => Transfer::Broken(here(at)),
        })
    }
}
