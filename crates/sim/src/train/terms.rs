//! The local update law as trainers in single precision take it.

use super::Model;
use crate::solver::{Correction, Solver};

/// What a law adds to the gradient, whatever computes that: κ = λ + μ times the parameters, and
/// the constant q = c − μx₀.
pub struct Terms {
    /// κ.
    pub shrink: f32,
    /// q; `None`: zero.
    pub pull: Option<Vec<f32>>,
}

impl Terms {
    /// Whether they need the start in double precision.
    pub fn read_doubles(solver: &Solver, correction: &Correction) -> bool {
        solver.prox > 0.0 || !correction.is_zero()
    }

    /// Of a solver that starts from `model` with a correction.
    pub fn new(solver: &Solver, model: &Model, correction: &Correction) -> Self {
        let pull = Terms::read_doubles(solver, correction).then(|| {
            let start = model.values().iter();
            let pairs = correction.vector(model.len()).into_iter().zip(start);
            pairs.map(|(c, start)| (c - solver.prox * start) as f32).collect()
        });
        Terms { shrink: (solver.prox + solver.weight_decay) as f32, pull }
    }
}
