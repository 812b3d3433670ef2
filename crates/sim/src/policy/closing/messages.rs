//! What a closing policy is told, and what it answers.

use crate::clock::{SimTime, Span};

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

impl RoundOpened {
    /// For those who try a policy out by hand.
    pub fn new(round: u64, now: SimTime, asked: usize) -> Self {
        RoundOpened { round, now, asked, deadline: None }
    }
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

impl UpdateArrived {
    /// For those who try a policy out by hand.
    pub fn new(client: u32, now: SimTime, asked: SimTime, tau: u64, staleness: u64) -> Self {
        UpdateArrived { client, now, asked, tau, staleness }
    }
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
