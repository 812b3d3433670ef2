//! What the proximal term of FedProx buys and costs (section 4.2, Figure 4, appendix E).
//!
//! With α = ημ growing from 0 to 1, clients that make more steps gain less from them: the weights
//! w_i come closer to p_i, but the model moves less in each round.

use super::{ScheduledRound, theorem_lr};
use crate::solver::Accumulation;
use std::collections::BTreeMap;

/// The norms of a = [(1−α)^(τ−1), …, 1−α, 1] in closed form, for α in [0, 1].
///
/// Powers are taken by `ln_1p` and `expm1`, so that a small α loses no digits, and 0 is FedAvg.
pub fn proximal_norms(alpha: f64, tau: u64) -> Accumulation {
    let n = tau as f64;
    if tau == 0 || alpha == 0.0 {
        return Accumulation { l1: n, l2_squared: n, last: n.min(1.0) };
    }
    let log_keep = (-alpha).ln_1p();
    Accumulation {
        l1: -(n * log_keep).exp_m1() / alpha,
        l2_squared: -(2.0 * n * log_keep).exp_m1() / (alpha * (2.0 - alpha)),
        last: 1.0,
    }
}

/// The weights w_i while α changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProxWeights {
    /// w_i ∝ p_i‖a_i‖₁: FedProx as it was published.
    FedAvg,
    /// w_i = p_i: FedNova with proximal steps.
    FedNova,
    /// w_i = 1/m.
    Uniform,
}

/// Clients with shares p_i that make τ_i steps each.
///
/// Those with the same τ_i have the same a_i, and all that is asked of them is how many they are
/// and what their p_i and p_i² sum to: a million clients cost as much as their different τ.
#[derive(Clone, Debug, PartialEq)]
pub struct FedProx {
    by_tau: BTreeMap<u64, Alike>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Alike {
    count: usize,
    p: f64,
    p_squared: f64,
}

/// One α of Figure 4.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProxPoint {
    /// α = ημ.
    pub alpha: f64,
    /// *Weight bias*: χ²(p, w).
    pub weight_bias: f64,
    /// *Slowdown*: the first term of the bound relative to FedAvg's, τ_eff(0)/τ_eff(α). With
    /// p_i = 1/m, as in the figure, it is the τ̄/τ_eff of section 4.1; for other p that ratio
    /// would not begin at 1.
    pub slowdown: f64,
    /// *Relative variance*: the second term relative to FedAvg's, A(α)/A(0).
    pub relative_variance: f64,
    /// All of Theorem 1's quantities.
    pub round: ScheduledRound,
}

impl FedProx {
    /// Clients with shares `p`, positive and summing to 1, and `tau` steps, at least 1.
    pub fn new(p: &[f64], tau: &[u64]) -> FedProx {
        assert!(!p.is_empty() && p.len() == tau.len(), "as many shares as clients");
        assert!(tau.iter().all(|tau| *tau > 0), "every client makes a step");
        let mut by_tau = BTreeMap::<u64, Alike>::new();
        for (p, tau) in p.iter().zip(tau) {
            let alike = by_tau.entry(*tau).or_default();
            alike.count += 1;
            alike.p += p;
            alike.p_squared += p * p;
        }
        FedProx { by_tau }
    }

    /// The three curves of Figure 4 at an α in [0, 1].
    pub fn at(&self, alpha: f64) -> ProxPoint {
        let (fedavg, round) = (self.round(0.0), self.round(alpha));
        ProxPoint {
            alpha,
            weight_bias: round.chi2,
            slowdown: fedavg.tau_eff / round.tau_eff,
            relative_variance: round.a / fedavg.a,
            round,
        }
    }

    /// Theorem 1's quantities of a round of FedProx itself: w_i = p_i‖a_i‖₁/τ_eff.
    pub fn round(&self, alpha: f64) -> ScheduledRound {
        self.round_of(alpha, ProxWeights::FedAvg, |accumulation, _| accumulation)
    }

