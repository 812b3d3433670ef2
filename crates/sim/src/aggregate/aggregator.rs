//! Running sums of one aggregation.

#[cfg(test)]
mod tests;

use super::{Census, Contribution, Optimizer, Participation, TauEff, Weigher, Weighting};

/// How one aggregation moved the model.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Applied {
    /// The effective number of steps; 0 if nobody arrived.
    pub tau_eff: f64,
    /// What turns the raw weight of [`Aggregator::add`] into w_i.
    pub scale: f64,
}

/// Running sums of one aggregation.
pub struct Aggregator {
    weigher: Weigher,
    /// Σ raw_i Δ_i/‖a_i‖₁
    direction: Vec<f64>,
    sums: Sums,
    /// Who was heard how often; kept over all rounds, and only where weights depend on it.
    census: Option<Census>,
}

#[derive(Default)]
struct Sums {
    raw: f64,
    share: f64,
    accumulation: f64,
    steps: f64,
}

impl Aggregator {
    /// An empty aggregation of models with `len` parameters.
    pub fn new(weigher: Weigher, len: usize) -> Self {
        let counts = weigher.rule.participation != Participation::Renormalize;
        let census = counts.then(|| Census::new(weigher.draw));
        Aggregator { weigher, direction: vec![0.0; len], sums: Sums::default(), census }
    }

    /// Empties the sums for the next round and keeps their memory.
    pub fn restart(&mut self) {
        self.direction.fill(0.0);
        self.sums = Sums::default();
        if let Some(census) = &mut self.census {
            census.next_round();
        }
    }

    /// Adds an update and returns its raw weight. `delta` is empty in runs that do not train.
    pub fn add(&mut self, c: &Contribution, delta: &[f64]) -> f64 {
        let target = self.weigher.target(c);
        let chance = self.census.as_mut().map_or(1.0, |census| census.hear(c, target));
        let share = self.weigher.share(c, chance);
        let raw = self.weigher.raw(c, share);
        let sums = &mut self.sums;
        sums.share += share;
        sums.raw += raw;
        sums.accumulation += share * c.accumulation;
        sums.steps += share * c.tau as f64;
        let factor = raw / c.accumulation;
        for (sum, delta) in self.direction.iter_mut().zip(delta) {
            *sum += factor * delta;
        }
        raw
    }

    /// Moves `x` by everything added, the way `optimizer` does, and says how. `lr` is the clients'
    /// common learning rate η of this round.
    pub fn apply(&self, x: &mut [f64], optimizer: &mut Optimizer, lr: f64) -> Applied {
        let Sums { raw, share, accumulation, steps } = self.sums;
        if raw == 0.0 {
            return Applied::default();
        }
        // Renormalised shares sum to 1 over those who arrived; the others only on average. What a
        // stale update is discounted by is not given to the others: a buffer of old updates moves
        // the model less.
        let whole = match self.weigher.rule.participation {
            Participation::Renormalize => share,
            Participation::Unbiased | Participation::InverseProbability => 1.0,
        };
        // τ_eff is a mean over those who arrived, whatever their shares sum to: who is missing
        // shortens the direction, and must not shorten the step a second time. Where shares make
        // up for who is missing, on average, it must not depend on who that is.
        let [mean_accumulation, mean_steps] = match &self.census {
            None => [accumulation / share, steps / share],
            Some(census) => census.means(),
        };
        let tau_eff = match self.weigher.rule.tau_eff {
            TauEff::Accumulation => mean_accumulation,
            TauEff::Steps => mean_steps,
            TauEff::Fixed(value) => value,
        };
        let scale = match self.weigher.rule.weighting {
            Weighting::FedNova | Weighting::Uniform => 1.0 / whole,
            Weighting::FedAvg => 1.0 / (mean_accumulation * whole),
        };
        optimizer.apply(x, &self.direction, tau_eff * scale, lr);
        Applied { tau_eff, scale }
    }
}
