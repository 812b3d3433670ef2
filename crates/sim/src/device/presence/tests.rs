//! Presence against what is written down, instant by instant.

use super::*;
use crate::device::{Change, Recording};
use proptest::prelude::*;

/// A device that is there or not from each of these instants on, recorded until `end`.
fn trace(toggles: &[(u64, bool)], end: u64) -> Arc<TraceStore> {
    let change =
        |at, available| Change { at: Span::from_nanos(at), available, ..Change::default() };
    let mut changes: Vec<Change> =
        toggles.iter().map(|(at, there)| change(*at, Some(*there))).collect();
    changes.push(change(end, None));
    let mut trace = TraceStore::default();
    trace.add(&Recording { device: "a".into(), changes, end: Some(Span::from_nanos(end)) });
    Arc::new(trace)
}

/// Whether the device is there at `at`, straight from the rules of the trace format.
fn is_there(toggles: &[(u64, bool)], trace_cursor: TraceCursor, at: u64) -> bool {
    let total = at + trace_cursor.shift;
    let local = if trace_cursor.period > 0 { total % trace_cursor.period } else { total };
    let told = toggles.iter().rev().find(|(from, _)| *from <= local);
    told.or(toggles.first()).is_none_or(|(_, there)| *there)
}

proptest! {
    #[test]
    fn recordings_and_absences_are_followed_instant_by_instant(
        gaps in proptest::collection::vec((1u64..9, any::<bool>()), 1..8), tail in 1u64..9,
        shift in 0u64..60, repeats in any::<bool>(),
        absences in proptest::collection::vec((0u64..120, 1u64..40, 0u32..3), 0..5),
    ) {
        let mut now = 0;
        let toggles: Vec<(u64, bool)> = gaps
            .iter()
            .map(|(gap, there)| {
                now += gap;
                (now - 1, *there)
            })
            .collect();
        let end = now + tail;
        let trace = trace(&toggles, end);
        let trace_cursor = TraceCursor { track: 0, shift, period: if repeats { end } else { 0 } };
        let laws = vec![Coming::Recorded(trace), Coming::Always];
        // Two with the recording, one that is always there.
        let mut presence = Presence::new(1, laws, &[0, 0, 1], &[trace_cursor; 3]);
        for (from, lasting, whom) in &absences {
            presence.add(
                Absence {
                    whom: ClientSet::of(3, [*whom]),
                    from: SimTime::from_nanos(*from),
                    until: SimTime::from_nanos(from + lasting),
                },
                &mut |_| {},
            );
        }
        let expected = |client: u32, at: u64| {
            let scripted = absences.iter().any(|(from, lasting, whom)| {
                *whom == client && (*from..from + lasting).contains(&at)
            });
            !scripted && (client == 2 || is_there(&toggles, trace_cursor, at))
        };
        let mut told = [0, 1, 2].map(|client| presence.is_here(client));
        let mut away = [0; 3];
        for at in 0..160 {
            let mut changes = 0;
            presence.advance(SimTime::from_nanos(at), &mut |AvailabilityChange { client, here, .. }| {
                assert_ne!(told[client as usize], here, "news are news");
                told[client as usize] = here;
                changes += 1;
            });
            for client in 0..3u32 {
                let here = expected(client, at);
                prop_assert_eq!(presence.is_here(client), here, "client {} at {}", client, at);
                prop_assert_eq!(told[client as usize], here);
                prop_assert_eq!(presence.away(client).nanos(), away[client as usize]);
                away[client as usize] += u64::from(!here);
                let leaves = (at..400).find(|t| !expected(client, *t));
                // Beyond what was looked at it may be later still.
                if let Some(leaves) = leaves.filter(|leaves| *leaves < 300) {
                    prop_assert_eq!(presence.leaves(client).nanos(), leaves);
                }
            }
            prop_assert_eq!(presence.here(), (0..3).filter(|c| expected(*c, at)).count());
            if changes > 0 {
                prop_assert!(presence.next_change().is_none_or(|next| next.nanos() > at));
            }
        }
    }
}

