//! Transfers that are announced before they start.

use super::reference::{MOST, Plain, Transfer, cap, owed};
use super::*;
use proptest::prelude::*;

/// Does what the link's task does until no transfer completes any more, but not past `until`:
/// `(nanoseconds, transfer)` for every completion.
fn complete_until(transfers: &mut LinkTransfers, until: u64) -> Vec<(u64, TransferId)> {
    let mut ends = Vec::new();
    while let Some(next) = transfers.next_change().unwrap().filter(|next| *next <= at(until)) {
        let completed = std::iter::from_fn(|| transfers.complete(next));
        ends.extend(completed.map(|id| (next.nanos(), id)));
        let again = transfers.next_change().unwrap();
        assert!(again.is_none_or(|again| again > next), "asked again at {again:?}");
    }
    ends
}

fn complete_all(transfers: &mut LinkTransfers) -> Vec<(u64, TransferId)> {
    complete_until(transfers, u64::MAX - 1)
}

#[test]
fn a_transfer_starts_when_it_was_announced_for() {
    let mut transfers = LinkTransfers::new(100);
    let id = transfers.announce(at(0), at(5 * SECOND), 300, 60);
    assert_eq!(transfers.next_change(), Ok(Some(at(10 * SECOND))), "its start is no change");
    assert_eq!(transfers.complete(at(10 * SECOND - 1)), None);
    assert!(!transfers.is_completed(id));
    assert_eq!(transfers.complete(at(10 * SECOND)), Some(id));
    assert!(transfers.is_completed(id));
    assert_eq!(transfers.next_change(), Ok(None));
    assert!(!transfers.remove(at(11 * SECOND), id), "there is nothing left to cancel");
}

/// A transfer that is announced for an instant in the past has lost that time.
#[test]
fn a_transfer_starts_no_earlier_than_now() {
    let mut transfers = LinkTransfers::new(100);
    let id = transfers.announce(at(3 * SECOND), at(SECOND), 100, FREE);
    assert_eq!(complete_all(&mut transfers), [(4 * SECOND, id)]);
}

/// 100 bit/s. A has the link for 1 s, then both have 50 bit/s: A completes its other 200 bits after
/// 4 s, and B has the link for its last 100.
#[test]
fn two_share_from_the_start_of_the_second() {
    let mut transfers = LinkTransfers::new(100);
    let b = transfers.announce(at(0), at(SECOND), 300, FREE);
    let a = transfers.announce(at(0), at(0), 300, FREE);
    // A would complete at 3 s, and B at 4 s, if each were alone.
    assert_eq!(transfers.next_change(), Ok(Some(at(3 * SECOND))));
    assert_eq!(transfers.complete(at(3 * SECOND)), None);
    assert_eq!(complete_all(&mut transfers), [(5 * SECOND, a), (6 * SECOND, b)]);
}

#[test]
fn a_cap_changes_before_the_start() {
    for (before, after, end) in [(10, 50, 8), (50, 10, 32), (0, 50, 8), (0, FREE, 5)] {
        let mut transfers = LinkTransfers::new(100);
        let id = transfers.announce(at(0), at(2 * SECOND), 300, before);
        transfers.set_cap(at(SECOND), id, after);
        assert_eq!(complete_all(&mut transfers), [(end * SECOND, id)], "{before} to {after}");
    }
}

/// A transfer whose cap is 0 before and after a change is looked at when it starts, and not before:
/// otherwise the link's task would be woken at the same instant again and again.
#[test]
fn no_connection_before_the_start_is_no_reason_to_ask_again() {
    let mut transfers = LinkTransfers::new(100);
    let id = transfers.announce(at(0), at(2 * SECOND), 300, 10);
    transfers.set_cap(at(SECOND), id, 0);
    assert_eq!(transfers.next_change(), Ok(Some(at(2 * SECOND))));
    assert_eq!(transfers.complete(at(2 * SECOND)), None);
    assert_eq!(transfers.next_change(), Ok(None));
    transfers.set_cap(at(4 * SECOND), id, 100);
    assert_eq!(complete_all(&mut transfers), [(7 * SECOND, id)]);
}

