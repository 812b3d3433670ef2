//! Which samples a step sees.

use crate::random::{Stream, shuffle};

/// The order in which samples are visited: one random permutation after another, cut into batches
/// of one size. A batch may end one pass and begin the next, so τ = ⌊E·n/B⌋ for any E.
pub struct Order {
    items: Vec<u32>,
    next: usize,
    size: usize,
    batch: Vec<u32>,
    rng: Stream,
}

impl Order {
    /// Over `all` samples in batches of `size`.
    pub fn new(all: usize, size: usize, rng: Stream) -> Self {
        let batch = Vec::with_capacity(size);
        Order { items: (0..all as u32).collect(), next: all, size, batch, rng }
    }

    /// The samples of the next step.
    pub fn next_batch(&mut self) -> &[u32] {
        // A full batch has no order to draw.
        if self.size == self.items.len() {
            return &self.items;
        }
        self.batch.clear();
        while self.batch.len() < self.size {
            if self.next == self.items.len() {
                shuffle(&mut self.items, &mut self.rng);
                self.next = 0;
            }
            let wanted = self.size - self.batch.len();
            let end = (self.next + wanted).min(self.items.len());
            self.batch.extend_from_slice(&self.items[self.next..end]);
            self.next = end;
        }
        &self.batch
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, stream};

    #[test]
    fn every_pass_visits_every_sample_once() {
        let mut order = Order::new(10, 4, stream(1, Purpose::Batches, 0, 0));
        let visited: Vec<u32> = (0..5).flat_map(|_| order.next_batch().to_vec()).collect();
        for pass in visited.chunks(10) {
            let mut pass = pass.to_vec();
            pass.sort_unstable();
            assert_eq!(pass, (0..10).collect::<Vec<u32>>());
        }
        assert_ne!(visited[..10], visited[10..]);
    }
}
