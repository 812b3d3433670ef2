//! Transfers small enough to follow by hand, and what must hold of all of them.

mod flips;
mod reference;
mod transfers;

use super::*;

const FREE: u64 = u64::MAX;
const SECOND: u64 = 1_000_000_000;

fn at(nanos: u64) -> SimTime {
    SimTime::from_nanos(nanos)
}

/// Lets everyone finish who will: `(nanoseconds, transfer)`.
fn drain(link: &mut Link) -> Vec<(u64, Flow)> {
    let mut ends = Vec::new();
    while let Some(end) = link.next().unwrap() {
        if end > link.level.now() {
            assert_eq!(link.clone().finish(at(end.nanos() - 1)), None);
        }
        ends.push((end.nanos(), link.finish(end).unwrap()));
    }
    ends
}

#[test]
fn alone_a_transfer_has_the_link_or_its_cap() {
    for (bits, cap, end) in [(600, FREE, 6 * SECOND), (600, 30, 20 * SECOND), (1, 3, 333_333_334)] {
        let mut link = Link::new(100);
        let flow = link.start(at(7), bits, cap);
        assert_eq!(drain(&mut link), [(end + 7, flow)]);
        assert!(link.is_empty());
    }
}

/// 100 bit/s. A alone for 1 s: 100 bits. Then 50 each: A's other 200 take 4 s. B has carried 200 by
/// then and has the link for its last 100.
#[test]
fn the_later_of_two_equal_uploads() {
    let mut link = Link::new(100);
    let a = link.start(at(0), 300, FREE);
    let b = link.start(at(SECOND), 300, FREE);
    assert_eq!(drain(&mut link), [(5 * SECOND, a), (6 * SECOND, b)]);
}

/// Three uploads of one bit at a third of a bit per second each: exactly three seconds, although a
/// third has no end in binary. Even if the level was disturbed in between.
#[test]
fn whole_nanoseconds_stay_whole() {
    let mut link = Link::new(1);
    let flows = [0; 3].map(|now| link.start(at(now), 1, FREE));
    assert_eq!(drain(&mut link), flows.map(|flow| (3 * SECOND, flow)));

    let mut link = Link::new(7);
    let flows = [0; 3].map(|now| link.start(at(now), 7, FREE));
    for i in 0..1000u64 {
        // Someone without a connection comes and goes: an instant at which shares are rounded.
        let passer = link.start(at(i * 1_000_003), 1, 0);
        link.cancel(at(i * 1_000_003 + 1), passer);
    }
    assert_eq!(drain(&mut link), flows.map(|flow| (3 * SECOND, flow)));
}

/// 100 bit/s. A keeps to its 20; B has the other 80 until it is through at 10 s.
#[test]
fn what_a_cap_leaves_goes_to_the_other() {
    let mut link = Link::new(100);
    let a = link.start(at(0), 300, 20);
    let b = link.start(at(0), 800, FREE);
    assert_eq!(drain(&mut link), [(10 * SECOND, b), (15 * SECOND, a)]);
}

/// 90 bit/s for three: 30 each until one leaves at 2 s, then 45 each.
#[test]
fn who_leaves_makes_room() {
    let mut link = Link::new(90);
    let a = link.start(at(0), 150, FREE);
    let b = link.start(at(0), 1000, FREE);
    let c = link.start(at(0), 240, 60);
    link.cancel(at(2 * SECOND), b);
    assert_eq!(link.len(), 2);
    // A: 60 + 45·2 at 4 s. C: 60 + 90 by then, and 60 from there on.
    assert_eq!(drain(&mut link), [(4 * SECOND, a), (5_500_000_000, c)]);
    link.cancel(at(6 * SECOND), a);
    link.set_cap(at(6 * SECOND), a, 3);
    assert_eq!(link.len(), 0, "who is gone is gone");
}

#[test]
fn without_a_connection_a_transfer_waits() {
    let mut link = Link::new(100);
    let a = link.start(at(0), 200, FREE);
    let b = link.start(at(0), 100, FREE);
    link.set_cap(at(SECOND), b, 0);
    // A had 50 and now 100 a second; B waits with 50 to go.
    assert_eq!(drain(&mut link), [(2_500_000_000, a)]);
    assert_eq!((link.next(), link.len()), (Ok(None), 1));
    link.set_cap(at(10 * SECOND), b, 25);
    assert_eq!(drain(&mut link), [(12 * SECOND, b)]);
}

/// Ten with a cap of 10 on a link of 100 have just enough. An eleventh without a cap takes them all
/// to 100/11, and gives it back.
#[test]
fn many_with_one_cap_cross_the_level_together() {
    let mut link = Link::new(100);
    let many = [0; 10].map(|now| link.start(at(now), 200, 10));
    let flips = |link: &Link| link.level.flips;
    let before = flips(&link);
    let eleventh = link.start(at(SECOND), 100, FREE);
    // 11 s at 100/11 for everyone; the ten have carried 110 and go back to 10 a second.
    let mut ends = vec![(12 * SECOND, eleventh)];
    ends.extend(many.map(|flow| (21 * SECOND, flow)));
    assert_eq!(drain(&mut link), ends);
    assert!(flips(&link) - before <= 3, "{}", flips(&link) - before);
}

