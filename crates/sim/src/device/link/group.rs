//! Transfers with the same cap, which all progress alike.
//!
//! A group has a clock that shows how much a member has carried since the group was formed. A
//! member is a mark on that clock: it is through when the clock gets there. So time passes for all
//! members at once, and only the first of them matters.

use super::heap::{Heap, Places};
use std::cmp::Ordering;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Binary places after the point of an amount.
pub(super) const FRACTION: u32 = 24;

/// An amount carried, in 2⁻²⁴ bit·ns/s: a bit is 10⁹·2²⁴ of them.
///
/// Less than 2¹¹⁸ for as many bits as 64 bits can count.
pub(super) type Amount = u128;

/// `bits` as an amount.
pub(super) fn amount(bits: u64) -> Amount {
    (u128::from(bits) * 1_000_000_000) << FRACTION
}

/// A point on a clock of amounts.
///
/// Clocks go round: after 2¹²⁸ comes 0. Everyone who is not through is less than 2¹¹⁸ ahead of
/// their clock, so which of two marks comes first is never in doubt and nothing can overflow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Mark(u128);

impl Mark {
    pub(super) fn plus(self, amount: Amount) -> Mark {
        Mark(self.0.wrapping_add(amount))
    }

    /// The way from `earlier` to here.
    pub(super) fn since(self, earlier: Mark) -> Amount {
        self.0.wrapping_sub(earlier.0)
    }
}

impl PartialOrd for Mark {
    fn partial_cmp(&self, other: &Mark) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Mark {
    fn cmp(&self, other: &Mark) -> Ordering {
        (self.since(*other) as i128).cmp(&0)
    }
}

/// The two things a group's clock can follow.
#[derive(Clone, Copy, Debug)]
pub(super) struct Now {
    /// Nanoseconds since the run began.
    pub(super) nanos: u64,
    /// What a transfer that only ever had its fair share would have carried.
    pub(super) share: Mark,
}

/// All transfers with one cap. There is at least one.
#[derive(Clone, Debug)]
pub(super) struct Group {
    /// Bits per second.
    pub(super) cap: u64,
    /// Whether the cap is above the level, so that members get the level instead.
    pub(super) above: bool,
    /// How far the clock is ahead of what it follows.
    ahead: Amount,
    /// The member that is through first, apart from the others: most groups have only one, and it
    /// should cost no second look into memory.
    first: (Mark, u32),
    rest: Option<Box<Heap<Mark>>>,
}

impl Group {
    /// A group of one, which still has `owed` to carry.
    pub(super) fn new(cap: u64, above: bool, member: u32, owed: Amount, now: Now) -> Self {
        let mut group = Group { cap, above, ahead: 0, first: (Mark(owed), member), rest: None };
        group.ahead = Mark(0).since(group.followed(now));
        group
    }

    /// What the clock follows: below the level the cap, above it everybody's share.
    fn followed(&self, now: Now) -> Mark {
        if self.above {
            now.share
        } else {
            // The product of two 64-bit numbers fits; what the shift loses are whole turns.
            Mark((u128::from(self.cap) * u128::from(now.nanos)) << FRACTION)
        }
    }

    fn clock(&self, now: Now) -> Mark {
        self.followed(now).plus(self.ahead)
    }

    /// The cap went from one side of the level to the other. The clock goes on from where it is.
    pub(super) fn flip(&mut self, now: Now) {
        let clock = self.clock(now);
        self.above = !self.above;
        self.ahead = clock.since(self.followed(now));
    }

    pub(super) fn len(&self) -> usize {
        1 + self.rest.as_ref().map_or(0, |rest| rest.len())
    }

    /// Whose turn it is.
    pub(super) fn first(&self) -> u32 {
        self.first.1
    }

    /// When everybody's share has come so far that the first member is through. Above the level.
    pub(super) fn end_by_share(&self) -> Mark {
        Mark(self.first.0.since(Mark(self.ahead)))
    }

    /// The nanosecond in which the first member is through. Below the level; the cap is not zero.
    pub(super) fn end_by_time(&self, now: Now) -> Option<u64> {
        let clock = self.clock(now);
        if self.first.0 <= clock {
            // In the same nanosecond as the one before it.
            return Some(now.nanos);
        }
        // Rounding up twice is rounding up once, and a smaller number is faster to divide.
        let owed = self.first.0.since(clock).div_ceil(1 << FRACTION);
        let nanos = match u64::try_from(owed) {
            Ok(owed) => owed.div_ceil(self.cap),
            Err(_) => u64::try_from(owed.div_ceil(u128::from(self.cap))).ok()?,
        };
        now.nanos.checked_add(nanos)
    }

    /// Adds a member that still has `owed` to carry. Whether it is the first now.
    pub(super) fn join(
        &mut self,
        member: u32,
        owed: Amount,
        now: Now,
        places: &mut Places,
    ) -> bool {
        let mut later = (self.clock(now).plus(owed), member);
        let leads = later.0 < self.first.0;
        if leads {
            std::mem::swap(&mut later, &mut self.first);
        }
        self.rest.get_or_insert_default().push(later.0, later.1, places);
        leads
    }

    /// Takes a member out of a group of several. What it had still to carry, and whether it was
    /// the first.
    pub(super) fn leave(&mut self, member: u32, now: Now, places: &mut Places) -> (Amount, bool) {
        let rest = self.rest.as_mut().expect("a group of several has others than the first");
        let leads = self.first.1 == member;
        let mark = if leads {
            let (mark, next) = rest.first().expect("a group of several has a second");
            rest.remove(next, places);
            std::mem::replace(&mut self.first, (mark, next)).0
        } else {
            rest.remove(member, places)
        };
        (mark.since(self.clock(now)), leads)
    }

    /// What the first member has still to carry.
    pub(super) fn owed(&self, now: Now) -> Amount {
        self.first.0.since(self.clock(now))
    }
}

/// The number of the group of each cap. Looked up, never gone through.
pub(super) type ByCap = HashMap<u64, u32, BuildHasherDefault<CapHasher>>;

/// Spreads caps over a table. They come from a scenario, not from an attacker.
#[derive(Clone, Debug, Default)]
pub(super) struct CapHasher(u64);

impl Hasher for CapHasher {
    fn write(&mut self, _: &[u8]) {
        unreachable!("caps are hashed as numbers");
    }

    fn write_u64(&mut self, cap: u64) {
        // The golden ratio: caps that differ in one bit differ in most bits of the product.
        let wide = u128::from(cap) * 0x9e37_79b9_7f4a_7c15;
        self.0 = (wide >> 64) as u64 ^ wide as u64;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