/// 100 of 350 bits in 2 s; the other 250 take 10 s with a cap of 25, and 2.5 s with the whole link.
#[test]
fn a_cap_changes_after_the_start() {
    for (cap, end) in [(25, 12 * SECOND), (FREE, 4 * SECOND + SECOND / 2)] {
        let mut transfers = LinkTransfers::new(100);
        let id = transfers.announce(at(0), at(0), 350, 50);
        transfers.set_cap(at(2 * SECOND), id, cap);
        assert_eq!(complete_all(&mut transfers), [(end, id)], "{cap}");
    }
}

#[test]
fn a_cap_does_not_matter_after_the_end() {
    let mut transfers = LinkTransfers::new(100);
    let id = transfers.announce(at(0), at(0), 100, FREE);
    assert_eq!(complete_all(&mut transfers), [(SECOND, id)]);
    transfers.set_cap(at(2 * SECOND), id, 1);
    assert!(transfers.is_completed(id));
    assert_eq!(transfers.next_change(), Ok(None));
}

#[test]
fn a_transfer_is_cancelled_before_its_start() {
    let mut transfers = LinkTransfers::new(100);
    let cancelled = transfers.announce(at(0), at(SECOND), 100, FREE);
    let other = transfers.announce(at(0), at(SECOND), 400, FREE);
    assert!(transfers.remove(at(SECOND - 1), cancelled));
    assert_eq!(complete_all(&mut transfers), [(5 * SECOND, other)]);
}

/// The id of a cancelled transfer is used again. What was noted for the old one, its start and its
/// end, does not happen to the new one.
#[test]
fn an_id_that_is_used_again_starts_afresh() {
    let mut transfers = LinkTransfers::new(100);
    let old = transfers.announce(at(0), at(2 * SECOND), 100, FREE);
    transfers.remove(at(SECOND), old);
    let new = transfers.announce(at(SECOND), at(6 * SECOND), 100, FREE);
    assert_eq!(old, new);
    assert_eq!(transfers.next_change(), Ok(Some(at(7 * SECOND))));
    assert_eq!(complete_all(&mut transfers), [(7 * SECOND, new)]);
}

/// Both have 50 bit/s until one is cancelled after 2 s.
#[test]
fn a_transfer_is_cancelled_after_its_start() {
    let mut transfers = LinkTransfers::new(100);
    let [cancelled, other] = [0, 0].map(|now| transfers.announce(at(now), at(SECOND), 400, FREE));
    assert!(transfers.remove(at(3 * SECOND), cancelled));
    assert_eq!(complete_all(&mut transfers), [(6 * SECOND, other)]);
}

/// Those of one instant complete in the order in which they started; those that started at one
/// instant, in the order in which they were announced. The order of ids does not matter.
#[test]
fn one_instant_in_the_order_of_starts_and_announcements() {
    let mut transfers = LinkTransfers::new(FREE);
    let removed = [0; 3].map(|now| transfers.announce(at(now), at(SECOND), 1, FREE));
    for id in removed {
        assert!(transfers.remove(at(0), id));
    }
    // All end at 10 s.
    let [late, early, second, third] = [(8, 20), (2, 80), (4, 60), (4, 30)].map(|(start, bits)| {
        let cap = bits / (10 - start);
        transfers.announce(at(0), at(start * SECOND), bits, cap)
    });
    assert!(late.index() > early.index(), "ids are not in the order of announcements");
    let ends = [early, second, third, late].map(|id| (10 * SECOND, id));
    assert_eq!(complete_all(&mut transfers), ends);
}

#[test]
fn an_end_past_the_end_of_the_clock_is_an_error() {
    let mut transfers = LinkTransfers::new(1);
    let id = transfers.announce(at(0), at(SECOND), FREE, FREE);
    assert_eq!(transfers.next_change(), Ok(Some(SimTime::NEVER)), "it has not started");
    transfers.set_cap(at(2 * SECOND), id, FREE);
    assert_eq!(transfers.next_change(), Err(TimeOverflow));
    assert!(transfers.remove(at(2 * SECOND), id));
    assert_eq!(transfers.next_change(), Ok(None));
}

#[derive(Clone, Copy, Debug)]
enum Call {
    Announce { delay: u64, bits: u64, cap: u64 },
    SetCap { which: usize, cap: u64 },
    Remove { which: usize },
}

