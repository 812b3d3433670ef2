//! When a round closes.

use super::{Adaptive, Close};
use crate::clock::{SimTime, Span, TimeOverflow};
use std::collections::VecDeque;

/// One open round, waiting for answers.
#[derive(Clone, Debug)]
pub struct Closing {
    /// Answers that end the round.
    enough: usize,
    /// Answers there may still be in all; nobody counts them where no round is waited for.
    possible: usize,
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
    /// Opens a round at `now` in which `asked` clients were asked; `adaptive` is the deadline that
    /// the clients themselves have set.
    pub fn open(
        close: Close,
        asked: usize,
        now: SimTime,
        adaptive: Option<Span>,
    ) -> Result<Self, TimeOverflow> {
        let (enough, after) = match close {
            Close::All => (asked, None),
            Close::Deadline(after) => (asked, Some(after)),
            Close::Adaptive(_) => (asked, adaptive),
            Close::First { first, .. } => (first.min(asked), None),
            Close::Buffer(size) => (size, None),
            // However many arrive, it ends when its time is up.
            Close::Window(after) => (usize::MAX, Some(after)),
        };
        let deadline = after.map(|after| now.after(after)).transpose()?;
        let possible = if close.is_asynchronous() { usize::MAX } else { asked };
        Ok(Closing { enough, possible, arrived: 0, deadline })
    }

    /// When the round closes whoever is missing.
    pub fn deadline(&self) -> Option<SimTime> {
        self.deadline
    }

    /// Somebody asked in this round has vanished: a broken connection is noticed at once, and the
    /// round does not wait for it. Whether that ends the round.
    pub fn give_up(&mut self) -> bool {
        if self.possible == usize::MAX || self.arrived == self.enough {
            return false;
        }
        self.possible -= 1;
        self.enough = self.enough.min(self.possible);
        self.arrived == self.enough
    }

    /// An answer that the round waits for arrives at `at`. Arriving on the deadline is arriving in
    /// time.
    pub fn answer(&mut self, at: SimTime) -> Verdict {
        if self.arrived == self.enough || self.deadline.is_some_and(|deadline| at > deadline) {
            return Verdict::Late;
        }
        self.arrived += 1;
        if self.arrived == self.enough { Verdict::CountsAndCloses } else { Verdict::Counts }
    }
}

/// How long clients took in the last rounds: what an adaptive deadline follows.
#[derive(Clone, Debug, Default)]
pub struct Durations {
    rounds: VecDeque<Vec<Span>>,
    open: Vec<Span>,
}

impl Durations {
    /// A client was back after so long.
    pub fn add(&mut self, took: Span) {
        self.open.push(took);
    }

    /// A round closed; of the last `of` rounds is remembered.
    pub fn close(&mut self, of: usize) {
        if !self.open.is_empty() {
            self.rounds.push_back(std::mem::take(&mut self.open));
        }
        while self.rounds.len() > of {
            self.rounds.pop_front();
        }
    }

    /// The percentile of all durations remembered (the smallest that so many per cent do not
    /// exceed); `None` before there are any.
    pub fn percentile(&self, Adaptive { percentile, .. }: Adaptive) -> Option<Span> {
        let mut all: Vec<Span> = self.rounds.iter().flatten().copied().collect();
        let rank = (percentile / 100.0 * all.len() as f64).ceil() as usize;
        let at = rank.clamp(1, all.len().max(1)) - 1;
        (!all.is_empty()).then(|| *all.select_nth_unstable(at).1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Verdict::*;

    fn answers(close: Close, asked: usize, at: &[u64]) -> Vec<Verdict> {
        let mut round = Closing::open(close, asked, SimTime::from_nanos(100), None).unwrap();
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
    fn a_buffer_closes_when_it_is_full_and_a_window_when_its_time_is_up() {
        assert_eq!(answers(Close::Buffer(2), 9, &[1, 2]), [Counts, CountsAndCloses]);
        assert_eq!(answers(Close::Buffer(1), 9, &[1]), [CountsAndCloses]);
        let window = Close::Window(Span::from_nanos(30));
        assert_eq!(answers(window, 2, &[110, 120, 130]), [Counts, Counts, Counts]);
    }

    #[test]
    fn a_round_does_not_wait_for_the_vanished() {
        let now = SimTime::from_nanos(100);
        let mut all = Closing::open(Close::All, 3, now, None).unwrap();
        assert_eq!(
            (all.answer(now), all.give_up(), all.answer(now)),
            (Counts, false, CountsAndCloses)
        );
        let mut lonely = Closing::open(Close::All, 1, now, None).unwrap();
        assert!(lonely.give_up(), "nobody is left");
        let close = Close::First { first: 2, of: 4 };
        let mut first = Closing::open(close, 4, now, None).unwrap();
        assert_eq!([first.give_up(), first.give_up()], [false, false], "two are still possible");
        assert_eq!((first.answer(now), first.give_up()), (Counts, true));
        let mut buffer = Closing::open(Close::Buffer(2), 2, now, None).unwrap();
        assert_eq!((buffer.give_up(), buffer.answer(now)), (false, Counts));
    }

    #[test]
    fn a_deadline_past_the_end_of_time_is_an_error() {
        let close = Close::Deadline(Span::from_nanos(u64::MAX));
        assert!(Closing::open(close, 1, SimTime::from_nanos(1), None).is_err());
    }

    #[test]
    fn an_adaptive_deadline_is_a_percentile_of_the_last_rounds() {
        let mut durations = Durations::default();
        let adaptive = |percentile| Adaptive { percentile, of: 2 };
        assert_eq!(durations.percentile(adaptive(80.0)), None);
        for round in [[90, 91], [1, 2], [3, 4]] {
            round.iter().for_each(|took| durations.add(Span::from_nanos(*took)));
            durations.close(2);
        }
        // The first round is forgotten; of 1, 2, 3, 4:
        for (percentile, expected) in [(1.0, 1), (25.0, 1), (50.0, 2), (80.0, 4), (100.0, 4)] {
            let found = durations.percentile(adaptive(percentile)).unwrap();
            assert_eq!(found.nanos(), expected, "{percentile}");
        }
    }
}
