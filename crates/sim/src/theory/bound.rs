//! The error bounds of Theorems 1 to 3 in numbers, and how small the learning rate must be.

use super::Averages;

/// What the theorems assume of the problem (assumptions 1 to 3).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Constants {
    /// L: how fast local gradients change.
    pub lipschitz: f64,
    /// σ²: variance of stochastic gradients.
    pub sigma2: f64,
    /// κ² of the bounded dissimilarity.
    pub kappa2: f64,
    /// β² ≥ 1 of the bounded dissimilarity.
    pub beta2: f64,
    /// F̃(x₀) − F̃_inf.
    pub gap: f64,
}

/// A bound on min_t E‖∇F̃(x_t)‖², term by term in the paper's order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bound {
    /// How far there is to go: 4·gap/(ητ_effT).
    pub distance: f64,
    /// Noise that reaches the model: 4ηLσ²A/m.
    pub noise: f64,
    /// Drift that noise causes: 6η²L²σ²B.
    pub noise_drift: f64,
    /// Drift that different objectives cause: 12η²L²κ²C.
    pub dissimilarity_drift: f64,
}

impl Bound {
    /// ε_opt, the sum of the four terms.
    pub fn total(&self) -> f64 {
        self.distance + self.noise + self.noise_drift + self.dissimilarity_drift
    }

    /// Eq. general_error with 1 for every constant that 𝒪 swallows: for comparing runs, not for
    /// comparing with a run.
    pub fn order(run: &Averages, sigma2: f64, kappa2: f64) -> Bound {
        let steps = run.tau * run.rounds as f64;
        let root = (run.clients * steps).sqrt();
        Bound {
            distance: run.tau / run.tau_eff / root,
            noise: run.a * sigma2 / root,
            noise_drift: run.clients * run.b * sigma2 / steps,
            dissimilarity_drift: run.clients * run.c * kappa2 / steps,
        }
    }
}

/// The constraint ηL ≤ ½ min{1/(max‖a‖₁√(2β²+1)), 1/τ_eff} (appendix C.7).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateLimit {
    /// ηL, which may be at most the least of the other two.
    pub rate: f64,
    /// ½/(max‖a‖₁√(2β²+1)): clients must not drift too far in a round.
    pub by_drift: f64,
    /// ½/τ_eff: neither must the model.
    pub by_movement: f64,
}

impl RateLimit {
    /// Whether the theorems speak of this run.
    pub fn holds(&self) -> bool {
        self.rate <= self.by_drift.min(self.by_movement)
    }
}

/// Theorem 2: a bound on min_t ‖∇F(x_t)‖² of the true objective.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrueBound {
    /// 2[χ²(β² − 1) + 1]·ε_opt.
    pub vanishing: f64,
    /// 2χ²κ²: what no number of rounds and no learning rate removes.
    pub floor: f64,
}

impl TrueBound {
    /// The sum of both terms.
    pub fn total(&self) -> f64 {
        self.vanishing + self.floor
    }
}

/// η = √(m/(τ̃T)), the rate of Theorems 1 and 3.
pub fn theorem_lr(run: &Averages) -> f64 {
    (run.clients / (run.tau * run.rounds as f64)).sqrt()
}

impl Constants {
    /// The bound for a fixed learning rate (eq. final_fixed_lr, appendix C.6).
    pub fn bound(&self, run: &Averages, lr: f64) -> Bound {
        let rate = lr * self.lipschitz;
        Bound {
            distance: 4.0 * self.gap / (lr * run.tau_eff * run.rounds as f64),
            noise: 4.0 * rate * self.sigma2 * run.a / run.clients,
            noise_drift: 6.0 * rate * rate * self.sigma2 * run.b,
            dissimilarity_drift: 12.0 * rate * rate * self.kappa2 * run.c,
        }
    }

    /// The bound at η = √(m/(τ̃T)) (appendix F, the line before the last).
    pub fn bound_at_theorem_lr(&self, run: &Averages) -> Bound {
        self.bound(run, theorem_lr(run))
    }

    /// Both sides of the constraint on the learning rate, which must hold in every round.
    pub fn rate_limit(&self, run: &Averages, lr: f64) -> RateLimit {
        RateLimit {
            rate: lr * self.lipschitz,
            by_drift: 0.5 / (run.max_l1 * (2.0 * self.beta2 + 1.0).sqrt()),
            by_movement: 0.5 / run.max_tau_eff,
        }
    }

