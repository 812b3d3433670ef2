//! What a recording says of presence.

use super::Cursor;
use crate::clock::{SimTime, Span};
use crate::device::speed_profile::TraceCursor;
use crate::device::trace_store::{Toggle, TraceStore};

/// When the device of a recording next loses what it is doing, after `now`.
pub(super) fn next_loss(trace: &TraceStore, trace_cursor: TraceCursor, now: SimTime) -> SimTime {
    let losses = trace.losses(trace_cursor.track as usize);
    let (local, left) = trace_cursor.local(now);
    let next = losses.get(losses.partition_point(|at| *at <= local)).map(|at| at - local);
    let next = next.filter(|next| *next < left || trace_cursor.period == 0);
    // Begun again; what lies behind the end of a repetition never happens.
    let again =
        losses.first().filter(|at| **at < trace_cursor.period).map(|at| left.saturating_add(*at));
    let span = next.or(again).map(Span::from_nanos);
    span.and_then(|span| now.after(span).ok()).unwrap_or(SimTime::NEVER)
}

/// Whether the device of a recording is there at `at`, and until when.
pub(super) fn recorded(trace: &TraceStore, trace_cursor: TraceCursor, at: SimTime) -> Cursor {
    let toggles = trace.toggles(trace_cursor.track as usize);
    let (local, left) = trace_cursor.local(at);
    let passed = toggles.partition_point(|toggle| toggle.at() <= local);
    let there = match (passed, toggles.first()) {
        (0, None) => true,
        (0, Some(first)) => first.is_there(),
        (passed, _) => toggles[passed - 1].is_there(),
    };
    let differs = |toggle: &&Toggle| toggle.is_there() != there;
    let mut next = toggles[passed..].iter().find(differs).map(|toggle| toggle.at() - local);
    if next.is_none_or(|next| next >= left) && trace_cursor.period > 0 {
        // Begun again it may be as it is now: then it changes when it first differs.
        let again = toggles.first().filter(differs).map(|_| 0);
        let again = again.or_else(|| toggles.iter().find(differs).map(Toggle::at));
        next = again.filter(|at| *at < trace_cursor.period).map(|at| left.saturating_add(at));
    }
    let until = next.and_then(|span| at.after(Span::from_nanos(span)).ok());
    Cursor::Recorded { trace_cursor, there, until: until.unwrap_or(SimTime::NEVER) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::{Change, Recording, Repeat};

    #[test]
    fn what_is_lost_at_an_instant_concerns_those_who_set_out_before() {
        let change = |at, lost| Change { at: Span::from_nanos(at), lost, ..Change::default() };
        let changes = vec![change(10, true), change(30, true), change(40, false)];
        let mut trace = TraceStore::default();
        // A last row that tells nothing says when the recording ended.
        let end = Some(Span::from_nanos(40));
        trace.add(&Recording { device: "a".into(), changes, end });
        assert!(trace.tells_availability() && !trace.tells_presence());
        let at = SimTime::from_nanos;
        let next = |shift, repeat, now| {
            next_loss(&trace, TraceCursor::new(0, shift, repeat, trace.length(0)), at(now))
        };
        for (now, then) in [(0, at(10)), (9, at(10)), (10, at(30)), (30, SimTime::NEVER)] {
            assert_eq!(next(0, Repeat::Never, now), then, "{now}");
        }
        assert_eq!(next(0, Repeat::AtItsEnd, 30), at(50), "begun again");
        assert_eq!(next(25, Repeat::AtItsEnd, 0), at(5));
        assert_eq!(next(25, Repeat::AtItsEnd, 5), at(25));
        let cut = Repeat::Every(Span::from_nanos(20));
        assert_eq!(next(0, cut, 10), at(30), "10 of the next time");
        let Cursor::Recorded { there, until, .. } =
            recorded(&trace, TraceCursor::new(0, 0, Repeat::Never, 40), at(10))
        else {
            panic!("a recording is one");
        };
        assert!(there && until == SimTime::NEVER, "it is there all the time");
    }
}
