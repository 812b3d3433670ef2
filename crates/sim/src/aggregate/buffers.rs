//! Entries of a model that travel, but that no gradient moves.

/// How many there are, after the weights: `[weights | averaged | counters]`. They stay outside direction, norm, variance
/// reduction, compression, optimiser and meter. Clients send their values, not their changes: a statistic of batch norm
/// has no direction, and an update may come from an older model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Buffers {
    /// Averaged over the updates that count, by the clients' shares.
    pub averaged: usize,
    /// Numbers that only grow, such as how many batches were seen: the largest is taken.
    pub counters: usize,
}

impl Buffers {
    /// A model without any.
    pub const NONE: Buffers = Buffers { averaged: 0, counters: 0 };

    /// All of them.
    pub fn len(self) -> usize {
        self.averaged + self.counters
    }

    /// Whether there are none.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Where they begin in a vector of a model that has `len` entries; nothing has no buffers.
    pub fn begin(self, len: usize) -> usize {
        len.saturating_sub(self.len())
    }

    /// Takes in what a client sent, which counts so much.
    pub(super) fn add(self, sums: &mut [f64], values: &[f64], share: f64) {
        for (i, (sum, value)) in sums.iter_mut().zip(values).enumerate() {
            *sum = if i < self.averaged { *sum + share * value } else { sum.max(*value) };
        }
    }

    /// Sets the buffers of a model to what was taken in, which counts so much in all.
    pub(super) fn set(self, model: &mut [f64], sums: &[f64], shares: f64) {
        for (i, (value, sum)) in model.iter_mut().zip(sums).enumerate() {
            *value = if i < self.averaged { sum / shares } else { value.max(*sum) };
        }
    }
}
