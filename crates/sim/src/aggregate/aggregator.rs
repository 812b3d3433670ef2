//! Running sums of one aggregation.

#[cfg(test)]
mod tests;

use super::{
    AggregatedUpdate, Applied, Contribution, HeldUpdate, ServerOptimizer, Sums, TauEff, Weighting,
};
use std::borrow::Cow;

/// Running sums of one aggregation; or, for an optimiser that collects, its updates.
pub struct Aggregator {
    weighting: Box<dyn Weighting>,
    tau_eff: TauEff,
    /// Σ raw_i Δ_i/‖a_i‖₁
    direction: Vec<f64>,
    sums: Sums,
    /// The updates of this round, where the optimiser collects them.
    held: Option<Vec<HeldUpdate>>,
}

impl Aggregator {
    /// An empty aggregation of models with `len` parameters; `collects` if the optimiser wants the
    /// updates themselves.
    pub fn new(weighting: Box<dyn Weighting>, tau_eff: TauEff, len: usize, collects: bool) -> Self {
        let direction = if collects { Vec::new() } else { vec![0.0; len] };
        let held = collects.then(Vec::new);
        Aggregator { weighting, tau_eff, direction, sums: Sums::new(tau_eff), held }
    }

    /// Empties the sums for the next round and keeps their memory.
    pub fn restart(&mut self) {
        self.direction.fill(0.0);
        self.sums = Sums::new(self.tau_eff);
        self.held.iter_mut().for_each(Vec::clear);
        self.weighting.opened();
    }

    /// Adds an update and returns its raw weight, discounted. `delta` is empty in runs that do not
    /// train.
    pub fn add<'a>(&mut self, c: &Contribution, delta: impl Into<Cow<'a, [f64]>>) -> f64 {
        let delta = delta.into();
        let weight = self.weighting.weigh(c);
        let raw = weight.share * c.discount * weight.times;
        self.sums.add(c, weight, raw);
        if let Some(held) = &mut self.held {
            held.push(HeldUpdate { update: *c, raw, delta: delta.into_owned() });
            return raw;
        }
        let factor = raw / c.accumulation;
        for (sum, delta) in self.direction.iter_mut().zip(&*delta) {
            *sum += factor * delta;
        }
        raw
    }

    /// Does without numbers from now on: updates have no entries until [`Aggregator::load`].
    pub fn without_numbers(&mut self) {
        self.direction = Vec::new();
    }

    /// The numbers of the open aggregation: its direction, and the updates that are held.
    pub fn numbers(&self) -> (Vec<f64>, Vec<Vec<f64>>) {
        let held = self.held.iter().flatten().map(|update| update.delta.clone());
        (self.direction.clone(), held.collect())
    }

    /// How many updates are held, and whether they are held at all.
    pub fn held(&self) -> (usize, bool) {
        (self.held.as_ref().map_or(0, Vec::len), self.held.is_some())
    }

    /// Takes over what [`Aggregator::numbers`] gave, of updates that were added without numbers.
    pub fn load(&mut self, direction: Vec<f64>, held: Vec<Vec<f64>>) {
        self.direction = direction;
        let updates = self.held.iter_mut().flatten();
        updates.zip(held).for_each(|(update, delta)| update.delta = delta);
    }

    /// Moves `x` by everything added, the way `optimizer` does, and says how. `lr` is the clients'
    /// common learning rate η of this round.
    pub fn apply(
        &mut self,
        x: &mut [f64],
        optimizer: &mut dyn ServerOptimizer,
        lr: f64,
    ) -> Applied {
        if self.sums.discounted == 0.0 {
            return Applied::default();
        }
        let applied = self.weighting.closed(&self.sums);
        optimizer.apply(
            x,
            &AggregatedUpdate {
                direction: &self.direction,
                factor: applied.tau_eff * applied.scale,
                applied,
                client_lr: lr,
                updates: self.held.as_deref().unwrap_or_default(),
            },
        );
        applied
    }
}
