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
mod messages;
mod rehearsal;
mod rounds;

pub use asynchronous::{Buffer, Window};
pub use durations::Durations;
pub use messages::{Character, Opened, RoundOpened, Sending, Then, Ties, UpdateArrived, Verdict};
pub use rehearsal::rehearse;
pub use rounds::{FirstOf, WaitForAll};

use crate::clock::{SimTime, Span, TimeOverflow};

/// Decides when a round closes and which updates count in it.
///
/// Called on the thread of the simulation, in the order of events. `late` and `max_staleness` of the
/// scenario act first: [`Closing::arrived`] hears only of what they let pass.
pub trait Closing: Send {
    /// What does not change during a run. Asked once, before the first round.
    fn character(&self) -> Character;

    /// A round opened: the deadline that its clients are told, if any, and when the policy wants to be
    /// woken.
    fn opened(&mut self, round: &RoundOpened) -> Result<Opened, TimeOverflow>;

    /// An update arrived: whether and how much it counts, and whether the round goes on.
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

/// When a round closes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Close {
    /// When everyone asked has answered.
    All,
    /// At a fixed time after it opened, or earlier if everyone asked has answered.
    Deadline(Span),
    /// At a percentile of how long clients took in the last rounds; the first round waits for all.
    Adaptive(Adaptive),
    /// When the first `first` of `of` asked have answered (over-selection).
    #[allow(missing_docs)]
    First { first: usize, of: usize },
    /// When so many updates have arrived, from whichever version of the model (FedBuff; one is
    /// FedAsync).
    Buffer(usize),
    /// At fixed intervals, with whatever has arrived.
    Window(Span),
    /// As a plug-in says, of which this is known.
    Plugin(Character),
}

/// A deadline that follows the clients.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Adaptive {
    /// Above 0, up to 100.
    pub percentile: f64,
    /// Rounds that are looked at.
    pub of: usize,
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

    /// Whether clients are sent off one by one, as others come back, instead of round by round.
    pub fn is_asynchronous(self) -> bool {
        self.character().sending == Sending::OneByOne
    }

    /// Whether a deadline ends a round, and with it the work of its clients.
    pub fn has_deadline(self) -> bool {
        self.character().deadline
    }

    /// Whether clients can work until the deadline: every round has one. A plug-in's policy is trusted
    /// until it gives none.
    pub fn limits_work(self) -> bool {
        self.has_deadline() && self.adaptive().is_none()
    }

    /// The deadline, if it is the same in every round.
    pub fn fixed_deadline(self) -> Option<Span> {
        match self {
            Close::Deadline(after) => Some(after),
            _ => None,
        }
    }

    /// How the deadline follows the clients, if it does.
    pub fn adaptive(self) -> Option<Adaptive> {
        match self {
            Close::Adaptive(adaptive) => Some(adaptive),
            _ => None,
        }
    }

    /// How many updates an aggregation counts, at most, where so many clients are asked at first.
    pub fn counted(self, asked: usize) -> usize {
        match self {
            Close::First { first, .. } => first,
            Close::Buffer(size) => size,
            _ => asked,
        }
    }

    /// How many clients a round asks, if that is part of the policy.
    pub fn asked(self) -> Option<usize> {
        match self {
            Close::First { of, .. } => Some(of),
            _ => None,
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
