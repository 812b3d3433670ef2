//! Policies that ask all clients of a round when it opens.

use super::{
    Adaptive, Character, Closing, Durations, Opened, RoundOpened, Then, UpdateArrived, Verdict,
};
use crate::clock::{SimTime, Span, TimeOverflow};

/// How many answers a round waits for.
#[derive(Clone, Copy, Debug, Default)]
struct Answers {
    /// Answers that end the round.
    enough: usize,
    /// Answers there may still be in all.
    possible: usize,
    arrived: usize,
}

impl Answers {
    fn of(asked: usize, enough: usize) -> Self {
        Answers { enough: enough.min(asked), possible: asked, arrived: 0 }
    }

    fn are_enough(&self) -> bool {
        self.arrived == self.enough
    }

    fn arrive(&mut self) -> Verdict {
        if self.are_enough() {
            return Verdict::DROP;
        }
        self.arrived += 1;
        if self.are_enough() { Verdict::COUNT_AND_CLOSE } else { Verdict::COUNT }
    }

    /// A broken connection is noticed at once, and the round does not wait for it.
    fn lose_one(&mut self) -> Then {
        if self.are_enough() {
            return Then::Wait;
        }
        self.possible -= 1;
        self.enough = self.enough.min(self.possible);
        if self.are_enough() { Then::Close } else { Then::Wait }
    }
}

/// Waits for every client that was asked, or for the deadline.
#[derive(Debug)]
pub struct WaitForAll {
    rule: Deadline,
    answers: Answers,
    deadline: Option<SimTime>,
}

#[derive(Debug)]
enum Deadline {
    None,
    After(Span),
    /// A percentile of how long clients took in the last rounds; the first round waits for all.
    Adaptive(Adaptive, Durations),
}

impl WaitForAll {
    /// With a deadline so long after a round opens, or none.
    pub fn new(deadline: Option<Span>) -> Self {
        let rule = deadline.map_or(Deadline::None, Deadline::After);
        WaitForAll { rule, answers: Answers::default(), deadline: None }
    }

    /// With a deadline that follows the clients.
    pub fn adaptive(adaptive: Adaptive) -> Self {
        let rule = Deadline::Adaptive(adaptive, Durations::default());
        WaitForAll { rule, answers: Answers::default(), deadline: None }
    }

    fn note_duration(&mut self, update: &UpdateArrived) {
        if let Deadline::Adaptive(_, durations) = &mut self.rule {
            durations.add(update.now.since(update.asked));
        }
    }
}

impl Closing for WaitForAll {
    fn character(&self) -> Character {
        match self.rule {
            Deadline::None => Character::ROUNDS,
            _ => Character::ROUNDS.with_deadline(),
        }
    }

    fn opened(&mut self, round: &RoundOpened) -> Result<Opened, TimeOverflow> {
        self.answers = Answers::of(round.asked, round.asked);
        let after = match &self.rule {
            Deadline::None => None,
            Deadline::After(after) => Some(round.deadline.unwrap_or(*after)),
            Deadline::Adaptive(adaptive, durations) => {
                round.deadline.or_else(|| durations.percentile(*adaptive))
            }
        };
        self.deadline = after.map(|after| round.now.after(after)).transpose()?;
        Ok(Opened { deadline: self.deadline, wake: None })
    }

    fn arrived(&mut self, update: &UpdateArrived) -> Verdict {
        self.note_duration(update);
        // The open round does not wait for updates of earlier ones.
        if update.staleness > 0 {
            return Verdict::COUNT;
        }
        // Arriving on the deadline is arriving in time.
        if self.deadline.is_some_and(|deadline| update.now > deadline) {
            return Verdict::DROP;
        }
        self.answers.arrive()
    }

    fn came_late(&mut self, update: &UpdateArrived) {
        self.note_duration(update);
    }

    fn lost(&mut self, _: SimTime) -> Then {
        self.answers.lose_one()
    }

    fn closed(&mut self, _: SimTime) {
        if let Deadline::Adaptive(adaptive, durations) = &mut self.rule {
            durations.close(adaptive.of);
        }
    }
}

/// Closes with the first few answers (over-selection).
#[derive(Debug)]
pub struct FirstOf {
    first: usize,
    answers: Answers,
}

impl FirstOf {
    /// With so many of those that were asked.
    pub fn new(first: usize) -> Self {
        FirstOf { first, answers: Answers::default() }
    }
}

impl Closing for FirstOf {
    fn character(&self) -> Character {
        Character::ROUNDS.leaving_behind()
    }

    fn opened(&mut self, round: &RoundOpened) -> Result<Opened, TimeOverflow> {
        self.answers = Answers::of(round.asked, self.first);
        Ok(Opened::default())
    }

    fn arrived(&mut self, update: &UpdateArrived) -> Verdict {
        if update.staleness > 0 { Verdict::COUNT } else { self.answers.arrive() }
    }

    fn lost(&mut self, _: SimTime) -> Then {
        self.answers.lose_one()
    }
}
