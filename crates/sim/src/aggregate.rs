//! The general update rule: one rule for every algorithm.
//!
//! `x ← x − τ_eff · Σ_i w_i · η · d_i` with `d_i = G_i a_i / ‖a_i‖₁` (eq. 4 of the paper). FedAvg
//! and FedNova differ only in w_i; how far the model moves along the combined direction is
//! τ_eff, a separate choice. Clients send `Δ_i = −η G_i a_i`, so the rule reads
//! `x ← x + τ_eff · Σ_i w_i · Δ_i / ‖a_i‖₁`.
//!
//! Both w_i and τ_eff are ratios whose denominators are known only when the last client has
//! arrived, but their numerators are sums. An [`Aggregator`] therefore keeps running sums, in
//! arrival order, and never a list of updates. What it comes to is handed to the server's
//! [`ServerOptimizer`].
//!
//! Two seams: a [`Weighting`] weighs updates, a [`ServerOptimizer`] moves the model. The built-in ones
//! go through the same traits as those of users.

mod aggregator;
mod buffers;
mod optimizer;
mod participation_rates;
mod rule;
mod weighting;

pub use aggregator::Aggregator;
pub use buffers::Buffers;
pub use optimizer::*;
pub use participation_rates::ParticipationRates;
pub use rule::{Draw, Participation, RuleConfig, TauEff, WeightingConfig};
pub use weighting::{Applied, Contribution, GeneralRule, Sums, Weight, Weighting};
