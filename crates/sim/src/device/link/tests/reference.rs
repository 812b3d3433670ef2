//! Against a link without any cleverness, which computes everybody's rate anew at every event.
//!
//! It counts amounts in whole numbers of 1/[`PARTS`] bit·ns/s. With at most [`MOST`] transfers at a
//! time every rate is a whole number of these, so it is exact; and with no more than 600 moves of
//! the level in a transfer's life the link must agree to the nanosecond (see `Level::go_to`).

use super::*;
use proptest::prelude::*;

pub(super) const MOST: usize = 12;

/// The least common multiple of 1 to 12.
const PARTS: u128 = 27_720;

/// `bits` as an amount of the reference.
pub(super) fn owed(bits: u64) -> u128 {
    u128::from(bits * SECOND) * PARTS
}

#[derive(Clone)]
pub(super) struct Transfer {
    pub(super) number: usize,
    pub(super) cap: u64,
    pub(super) owed: u128,
}

pub(super) struct Plain {
    pub(super) capacity: u64,
    pub(super) now: u64,
    pub(super) on: Vec<Transfer>,
}

/// Rates in 1/PARTS bit/s: whoever wants the least gets that or an equal part of what is left.
fn rates(capacity: u64, caps: &[u64]) -> Vec<u128> {
    let mut order: Vec<usize> = (0..caps.len()).collect();
    order.sort_by_key(|&i| caps[i]);
    let mut left = u128::from(capacity) * PARTS;
    let mut rates = vec![0; caps.len()];
    for (done, &i) in order.iter().enumerate() {
        let share = left / (caps.len() - done) as u128;
        rates[i] = share.min(u128::from(caps[i]) * PARTS);
        left -= rates[i];
    }
    rates
}

impl Plain {
    fn rates(&self) -> Vec<u128> {
        rates(self.capacity, &self.on.iter().map(|one| one.cap).collect::<Vec<_>>())
    }

    pub(super) fn next(&self) -> Option<u64> {
        let ends = self.on.iter().zip(self.rates()).filter_map(|(one, rate)| match one.owed {
            0 => Some(self.now),
            _ if rate == 0 => None,
            owed => Some(self.now + u64::try_from(owed.div_ceil(rate)).unwrap()),
        });
        ends.min()
    }

    /// Goes on to `now`, no later than the next end; who is through, in the order of starts.
    pub(super) fn go_to(&mut self, now: u64) -> Vec<usize> {
        let rates = self.rates();
        for (one, rate) in self.on.iter_mut().zip(rates) {
            one.owed = one.owed.saturating_sub(rate * u128::from(now - self.now));
        }
        self.now = now;
        let through = |one: &mut Transfer| one.owed == 0;
        self.on.extract_if(.., through).map(|one| one.number).collect()
    }
}

#[derive(Clone, Copy, Debug)]
enum Act {
    Start { bits: u64, cap: u64 },
    SetCap { which: usize, cap: u64 },
    Cancel { which: usize },
}

/// Few different caps, so that some are equal and some are where the level is.
pub(super) fn cap() -> impl Strategy<Value = u64> {
    prop_oneof![
        1 => Just(0),
        2 => Just(FREE),
        5 => (1u64..8).prop_map(|cap| cap * 5),
        5 => 1u64..200,
    ]
}

fn acts(longest: usize) -> impl Strategy<Value = Vec<(u64, Act)>> {
    let wait =
        prop_oneof![3 => Just(0), 3 => 1..5 * SECOND, 2 => (1u64..6).prop_map(|s| s * SECOND)];
    let act = prop_oneof![
        6 => (0u64..400, cap()).prop_map(|(bits, cap)| Act::Start { bits, cap }),
        2 => (0..MOST, cap()).prop_map(|(which, cap)| Act::SetCap { which, cap }),
        1 => (0..MOST).prop_map(|which| Act::Cancel { which }),
    ];
    proptest::collection::vec((wait, act), 1..longest)
}