#[test]
fn who_leaves_for_good_is_not_waited_for() {
    let mut presence = Presence::new(1, vec![Coming::Always], &[0, 0, 0], &[]);
    let for_good = |whom: &[u32], from| Absence {
        whom: ClientSet::of(3, whom.iter().copied()),
        from: SimTime::from_nanos(from),
        until: SimTime::NEVER,
    };
    let joins = presence.add(for_good(&[0], 0), &mut |_| {});
    presence.add(for_good(&[0, 1], 10), &mut |_| {});
    assert_eq!((presence.here(), presence.remaining()), (2, 2));
    presence.end(joins, &mut |_| {});
    assert_eq!((presence.here(), presence.remaining()), (3, 3));
    assert_eq!(presence.leaves(0), SimTime::from_nanos(10));
    presence.advance(SimTime::from_nanos(10), &mut |_| {});
    assert_eq!((presence.here(), presence.remaining()), (1, 1));
    assert_eq!(presence.next_change(), None);
}

#[test]
fn who_is_gone_does_not_come_and_go_and_is_where_it_would_be_when_it_returns() {
    let trace = trace(&[(0, true), (3, false)], 7);
    let trace_cursor = TraceCursor { track: 0, shift: 0, period: 7 };
    let laws = || vec![Coming::Recorded(trace.clone())];
    for back in 1..40 {
        let mut plain = Presence::new(1, laws(), &[0], &[trace_cursor]);
        let mut presence = Presence::new(1, laws(), &[0], &[trace_cursor]);
        let whom = ClientSet::of(1, [0]);
        let absence = Absence { whom, from: SimTime::ZERO, until: SimTime::NEVER };
        let joins = presence.add(absence, &mut |_| {});
        // One change is in the queue already; behind it nobody waits for anything.
        presence.advance(SimTime::from_nanos(back), &mut |_| panic!("nobody is there"));
        assert!(back < 3 || presence.next_change().is_none());
        presence.end(joins, &mut |_| {});
        for at in back..back + 30 {
            let at = SimTime::from_nanos(at);
            plain.advance(at, &mut |_| {});
            presence.advance(at, &mut |_| {});
            assert_eq!(presence.is_here(0), plain.is_here(0), "back at {back}, now {at:?}");
            assert_eq!(presence.next_change(), plain.next_change());
        }
    }
}

/// What follows is told up to the next coming, so that nobody is taken for gone who would come again.
#[test]
fn what_a_client_does_next_is_told_until_it_comes() {
    let trace = trace(&[(0, true), (3, false)], 7);
    let law = || vec![Coming::Recorded(trace.clone())];
    let next = |now, period| {
        let trace_cursor = TraceCursor { track: 0, shift: 0, period };
        let mut presence = Presence::new(1, law(), &[0], &[trace_cursor]);
        presence.advance(SimTime::from_nanos(now), &mut |_| {});
        let changes = presence.own_changes(0).into_iter();
        changes.map(|(at, comes)| (at.nanos(), comes)).collect::<Vec<_>>()
    };
    assert_eq!(next(1, 7), [(3, false), (7, true)]);
    assert_eq!(next(4, 7), [(7, true)]);
    assert_eq!(next(1, 0), [(3, false)], "it goes for good");
    assert_eq!(next(4, 0), []);
}

/// Who is away when its recording ends has left, as if an event had said so; who begins again has not.
#[test]
fn who_is_away_for_good_by_its_recording_does_not_remain() {
    let trace = trace(&[(0, true), (3, false)], 7);
    for (period, remaining) in [(0, [2, 2, 1]), (7, [2, 2, 2])] {
        let trace_cursor = TraceCursor { track: 0, shift: 0, period };
        let laws = vec![Coming::Recorded(trace.clone()), Coming::Always];
        let mut presence = Presence::new(1, laws, &[0, 1], &[trace_cursor; 2]);
        for (now, remaining) in [0, 2, 3].into_iter().zip(remaining) {
            presence.advance(SimTime::from_nanos(now), &mut |_| {});
            assert_eq!(presence.remaining(), remaining, "period {period}, at {now}");
        }
    }
}
