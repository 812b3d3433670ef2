//! Where the general update rule comes to rest on quadratics (appendix A), for any mix of local
//! solvers and any schedule of local steps.
//!
//! On F_i = ½xᵀH_ix − e_iᵀx a whole round of a client is linear. Its displacement from where it
//! began is K_i(e_i − H'_ix), with H' = H + λI because weight decay is one more quadratic, and K_i
//! is what the law does to a unit residual: run it from 0 on the gradient H_id − 1. So the paper's
//! K = [I − (I − ημI − ηH)^τ](H + μI)⁻¹ needs no inverse, and momentum and decayed rates no
//! formula of their own. The model moves by c_i/‖a_i‖₁ times each displacement and rests at the x̃
//! of
//!
//! ```text
//!   Σ (c_i/‖a_i‖₁) K_i H'_i x̃ = Σ (c_i/‖a_i‖₁) K_i e_i        (eq. T_limit has c_i ∝ p_i‖a_i‖₁)
//! ```
//!
//! K_i is a polynomial in the symmetric H_i, so the left side is symmetric. If it is not positive
//! definite too, then along some direction the rule moves away from x̃, or not at all: there is no
//! resting place.
//!
//! When rounds differ, the sums run over all of them: at x̃ the whole run's pull is nil. The model
//! then keeps moving about x̃, the closer the smaller the steps. Gradient noise averages out;
//! variance reduction changes what each client pulls towards and is not covered.

use crate::data::LocalCurvature;
use crate::matrix::Matrix;
use crate::solver::{Descent, Solver};
use std::collections::BTreeMap;

/// Adds up who moved the model, and solves for where that leads.
///
/// Clients are told apart by a number, so that a contribution costs no more than remembering
/// it: K is worked out at the end, once for every client and law.
#[derive(Clone, Debug, Default)]
pub struct RestingPoint {
    /// c_i/‖a_i‖₁ by law, client and τ.
    factors: BTreeMap<([u64; 5], usize), BTreeMap<u64, f64>>,
}

impl RestingPoint {
    /// Client `client` made `tau` steps of `solver`, which count ‖a_i‖₁ = `accumulation` and moved
    /// the model by `movement` = τ_eff·w_i normalised gradients.
    pub fn add(
        &mut self,
        client: usize,
        movement: f64,
        accumulation: f64,
        solver: &Solver,
        tau: u64,
    ) {
        if tau > 0 && movement != 0.0 {
            let by_tau = self.factors.entry((bits(solver), client)).or_default();
            *by_tau.entry(tau).or_default() += movement / accumulation;
        }
    }

    /// x̃, for clients with the given H_i and e_i in `dim` dimensions; `None` if there is none.
    pub fn solve<'a>(
        &self,
        dim: usize,
        client: impl Fn(usize) -> (LocalCurvature<'a>, &'a [f64]),
    ) -> Option<Vec<f64>> {
        let mut pull = Pull { even: 0.0, diagonal: vec![], full: None, right: vec![0.0; dim] };
        for ((law, index), by_tau) in &self.factors {
            let (curvature, center) = client(*index);
            pull.add(&from_bits(law), by_tau, curvature, center);
        }
        pull.solve()
    }
}

fn bits(solver: &Solver) -> [u64; 5] {
    let Solver { lr, momentum, prox, lr_decay, weight_decay } = *solver;
    [lr, momentum, prox, lr_decay, weight_decay].map(f64::to_bits)
}

fn from_bits(law: &[u64; 5]) -> Solver {
    let [lr, momentum, prox, lr_decay, weight_decay] = law.map(f64::from_bits);
    Solver { lr, momentum, prox, lr_decay, weight_decay }
}

/// Both sides of the equation, kept as thin as the H_i are.
struct Pull {
    /// The left side is even·I + diag(diagonal) + full.
    even: f64,
    diagonal: Vec<f64>,
    full: Option<Matrix>,
    right: Vec<f64>,
}

