//! When a round closes: the trait, and the built-in policies behind it.
//!
//! ```text
//!   opened ─► deadline for the clients, and when to be woken
//!   arrived ─► count, discount or drop the update ┐
//!   lost ─────────────────────────────────────────┼─► wait, close, or be woken at another time
//!   time_is_up ───────────────────────────────────┘
//! ```

mod asynchronous;
mod durations;
mod rounds;

pub use asynchronous::{Buffer, Window};
pub use durations::Durations;
pub use rounds::{FirstOf, WaitForAll};

use super::{Adaptive, Close};
use crate::clock::{SimTime, Span, TimeOverflow};

/// Decides when a round closes and which updates count in it.
///
/// Called on the thread of the simulation, in the order of events. `late` and `max_staleness` of the
/// scenario act first: [`Closing::arrived`] hears only of what they let pass.
pub trait Closing: Send {
    /// What does not change during a run. Asked once, before the first round.
    fn character(&self) -> Character;

    /// A round opened.
    fn opened(&mut self, round: &RoundOpened) -> Result<Opened, TimeOverflow>;

    /// An update arrived.
    fn arrived(&mut self, update: &UpdateArrived) -> Verdict;

    /// An update was dropped by `late` or `max_staleness`. There is nothing to decide; a policy may
    /// want to know how long the client took.
    fn came_late(&mut self, update: &UpdateArrived) {
        let _ = update;
    }

    /// A client of the open round vanished: there will be no update of it.
    fn lost(&mut self, now: SimTime) -> Then {
        let _ = now;
        Then::Wait
    }

    /// It is the instant at which the policy wanted to be woken. All updates of that instant have
    /// arrived.
    fn time_is_up(&mut self, now: SimTime) -> Then {
        let _ = now;
        Then::Close
    }

    /// The round closed, for whatever reason.
    fn closed(&mut self, now: SimTime) {
        let _ = now;
    }
}

/// What does not change during a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Character {
    /// How clients are sent off.
    pub sending: Sending,
    /// Whether rounds have a deadline that clients are told and work towards.
    pub deadline: bool,
    /// Whether a round may go on after that deadline.
    pub may_extend: bool,
    /// Whether a round may close while clients that it asked are still about to answer, without a
    /// deadline that would have told them so.
    pub leaves_behind: bool,
    /// In which order clients are asked, and so which is first among updates of one nanosecond.
    pub ties: Ties,
}

impl Character {
    /// Round by round; no deadline, no client left behind, ties by number.
    pub const ROUNDS: Character = Character {
        sending: Sending::RoundByRound,
        deadline: false,
        may_extend: false,
        leaves_behind: false,
        ties: Ties::ByNumber,
    };

    /// Clients are sent off one by one.
    pub const ONE_BY_ONE: Character = Character { sending: Sending::OneByOne, ..Character::ROUNDS };

    /// The same, with a deadline that clients are told.
    pub const fn with_deadline(self) -> Character {
        Character { deadline: true, ..self }
    }

    /// The same; rounds may go on after the deadline that clients were told.
    pub const fn extensible(self) -> Character {
        Character { may_extend: true, ..self }
    }

    /// The same; rounds may leave clients behind, and ties are drawn, so that it is not always the
    /// same clients.
    pub const fn leaving_behind(self) -> Character {
        Character { leaves_behind: true, ties: Ties::Drawn, ..self }
    }
}

/// How clients are sent off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sending {
    /// All clients of a round when it opens.
    RoundByRound,
    /// One whenever there is room, from the newest model (asynchronous training).
    OneByOne,
}

/// In which order the clients of a round are asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ties {
    /// By number.
    ByNumber,
    /// Drawn anew every round.
    Drawn,
}

/// A round that opens.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct RoundOpened {
    /// Its number, from 1.
    pub round: u64,
    /// When.
    pub now: SimTime,
    /// How many clients are asked; at least 1, for a round in which no client could be asked is
    /// waited out.
    pub asked: usize,
    /// The deadline that an `[[event]]` of the scenario sets for this round, if one does.
    pub deadline: Option<Span>,
}

