//! How many local steps a client sets out to make.

use super::{Amount, Batch, ClientConfig, LastBatch, Redraw, Work};
use crate::random::{Purpose, stream};

/// The work of every client in every round.
pub struct Workload {
    seed: u64,
    batch: Batch,
    work: Work,
    /// n_i; empty for tasks without samples.
    samples: Vec<u32>,
}

impl Workload {
    /// The work that `config` gives to clients with `samples` training samples.
    pub fn new(config: &ClientConfig, seed: u64, samples: Vec<u32>) -> Self {
        Workload { seed, batch: config.batch, work: config.work.clone(), samples }
    }

    /// Training samples of all clients together.
    pub fn samples(&self) -> u64 {
        self.samples.iter().map(|n| u64::from(*n)).sum()
    }

    /// Samples in one step of `client`: the batch, or all it has if it has fewer.
    pub fn batch(&self, client: u32) -> usize {
        let own = self.samples.get(client as usize).map_or(1, |n| *n as usize);
        match self.batch {
            Batch::Size(size) => size.min(own),
            Batch::Full => own,
        }
    }

    /// The steps `client` means to make in `round`; `None`: as many as the deadline allows.
    pub fn steps(&self, client: u32, round: u64) -> Option<u64> {
        self.steps_in(client, Some(round))
    }

    /// The steps `client` means to make in a typical round; `None`: as many as the deadline allows.
    pub fn typical_steps(&self, client: u32) -> Option<u64> {
        self.steps_in(client, None)
    }

    fn steps_in(&self, client: u32, round: Option<u64>) -> Option<u64> {
        match &self.work {
            Work::UntilDeadline => None,
            Work::Steps(amount) => Some(whole(self.amount(amount, client, round).round())),
            Work::Epochs(amount, last) => {
                let batches = f64::from(self.samples[client as usize]) / self.batch(client) as f64;
                let of_an_epoch = match last {
                    LastBatch::FillsUp => batches,
                    LastBatch::Counts => batches.ceil(),
                };
                let steps = self.amount(amount, client, round) * of_an_epoch;
                // A part in 10⁹ is forgiven so that 0.1 of 50 is 5.
                Some(whole((steps * (1.0 + 1e-9)).floor()))
            }
        }
    }

    fn amount(&self, amount: &Amount, client: u32, round: Option<u64>) -> f64 {
        let (dist, key) = match (amount, round) {
            (Amount::Each(amounts), _) => return amounts[client as usize],
            (Amount::Drawn(dist, _), _) if dist.is_fixed() => return dist.typical(),
            // Rounds count from 1, so 0 is free for the draw that is made once.
            (Amount::Drawn(dist, Redraw::Once), _) => (dist, 0),
            (Amount::Drawn(dist, Redraw::Round), Some(round)) => (dist, round),
            (Amount::Drawn(dist, Redraw::Round), None) => return dist.typical(),
        };
        dist.sample(&mut stream(self.seed, Purpose::Work, u64::from(client), key))
    }
}

/// At least one step: who takes part does something.
fn whole(steps: f64) -> u64 {
    steps.max(1.0) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Dist, Shape};
    use crate::solver::{Recipe, Schedule, Solver};

    fn workload(batch: Batch, work: Work) -> Workload {
        let recipe = Recipe::new(Solver::sgd(0.1), Schedule::default());
        let (variance_reduction, packing) = (None, Default::default());
        let config = ClientConfig { batch, recipe, variance_reduction, packing, work };
        Workload::new(&config, 3, vec![100, 15, 204])
    }

    fn fixed(value: f64) -> Amount {
        Amount::Drawn(Dist::fixed(value), Redraw::Round)
    }

    #[test]
    fn epochs_become_whole_batches() {
        let epochs = |epochs| Work::Epochs(fixed(epochs), LastBatch::FillsUp);
        let work = workload(Batch::Size(20), epochs(2.0));
        // ⌊2·100/20⌋; a client with 15 samples uses them all; ⌊2·204/20⌋.
        assert_eq!([0, 1, 2].map(|c| work.steps(c, 1)), [Some(10), Some(2), Some(20)]);
        let full = workload(Batch::Full, epochs(3.0));
        assert_eq!([0, 1, 2].map(|c| full.steps(c, 1)), [Some(3); 3]);
        let part = workload(Batch::Size(20), epochs(0.1));
        assert_eq!([0, 1, 2].map(|c| part.steps(c, 1)), [Some(1); 3]);
    }

    /// 204 samples are eleven batches for PyTorch, the last of them of four.
    #[test]
    fn a_last_batch_may_count() {
        let counted = |epochs| Work::Epochs(fixed(epochs), LastBatch::Counts);
        let work = workload(Batch::Size(20), counted(2.0));
        assert_eq!([0, 1, 2].map(|c| work.steps(c, 1)), [Some(10), Some(2), Some(22)]);
        let part = workload(Batch::Size(20), counted(0.5));
        assert_eq!([0, 1, 2].map(|c| part.steps(c, 1)), [Some(2), Some(1), Some(5)]);
        let full = workload(Batch::Full, counted(3.0));
        assert_eq!([0, 1, 2].map(|c| full.steps(c, 1)), [Some(3); 3]);
    }

    #[test]
    fn steps_may_be_given_per_client_or_drawn() {
        let each = workload(Batch::Full, Work::Steps(Amount::Each(vec![3.0, 10.0, 50.0])));
        assert_eq!([0, 1, 2].map(|c| each.steps(c, 9)), [Some(3), Some(10), Some(50)]);
        let dist = Dist { shape: Shape::Uniform(1.0, 1000.0), ..Dist::fixed(0.0) };
        let once = workload(Batch::Full, Work::Steps(Amount::Drawn(dist.clone(), Redraw::Once)));
        assert_eq!(once.steps(1, 1), once.steps(1, 2));
        assert_ne!(once.steps(1, 1), once.steps(2, 1));
        let round = workload(Batch::Full, Work::Steps(Amount::Drawn(dist, Redraw::Round)));
        assert_ne!(round.steps(1, 1), round.steps(1, 2));
        assert_eq!(round.typical_steps(1), Some(501), "the mean, rounded");
        assert_eq!(once.typical_steps(1), once.steps(1, 1));
        let none = workload(Batch::Full, Work::UntilDeadline);
        assert_eq!(none.steps(0, 1), None);
    }
}
