//! The general update rule: one rule for every algorithm.
//!
//! `x ← x − τ_eff · Σ_i w_i · η · d_i` with `d_i = G_i a_i / ‖a_i‖₁` (eq. 4 of the paper). FedAvg
//! and FedNova differ only in w_i; how much the model moves along the combined direction is
//! τ_eff, a separate choice.

mod rule;

pub use rule::{Participation, RuleConfig, TauEff, Weighting};
