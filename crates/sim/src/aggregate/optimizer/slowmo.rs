//! Slow momentum (Wang et al., SlowMo, ICLR 2020), the server momentum of the paper's section 5.
//!
//! `u ← βu + (x − x⁺)/η_t`, `x ← x − lr·η_t·u`, where x⁺ is where the aggregated update leads.
//! Dividing by the clients' learning rate keeps the buffer in units of a gradient, so that it
//! means the same before and after the rate is changed by its schedule.

use super::{AggregatedUpdate, ServerOptimizer};

/// Momentum over rounds.
pub struct SlowMo {
    lr: f64,
    momentum: f64,
    /// −u: where to, rather than where from.
    buffer: Vec<f64>,
}

impl SlowMo {
    pub(super) fn new(lr: f64, momentum: f64, len: usize) -> Self {
        SlowMo { lr, momentum, buffer: vec![0.0; len] }
    }
}

impl ServerOptimizer for SlowMo {
    fn apply(&mut self, x: &mut [f64], update: &AggregatedUpdate<'_>) {
        let AggregatedUpdate { direction, factor, client_lr, .. } = *update;
        for ((x, u), direction) in x.iter_mut().zip(&mut self.buffer).zip(&**direction) {
            let update = factor * direction;
            let carried = self.momentum * *u;
            // Without momentum this is x + lr·δ to the last bit.
            *x += self.lr * (update + client_lr * carried);
            *u = carried + update / client_lr;
        }
    }

    fn save(&self) -> Vec<f64> {
        self.buffer.clone()
    }

    fn load(&mut self, state: &[f64]) {
        self.buffer.copy_from_slice(state);
    }
}

#[cfg(test)]
mod tests {
    use super::super::Sgd;
    use super::super::tests::update as of;
    use super::*;
    use std::sync::Arc;

    fn moves(slowmo: &mut SlowMo, updates: &[(f64, f64)]) -> Vec<f64> {
        let mut x = [0.0];
        updates
            .iter()
            .map(|(update, lr)| {
                slowmo.apply(&mut x, &of(&Arc::new(vec![*update]), 1.0, *lr));
                x[0]
            })
            .collect()
    }

    #[test]
    fn no_momentum_is_plain_to_the_bit() {
        let mut with = SlowMo::new(0.7, 0.0, 3);
        let mut plain = Sgd { lr: 0.7 };
        let (mut a, mut b) = ([0.1, -0.2, 3.0], [0.1, -0.2, 3.0]);
        for round in 1..20 {
            let direction = Arc::new(vec![0.3 / f64::from(round), -1.7, 0.01]);
            with.apply(&mut a, &of(&direction, 1.3, 0.05));
            plain.apply(&mut b, &of(&direction, 1.3, 0.05));
        }
        assert_eq!(a.map(f64::to_bits), b.map(f64::to_bits));
    }

    /// The buffer holds gradients: after the rate falls to a fifth, so does what it carries on.
    #[test]
    fn the_buffer_follows_the_learning_rate() {
        let x = moves(&mut SlowMo::new(1.0, 0.5, 1), &[(1.0, 0.1), (1.0, 0.1), (0.2, 0.02)]);
        // u = 10, 15, 17.5 and steps of η·u: 1, 1.5, 0.35.
        for (x, expected) in x.iter().zip([1.0, 2.5, 2.85]) {
            assert!((x - expected).abs() < 1e-12, "{x} {expected}");
        }
    }
}
