//! The proximal term with the least bound.
//!
//! What is minimised is the bound that is printed for the scenario, as it would be with another proximal
//! term: the scenario's own learning rates, weights and τ_eff, and, as the weights of FedAvg change
//! with α, the surrogate objective's own gap and κ². Every client makes its usual number of steps in
//! every round.

use super::super::constants::{self, Assumptions, KnownConstants};
use super::super::survey::Survey;
use crate::aggregate::WeightingConfig;
use crate::data::{Centers, Curvature, LocalCurvature, Quadratic, QuadraticConfig};
use crate::scenario::Plan;
use crate::theory::{Budget, Constants, FedProx, ProxWeights, least_alpha, proximal_norms};

/// A scenario whose proximal term is changed.
pub(super) struct ProxSearch<'a> {
    pub plan: &'a Plan,
    pub seed: u64,
    pub survey: &'a Survey,
    pub fedprox: &'a FedProx,
    /// What the user says of the problem.
    pub given: &'a Assumptions,
    /// The constants for the present weights; those that are not known count 1.
    pub known: &'a KnownConstants,
    pub problem: Option<&'a Quadratic>,
}

impl ProxSearch<'_> {
    /// α = ημ with the least bound, at the learning rate of the first round; `None` where a plug-in
    /// weighs the updates.
    pub(super) fn best_alpha(&self) -> Option<f64> {
        let weights = match self.plan.server.rule.weighting {
            WeightingConfig::FedAvg => ProxWeights::FedAvg,
            WeightingConfig::FedNova => ProxWeights::FedNova,
            WeightingConfig::Uniform => ProxWeights::Uniform,
            WeightingConfig::Plugin => return None,
        };
        let rates = self.survey.rates();
        let (first, largest) = (rates.first, rates.largest);
        let surrogate = self.surrogate().filter(|_| weights == ProxWeights::FedAvg);
        // α must not be above 1 in any round.
        let best = least_alpha(|scaled| {
            let prox = scaled / largest;
            let mut budget = Budget::default();
            for (lr, rounds) in &rates.rounds {
                let tau_eff = |l1, steps| self.plan.server.rule.tau_eff.of(l1, steps);
                budget.add_times(*rounds, *lr, &self.fedprox.round_of(lr * prox, weights, tau_eff));
            }
            let mut constants = self.constants();
            if let Some(surrogate) = &surrogate {
                let moved = |tau: u64| -> f64 {
                    let each = rates.rounds.iter().map(|(lr, rounds)| {
                        *rounds as f64 * lr * proximal_norms(lr * prox, tau).l1
                    });
                    each.sum()
                };
                let ratios: Vec<f64> = self.fedprox.taus().map(moved).collect();
                surrogate.adjust(&mut constants, self.given, self.seed, &ratios);
            }
            budget.bound(&constants).total()
        });
        Some(best / largest * first)
    }

    fn constants(&self) -> Constants {
        let KnownConstants { lipschitz, sigma2, kappa2, beta2, gap } = *self.known;
        let [lipschitz, sigma2, kappa2, gap] =
            [lipschitz, sigma2, kappa2, gap].map(|known| known.unwrap_or(1.0));
        Constants { lipschitz, sigma2, kappa2, beta2, gap }
    }

    /// The problem with clients of the same τ as one.
    fn surrogate(&self) -> Option<Surrogate> {
        let problem = self.problem?;
        let start = constants::start_point(self.plan, self.seed)?;
        let (n, taus) = (problem.dim(), self.fedprox.taus().collect::<Vec<_>>());
        let mut shares = vec![0.0; taus.len()];
        let mut centers = vec![vec![0.0; n]; taus.len()];
        let mut squares = vec![0.0; taus.len()];
        let mut diagonals = vec![vec![0.0; n]; taus.len()];
        let mut full: Option<Vec<Vec<Vec<f64>>>> = None;
        let mut identity = true;
        for (client, _, tau) in self.survey.typical() {
            let group = taus.binary_search(&tau.max(1)).ok()?;
            let (i, p) = (client as usize, self.survey.shares()[client as usize]);
            shares[group] += p;
            for (sum, e) in centers[group].iter_mut().zip(problem.center(i)) {
                *sum += p * e;
                squares[group] += p * e * e;
            }
            match problem.curvature(i) {
                LocalCurvature::Identity => diagonals[group].iter_mut().for_each(|h| *h += p),
                LocalCurvature::Diagonal(own) => {
                    identity = false;
                    diagonals[group].iter_mut().zip(own).for_each(|(h, own)| *h += p * own);
                }
                LocalCurvature::Full(own) => {
                    identity = false;
                    let all = full.get_or_insert_with(|| vec![vec![vec![0.0; n]; n]; taus.len()]);
                    for (row, sums) in all[group].iter_mut().enumerate() {
                        sums.iter_mut().zip(own.row(row)).for_each(|(h, own)| *h += p * own);
                    }
                }
            }
        }
        let curvature = full.map_or(Curvature::Diagonal(diagonals), Curvature::Full);
        Some(Surrogate { start, shares, centers, squares, curvature, identity })
    }
}

/// Σ p_iF_i, Σ p_ie_i and Σ p_i‖e_i‖² over the clients of each τ.
struct Surrogate {
    start: Vec<f64>,
    shares: Vec<f64>,
    centers: Vec<Vec<f64>>,
    squares: Vec<f64>,
    curvature: Curvature,
    identity: bool,
}

impl Surrogate {
    /// The gap and κ² of Σ w_iF_i where w_i is `ratios` times p_i, up to a factor, unless they are given.
    fn adjust(&self, constants: &mut Constants, given: &Assumptions, seed: u64, ratios: &[f64]) {
        let whole: f64 = self.shares.iter().zip(ratios).map(|(p, ratio)| p * ratio).sum();
        let weights: Vec<f64> = ratios.iter().map(|ratio| ratio / whole).collect();
        let problem = QuadraticConfig {
            dim: self.start.len(),
            centers: Centers::Explicit(self.centers.clone()),
            curvature: self.curvature.clone(),
            weights: None,
            gradient_noise: 0.0,
        };
        let problem = problem.init(seed, &weights);
        if given.gap.is_none() {
            constants.gap = constants::gap(&problem, &self.start);
        }
        if given.kappa2.is_none() && self.identity {
            let squares: f64 = self.squares.iter().zip(&weights).map(|(e, w)| w * e).sum();
            let mean: f64 = problem.optimum.iter().map(|x| x * x).sum();
            constants.kappa2 = (squares - mean).max(0.0);
        }
    }
}
