//! What one update weighs.

use super::{Draw, Participation, RuleConfig, Weighting};

/// What the rule needs to know of one update besides Δ_i itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contribution {
    /// Whose it is.
    pub client: u32,
    /// The client's share p_i of the data.
    pub p: f64,
    /// How often it was drawn this round (more than once only with replacement).
    pub times_drawn: u32,
    /// Local steps τ_i.
    pub tau: u64,
    /// ‖a_i‖₁.
    pub accumulation: f64,
    /// What it is still worth, from 0 to 1: an update from an older model may count less.
    pub discount: f64,
}

/// The raw weight of a contribution: w_i up to a factor that is known only at the end.
#[derive(Clone, Copy, Debug)]
pub struct Weigher {
    /// The choices of the rule.
    pub rule: RuleConfig,
    /// How participants were drawn.
    pub draw: Draw,
}

impl Weigher {
    /// What stands for p_i in this round, before any renormalisation. `chance` is the estimated
    /// mean number of uses per round, which only inverse-probability weighting looks at.
    pub(super) fn share(&self, c: &Contribution, chance: f64) -> f64 {
        let (times, target) = (f64::from(c.times_drawn), self.target(c));
        // What it ought to count against its chance to be drawn by size.
        let by_size = if self.rule.weighting == Weighting::Uniform { target / c.p } else { 1.0 };
        match (self.rule.participation, self.draw) {
            (Participation::Renormalize, Draw::Uniform { .. }) => target,
            // Who was drawn by size has had its size counted.
            (Participation::Renormalize, Draw::BySize { .. }) => times * by_size,
            (Participation::Unbiased, Draw::Uniform { clients, asked }) => {
                target * clients as f64 / asked as f64
            }
            (Participation::Unbiased, Draw::BySize { asked, .. }) => times * by_size / asked as f64,
            (Participation::InverseProbability, _) => target * times / chance,
        }
    }

    /// What the client ought to count: its share of the data, or as much as any.
    pub(super) fn target(&self, c: &Contribution) -> f64 {
        match self.rule.weighting {
            Weighting::FedNova | Weighting::FedAvg => c.p,
            Weighting::Uniform => 1.0 / self.draw.clients() as f64,
        }
    }

    /// w_i up to a common factor, from the share.
    pub(super) fn raw(&self, c: &Contribution, share: f64) -> f64 {
        let share = share * c.discount;
        match self.rule.weighting {
            Weighting::FedNova | Weighting::Uniform => share,
            Weighting::FedAvg => share * c.accumulation,
        }
    }
}