    /// The same for other weights; `tau_eff` is told the mean ‖a_i‖₁ and the mean τ_i.
    pub fn round_of(
        &self,
        alpha: f64,
        weights: ProxWeights,
        tau_eff: impl Fn(f64, f64) -> f64,
    ) -> ScheduledRound {
        let m = self.clients() as f64;
        let groups: Vec<(f64, Alike, Accumulation)> = self
            .by_tau
            .iter()
            .map(|(tau, alike)| (*tau as f64, *alike, proximal_norms(alpha, *tau)))
            .collect();
        let sum = |of: &dyn Fn(f64, Alike, Accumulation) -> f64| -> f64 {
            groups.iter().map(|(tau, alike, norms)| of(*tau, *alike, *norms)).sum()
        };
        let most = |of: fn(Accumulation) -> f64| {
            groups.iter().map(|group| of(group.2)).fold(0.0, f64::max)
        };
        let share = |alike: Alike| match weights {
            ProxWeights::Uniform => alike.count as f64 / m,
            ProxWeights::FedAvg | ProxWeights::FedNova => alike.p,
        };
        let mean_l1 = sum(&|_, alike, norms| share(alike) * norms.l1);
        let tau_eff = tau_eff(mean_l1, sum(&|tau, alike, _| share(alike) * tau));
        // Over the clients of a group: Σ w, Σ w² and Σ p²/w.
        let weigh = |alike: Alike, norms: Accumulation| match weights {
            ProxWeights::FedAvg => {
                let r = norms.l1 / mean_l1;
                [alike.p * r, alike.p_squared * r * r, alike.p / r]
            }
            ProxWeights::FedNova => [alike.p, alike.p_squared, alike.p],
            ProxWeights::Uniform => {
                let count = alike.count as f64;
                [count / m, count / (m * m), m * alike.p_squared]
            }
        };
        let drift = |norms: Accumulation| norms.l2_squared - norms.last * norms.last;
        let noise = |_: f64, alike: Alike, norms: Accumulation| {
            weigh(alike, norms)[1] * norms.l2_squared / (norms.l1 * norms.l1)
        };
        let tau_mean = sum(&|tau, alike, _| alike.count as f64 * tau) / m;
        ScheduledRound {
            clients: self.clients(),
            tau_mean,
            tau_eff,
            slowdown: tau_mean / tau_eff,
            a: m * tau_eff * sum(&noise),
            b: sum(&|_, alike, norms| weigh(alike, norms)[0] * drift(norms)),
            c: most(|norms| norms.l1 * (norms.l1 - norms.last)),
            max_l1: most(|norms| norms.l1),
            stretch: tau_eff * sum(&|_, alike, norms| weigh(alike, norms)[0] / norms.l1),
            // Σ(p − w)²/w = Σp²/w − 2Σp + Σw, without the cancellation for FedAvg.
            chi2: sum(&|_, alike, norms| match weights {
                ProxWeights::FedAvg => {
                    let r = norms.l1 / mean_l1;
                    alike.p * (1.0 - r).powi(2) / r
                }
                ProxWeights::FedNova => 0.0,
                ProxWeights::Uniform => {
                    let [w, _, ratio] = weigh(alike, norms);
                    ratio - 2.0 * alike.p + w
                }
            }),
        }
    }

    /// How many clients there are.
    pub fn clients(&self) -> usize {
        self.by_tau.values().map(|alike| alike.count).sum()
    }

    /// The different τ_i, from the least on.
    pub fn taus(&self) -> impl Iterator<Item = u64> + '_ {
        self.by_tau.keys().copied()
    }

    /// The corollary's best α, √m/(√τ̄ T^{1/6}), without the constants it leaves out (2^{1/3} even
    /// by its own proof, which drops the 2 of the derivative of α⁻²). It may be above 1.
    pub fn corollary_alpha(&self, rounds: u64) -> f64 {
        // η·T^{1/3}, because η = √(m/(τ̄T)).
        theorem_lr(&self.round(0.0).repeated(rounds)) * (rounds as f64).cbrt()
    }
}

