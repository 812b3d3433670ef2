//! The water level: how a capacity is divided, and who is through first.
//!
//! Everyone gets their cap or the level, whichever is less, and the level is as high as the
//! capacity allows. Groups whose cap is below the level do not feel it: the nanosecond in which
//! their first member is through does not change whoever comes and goes. Groups above it all get
//! the same, so one clock of shares serves them all. When the level moves, only the groups whose
//! cap it passes change sides.
//!
//! ```text
//!    cap │                            above: one clock for all, ordered by share
//!        │            █  █  █
//!  level ├╌╌╌╌╌╌╌╌╌╌╌╌▓╌╌▓╌╌▓╌╌
//!        │      ▓  ▓  ▓  ▓  ▓         below: ordered by time
//!        │   ▓  ▓  ▓  ▓  ▓  ▓
//! ```

use super::group::{Amount, ByCap, FRACTION, Group, Mark, Now};
use super::heap::Heap;
use crate::clock::{SimTime, TimeOverflow};

/// Groups on one side of the level.
#[derive(Clone, Debug)]
struct Side<K> {
    /// The one that changes sides first comes first.
    caps: Heap<u64>,
    /// When the first of each group is through.
    ends: Heap<K>,
}

/// An end that is past the end of the clock.
const BEYOND: u64 = u64::MAX;

/// All transfers in their groups, and the groups on their sides of the level.
#[derive(Clone, Debug)]
pub(super) struct Level {
    capacity: u64,
    now: Now,
    /// The sum of the caps of all members below the level.
    held: u128,
    /// How many members are above it: they share what the others leave.
    sharing: u64,
    /// The largest cap (as its complement) first.
    below: Side<u64>,
    /// The smallest cap first.
    above: Side<Mark>,
    groups: Vec<Group>,
    free: Vec<u32>,
    by_cap: ByCap,
    cap_places: Vec<u32>,
    end_places: Vec<u32>,
    /// By member, within its group.
    member_places: Vec<u32>,
    #[cfg(test)]
    pub(super) flips: u64,
}

impl Level {
    pub(super) fn new(capacity: u64) -> Self {
        assert!(capacity > 0, "a link without capacity carries nothing");
        Level {
            capacity,
            now: Now { nanos: 0, share: Mark::default() },
            held: 0,
            sharing: 0,
            below: Side::default(),
            above: Side::default(),
            groups: Vec::new(),
            free: Vec::new(),
            by_cap: ByCap::default(),
            cap_places: Vec::new(),
            end_places: Vec::new(),
            member_places: Vec::new(),
            #[cfg(test)]
            flips: 0,
        }
    }

    /// The instant up to which everything is carried.
    pub(super) fn now(&self) -> SimTime {
        SimTime::from_nanos(self.now.nanos)
    }

    /// A transfer that still has `owed` to carry, more than nothing. Returns its group.
    ///
    /// The level is left where it is until somebody asks or time goes on: when a whole fleet
    /// starts at one instant, it moves once.
    pub(super) fn join(&mut self, member: u32, owed: Amount, cap: u64) -> u32 {
        if self.member_places.len() <= member as usize {
            self.member_places.resize(member as usize + 1, 0);
        }
        if let Some(&id) = self.by_cap.get(&cap) {
            let group = &mut self.groups[id as usize];
            let leads = group.join(member, owed, self.now, &mut self.member_places);
            if group.above {
                self.sharing += 1;
            } else {
                self.held += u128::from(cap);
            }
            if leads {
                self.first_changed(id);
            }
            return id;
        }
        let group = Group::new(cap, self.is_above(cap), member, owed, self.now);
        let id = self.free.pop().unwrap_or(self.groups.len() as u32);
        if id as usize == self.groups.len() {
            self.groups.push(group);
            self.cap_places.push(0);
            self.end_places.push(0);
        } else {
            self.groups[id as usize] = group;
        }
        self.by_cap.insert(cap, id);
        self.enter(id);
        id
    }

    /// Takes a transfer out of its group. What it had still to carry.
    pub(super) fn leave(&mut self, member: u32, id: u32) -> Amount {
        let group = &mut self.groups[id as usize];
        if group.len() == 1 {
            let owed = group.owed(self.now);
            self.by_cap.remove(&group.cap);
            self.exit(id);
            self.free.push(id);
            return owed;
        }
        let (owed, leads) = group.leave(member, self.now, &mut self.member_places);
        if group.above {
            self.sharing -= 1;
        } else {
            self.held -= u128::from(group.cap);
        }
        if leads {
            self.first_changed(id);
        }
        owed
    }

    /// Whether a cap is more than everyone above the level gets: `cap > (capacity − held) / sharing`.
    fn is_above(&self, cap: u64) -> bool {
        let left = i128::from(self.capacity) - self.held as i128;
        i128::from(cap) * i128::from(self.sharing) > left
    }

    /// Moves the level to where it belongs.
    ///
    /// Every flip raises it: taking a group that wants more than the level to the others brings
    /// its caps to share, and a group that wants less leaves them some. So a group that was found
    /// below stays below, and this ends after two flips per group at the worst. After one
    /// transfer came or went it is only the groups whose caps the level passes.
    pub(super) fn settle(&mut self) {
        loop {
            let id = match (self.below.caps.first(), self.above.caps.first()) {
                (Some((cap, id)), _) if self.is_above(!cap) => id,
                (_, Some((cap, id))) if !self.is_above(cap) => id,
                _ => return,
            };
            self.exit(id);
            self.groups[id as usize].flip(self.now);
            self.enter(id);
            #[cfg(test)]
            {
                self.flips += 1;
            }
        }
    }

