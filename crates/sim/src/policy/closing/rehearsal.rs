//! A closing policy without a run: when would a round close whose updates come at these times?

use super::{Closing, Opened, RoundOpened, Then, UpdateArrived};
use crate::clock::{SimTime, Span};

/// How long after it opened a first round of `asked` clients closes, if updates arrive so long after that;
/// `None` if it stays open. `arrivals` are in order.
pub fn rehearse(closing: &mut dyn Closing, asked: usize, arrivals: &[Span]) -> Option<Span> {
    let start = SimTime::ZERO;
    let round = RoundOpened { round: 1, now: start, asked, deadline: None };
    let Opened { deadline, wake } = closing.opened(&round).ok()?;
    let mut wake = wake.or(deadline);
    let arrivals = arrivals.iter().map(|after| SimTime::from_nanos(after.nanos()));
    // Behind the last arrival the policy can only be woken.
    for now in arrivals.chain([SimTime::NEVER]) {
        while let Some(at) = wake.filter(|at| *at < now) {
            match closing.time_is_up(at) {
                Then::Close => return Some(at.since(start)),
                Then::Wait => wake = None,
                // A policy that never closes would be woken for ever.
                Then::WakeAt(next) if next <= at => return None,
                Then::WakeAt(next) => wake = Some(next),
            }
        }
        if now == SimTime::NEVER {
            return None;
        }
        let update = UpdateArrived { client: 0, now, asked: start, tau: 1, staleness: 0 };
        match closing.arrived(&update).then {
            Then::Close => return Some(now.since(start)),
            Then::Wait => {}
            Then::WakeAt(next) => wake = Some(next.max(now)),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::Close;
    use super::*;

    #[test]
    fn built_in_policies_close_when_they_say() {
        let arrivals = [3, 5, 9].map(Span::from_nanos);
        let closes = |close: Close, asked| {
            let after = rehearse(&mut *close.init().unwrap(), asked, &arrivals);
            after.map(|after| after.nanos())
        };
        assert_eq!(closes(Close::All, 3), Some(9));
        assert_eq!(closes(Close::All, 4), None, "one never comes");
        assert_eq!(closes(Close::Deadline(Span::from_nanos(7)), 3), Some(7));
        assert_eq!(closes(Close::Deadline(Span::from_nanos(5)), 2), Some(5), "both are there");
        assert_eq!(closes(Close::First { first: 2, of: 3 }, 3), Some(5));
        assert_eq!(closes(Close::Buffer(1), 3), Some(3));
        assert_eq!(closes(Close::Window(Span::from_nanos(4)), 3), Some(4));
    }
}
