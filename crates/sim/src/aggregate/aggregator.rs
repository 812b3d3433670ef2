//! Running sums of one aggregation.

#[cfg(test)]
mod tests;

use super::{
    AggregatedUpdate, Applied, Buffers, Contribution, HeldUpdate, ServerOptimizer, Sums, TauEff,
    Weighting,
};
use std::borrow::Cow;
use std::sync::Arc;

/// Running sums of one aggregation; or, for an optimiser that collects, its updates.
pub struct Aggregator {
    weighting: Box<dyn Weighting>,
    tau_eff: TauEff,
    /// Σ raw_i Δ_i/‖a_i‖₁
    direction: Arc<Vec<f64>>,
    sums: Sums,
    /// The updates of this round, where the optimiser collects them.
    held: Option<Vec<HeldUpdate>>,
    buffers: Buffers,
    /// What clients sent of the buffers, and the sum of their shares.
    buffered: (Vec<f64>, f64),
}

impl Aggregator {
    /// An empty aggregation of models with `len` weights; `collects` if the optimiser wants the
    /// updates themselves.
    pub fn new(weighting: Box<dyn Weighting>, tau_eff: TauEff, len: usize, collects: bool) -> Self {
        let direction = Arc::new(if collects { Vec::new() } else { vec![0.0; len] });
        let (held, sums) = (collects.then(Vec::new), Sums::new(tau_eff));
        let (buffers, buffered) = (Buffers::NONE, (Vec::new(), 0.0));
        Aggregator { weighting, tau_eff, direction, sums, held, buffers, buffered }
    }

    /// The same for models that have buffers, too.
    pub fn with_buffers(mut self, buffers: Buffers) -> Self {
        self.buffers = buffers;
        self.buffered.0 = vec![0.0; buffers.len()];
        self
    }

    /// Empties the sums for the next round and keeps their memory.
    pub fn restart(&mut self) {
        // An optimiser may have kept it.
        Arc::make_mut(&mut self.direction).fill(0.0);
        self.sums = Sums::new(self.tau_eff);
        self.held.iter_mut().for_each(Vec::clear);
        self.buffered.0.fill(0.0);
        self.buffered.1 = 0.0;
        self.weighting.opened();
    }

    /// Adds an update and returns its raw weight, discounted. `delta` is empty in runs that do not
    /// train.
    pub fn add<'a>(&mut self, c: &Contribution, delta: impl Into<Cow<'a, [f64]>>) -> f64 {
        let mut delta = delta.into();
        let weight = self.weighting.weigh(c);
        let raw = weight.share * c.discount * weight.times;
        self.sums.add(c, weight, raw);
        if !self.buffers.is_empty() {
            let share = c.p * f64::from(c.times_drawn) * c.discount;
            let at = self.buffers.begin(delta.len());
            self.buffers.add(&mut self.buffered.0, &delta[at..], share);
            self.buffered.1 += share;
            delta.to_mut().truncate(at);
        }
        if let Some(held) = &mut self.held {
            held.push(HeldUpdate { update: *c, raw, delta: Arc::new(delta.into_owned()) });
            return raw;
        }
        let factor = raw / c.accumulation;
        for (sum, delta) in Arc::make_mut(&mut self.direction).iter_mut().zip(&*delta) {
            *sum += factor * delta;
        }
        raw
    }

    /// Does without numbers from now on: updates have no entries until [`Aggregator::load`].
    pub fn without_numbers(&mut self) {
        self.direction = Arc::default();
    }

    /// The numbers of the open aggregation: its direction, the updates that are held, and what was sent of buffers.
    pub fn numbers(&self) -> (Vec<f64>, Vec<Vec<f64>>, Vec<f64>) {
        let held = self.held.iter().flatten().map(|update| update.delta.to_vec());
        (self.direction.to_vec(), held.collect(), self.buffered.0.clone())
    }

    /// How many updates are held, and whether they are held at all.
    pub fn held(&self) -> (usize, bool) {
        (self.held.as_ref().map_or(0, Vec::len), self.held.is_some())
    }

    /// Takes over what [`Aggregator::numbers`] gave, of updates that were added without numbers.
    pub fn load(&mut self, direction: Vec<f64>, held: Vec<Vec<f64>>, buffered: Vec<f64>) {
        self.direction = Arc::new(direction);
        let updates = self.held.iter_mut().flatten();
        updates.zip(held).for_each(|(update, delta)| update.delta = Arc::new(delta));
        self.buffered.0 = buffered;
    }

    /// Moves `x` by everything added, the way `optimizer` does, and says how. `lr` is the clients'
    /// common learning rate η of this round.
    pub fn apply(
        &mut self,
        x: &mut Vec<f64>,
        optimizer: &mut dyn ServerOptimizer,
        lr: f64,
    ) -> Applied {
        if self.sums.discounted == 0.0 {
            return Applied::default();
        }
        let applied = self.weighting.closed(&self.sums);
        let update = AggregatedUpdate {
            direction: &self.direction,
            factor: applied.tau_eff * applied.scale,
            applied,
            client_lr: lr,
            updates: self.held.as_deref().unwrap_or_default(),
        };
        let mut buffers = x.split_off(self.buffers.begin(x.len()));
        *x = optimizer.moved(std::mem::take(x), &update);
        if self.buffered.1 > 0.0 {
            self.buffers.set(&mut buffers, &self.buffered.0, self.buffered.1);
        }
        x.append(&mut buffers);
        applied
    }
}
