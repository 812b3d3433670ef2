//! What an update weighs: the trait, and the general rule behind it.

use super::{Draw, Participation, ParticipationRates, RuleConfig, TauEff, WeightingConfig};

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
    /// What it is still worth, from 0 to 1: an update from an older model may count less. It is
    /// applied once, after the weighting.
    pub discount: f64,
}

/// Weighs updates.
///
/// The model moves by `τ_eff · Σ_i w_i · Δ_i/‖a_i‖₁`, where w_i is the update's weight times its
/// discount times a scale that is the same for all updates of a round.
pub trait Weighting: Send {
    /// A round begins.
    fn opened(&mut self) {}

    /// The weight of an update that arrives, up to a factor that [`Weighting::closed`] gives.
    fn weigh(&mut self, update: &Contribution) -> Weight;

    /// How far the model moves along the direction, and the scale, once all updates are in. At least
    /// one was weighed. By default weights are scaled to sum to 1 before discounts, and τ_eff is what
    /// `tau_eff` of the scenario says, over the updates that arrived.
    fn closed(&mut self, sums: &Sums) -> Applied {
        Applied { tau_eff: sums.tau_eff(), scale: 1.0 / sums.raw }
    }
}

/// The weight of an update: `share` · `times`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weight {
    /// What stands for p_i. The discount is applied to it.
    pub share: f64,
    /// What it is multiplied by: ‖a_i‖₁ for FedAvg, 1 for most others.
    pub times: f64,
}

impl From<f64> for Weight {
    fn from(share: f64) -> Self {
        Weight { share, times: 1.0 }
    }
}

/// How one aggregation moves the model.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Applied {
    /// The effective number of steps; 0 if no update arrived.
    pub tau_eff: f64,
    /// What turns raw weights into w_i.
    pub scale: f64,
}

/// Sums over the updates of a round.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Sums {
    /// `tau_eff` of the scenario.
    pub rule: TauEff,
    /// Σ of weights, before discounts.
    pub raw: f64,
    /// Σ of weights, after discounts.
    pub discounted: f64,
    /// Σ p_i.
    pub p: f64,
    /// Σ p_i‖a_i‖₁.
    pub accumulation: f64,
    /// Σ p_iτ_i.
    pub steps: f64,
}

impl Sums {
    pub(super) fn new(rule: TauEff) -> Self {
        Sums { rule, raw: 0.0, discounted: 0.0, p: 0.0, accumulation: 0.0, steps: 0.0 }
    }

    pub(super) fn add(&mut self, update: &Contribution, weight: Weight, discounted: f64) {
        self.raw += weight.share * weight.times;
        self.discounted += discounted;
        self.p += update.p;
        self.accumulation += update.p * update.accumulation;
        self.steps += update.p * update.tau as f64;
    }

    /// τ_eff over the updates that arrived, with their shares renormalised.
    pub fn tau_eff(&self) -> f64 {
        self.rule.of(self.accumulation / self.p, self.steps / self.p)
    }
}

/// FedNova, FedAvg and uniform weights under every kind of participation.
pub struct GeneralRule {
    rule: RuleConfig,
    draw: Draw,
    /// Σ share, Σ share·‖a‖₁ and Σ share·τ of the open round.
    sums: [f64; 3],
    /// How often each client was heard; kept over all rounds, and only where weights depend on it.
    rates: Option<ParticipationRates>,
}

impl RuleConfig {
    /// The built-in weighting of this configuration, for clients drawn like this; `None` for a plug-in.
    pub fn init(self, draw: Draw) -> Option<Box<dyn Weighting>> {
        if self.weighting == WeightingConfig::Plugin {
            return None;
        }
        let counts = self.participation != Participation::Renormalize;
        let rates = counts.then(|| ParticipationRates::new(draw));
        Some(Box::new(GeneralRule { rule: self, draw, sums: [0.0; 3], rates }))
    }
}

impl GeneralRule {
    /// What stands for p_i in this round, before any renormalisation. `chance` is the estimated
    /// mean number of uses per round, which only inverse-probability weighting looks at.
    fn share(&self, c: &Contribution, chance: f64) -> f64 {
        let (times, target) = (f64::from(c.times_drawn), self.target(c));
        // What it ought to count against its chance to be drawn by size.
        let uniform = self.rule.weighting == WeightingConfig::Uniform;
        let by_size = if uniform { target / c.p } else { 1.0 };
        match (self.rule.participation, self.draw) {
            (Participation::Renormalize, Draw::Uniform { .. }) => target,
            // A client that was drawn by size has had its size counted.
            (Participation::Renormalize, Draw::BySize { .. }) => times * by_size,
            (Participation::Unbiased, Draw::Uniform { clients, asked }) => {
                target * clients as f64 / asked as f64
            }
            (Participation::Unbiased, Draw::BySize { asked, .. }) => times * by_size / asked as f64,
            (Participation::InverseProbability, _) => target * times / chance,
        }
    }

    /// What the client ought to count: its share of the data, or as much as any.
    fn target(&self, c: &Contribution) -> f64 {
        match self.rule.weighting {
            WeightingConfig::Uniform => 1.0 / self.draw.clients() as f64,
            _ => c.p,
        }
    }
}

impl Weighting for GeneralRule {
    fn opened(&mut self) {
        self.sums = [0.0; 3];
        if let Some(rates) = &mut self.rates {
            rates.next_round();
        }
    }

    fn weigh(&mut self, c: &Contribution) -> Weight {
        let target = self.target(c);
        let chance = self.rates.as_mut().map_or(1.0, |rates| rates.hear(c, target));
        let share = self.share(c, chance);
        let [shares, accumulation, steps] = &mut self.sums;
        *shares += share;
        *accumulation += share * c.accumulation;
        *steps += share * c.tau as f64;
        match self.rule.weighting {
            WeightingConfig::FedAvg => Weight { share, times: c.accumulation },
            _ => share.into(),
        }
    }

    fn closed(&mut self, _: &Sums) -> Applied {
        let [share, accumulation, steps] = self.sums;
        // Renormalised shares sum to 1 over those that arrived; the others only on average. What a
        // stale update is discounted by is not given to the others: a buffer of old updates moves
        // the model less.
        let whole = match self.rule.participation {
            Participation::Renormalize => share,
            Participation::Unbiased | Participation::InverseProbability => 1.0,
        };
        // τ_eff is a mean over the updates that arrived, whatever their shares sum to: a missing
        // update shortens the direction, and must not shorten the step a second time. Where shares
        // make up for missing ones, on average, it must not depend on which those are.
        let [mean_accumulation, mean_steps] = match &self.rates {
            None => [accumulation / share, steps / share],
            Some(rates) => rates.means(),
        };
        let tau_eff = self.rule.tau_eff.of(mean_accumulation, mean_steps);
        let scale = match self.rule.weighting {
            WeightingConfig::FedAvg => 1.0 / (mean_accumulation * whole),
            _ => 1.0 / whole,
        };
        Applied { tau_eff, scale }
    }
}