    /// Puts a group on its side of the level.
    fn enter(&mut self, id: u32) {
        let group = &self.groups[id as usize];
        let members = group.len() as u64;
        if group.above {
            self.sharing += members;
            self.above.caps.push(group.cap, id, &mut self.cap_places);
            self.above.ends.push(group.end_by_share(), id, &mut self.end_places);
        } else if group.cap > 0 {
            self.held += u128::from(group.cap) * u128::from(members);
            let end = group.end_by_time(self.now).unwrap_or(BEYOND);
            self.below.caps.push(!group.cap, id, &mut self.cap_places);
            self.below.ends.push(end, id, &mut self.end_places);
        }
    }

    /// Takes a group off its side of the level.
    fn exit(&mut self, id: u32) {
        let group = &self.groups[id as usize];
        let members = group.len() as u64;
        if group.above {
            self.sharing -= members;
            self.above.caps.remove(id, &mut self.cap_places);
            self.above.ends.remove(id, &mut self.end_places);
        } else if group.cap > 0 {
            self.held -= u128::from(group.cap) * u128::from(members);
            self.below.caps.remove(id, &mut self.cap_places);
            self.below.ends.remove(id, &mut self.end_places);
        }
    }

    fn first_changed(&mut self, id: u32) {
        let group = &self.groups[id as usize];
        if group.above {
            self.above.ends.change(group.end_by_share(), id, &mut self.end_places);
        } else if group.cap > 0 {
            let end = group.end_by_time(self.now).unwrap_or(BEYOND);
            self.below.ends.change(end, id, &mut self.end_places);
        }
    }

    /// When somebody will be through if nobody comes or goes. The level is settled.
    pub(super) fn soonest(&self) -> Result<Option<SimTime>, TimeOverflow> {
        let below = self.below.ends.first().map(|(nanos, _)| nanos);
        let above = self.above.ends.first().map(|(mark, _)| self.reached(mark).unwrap_or(BEYOND));
        match below.into_iter().chain(above).min() {
            Some(BEYOND) => Err(TimeOverflow),
            nanos => Ok(nanos.map(SimTime::from_nanos)),
        }
    }

    /// What those above the level have to share, bits per second. The level is settled, so it is
    /// more than nothing if anybody is there.
    fn left(&self) -> u64 {
        self.capacity - self.held as u64
    }

    /// The nanosecond in which everybody's share gets to `mark`, which is ahead.
    ///
    /// The first `d` with `⌈left·d·2²⁴ / sharing⌉ ≥ owed`, which is to say
    /// `left·d·2²⁴ / sharing > owed − 1`: one more than the quotient, rounded down.
    fn reached(&self, mark: Mark) -> Option<u64> {
        let short = mark.since(self.now.share) - 1;
        let (whole, part) = (short >> FRACTION, short & ((1 << FRACTION) - 1));
        // At most 2⁹⁴·2³²: it fits.
        let sharing = u128::from(self.sharing);
        let nanos = divide(whole * sharing + ((part * sharing) >> FRACTION), self.left()).0 + 1;
        self.now.nanos.checked_add(u64::try_from(nanos).ok()?)
    }

    /// Goes on to `at`, which is no later than [`Self::soonest`]. The level is settled.
    ///
    /// Everybody's share is rounded up, by less than 2⁻²⁴ bit·ns/s each time somebody comes or
    /// goes. So nobody is ever late: who should be through in a certain nanosecond is. To be early,
    /// a transfer would have to miss the end of a nanosecond by less than all that was rounded up
    /// since it started. But what it misses it by is a multiple of 1/m, where m is the least common
    /// multiple of the numbers of transfers that shared. So after k changes ends are exact as long
    /// as k·m ≤ 2²⁴; beyond that about one in 2²⁴·rate/k is a nanosecond early (at 1 Mbit/s and
    /// after a thousand changes, one in 10¹⁰).
    pub(super) fn go_to(&mut self, at: SimTime) {
        if self.sharing > 0 {
            let time = u128::from(at.nanos() - self.now.nanos);
            let (whole, rest) = divide(u128::from(self.left()) * time, self.sharing);
            let part = (rest << FRACTION).div_ceil(self.sharing);
            self.now.share = self.now.share.plus((whole << FRACTION) + u128::from(part));
        }
        self.now.nanos = at.nanos();
    }

    /// Takes out a transfer that is through by now, if there is one; in no particular order.
    pub(super) fn take(&mut self) -> Option<u32> {
        let id = match (self.below.ends.first(), self.above.ends.first()) {
            (Some((nanos, id)), _) if nanos <= self.now.nanos => id,
            (_, Some((mark, id))) if mark <= self.now.share => id,
            _ => return None,
        };
        let member = self.groups[id as usize].first();
        self.leave(member, id);
        Some(member)
    }

    /// The cap of a group in bits per second, and the rate of a member in `1/parts` of that. The
    /// level is settled.
    #[cfg(test)]
    pub(super) fn rate(&self, id: u32, parts: u128) -> (u64, u128) {
        let Group { cap, above, .. } = self.groups[id as usize];
        let shared = || u128::from(self.left()) * parts / u128::from(self.sharing);
        (cap, if above { shared() } else { u128::from(cap) * parts })
    }
}

impl<K> Default for Side<K> {
    fn default() -> Self {
        Side { caps: Heap::default(), ends: Heap::default() }
    }
}

/// Quotient and remainder. Most dividends fit into 64 bits, where this is several times faster.
fn divide(dividend: u128, divisor: u64) -> (u128, u64) {
    match u64::try_from(dividend) {
        Ok(dividend) => (u128::from(dividend / divisor), dividend % divisor),
        Err(_) => {
            let divisor = u128::from(divisor);
            (dividend / divisor, (dividend % divisor) as u64)
        }
    }
}
