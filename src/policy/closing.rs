//! When a round closes.

use super::Close;
use crate::clock::{SimTime, TimeOverflow};

/// One open round, waiting for answers.
#[derive(Clone, Debug)]
pub struct Closing {
    /// Answers that end the round.
    enough: usize,
    arrived: usize,
    deadline: Option<SimTime>,
}

/// What an answer means for its round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It counts.
    Counts,
    /// It counts, and the round is over.
    CountsAndCloses,
    /// It came too late.
    Late,
}

impl Closing {
    /// Opens a round at `now` in which `asked` clients were asked.
    pub fn open(close: Close, asked: usize, now: SimTime) -> Result<Self, TimeOverflow> {
        let (enough, deadline) = match close {
            Close::All => (asked, None),
            Close::Deadline(after) => (asked, Some(now.after(after)?)),
            Close::First { first, .. } => (first.min(asked), None),
        };
        Ok(Closing { enough, arrived: 0, deadline })
    }

    /// When the round closes whoever is missing.
    pub fn deadline(&self) -> Option<SimTime> {
        self.deadline
    }

    /// An answer of somebody asked in this round arrives at `at`. Arriving on the deadline is
    /// arriving in time.
    pub fn answer(&mut self, at: SimTime) -> Verdict {
        if self.arrived == self.enough || self.deadline.is_some_and(|deadline| at > deadline) {
            return Verdict::Late;
        }
        self.arrived += 1;
        if self.arrived == self.enough { Verdict::CountsAndCloses } else { Verdict::Counts }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Span;
    use Verdict::*;

    fn answers(close: Close, asked: usize, at: &[u64]) -> Vec<Verdict> {
        let mut round = Closing::open(close, asked, SimTime::from_nanos(100)).unwrap();
        at.iter().map(|at| round.answer(SimTime::from_nanos(*at))).collect()
    }

    #[test]
    fn all_waits_for_everyone() {
        assert_eq!(answers(Close::All, 3, &[101, 101, 900]), [Counts, Counts, CountsAndCloses]);
    }

    #[test]
    fn a_deadline_includes_its_instant_and_ends_early_when_nobody_is_missing() {
        let close = Close::Deadline(Span::from_nanos(30));
        assert_eq!(answers(close, 3, &[120, 130, 131]), [Counts, Counts, Late]);
        assert_eq!(answers(close, 2, &[110, 120]), [Counts, CountsAndCloses]);
    }

    #[test]
    fn the_first_few_close_the_round() {
        let close = Close::First { first: 2, of: 4 };
        assert_eq!(answers(close, 4, &[1, 2, 3, 4]), [Counts, CountsAndCloses, Late, Late]);
    }

    #[test]
    fn a_deadline_past_the_end_of_time_is_an_error() {
        let close = Close::Deadline(Span::from_nanos(u64::MAX));
        assert!(Closing::open(close, 1, SimTime::from_nanos(1)).is_err());
    }
}
