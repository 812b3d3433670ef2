//! Listens to a schedule and gathers what the theory needs of it.

use crate::clock::SimTime;
use crate::observer::{Observer, ObserverError, RunEnd};
use crate::record::{ClientRow, Outcome, RoundRow};
use crate::solver::{Accumulation, Recipe, Solver};
use crate::theory::{
    Budget, Consistency, Meter, Participant, RestingPoint, Rounds, ScheduledRound,
};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// What a schedule made of everybody's work.
pub(super) struct Survey {
    p: Arc<[f64]>,
    recipe: Recipe,
    meter: Meter,
    /// Theorem 1's quantities, averaged over the rounds.
    pub rounds: Rounds,
    /// The same, weighted as the bound needs them.
    pub budget: Budget,
    /// Who pulled where since the learning rate last changed; only for quadratics.
    pub resting: Option<RestingPoint>,
    /// Whether since then somebody was missing or made another number of steps than before.
    pub steps_vary: bool,
    latest: Vec<u64>,
    /// The common learning rate of the last round heard of.
    lr: f64,
    /// The class of every client heard.
    classes: BTreeMap<u32, u16>,
    /// Sum and number of τ_i by client.
    taus: Vec<(u64, u64)>,
    /// Rounds in which a client was heard, by the bits of their learning rate.
    rates: BTreeMap<u64, u64>,
    /// What learning rates were multiplied by, round by round.
    lr_factors: Vec<f64>,
    /// Norms of a by class, τ and that factor.
    norms: BTreeMap<(u16, u64, u64), Accumulation>,
    /// Updates that count in the open round.
    used: Vec<ClientRow>,
    ended: SimTime,
}

/// The common learning rates of a schedule.
pub(super) struct LearningRates {
    /// Of the first round.
    pub first: f64,
    pub largest: f64,
    /// Each with the number of rounds that had it.
    pub rounds: Vec<(f64, u64)>,
}

impl Survey {
    /// Of clients with shares `p` that follow `recipe`; `quadratic` tasks come to rest somewhere.
    pub(super) fn new(p: Arc<[f64]>, recipe: Recipe, quadratic: bool) -> Arc<Mutex<Survey>> {
        let (lr, taus) = (recipe.lr(recipe.factor(1)), vec![(0, 0); p.len()]);
        Arc::new(Mutex::new(Survey {
            meter: Meter::new(p.clone()),
            rounds: Rounds::default(),
            budget: Budget::default(),
            resting: quadratic.then(RestingPoint::default),
            steps_vary: false,
            latest: vec![0; p.len()],
            classes: BTreeMap::new(),
            rates: BTreeMap::new(),
            lr_factors: Vec::new(),
            norms: BTreeMap::new(),
            used: Vec::new(),
            ended: SimTime::ZERO,
            p,
            recipe,
            lr,
            taus,
        }))
    }

    /// When the schedule ended.
    pub(super) fn ended(&self) -> SimTime {
        self.ended
    }

    /// p_i.
    pub(super) fn shares(&self) -> &[f64] {
        &self.p
    }

    /// χ² over the whole schedule, and who was never heard.
    pub(super) fn consistency(&mut self) -> Consistency {
        self.meter.read_exactly()
    }

    /// ŵ_i.
    pub(super) fn weights(&self) -> Vec<f64> {
        self.meter.effective_weights()
    }

    /// Solves for where the run comes to rest if every client heard pulls by its share alone, as it
    /// does once variance reduction has settled: Σ p_i(H_i + λ_i)x = Σ p_i e_i; all by the same
    /// with `uniform` weights.
    pub(super) fn settled(&self, uniform: bool) -> RestingPoint {
        let mut resting = RestingPoint::default();
        for (client, class, _) in self.typical() {
            let Solver { weight_decay, .. } = self.recipe.classes[class as usize];
            let one_step = Solver { weight_decay, ..Solver::sgd(1.0) };
            let share = if uniform { 1.0 } else { self.p[client as usize] };
            resting.add(client as usize, share, 1.0, &one_step, 1);
        }
        resting
    }

    /// The learning rates of the rounds in which a client was heard.
    pub(super) fn rates(&self) -> LearningRates {
        let rounds: Vec<(f64, u64)> =
            self.rates.iter().map(|(lr, rounds)| (f64::from_bits(*lr), *rounds)).collect();
        let largest = rounds.iter().map(|(lr, _)| *lr).fold(0.0, f64::max);
        LearningRates { first: self.recipe.lr(self.recipe.factor(1)), largest, rounds }
    }

    /// Clients that were heard, with their class and their mean number of steps, rounded.
    pub(super) fn typical(&self) -> impl Iterator<Item = (u32, u16, u64)> + '_ {
        self.classes.iter().map(|(client, class)| {
            let (sum, count) = self.taus[*client as usize];
            (*client, *class, (sum as f64 / count as f64).round() as u64)
        })
    }

    fn hear(&mut self, round: &RoundRow, used: &[ClientRow]) {
        self.lr_factors.push(round.lr_factor);
        let lr = self.recipe.lr(round.lr_factor);
        if lr != self.lr {
            // Where a run comes to rest is decided by the rates of its last phase.
            self.lr = lr;
            self.resting = self.resting.as_ref().map(|_| RestingPoint::default());
            self.steps_vary = false;
            self.latest.fill(0);
        }
        let mut participants = Vec::with_capacity(used.len());
        for row in used {
            // A client trains at the rate of the round in which it was sent off, which may be over.
            let lr_factor = self.lr_factors[row.round as usize - 1];
            let solver = self.recipe.solver(row.class, lr_factor);
            let key = (row.class, row.tau, lr_factor.to_bits());
            let own_lr = self.recipe.lr(lr_factor);
            let norms = *self.norms.entry(key).or_insert_with(|| solver.norms(row.tau, own_lr));
            let (i, weight) = (row.client as usize, row.raw_weight * round.weight_scale);
            let movement = round.tau_eff * weight;
            self.meter.add(i, movement * lr_factor);
            if let Some(resting) = &mut self.resting {
                resting.add(i, movement, norms.l1, &solver, row.tau);
            }
            let before = std::mem::replace(&mut self.latest[i], row.tau);
            self.steps_vary |= before != 0 && before != row.tau;
            self.classes.insert(row.client, row.class);
            let (sum, count) = self.taus[i];
            self.taus[i] = (sum + row.tau, count + 1);
            participants.push(Participant { p: self.p[i], weight, tau: row.tau, norms });
        }
        self.steps_vary |= used.len() < self.p.len();
        if let Some(round) = ScheduledRound::new(round.tau_eff, participants) {
            self.rounds.add(&round);
            self.budget.add(lr, &round);
            *self.rates.entry(lr.to_bits()).or_default() += 1;
        }
    }
}

impl Observer for Survey {
    fn arrived(&mut self, rows: &[ClientRow]) -> Result<(), ObserverError> {
        self.used.extend(rows.iter().filter(|row| row.outcome == Outcome::Used));
        Ok(())
    }

    fn closed(&mut self, round: &RoundRow) -> Result<(), ObserverError> {
        let used = std::mem::take(&mut self.used);
        self.hear(round, &used);
        self.used = used;
        self.used.clear();
        Ok(())
    }

    fn ended(&mut self, end: &RunEnd) -> Result<(), ObserverError> {
        self.ended = end.now;
        Ok(())
    }
}
