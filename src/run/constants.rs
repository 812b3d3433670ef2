//! The constants of the theorems: given by the user, or known of the problem.

use super::build::start;
use super::build::trainer;
use crate::data::{LocalCurvature, Quadratic};
use crate::scenario::Plan;
use crate::theory::Constants;
use crate::train::DeviceChoice;
use serde::Serialize;

/// What the user says of the problem.
#[derive(Clone, Copy, Debug, Default)]
#[allow(missing_docs)]
pub struct Assumptions {
    pub lipschitz: Option<f64>,
    pub sigma2: Option<f64>,
    pub kappa2: Option<f64>,
    pub beta2: Option<f64>,
    pub gap: Option<f64>,
}

/// The constants of the problem, where they are known.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct KnownConstants {
    /// L: every ∇F_i is that Lipschitz.
    pub lipschitz: Option<f64>,
    /// σ²: variance of the stochastic gradients.
    pub sigma2: Option<f64>,
    /// κ² of Assumption 3.
    pub kappa2: Option<f64>,
    /// β² of Assumption 3; 1 unless given.
    pub beta2: f64,
    /// F̃(x₀) − F̃_inf of the surrogate objective Σ w_iF_i.
    pub gap: Option<f64>,
}

impl KnownConstants {
    /// The options that would tell what is not known.
    pub fn missing(&self) -> Vec<&'static str> {
        let options = [
            (self.lipschitz, "--lipschitz"),
            (self.sigma2, "--sigma2"),
            (self.kappa2, "--kappa2"),
            (self.gap, "--gap"),
        ];
        options
            .into_iter()
            .filter_map(|(known, option)| known.is_none().then_some(option))
            .collect()
    }

    /// All of them, if they are.
    pub fn all(&self) -> Option<Constants> {
        Some(Constants {
            lipschitz: self.lipschitz?,
            sigma2: self.sigma2?,
            kappa2: self.kappa2?,
            beta2: self.beta2,
            gap: self.gap?,
        })
    }
}

/// What is given, and for quadratics what can be worked out.
pub(super) fn find(
    given: &Assumptions,
    plan: &Plan,
    seed: u64,
    problem: Option<&Quadratic>,
    weights: &[f64],
) -> KnownConstants {
    let worked_out = problem.map(|problem| of_quadratic(plan, seed, problem, weights));
    let out = |of: fn(&KnownConstants) -> Option<f64>| worked_out.as_ref().and_then(of);
    KnownConstants {
        lipschitz: given.lipschitz.or(out(|known| known.lipschitz)),
        sigma2: given.sigma2.or(out(|known| known.sigma2)),
        kappa2: given.kappa2.or(out(|known| known.kappa2)),
        beta2: given.beta2.unwrap_or(1.0),
        gap: given.gap.or(out(|known| known.gap)),
    }
}

fn of_quadratic(plan: &Plan, seed: u64, problem: &Quadratic, weights: &[f64]) -> KnownConstants {
    let clients = 0..plan.task.clients;
    let lipschitz = clients.clone().map(|i| largest(problem.curvature(i))).fold(0.0, f64::max);
    // Theorem 1 speaks of the surrogate objective Σ w_iF_i, which is the same problem with other
    // shares.
    let surrogate = plan.task.problem.quadratic().map(|config| config.init(seed, weights));
    let gap = start_point(plan, seed).zip(surrogate).map(|(x, surrogate)| gap(&surrogate, &x));
    // With one curvature for all, gradients are equally far apart everywhere.
    let alike = clients.clone().all(|i| matches!(problem.curvature(i), LocalCurvature::Identity));
    let kappa2 = alike.then(|| {
        let mut mean = vec![0.0; problem.dim()];
        for i in clients.clone() {
            mean.iter_mut().zip(problem.center(i)).for_each(|(sum, e)| *sum += weights[i] * e);
        }
        let away = |i: usize| {
            let pairs = problem.center(i).iter().zip(&mean);
            pairs.map(|(e, mean)| (e - mean).powi(2)).sum::<f64>()
        };
        clients.map(|i| weights[i] * away(i)).sum()
    });
    let sigma2 = problem.dim() as f64 * problem.gradient_noise.powi(2);
    KnownConstants { lipschitz: Some(lipschitz), sigma2: Some(sigma2), kappa2, beta2: 1.0, gap }
}

/// x₀. A file of initial parameters that cannot be read is told of when the scenario is run.
pub(super) fn start_point(plan: &Plan, seed: u64) -> Option<Vec<f64>> {
    let trainer = trainer(plan, seed, DeviceChoice::Auto).ok()?;
    start(plan, seed, &*trainer).ok()
}

/// F(x) − F_inf.
pub(super) fn gap(problem: &Quadratic, x: &[f64]) -> f64 {
    (problem.global(x).0 - problem.least_loss).max(0.0)
}

/// The largest eigenvalue of H_i.
fn largest(curvature: LocalCurvature<'_>) -> f64 {
    match curvature {
        LocalCurvature::Identity => 1.0,
        LocalCurvature::Diagonal(h) => h.iter().copied().fold(0.0, f64::max),
        LocalCurvature::Full(h) => h.largest_eigenvalue(),
    }
}