impl Pull {
    fn add(
        &mut self,
        solver: &Solver,
        by_tau: &BTreeMap<u64, f64>,
        curvature: LocalCurvature,
        center: &[f64],
    ) {
        let decay = solver.weight_decay;
        match curvature {
            LocalCurvature::Identity => {
                let mut gain = [0.0];
                gains(solver, by_tau, &[1.0], &mut gain);
                self.even += gain[0] * (1.0 + decay);
                self.right.iter_mut().zip(center).for_each(|(sum, e)| *sum += gain[0] * e);
            }
            LocalCurvature::Diagonal(h) => {
                let mut gain = vec![0.0; h.len()];
                gains(solver, by_tau, h, &mut gain);
                self.diagonal.resize(h.len(), 0.0);
                for (j, gain) in gain.into_iter().enumerate() {
                    self.diagonal[j] += gain * (h[j] + decay);
                    self.right[j] += gain * center[j];
                }
            }
            LocalCurvature::Full(h) => {
                let gain = matrix_gain(solver, by_tau, h);
                let left = self.full.get_or_insert_with(|| Matrix::zero(center.len()));
                left.add_scaled(1.0, &gain.times(h));
                left.add_scaled(decay, &gain);
                let pulls = gain.apply(center);
                self.right.iter_mut().zip(pulls).for_each(|(sum, pull)| *sum += pull);
            }
        }
    }

    fn solve(mut self) -> Option<Vec<f64>> {
        self.diagonal.resize(self.right.len(), 0.0);
        self.diagonal.iter_mut().for_each(|left| *left += self.even);
        if let Some(mut left) = self.full {
            left.add_scaled(1.0, &Matrix::diagonal(&self.diagonal));
            return left.solve(&self.right).ok();
        }
        let rests = self.diagonal.iter().all(|left| *left > 0.0);
        rests.then(|| self.right.iter().zip(&self.diagonal).map(|(r, l)| r / l).collect())
    }
}

/// How often to look whether a client is where it will stay: then further steps need not be taken.
const LOOK: u64 = 1024;

/// Adds Σ_τ f_τ K_τ(h) to every `gain`, for the eigenvalues `h`: K after any number of steps is
/// passed on the way to the most.
fn gains(solver: &Solver, by_tau: &BTreeMap<u64, f64>, h: &[f64], gain: &mut [f64]) {
    // So many at a time stay in the fastest memory and are worked on side by side.
    const TOGETHER: usize = 64;
    for (h, gain) in h.chunks(TOGETHER).zip(gain.chunks_mut(TOGETHER)) {
        let mut states = [(0.0, 0.0); TOGETHER];
        let (mut done, mut rate) = (0, solver.lr);
        for (tau, factor) in by_tau {
            for k in done..*tau {
                let before = k.is_multiple_of(LOOK).then_some(states);
                for (state, h) in states.iter_mut().zip(h) {
                    *state = solver.step(rate, *state, 0.0, h * state.0 - 1.0);
                }
                rate *= solver.lr_decay;
                if before == Some(states) {
                    break;
                }
            }
            done = *tau;
            gain.iter_mut().zip(&states).for_each(|(gain, state)| *gain += factor * state.0);
        }
    }
}

/// Σ_τ f_τ K_τ(H), row by row (K is symmetric): the law on the residual that is 1 in one
/// coordinate.
fn matrix_gain(solver: &Solver, by_tau: &BTreeMap<u64, f64>, h: &Matrix) -> Matrix {
    let n = h.row(0).len();
    let start = vec![0.0; n];
    let row = |j: usize| {
        let mut descent = Descent::new(*solver, &start, &[]);
        let (mut displaced, mut gain, mut done) = (start.clone(), start.clone(), 0);
        for (tau, factor) in by_tau {
            for k in done..*tau {
                let before = k.is_multiple_of(LOOK).then(|| displaced.clone());
                let mut gradient = h.apply(&displaced);
                gradient[j] -= 1.0;
                descent.step(&mut displaced, &gradient);
                if before.as_ref() == Some(&displaced) {
                    break;
                }
            }
            done = *tau;
            gain.iter_mut().zip(&displaced).for_each(|(gain, d)| *gain += factor * d);
        }
        gain
    };
    Matrix::from_rows(&(0..n).map(row).collect::<Vec<_>>())
}