/// The α in [0, 1] at which `f` is least: the best of 0 and a logarithmic grid, refined by golden
/// section.
pub fn least_alpha(f: impl Fn(f64) -> f64) -> f64 {
    const LOWEST: f64 = -27.0; // ln 2e-12
    const GRID: i32 = 270;
    let log = |k: i32| LOWEST * (1.0 - f64::from(k) / f64::from(GRID));
    let value = |log: f64| f(log.exp());
    let best = (0..=GRID).min_by(|a, b| value(log(*a)).total_cmp(&value(log(*b)))).unwrap_or(0);
    let (mut low, mut high) = (log((best - 1).max(0)), log((best + 1).min(GRID)));
    let golden = (5.0f64.sqrt() - 1.0) / 2.0;
    // Near a minimum f is flat: more digits of α than this cannot be told apart.
    while high - low > 1e-9 {
        let (left, right) = (high - golden * (high - low), low + golden * (high - low));
        if value(left) <= value(right) {
            high = right;
        } else {
            low = left;
        }
    }
    let candidates = [log(best).exp(), ((low + high) / 2.0).exp()];
    let best = candidates.into_iter().min_by(|a, b| f(*a).total_cmp(&f(*b))).unwrap_or(0.0);
    // Where α makes no difference, as with one step each, rounding must not choose one.
    if f(0.0) <= f(best) * (1.0 + 1e-12) { 0.0 } else { best }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theory::{Constants, Participant};

    fn figure_four() -> FedProx {
        // Thirty clients, 20 steps on average with a spread, as in the figure.
        let tau: Vec<u64> = (0..30).map(|i| 1 + (i * 38 + 14) / 29).collect();
        FedProx::new(&[1.0 / 30.0; 30], &tau)
    }

    const PROBLEM: Constants =
        Constants { lipschitz: 1.0, sigma2: 1.0, kappa2: 1.0, beta2: 1.0, gap: 1.0 };

    /// The bound after `rounds` rounds at Theorem 1's learning rate, which the corollary speaks of.
    fn error(prox: &FedProx, problem: &Constants, rounds: u64, alpha: f64) -> f64 {
        problem.bound_at_theorem_lr(&prox.round(alpha).repeated(rounds)).total()
    }

    fn best_alpha(prox: &FedProx, problem: &Constants, rounds: u64) -> f64 {
        least_alpha(|alpha| error(prox, problem, rounds, alpha))
    }

    /// Summed over clients one by one, as rounds of a run are.
    #[test]
    fn other_weights_give_the_quantities_of_a_round_with_these_weights() {
        let (p, tau, alpha) = ([0.1, 0.2, 0.3, 0.4], [3u64, 7, 3, 12], 0.1);
        let prox = FedProx::new(&p, &tau);
        let norms = tau.map(|tau| proximal_norms(alpha, tau));
        let mean_l1: f64 = p.iter().zip(norms).map(|(p, norms)| p * norms.l1).sum();
        for (weights, weight) in [
            (ProxWeights::FedAvg, [0, 1, 2, 3].map(|i| p[i] * norms[i].l1 / mean_l1)),
            (ProxWeights::FedNova, p),
            (ProxWeights::Uniform, [0.25; 4]),
        ] {
            let client =
                |i: usize| Participant { p: p[i], weight: weight[i], tau: tau[i], norms: norms[i] };
            let want = ScheduledRound::new(5.0, (0..4).map(client)).unwrap();
            let got = prox.round_of(alpha, weights, |_, _| 5.0);
            let numbers = |r: ScheduledRound| {
                [r.tau_mean, r.tau_eff, r.slowdown, r.a, r.b, r.c, r.max_l1, r.stretch, r.chi2]
            };
            for (got, want) in numbers(got).into_iter().zip(numbers(want)) {
                assert!((got - want).abs() < 1e-13 * (1.0 + want), "{weights:?}: {got} {want}");
            }
        }
    }

    #[test]
    fn figure_four_begins_at_fedavg_and_ends_consistent_and_slow() {
        let prox = figure_four();
        let points: Vec<ProxPoint> = (0..=100).map(|k| prox.at(f64::from(k) / 100.0)).collect();
        let (first, last) = (points[0], points[100]);
        assert_eq!((first.slowdown, first.relative_variance), (1.0, 1.0));
        assert!((first.round.slowdown - 1.0).abs() < 1e-14);
        assert!(last.weight_bias < 1e-14 && (last.round.tau_eff - 1.0).abs() < 1e-14);
        assert!((last.slowdown - last.round.tau_mean).abs() < 1e-12);
        for pair in points.windows(2) {
            assert!(pair[1].weight_bias <= pair[0].weight_bias + 1e-14);
            assert!(pair[1].slowdown > pair[0].slowdown);
        }
        // A falls towards 1/(2 − α) of itself (proof of the corollary) and comes back at α = 1.
        assert!((points[50].relative_variance - 1.0 / 1.5).abs() < 0.05);
        assert!((last.relative_variance - 1.0).abs() < 1e-13);
    }

    /// "The first term is τ̄ times larger than that with FedAvg" needs p_i = 1/m; otherwise it is
    /// E_p[τ] times larger, which the slowdown relative to FedAvg says.
    #[test]
    fn slowdown_is_relative_to_fedavg_whatever_the_shares() {
        let prox = FedProx::new(&[0.9, 0.1], &[10, 2]);
        assert_eq!(prox.at(0.0).slowdown, 1.0);
        assert!((prox.at(1.0).slowdown - 9.2).abs() < 1e-14);
        assert!((prox.at(1.0).round.slowdown - 6.0).abs() < 1e-14);
    }

    #[test]
    fn no_alpha_has_a_lower_bound_than_the_best() {
        let prox = figure_four();
        for (rounds, kappa2) in [(100, 1.0), (10_000, 0.1), (1_000_000, 25.0), (1000, 0.0)] {
            let problem = Constants { kappa2, ..PROBLEM };
            let error = |alpha| error(&prox, &problem, rounds, alpha);
            let best = error(best_alpha(&prox, &problem, rounds));
            for k in 0..=20_000 {
                let alpha = f64::from(k) / 20_000.0;
                assert!(best <= error(alpha) * (1.0 + 1e-12), "{rounds} {kappa2} {alpha}");
            }
        }
        let no_drift = Constants { kappa2: 0.0, sigma2: 0.0, ..PROBLEM };
        assert_eq!(best_alpha(&prox, &no_drift, 100), 0.0, "FedAvg is fastest");
    }

    /// The corollary's power of T: with many steps a thousand times the rounds ask for √10 times
    /// less α.
    #[test]
    fn the_best_alpha_falls_as_the_corollary_says() {
        let prox = FedProx::new(&[0.25; 4], &[20_000, 30_000, 50_000, 60_000]);
        let ratio = |alpha: fn(&FedProx, u64) -> f64| alpha(&prox, 1000) / alpha(&prox, 1_000_000);
        assert!((ratio(FedProx::corollary_alpha) - 10f64.sqrt()).abs() < 1e-12);
        let best = ratio(|prox, rounds| best_alpha(prox, &PROBLEM, rounds));
        assert!((best / 10f64.sqrt() - 1.0).abs() < 0.1, "{best}");
        assert!((prox.corollary_alpha(64) - 2.0 / (200.0 * 2.0)).abs() < 1e-15);
    }

    /// At α = 1 the paper's B and C are 0, as if clients did not drift. They do: on F = ½(x − 1)²
    /// from 0, the second of two steps uses the gradient at η, not at 0 (see [`crate::theory`]'s
    /// `round`).
    #[test]
    fn clients_drift_even_where_b_and_c_vanish() {
        let (lr, tau) = (0.1, 2);
        let round = FedProx::new(&[1.0], &[tau]).round(1.0);
        assert_eq!((round.b, round.c), (0.0, 0.0));
        let solver = crate::solver::Solver { prox: 1.0 / lr, ..crate::solver::Solver::sgd(lr) };
        let mut descent = crate::solver::Descent::new(solver, &[0.0], &[]);
        let mut x = [0.0];
        for _ in 0..tau {
            let gradient = [x[0] - 1.0];
            descent.step(&mut x, &gradient);
        }
        let normalized_gradient = -x[0] / lr / round.max_l1;
        assert!((normalized_gradient - (lr - 1.0)).abs() < 1e-15, "{normalized_gradient}");
    }
}