    /// The largest η that the constraint allows.
    pub fn largest_lr(&self, run: &Averages) -> f64 {
        let limit = self.rate_limit(run, 0.0);
        limit.by_drift.min(limit.by_movement) / self.lipschitz
    }

    /// Theorem 2, for an ε_opt of Theorem 1 and weights at distance χ² from p.
    pub fn true_bound(&self, optimization_error: f64, chi2: f64) -> TrueBound {
        TrueBound {
            vanishing: 2.0 * (chi2 * (self.beta2 - 1.0) + 1.0) * optimization_error,
            floor: 2.0 * chi2 * self.kappa2,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const RUN: Averages = Averages {
        rounds: 100,
        clients: 4.0,
        tau: 16.0,
        tau_eff: 8.0,
        a: 1.5,
        b: 7.0,
        c: 300.0,
        max_l1: 20.0,
        max_tau_eff: 10.0,
        stretch: 1.2,
        max_stretch: 1.5,
    };
    const PROBLEM: Constants =
        Constants { lipschitz: 2.0, sigma2: 0.5, kappa2: 0.25, beta2: 4.0, gap: 3.0 };

    #[test]
    fn the_four_terms_by_hand() {
        let bound = PROBLEM.bound(&RUN, 0.01);
        let expected = [12.0 / 8.0, 0.04 * 1.5 / 4.0, 6.0 * 4e-4 * 3.5, 12.0 * 4e-4 * 75.0];
        let got = [bound.distance, bound.noise, bound.noise_drift, bound.dissimilarity_drift];
        assert!(got.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-15), "{got:?}");
        assert!((bound.total() - expected.iter().sum::<f64>()).abs() < 1e-15);
    }

    #[test]
    fn the_rate_is_limited_by_drift_or_by_movement() {
        // ½ min{1/(20·3), 1/10}/2
        assert!((PROBLEM.largest_lr(&RUN) - 1.0 / 240.0).abs() < 1e-17);
        let far = Averages { max_tau_eff: 100.0, ..RUN };
        assert!((PROBLEM.largest_lr(&far) - 1.0 / 400.0).abs() < 1e-17);
        assert!(PROBLEM.rate_limit(&RUN, 0.0041).holds());
        assert!(!PROBLEM.rate_limit(&RUN, 0.0042).holds());
    }

    #[test]
    fn theorem_two_leaves_what_inconsistency_costs() {
        let bound = PROBLEM.true_bound(0.1, 0.5);
        assert_eq!((bound.vanishing, bound.floor), (2.0 * 2.5 * 0.1, 0.25));
        let consistent = PROBLEM.true_bound(0.1, 0.0);
        assert_eq!((consistent.vanishing, consistent.floor), (0.2, 0.0));
    }

    proptest! {
        /// At η = √(m/(τ̃T)) the bound with constants is the order-only one, each term times what
        /// 𝒪 swallowed (the last display of the proof of Theorem 3).
        #[test]
        fn the_theorems_rate_gives_the_theorems_orders(
            rounds in 1u64..10_000,
            (clients, tau, tau_eff) in (1.0..100.0f64, 1.0..100.0f64, 0.5..100.0f64),
            (a, b, c) in (0.1..9.0f64, 0.0..99.0f64, 0.0..9999.0f64),
            (lipschitz, gap) in (0.1..9.0f64, 0.1..9.0f64),
        ) {
            let run = Averages { rounds, clients, tau, tau_eff, a, b, c, ..RUN };
            let problem = Constants { lipschitz, gap, ..PROBLEM };
            let bound = problem.bound_at_theorem_lr(&run);
            let order = Bound::order(&run, problem.sigma2, problem.kappa2);
            for (bound, order, swallowed) in [
                (bound.distance, order.distance, 4.0 * gap),
                (bound.noise, order.noise, 4.0 * lipschitz),
                (bound.noise_drift, order.noise_drift, 6.0 * lipschitz.powi(2)),
                (bound.dissimilarity_drift, order.dissimilarity_drift, 12.0 * lipschitz.powi(2)),
            ] {
                prop_assert!((bound - swallowed * order).abs() <= 1e-12 * bound);
            }
        }
    }
}
