//! How long clients took in the last rounds: what an adaptive deadline follows.

use super::Adaptive;
use crate::clock::Span;
use std::collections::VecDeque;

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