/// What a policy wants of a round that opens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Opened {
    /// The deadline that clients are told and work towards. Extending the round later does not change
    /// what they were told.
    pub deadline: Option<SimTime>,
    /// When the policy wants to be woken; where it is `None`, at the deadline.
    pub wake: Option<SimTime>,
}

/// An update that arrives.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct UpdateArrived {
    /// The client.
    pub client: u32,
    /// When.
    pub now: SimTime,
    /// When the client was asked.
    pub asked: SimTime,
    /// Local steps.
    pub tau: u64,
    /// Aggregations that its model has missed; 0 for an update of the open round.
    pub staleness: u64,
}

/// What becomes of an update, and of the round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Verdict {
    /// The factor by which the update counts; `None`: it is dropped as late.
    pub counts: Option<f64>,
    /// What becomes of the round.
    pub then: Then,
}

impl Verdict {
    /// The update counts, and the round goes on.
    pub const COUNT: Verdict = Verdict { counts: Some(1.0), then: Then::Wait };
    /// The update counts, and the round closes.
    pub const COUNT_AND_CLOSE: Verdict = Verdict { counts: Some(1.0), then: Then::Close };
    /// The update is dropped, and the round goes on.
    pub const DROP: Verdict = Verdict { counts: None, then: Then::Wait };

    /// The update counts with a factor from 0 to 1, and the round goes on.
    pub const fn discount(factor: f64) -> Verdict {
        Verdict { counts: Some(factor), then: Then::Wait }
    }

    /// The same for the update; for the round, this.
    pub const fn then(self, then: Then) -> Verdict {
        Verdict { then, ..self }
    }
}

/// What becomes of a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    /// It goes on as it is.
    Wait,
    /// It closes.
    Close,
    /// It goes on, and the policy wants to be woken at this instant instead of the one before. An
    /// instant that has passed is now.
    WakeAt(SimTime),
}

impl Close {
    /// The built-in policy of this configuration; `None` for a plug-in.
    pub fn init(self) -> Option<Box<dyn Closing>> {
        Some(match self {
            Close::All => Box::new(WaitForAll::new(None)),
            Close::Deadline(after) => Box::new(WaitForAll::new(Some(after))),
            Close::Adaptive(adaptive) => Box::new(WaitForAll::adaptive(adaptive)),
            Close::First { first, .. } => Box::new(FirstOf::new(first)),
            Close::Buffer(size) => Box::new(Buffer::new(size)),
            Close::Window(length) => Box::new(Window::new(length)),
            Close::Plugin(_) => return None,
        })
    }

