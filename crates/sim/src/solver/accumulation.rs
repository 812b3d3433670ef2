//! The accumulation vector a of a law: what its change makes of each gradient.
//!
//! `Δ = −η Σ_k a_k g_k`, so a_k is what a unit gradient at step k alone leads to (the *impulse
//! response*), and ‖a‖₁ = Σ a_k is where the constant gradient 1 leads to. The paper takes a ≥ 0.
//! Momentum with a strong proximal term overshoots and makes early a_k negative; then Σ a_k is
//! what normalises the change (it is what stands before ∇F_i when steps are small), and what is
//! called ‖a‖₁ here.

use super::Solver;

/// The norms of a that the theory needs (Theorem 1).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Accumulation {
    /// ‖a‖₁ = Σ a_k.
    pub l1: f64,
    /// ‖a‖₂² = Σ a_k².
    pub l2_squared: f64,
    /// a_{−1}, the weight of the last gradient.
    pub last: f64,
}

impl Solver {
    /// ‖a‖₁ after `tau` steps, in units of this law's own η: the displacement of the law on the
    /// constant gradient 1, divided by −η.
    pub fn accumulation(&self, tau: u64) -> f64 {
        let law = self.in_units_of_lr();
        if tau == 0 || law == Solver::sgd(1.0) {
            return tau as f64;
        }
        if let Some(accumulation) = law.long_accumulation(tau) {
            return accumulation;
        }
        let (mut state, mut rate) = ((0.0, 0.0), 1.0);
        for _ in 0..law.steps_that_matter(tau) {
            state = law.step(rate, state, 0.0, 1.0);
            rate *= law.lr_decay;
        }
        -state.0
    }

    /// The least ‖a‖₁ there is, over any number of steps, and after how many. Momentum and a
    /// proximal term together swing, and may bring a client back to where it began: then there is
    /// nothing to normalise by.
    pub fn least_accumulation(&self) -> (u64, f64) {
        let law = self.in_units_of_lr();
        let (mut least, mut state, mut rate) = ((1, 1.0), (0.0, 0.0), 1.0);
        if law.momentum == 0.0 || law.prox == 0.0 {
            return least;
        }
        // Swings die out as √ρ per step; the first one back is the widest.
        for tau in 1..=100_000 {
            state = law.step(rate, state, 0.0, 1.0);
            rate *= law.lr_decay;
            if -state.0 < least.1 {
                least = (tau, -state.0);
            }
        }
        least
    }

    /// After how many further steps a gradient counts against the change, if it ever does: then a has
    /// negative entries, and Σ a_k is less than the norm ‖a‖₁.
    pub fn first_negative_entry(&self) -> Option<u64> {
        let law = self.in_units_of_lr();
        if law.momentum == 0.0 || law.prox == 0.0 {
            return None;
        }
        let mut state = law.step(1.0, (0.0, 0.0), 0.0, 1.0);
        // Swings die out as √ρ per step, and the first one back is the widest.
        (1..=100_000).find(|_| {
            state = law.step(1.0, state, 0.0, 0.0);
            -state.0 < -1e-12
        })
    }

    /// The whole vector a after `tau` steps, in units of this law's own η.
    ///
    /// All impulse responses at once, from the last step to the first: how much the end moves with
    /// the position and the buffer after step k follows from the same after step k + 1.
    pub fn accumulation_vector(&self, tau: u64) -> Vec<f64> {
        let law = self.in_units_of_lr();
        let rates: Vec<f64> = std::iter::successors(Some(1.0), |rate| Some(rate * law.lr_decay))
            .take(tau as usize)
            .collect();
        let (mut by_position, mut by_buffer) = (1.0, 0.0);
        let mut vector = vec![0.0; rates.len()];
        for (a, rate) in vector.iter_mut().zip(rates).rev() {
            let by_gradient = by_buffer - rate * by_position;
            *a = -by_gradient;
            by_buffer = law.momentum * by_gradient;
            by_position += law.prox * by_gradient;
        }
        vector
    }

    /// The norms of a after `tau` steps, in units of the learning rate `lr` that all clients
    /// share: a client with twice the rate has twice the a (section 4.1).
    pub fn norms(&self, tau: u64, lr: f64) -> Accumulation {
        let (unit, law) = (self.lr / lr, self.in_units_of_lr());
        let squares = || {
            let vector = self.accumulation_vector(law.steps_that_matter(tau));
            vector.iter().map(|a| a * a).sum::<f64>()
        };
        let plain = law == Solver::sgd(1.0);
        let l2 = if plain { tau as f64 } else { law.long_squares(tau).unwrap_or_else(squares) };
        // Whatever the law, the last gradient counts by the last step's own rate.
        let last = if tau == 0 { 0.0 } else { law.lr_decay.powf((tau - 1) as f64) };
        Accumulation {
            l1: unit * self.accumulation(tau),
            l2_squared: unit * unit * l2,
            last: unit * last,
        }
    }

    /// The law with η = 1 and μ = α = ημ, which has the same a; without weight decay, which is
    /// part of the gradient.
    fn in_units_of_lr(&self) -> Solver {
        Solver { lr: 1.0, prox: self.lr * self.prox, weight_decay: 0.0, ..*self }
    }
}