/// Plays `acts` on both. With `prompt` the link is asked at every end, without only now and then.
fn play(capacity: u64, acts: &[(u64, Act)], prompt: bool) -> Result<(), TestCaseError> {
    let mut link = Link::new(capacity);
    let mut plain = Plain { capacity, now: 0, on: Vec::new() };
    let mut flows: Vec<Flow> = Vec::new();
    // What the reference saw and the link was not asked for yet.
    let mut expected: Vec<(u64, usize)> = Vec::new();
    let waits = acts.iter().map(|(wait, act)| (Some(*wait), Some(*act)));
    for (i, (wait, act)) in waits.chain([(None, None)]).enumerate() {
        let until = wait.map(|wait| plain.now + wait);
        while let Some(end) = plain.next().filter(|end| until.is_none_or(|until| *end <= until)) {
            expected.extend(plain.go_to(end).into_iter().map(|number| (end, number)));
        }
        if let Some(until) = until {
            plain.go_to(until);
        }
        // Asked before the act of some instants only; the rest is found out by the act.
        if prompt || act.is_none() || i % 5 == 0 {
            for (end, number) in expected.drain(..) {
                prop_assert_eq!(link.next(), Ok(Some(at(end))));
                let asked = if prompt { end } else { plain.now };
                prop_assert_eq!(link.finish(at(asked)), Some(flows[number]));
            }
            prop_assert_eq!(link.finish(at(plain.now)), None);
            prop_assert_eq!(link.len(), plain.on.len());
        }
        let now = at(plain.now);
        match act {
            Some(Act::Start { bits, cap }) if plain.on.len() < MOST => {
                plain.on.push(Transfer { number: flows.len(), cap, owed: owed(bits) });
                flows.push(link.start(now, bits, cap));
            }
            Some(Act::SetCap { which, cap }) if which < plain.on.len() => {
                plain.on[which].cap = cap;
                link.set_cap(now, flows[plain.on[which].number], cap);
            }
            Some(Act::Cancel { which }) if which < plain.on.len() => {
                let one = plain.on.remove(which);
                link.cancel(now, flows[one.number]);
            }
            _ => {}
        }
        is_fair(link.clone(), &plain)?;
    }
    prop_assert_eq!(link.next(), Ok(None));
    Ok(())
}

/// Rates are those of the reference; together they are the capacity if anybody could take
/// more, and never more than it.
fn is_fair(mut link: Link, plain: &Plain) -> Result<(), TestCaseError> {
    link.go_to(at(plain.now));
    link.level.settle();
    let (capacity, mut sum) = (u128::from(plain.capacity) * PARTS, 0);
    let mut wants_more = false;
    let mut here: Vec<(u64, u128)> = Vec::new();
    for slot in link.slots.iter().filter(|slot| slot.group != NO_GROUP) {
        let (cap, rate) = link.level.rate(slot.group, PARTS);
        here.push((cap, rate));
        wants_more |= rate < u128::from(cap) * PARTS;
        sum += rate;
    }
    prop_assert!(if wants_more { sum == capacity } else { sum <= capacity }, "{sum}");
    let on: Vec<_> = plain.on.iter().filter(|one| one.owed > 0).map(|one| one.cap).collect();
    let rates = rates(plain.capacity, &on);
    let mut there: Vec<_> = on.into_iter().zip(rates).collect();
    here.sort_unstable();
    there.sort_unstable();
    prop_assert_eq!(here, there);
    Ok(())
}
proptest! {
    #[test]
    fn every_end_to_the_nanosecond(capacity in 1u64..300, acts in acts(120), prompt: bool) {
        play(capacity, &acts, prompt)?;
    }

    /// Fast links: many ends within one nanosecond.
    #[test]
    fn ends_within_a_nanosecond(
        capacity in SECOND..100 * SECOND,
        starts in proptest::collection::vec((0u64..3, 0u64..50, 1u64..40), 1..60),
        prompt: bool,
    ) {
        let start = |(wait, bits, cap)| (wait, Act::Start { bits, cap: cap * SECOND / 2 });
        let acts: Vec<_> = starts.into_iter().map(start).collect();
        play(capacity, &acts, prompt)?;
    }
}