#[test]
fn nothing_to_carry_is_through_at_once() {
    let mut link = Link::new(1);
    let some = link.start(at(5), 1, FREE);
    let none = link.start(at(5), 0, FREE);
    let not_even_connected = link.start(at(5), 0, 0);
    assert_eq!(link.next(), Ok(Some(at(5))));
    assert_eq!(link.len(), 3);
    assert_eq!(drain(&mut link), [(5, none), (5, not_even_connected), (SECOND + 5, some)]);
}

#[test]
fn one_instant_in_the_order_of_starts() {
    let mut link = Link::new(FREE);
    // All through in the second that ends at 10 s, in different ways and parts of a nanosecond.
    let caps = [10, 20, 30, 10, 40, 20];
    let flows = caps.map(|cap| link.start(at(0), cap * 10, cap));
    assert_eq!(drain(&mut link), flows.map(|flow| (10 * SECOND, flow)));

    // A nanosecond is long enough for all of these; the last to start carries least.
    let mut link = Link::new(100 * SECOND);
    let flows = [9, 8, 7, 6, 5].map(|bits| link.start(at(0), bits, FREE));
    assert_eq!(drain(&mut link), flows.map(|flow| (1, flow)));

    // The same under one cap, which is below the level.
    let mut link = Link::new(100 * SECOND);
    let flows = [9, 8, 7, 6, 5].map(|bits| link.start(at(0), bits, 10 * SECOND));
    assert_eq!(drain(&mut link), flows.map(|flow| (1, flow)));
}

/// Whoever was through while nobody asked took nothing from the others since.
#[test]
fn ends_that_were_skipped_count_from_when_they_were() {
    let mut link = Link::new(100);
    let a = link.start(at(0), 100, FREE);
    let b = link.start(at(0), 300, FREE);
    let c = link.start(at(8 * SECOND), 0, FREE);
    assert_eq!(link.len(), 3);
    assert_eq!(link.next(), Ok(Some(at(2 * SECOND))));
    link.cancel(at(8 * SECOND), a);
    assert_eq!(link.next(), Ok(Some(at(4 * SECOND))));
    link.set_cap(at(8 * SECOND), b, 0);
    let taken = std::iter::from_fn(|| link.finish(at(9 * SECOND)));
    assert_eq!(taken.collect::<Vec<_>>(), [b, c]);
}

#[test]
fn names_are_not_used_twice() {
    let mut link = Link::new(100);
    let a = link.start(at(0), 100, FREE);
    link.cancel(at(0), a);
    let b = link.start(at(0), 100, FREE);
    assert_ne!(a, b);
    link.cancel(at(0), a);
    assert_eq!(link.len(), 1);
    assert_eq!(drain(&mut link), [(SECOND, b)]);
}

#[test]
fn past_the_end_of_the_clock() {
    // The largest there is: everything that can be large is.
    let mut link = Link::new(FREE);
    let huge = link.start(at(0), FREE, FREE);
    assert_eq!(drain(&mut link), [(SECOND, huge)]);

    let mut link = Link::new(1);
    let huge = link.start(at(0), FREE, FREE);
    assert_eq!(link.next(), Err(TimeOverflow));
    // It is not in the way of those that do end.
    let small = link.start(at(0), 1, FREE);
    assert_eq!(link.next(), Ok(Some(at(2 * SECOND))));
    assert_eq!(link.finish(at(2 * SECOND)), Some(small));
    assert_eq!(link.finish(at(u64::MAX)), None);
    link.set_cap(at(u64::MAX), huge, 0);
    assert_eq!(link.next(), Ok(None));

    let mut link = Link::new(FREE);
    link.start(at(0), FREE, 1);
    assert_eq!(link.next(), Err(TimeOverflow));
    assert_eq!(link.finish(at(u64::MAX)), None);
}

/// A clock of amounts goes round after 2⁷⁴ bits, and nobody notices.
#[test]
fn clocks_go_round() {
    let mut link = Link::new(FREE);
    let steady = |link: &mut Link, now| link.start(at(now), FREE, FREE / 4);
    let mut last = steady(&mut link, 0);
    for second in 0..6000u64 {
        // Relieved every two seconds, so that the group is never empty. Half the time another one
        // has the rest of the link, so that shares go round too.
        let other = link.start(at(second * SECOND), FREE, FREE);
        if second % 2 == 1 {
            let next = steady(&mut link, second * SECOND);
            link.cancel(at(second * SECOND), last);
            last = next;
        }
        link.cancel(at(second * SECOND + SECOND / 2), other);
        assert!(link.next().unwrap().unwrap() > at(second * SECOND));
    }
    let now = 6000 * SECOND;
    link.cancel(at(now), last);
    let last = link.start(at(now), FREE, FREE);
    assert_eq!(drain(&mut link), [(now + SECOND, last)]);
}