    /// What does not change during a run.
    pub fn character(self) -> Character {
        match self {
            Close::All => Character::ROUNDS,
            Close::Deadline(_) | Close::Adaptive(_) => Character::ROUNDS.with_deadline(),
            Close::First { .. } => Character::ROUNDS.leaving_behind(),
            Close::Buffer(_) | Close::Window(_) => Character::ONE_BY_ONE,
            Close::Plugin(character) => character,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opened(closing: &mut dyn Closing, asked: usize) -> Result<Opened, TimeOverflow> {
        let now = SimTime::from_nanos(100);
        closing.opened(&RoundOpened { round: 1, now, asked, deadline: None })
    }

    fn at(nanos: u64) -> UpdateArrived {
        let (now, asked) = (SimTime::from_nanos(nanos), SimTime::from_nanos(100));
        UpdateArrived { client: 0, now, asked, tau: 1, staleness: 0 }
    }

    fn open(close: Close, asked: usize) -> Box<dyn Closing> {
        let mut closing = close.init().unwrap();
        opened(&mut *closing, asked).unwrap();
        assert_eq!(closing.character(), close.character(), "{close:?}");
        closing
    }

    fn answers(close: Close, asked: usize, times: &[u64]) -> Vec<Verdict> {
        let mut closing = open(close, asked);
        times.iter().map(|nanos| closing.arrived(&at(*nanos))).collect()
    }

    const COUNTS: Verdict = Verdict::COUNT;
    const CLOSES: Verdict = Verdict::COUNT_AND_CLOSE;
    const LATE: Verdict = Verdict::DROP;

    #[test]
    fn all_waits_for_every_client() {
        assert_eq!(answers(Close::All, 3, &[101, 101, 900]), [COUNTS, COUNTS, CLOSES]);
    }

    #[test]
    fn a_deadline_includes_its_instant_and_ends_early_when_no_client_is_missing() {
        let close = Close::Deadline(Span::from_nanos(30));
        assert_eq!(answers(close, 3, &[120, 130, 131]), [COUNTS, COUNTS, LATE]);
        assert_eq!(answers(close, 2, &[110, 120]), [COUNTS, CLOSES]);
    }

    #[test]
    fn an_event_sets_the_deadline_of_policies_that_have_one() {
        let (now, deadline) = (SimTime::from_nanos(100), Some(Span::from_nanos(7)));
        let round = RoundOpened { round: 1, now, asked: 2, deadline };
        let told = |close: Close| close.init().unwrap().opened(&round).unwrap().deadline;
        assert_eq!(told(Close::Deadline(Span::from_nanos(30))), Some(SimTime::from_nanos(107)));
        let adaptive = Adaptive { percentile: 50.0, of: 2 };
        assert_eq!(told(Close::Adaptive(adaptive)), Some(SimTime::from_nanos(107)));
        assert_eq!(told(Close::All), None);
    }

    #[test]
    fn an_update_of_an_earlier_round_counts_and_is_not_waited_for() {
        let mut closing = open(Close::All, 2);
        let stale = UpdateArrived { staleness: 1, ..at(101) };
        let verdicts = [stale, stale, at(102), at(103)].map(|update| closing.arrived(&update));
        assert_eq!(verdicts, [COUNTS, COUNTS, COUNTS, CLOSES]);
    }

    #[test]
    fn the_first_few_close_the_round() {
        let close = Close::First { first: 2, of: 4 };
        assert_eq!(answers(close, 4, &[1, 2, 3, 4]), [COUNTS, CLOSES, LATE, LATE]);
    }

    #[test]
    fn a_buffer_closes_when_it_is_full_and_a_window_when_its_time_is_up() {
        assert_eq!(answers(Close::Buffer(2), 9, &[1, 2]), [COUNTS, CLOSES]);
        assert_eq!(answers(Close::Buffer(1), 9, &[1]), [CLOSES]);
        let window = Close::Window(Span::from_nanos(30));
        assert_eq!(answers(window, 2, &[110, 120, 130]), [COUNTS, COUNTS, COUNTS]);
        let wake = opened(&mut *window.init().unwrap(), 2).unwrap();
        assert_eq!(wake, Opened { deadline: None, wake: Some(SimTime::from_nanos(130)) });
        assert_eq!(window.init().unwrap().time_is_up(SimTime::from_nanos(130)), Then::Close);
    }

    #[test]
    fn a_round_does_not_wait_for_clients_that_vanished() {
        let now = SimTime::from_nanos(100);
        let mut all = open(Close::All, 3);
        assert_eq!(
            (all.arrived(&at(100)), all.lost(now), all.arrived(&at(100))),
            (COUNTS, Then::Wait, CLOSES)
        );
        assert_eq!(open(Close::All, 1).lost(now), Then::Close, "no client is left");
        let mut first = open(Close::First { first: 2, of: 4 }, 4);
        assert_eq!([first.lost(now), first.lost(now)], [Then::Wait; 2], "two are still possible");
        assert_eq!((first.arrived(&at(100)), first.lost(now)), (COUNTS, Then::Close));
        let mut buffer = open(Close::Buffer(2), 2);
        assert_eq!((buffer.lost(now), buffer.arrived(&at(100))), (Then::Wait, COUNTS));
    }

    #[test]
    fn a_deadline_past_the_end_of_time_is_an_error() {
        let mut closing = Close::Deadline(Span::from_nanos(u64::MAX)).init().unwrap();
        assert!(opened(&mut *closing, 1).is_err());
    }
}
