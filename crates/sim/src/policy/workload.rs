//! How many local steps a client sets out to make, and how large they are.

use super::{Batch, KeyedRng, Work, WorkAmount, WorkAsked};
use crate::clock::{SimTime, Span};
use crate::random::Purpose;
use std::cell::RefCell;
use std::sync::Arc;

/// The work of every client in every round.
pub struct Workload {
    seed: u64,
    batch: Batch,
    work: RefCell<Box<dyn Work>>,
    /// n_i; empty for tasks without samples.
    samples: Arc<[u32]>,
}

/// A client that is sent off.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    /// The client.
    pub client: u32,
    /// In which round.
    pub round: u64,
    /// When.
    pub now: SimTime,
    /// When its update has to be back.
    pub deadline: Option<SimTime>,
    /// What its random draws are keyed by.
    pub key: u64,
}

impl Workload {
    /// The work that `work` gives to clients with `samples` training samples.
    pub fn new(
        batch: Batch,
        work: Box<dyn Work>,
        seed: u64,
        samples: impl Into<Arc<[u32]>>,
    ) -> Self {
        Workload { seed, batch, work: RefCell::new(work), samples: samples.into() }
    }

    /// Training samples of all clients together.
    pub fn samples(&self) -> u64 {
        self.samples.iter().map(|n| u64::from(*n)).sum()
    }

    /// Samples in one step of `client`: the batch, or all it has if it has fewer.
    pub fn batch(&self, client: u32) -> usize {
        self.batch.of(self.samples.get(client as usize).copied())
    }

    /// The steps that a client sets out to make, whose steps take `step` when nothing disturbs it;
    /// `None`: as many as the deadline allows. Asked once a participation.
    pub fn steps(&self, sent: Sent, step: Span) -> Option<u64> {
        let ask = self.ask(sent, step);
        self.work.borrow_mut().amount(&ask, &self.rng(sent.client, sent.key)).steps(&ask)
    }

    /// The steps that a client makes in a typical round, `None` of which are as many as the deadline
    /// allows; `None` at all where that is unknown.
    pub fn typical_steps(&self, client: u32, step: Span) -> Option<Option<u64>> {
        let sent = Sent { client, round: 1, now: SimTime::ZERO, deadline: None, key: 1 };
        let ask = self.ask(sent, step);
        let typical = self.work.borrow().typical(&ask, &self.rng(client, 1));
        typical.map(|amount: WorkAmount| amount.steps(&ask))
    }

    fn ask(&self, Sent { client, round, now, deadline, .. }: Sent, step: Span) -> WorkAsked {
        let samples = self.samples.get(client as usize).copied().unwrap_or(0);
        WorkAsked { client, round, now, deadline, step, samples, batch: self.batch(client) }
    }

    fn rng(&self, client: u32, key: u64) -> KeyedRng {
        KeyedRng::of_client(self.seed, Purpose::Work, client, key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::{Amount, LastBatch, Redraw, WorkConfig};
    use crate::random::{Dist, Shape};

    fn workload(batch: Batch, work: WorkConfig) -> Workload {
        Workload::new(batch, work.init().unwrap(), 3, vec![100, 15, 204])
    }

    impl Workload {
        fn in_round(&self, client: u32, round: u64) -> Option<u64> {
            let sent = Sent { client, round, now: SimTime::ZERO, deadline: None, key: round };
            self.steps(sent, Span::from_nanos(1))
        }

        fn typically(&self, client: u32) -> Option<u64> {
            self.typical_steps(client, Span::from_nanos(1)).unwrap()
        }
    }

    fn fixed(value: f64) -> Amount {
        Amount::Drawn(Dist::fixed(value), Redraw::Round)
    }

    #[test]
    fn epochs_become_whole_batches() {
        let epochs = |epochs| WorkConfig::Epochs(fixed(epochs), LastBatch::FillsUp);
        let work = workload(Batch::Size(20), epochs(2.0));
        // ⌊2·100/20⌋; a client with 15 samples uses them all; ⌊2·204/20⌋.
        assert_eq!([0, 1, 2].map(|c| work.in_round(c, 1)), [Some(10), Some(2), Some(20)]);
        let full = workload(Batch::Full, epochs(3.0));
        assert_eq!([0, 1, 2].map(|c| full.in_round(c, 1)), [Some(3); 3]);
        let part = workload(Batch::Size(20), epochs(0.1));
        assert_eq!([0, 1, 2].map(|c| part.in_round(c, 1)), [Some(1); 3]);
    }

    /// 204 samples are eleven batches for PyTorch, the last of them of four.
    #[test]
    fn a_last_batch_may_count() {
        let counted = |epochs| WorkConfig::Epochs(fixed(epochs), LastBatch::Counts);
        let work = workload(Batch::Size(20), counted(2.0));
        assert_eq!([0, 1, 2].map(|c| work.in_round(c, 1)), [Some(10), Some(2), Some(22)]);
        let part = workload(Batch::Size(20), counted(0.5));
        assert_eq!([0, 1, 2].map(|c| part.in_round(c, 1)), [Some(2), Some(1), Some(5)]);
        let full = workload(Batch::Full, counted(3.0));
        assert_eq!([0, 1, 2].map(|c| full.in_round(c, 1)), [Some(3); 3]);
    }

    #[test]
    fn steps_may_be_given_per_client_or_drawn() {
        let each = workload(Batch::Full, WorkConfig::Steps(Amount::Each(vec![3.0, 10.0, 50.0])));
        assert_eq!([0, 1, 2].map(|c| each.in_round(c, 9)), [Some(3), Some(10), Some(50)]);
        let dist = Dist { shape: Shape::Uniform(1.0, 1000.0), ..Dist::fixed(0.0) };
        let once =
            workload(Batch::Full, WorkConfig::Steps(Amount::Drawn(dist.clone(), Redraw::Once)));
        assert_eq!(once.in_round(1, 1), once.in_round(1, 2));
        assert_ne!(once.in_round(1, 1), once.in_round(2, 1));
        let round = workload(Batch::Full, WorkConfig::Steps(Amount::Drawn(dist, Redraw::Round)));
        assert_ne!(round.in_round(1, 1), round.in_round(1, 2));
        assert_eq!(round.typically(1), Some(501), "the mean, rounded");
        assert_eq!(once.typically(1), once.in_round(1, 1));
        let none = workload(Batch::Full, WorkConfig::UntilDeadline);
        assert_eq!(none.in_round(0, 1), None);
    }
}
