//! Which law a client follows in which round.

use super::Solver;

/// From some round on, the learning rate is another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LrChange {
    /// The last round before the change.
    pub after: u64,
    /// What the rate is multiplied by.
    pub times: f64,
}

/// Everybody's law, round by round.
#[derive(Clone, Debug, PartialEq)]
pub struct Recipe {
    /// What `[client]` says: the rate that all accumulations are measured in.
    pub common: Solver,
    /// One per class of devices, with what the class has of its own.
    pub classes: Vec<Solver>,
    /// Changes of the learning rate over the rounds.
    schedule: Schedule,
}

/// Changes of the learning rate over the rounds: (last round before, factor from then on).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Schedule(Vec<(u64, f64)>);

impl Schedule {
    /// From changes in the order in which they come.
    pub fn new(changes: &[LrChange]) -> Self {
        let mut factor = 1.0;
        let total = |change: &LrChange| {
            factor *= change.times;
            (change.after, factor)
        };
        Schedule(changes.iter().map(total).collect())
    }

    /// What the learning rate is multiplied by in a round.
    pub fn factor(&self, round: u64) -> f64 {
        let passed = self.0.partition_point(|(after, _)| round > *after);
        passed.checked_sub(1).map_or(1.0, |last| self.0[last].1)
    }

    /// The smallest and the largest factor there ever is.
    pub fn extremes(&self) -> (f64, f64) {
        let factors = || self.0.iter().map(|(_, factor)| *factor);
        (factors().fold(1.0, f64::min), factors().fold(1.0, f64::max))
    }
}

impl Recipe {
    /// The same law for everybody in every class.
    pub fn new(common: Solver, schedule: Schedule) -> Self {
        Recipe { common, classes: vec![common], schedule }
    }

    /// The changes of the learning rate.
    pub fn schedule(&self) -> &Schedule {
        &self.schedule
    }

    /// What the schedule multiplies all learning rates by in a round.
    pub fn factor(&self, round: u64) -> f64 {
        self.schedule.factor(round)
    }

    /// The law of a class while learning rates are `factor` times what they were.
    pub fn solver(&self, class: u16, factor: f64) -> Solver {
        let solver = self.classes[class as usize];
        Solver { lr: solver.lr * factor, ..solver }
    }

    /// The common learning rate η while learning rates are `factor` times what they were.
    pub fn lr(&self, factor: f64) -> f64 {
        self.common.lr * factor
    }

    /// ‖a‖₁ of `tau` steps of a class, in units of the common η.
    pub fn accumulation(&self, class: u16, factor: f64, tau: u64) -> f64 {
        let own = self.classes[class as usize];
        self.solver(class, factor).accumulation(tau) * (own.lr / self.common.lr)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_change_after_their_rounds_for_every_class() {
        let common = Solver::sgd(0.05);
        let own = Solver { lr: 0.1, prox: 2.0, ..common };
        let changes = [LrChange { after: 600, times: 0.2 }, LrChange { after: 900, times: 0.2 }];
        let schedule = Schedule::new(&changes);
        assert_eq!(schedule.extremes(), (0.2 * 0.2, 1.0));
        let recipe = Recipe { classes: vec![common, own], ..Recipe::new(common, schedule) };
        let rates = [1, 600, 601, 901].map(|round| recipe.lr(recipe.factor(round)));
        let expected = [0.05, 0.05, 0.05 * 0.2, 0.05 * (0.2 * 0.2)];
        assert_eq!(rates, expected);
        assert_eq!(recipe.solver(1, 0.2).lr, 0.1 * 0.2);
        assert_eq!(recipe.accumulation(0, 0.2, 7), 7.0);
        // Twice the rate; α = ημ shrinks with the rate, so a grows.
        let alpha: f64 = 0.1 * 0.2 * 2.0;
        let expected = 2.0 * (1.0 - (1.0 - alpha).powi(7)) / alpha;
        assert!((recipe.accumulation(1, 0.2, 7) - expected).abs() < 1e-12);
    }
}
