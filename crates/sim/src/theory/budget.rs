//! The bound of Theorems 1 and 3 for learning rates and effective steps that change.
//!
//! One round gives (eq. final_step2, divided by nothing)
//!
//! ```text
//!   η_tτ_t ¼‖∇F̃‖² ≤ F̃(x_t) − F̃(x_{t+1}) + η_tτ_t [η_tLσ²A_t/m + 3/2 η_t²L²σ²B_t + 3η_t²L²κ²C_t]
//! ```
//!
//! with τ_t = τ_eff(t). Adding up and dividing by Σ η_tτ_t bounds a weighted mean of ‖∇F̃‖², and so
//! the least. With one η and one τ_eff it is eq. final_fixed_lr. The paper's own averages, where
//! every round counts alike, do not telescope when τ_eff changes.

use super::{Constants, ErrorBound, ScheduledRound};

/// Sums over the rounds of a run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Budget {
    /// Σ η_tτ_t.
    movement: f64,
    /// Σ η_tτ_t times η_tA_t/m, η_t²B_t, η_t²C_t.
    terms: [f64; 3],
    /// max_t η_t max_i‖a_i‖₁ and max_t η_tτ_t.
    longest: [f64; 2],
}

impl Budget {
    /// Adds a round in which the clients' common learning rate was `lr`.
    pub fn add(&mut self, lr: f64, round: &ScheduledRound) {
        self.add_times(1, lr, round);
    }

    /// Adds `times` rounds that are alike.
    pub fn add_times(&mut self, times: u64, lr: f64, round: &ScheduledRound) {
        let movement = lr * round.tau_eff;
        let all = times as f64 * movement;
        self.movement += all;
        let terms = [lr * round.a / round.clients as f64, lr * lr * round.b, lr * lr * round.c];
        self.terms.iter_mut().zip(terms).for_each(|(sum, term)| *sum += all * term);
        self.longest = [self.longest[0].max(lr * round.max_l1), self.longest[1].max(movement)];
    }

    /// The four terms.
    pub fn bound(&self, problem: &Constants) -> ErrorBound {
        let [noise, b, c] = self.terms.map(|sum| sum / self.movement);
        let Constants { lipschitz, sigma2, kappa2, gap, .. } = *problem;
        let squared = lipschitz * lipschitz;
        ErrorBound {
            distance: 4.0 * gap / self.movement,
            noise: 4.0 * lipschitz * sigma2 * noise,
            noise_drift: 6.0 * squared * sigma2 * b,
            dissimilarity_drift: 12.0 * squared * kappa2 * c,
        }
    }

    /// The largest L for which the constraint on the learning rate holds in every round:
    /// η_tL ≤ ½ min{1/(max‖a‖₁√(2β²+1)), 1/τ_t}.
    pub fn largest_lipschitz(&self, beta2: f64) -> f64 {
        let [drift, movement] = self.longest;
        0.5 / (drift * (2.0 * beta2 + 1.0).sqrt()).max(movement)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round(tau_eff: f64, a: f64) -> ScheduledRound {
        let (clients, tau_mean, slowdown, stretch) = (4, tau_eff, 1.0, 1.0);
        let (b, c, max_l1, chi2) = (7.0, 300.0, 20.0, 0.0);
        ScheduledRound { clients, tau_mean, tau_eff, slowdown, a, b, c, max_l1, stretch, chi2 }
    }

    const PROBLEM: Constants =
        Constants { lipschitz: 2.0, sigma2: 0.5, kappa2: 0.25, beta2: 4.0, gap: 3.0 };

    #[test]
    fn one_rate_and_one_tau_eff_give_the_papers_bound() {
        let mut budget = Budget::default();
        (0..100).for_each(|_| budget.add(0.01, &round(8.0, 1.5)));
        let averages = round(8.0, 1.5).repeated(100);
        let (got, want) = (budget.bound(&PROBLEM), PROBLEM.bound(&averages, 0.01));
        for (got, want) in [
            (got.distance, want.distance),
            (got.noise, want.noise),
            (got.noise_drift, want.noise_drift),
            (got.dissimilarity_drift, want.dissimilarity_drift),
        ] {
            assert!((got - want).abs() < 1e-12 * want, "{got} {want}");
        }
        let largest = 0.01 * budget.largest_lipschitz(4.0) / 2.0;
        assert!((largest - PROBLEM.largest_lr(&averages)).abs() < 1e-15);
    }

    /// A rate that falls to a tenth after half of the rounds moves the model 55 % as far.
    #[test]
    fn every_round_counts_by_how_far_it_may_move() {
        let mut budget = Budget::default();
        (0..50).for_each(|_| budget.add(0.1, &round(8.0, 1.5)));
        (0..50).for_each(|_| budget.add(0.01, &round(8.0, 1.5)));
        let bound = budget.bound(&PROBLEM);
        assert!((bound.distance - 12.0 / (50.0 * 0.8 + 50.0 * 0.08)).abs() < 1e-12);
        // Noise weighs by η: (40·0.1 + 4·0.01)/44 in place of one rate.
        let rate = (40.0 * 0.1 + 4.0 * 0.01) / 44.0;
        assert!((bound.noise - 4.0 * 2.0 * 0.5 * rate * 1.5 / 4.0).abs() < 1e-12);
        assert!((budget.largest_lipschitz(4.0) - 0.5 / (0.1 * 20.0 * 3.0)).abs() < 1e-12);
    }
}