fn calls() -> impl Strategy<Value = Vec<(u64, Call)>> {
    let wait =
        || prop_oneof![3 => Just(0), 3 => 1..5 * SECOND, 2 => (1u64..6).prop_map(|s| s * SECOND)];
    let announce = (wait(), 0u64..400, cap());
    let call = prop_oneof![
        6 => announce.prop_map(|(delay, bits, cap)| Call::Announce { delay, bits, cap }),
        2 => (0..MOST, cap()).prop_map(|(which, cap)| Call::SetCap { which, cap }),
        1 => (0..MOST).prop_map(|which| Call::Remove { which }),
    ];
    proptest::collection::vec((wait(), call), 1..120)
}

/// Transfers of the reference: those that have started, and those that start later.
struct PlainTransfers {
    started: Plain,
    /// When it starts, and what then starts. In the order of announcements.
    later: Vec<(u64, Transfer)>,
}

impl PlainTransfers {
    /// Goes on to `until`: every completion on the way, in order.
    fn go_to(&mut self, until: u64) -> Vec<(u64, usize)> {
        let mut ends = Vec::new();
        loop {
            let start = self.later.iter().map(|(start, _)| *start).min();
            let next = self.started.next().into_iter().chain(start).min();
            let Some(next) = next.filter(|next| *next <= until) else { break };
            let completed = self.started.go_to(next);
            ends.extend(completed.into_iter().map(|number| (next, number)));
            let starts = self.later.extract_if(.., |(start, _)| *start <= next);
            self.started.on.extend(starts.map(|(_, transfer)| transfer));
        }
        self.started.go_to(until);
        ends
    }

    /// The transfer that is `which`th of those not completed.
    fn find(&mut self, which: usize) -> Option<&mut Transfer> {
        let later = self.later.iter_mut().map(|(_, transfer)| transfer);
        self.started.on.iter_mut().chain(later).nth(which)
    }

    fn remove(&mut self, number: usize) {
        self.started.on.retain(|one| one.number != number);
        self.later.retain(|(_, one)| one.number != number);
    }
}

proptest! {
    /// Asked when it says, it completes everything at the nanosecond of the reference and in its
    /// order.
    #[test]
    fn every_completion_to_the_nanosecond(capacity in 1u64..300, calls in calls()) {
        let mut transfers = LinkTransfers::new(capacity);
        let started = Plain { capacity, now: 0, on: Vec::new() };
        let mut plain = PlainTransfers { started, later: Vec::new() };
        let mut ids: Vec<TransferId> = Vec::new();
        for (wait, call) in calls {
            let now = plain.started.now + wait;
            let expected = plain.go_to(now);
            let completed = complete_until(&mut transfers, now);
            let named: Vec<_> = expected.iter().map(|(end, number)| (*end, ids[*number])).collect();
            prop_assert_eq!(&completed, &named);
            for (_, id) in completed {
                prop_assert!(transfers.is_completed(id));
                prop_assert!(!transfers.remove(at(now), id));
            }
            match call {
                Call::Announce { delay, bits, cap }
                    if plain.started.on.len() + plain.later.len() < MOST =>
                {
                    let number = ids.len();
                    ids.push(transfers.announce(at(now), at(now + delay), bits, cap));
                    let transfer = Transfer { number, cap, owed: owed(bits) };
                    if delay == 0 {
                        plain.started.on.push(transfer);
                    } else {
                        plain.later.push((now + delay, transfer));
                    }
                }
                Call::SetCap { which, cap } => {
                    if let Some(transfer) = plain.find(which) {
                        transfer.cap = cap;
                        transfers.set_cap(at(now), ids[transfer.number], cap);
                    }
                }
                Call::Remove { which } => {
                    if let Some(number) = plain.find(which).map(|transfer| transfer.number) {
                        plain.remove(number);
                        prop_assert!(transfers.remove(at(now), ids[number]));
                    }
                }
                Call::Announce { .. } => {}
            }
        }
        let far = plain.started.now + 1_000_000 * SECOND;
        let expected = plain.go_to(far);
        let named: Vec<_> = expected.iter().map(|(end, number)| (*end, ids[*number])).collect();
        prop_assert_eq!(complete_until(&mut transfers, far), named);
    }
}
