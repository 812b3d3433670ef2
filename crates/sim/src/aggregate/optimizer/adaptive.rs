//! FedAdagrad, FedAdam and FedYogi (Reddi et al., Adaptive Federated Optimization, Algorithm 2).
//!
//! `m ← β₁m + (1 − β₁)δ`, `v` by the method, `x ← x + lr·m/(√v + ε)`, with v₀ = ε². There is no
//! bias correction, as in that paper.

use super::{AggregatedUpdate, ServerOptimizer};

/// How v follows the squares of the updates.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum Moment {
    /// v ← v + δ².
    Adagrad,
    /// v ← β₂v + (1 − β₂)δ².
    Adam { beta2: f64 },
    /// v ← v − (1 − β₂)δ²·sign(v − δ²).
    Yogi { beta2: f64 },
}

impl Moment {
    fn next(self, v: f64, square: f64) -> f64 {
        match self {
            Moment::Adagrad => v + square,
            Moment::Adam { beta2 } => beta2 * v + (1.0 - beta2) * square,
            Moment::Yogi { beta2 } => {
                // sign(0) = 0, unlike f64::signum's.
                let sign = f64::from(i8::from(v > square) - i8::from(v < square));
                v - (1.0 - beta2) * square * sign
            }
        }
    }
}

/// An adaptive method with its moments.
pub struct AdaptiveOptimizer {
    moment: Moment,
    lr: f64,
    beta1: f64,
    epsilon: f64,
    m: Vec<f64>,
    v: Vec<f64>,
}

impl AdaptiveOptimizer {
    pub(super) fn new(moment: Moment, lr: f64, beta1: f64, epsilon: f64, len: usize) -> Self {
        let (m, v) = (vec![0.0; len], vec![epsilon * epsilon; len]);
        AdaptiveOptimizer { moment, lr, beta1, epsilon, m, v }
    }
}

impl ServerOptimizer for AdaptiveOptimizer {
    fn apply(&mut self, x: &mut [f64], update: &AggregatedUpdate<'_>) {
        let moments = self.m.iter_mut().zip(&mut self.v);
        for ((x, (m, v)), direction) in x.iter_mut().zip(moments).zip(&**update.direction) {
            let update = update.factor * direction;
            *m = self.beta1 * *m + (1.0 - self.beta1) * update;
            *v = self.moment.next(*v, update * update);
            *x += self.lr * *m / (v.sqrt() + self.epsilon);
        }
    }

    fn save(&self) -> Vec<f64> {
        [&self.m[..], &self.v].concat()
    }

    fn load(&mut self, state: &[f64]) {
        let (m, v) = state.split_at(self.m.len());
        self.m.copy_from_slice(m);
        self.v.copy_from_slice(v);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::update as of;
    use super::*;
    use std::sync::Arc;

    fn end(moment: Moment, updates: &[f64]) -> f64 {
        let mut adaptive = AdaptiveOptimizer::new(moment, 0.1, 0.5, 0.5, 1);
        let mut x = [0.0];
        updates
            .iter()
            .for_each(|update| adaptive.apply(&mut x, &of(&Arc::new(vec![*update]), 1.0, 0.1)));
        x[0]
    }

    /// Two updates, 3 and −1, by hand: m = 1.5, 0.25; v₀ = 0.25.
    #[test]
    fn moments_by_hand() {
        let expect = |moment, v: [f64; 2]| {
            let expected = 0.1 * 1.5 / (v[0].sqrt() + 0.5) + 0.1 * 0.25 / (v[1].sqrt() + 0.5);
            let got = end(moment, &[3.0, -1.0]);
            assert!((got - expected).abs() < 1e-15, "{moment:?}: {got} {expected}");
        };
        expect(Moment::Adagrad, [9.25, 10.25]);
        // 0.75·0.25 + 0.25·9 = 2.4375; 0.75·2.4375 + 0.25 = 2.078125.
        expect(Moment::Adam { beta2: 0.75 }, [2.4375, 2.078125]);
        // 0.25 + 0.25·9 = 2.5; 2.5 > 1, so 2.5 − 0.25 = 2.25.
        expect(Moment::Yogi { beta2: 0.75 }, [2.5, 2.25]);
    }

    #[test]
    fn no_update_moves_nothing() {
        for moment in [Moment::Adagrad, Moment::Adam { beta2: 0.9 }, Moment::Yogi { beta2: 0.9 }] {
            assert_eq!(end(moment, &[0.0, 0.0]), 0.0);
        }
    }
}
