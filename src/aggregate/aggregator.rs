//! Running sums of one aggregation.

use super::{Draw, Participation, RuleConfig, TauEff, Weighting};

/// What the rule needs to know of one update besides Δ_i itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contribution {
    /// The client's share p_i of the data.
    pub p: f64,
    /// How often it was drawn this round (more than once only with replacement).
    pub times_drawn: u32,
    /// Local steps τ_i.
    pub tau: u64,
    /// ‖a_i‖₁.
    pub accumulation: f64,
}

/// How one aggregation moved the model.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Applied {
    /// The effective number of steps; 0 if nobody arrived.
    pub tau_eff: f64,
    /// What turns the raw weight of [`Weigher::raw`] into w_i.
    pub scale: f64,
}

/// The raw weight of a contribution: w_i up to a factor that is known only at the end.
#[derive(Clone, Copy, Debug)]
pub struct Weigher {
    rule: RuleConfig,
    draw: Draw,
}

impl Weigher {
    /// Weights for a round whose participants were drawn by `draw`.
    pub fn new(rule: RuleConfig, draw: Draw) -> Self {
        Weigher { rule, draw }
    }

    /// What stands for p_i.
    fn share(&self, c: &Contribution) -> f64 {
        self.rule.participation.weight(self.draw, c.p, c.times_drawn)
    }

    /// w_i up to a common factor.
    pub fn raw(&self, c: &Contribution) -> f64 {
        match self.rule.weighting {
            Weighting::FedNova => self.share(c),
            Weighting::FedAvg => self.share(c) * c.accumulation,
        }
    }
}

/// Running sums of one aggregation.
pub struct Aggregator {
    weigher: Weigher,
    /// Σ raw_i Δ_i/‖a_i‖₁
    direction: Vec<f64>,
    raw: f64,
    share: f64,
    accumulation: f64,
    steps: f64,
}

impl Aggregator {
    /// An empty aggregation of models with `len` parameters.
    pub fn new(weigher: Weigher, len: usize) -> Self {
        let direction = vec![0.0; len];
        Aggregator { weigher, direction, raw: 0.0, share: 0.0, accumulation: 0.0, steps: 0.0 }
    }

    /// Empties the sums for the next aggregation and keeps their memory.
    pub fn restart(&mut self, weigher: Weigher) {
        let mut direction = std::mem::take(&mut self.direction);
        direction.fill(0.0);
        *self = Aggregator { direction, ..Aggregator::new(weigher, 0) };
    }

    /// Adds an update and returns its raw weight. `delta` is empty in runs that do not train.
    pub fn add(&mut self, c: &Contribution, delta: &[f64]) -> f64 {
        let share = self.weigher.share(c);
        let raw = self.weigher.raw(c);
        self.share += share;
        self.raw += raw;
        self.accumulation += share * c.accumulation;
        self.steps += share * c.tau as f64;
        let factor = raw / c.accumulation;
        for (sum, delta) in self.direction.iter_mut().zip(delta) {
            *sum += factor * delta;
        }
        raw
    }

    /// Moves `x` by everything added, and says how.
    pub fn apply(&self, x: &mut [f64]) -> Applied {
        if self.raw == 0.0 {
            return Applied::default();
        }
        // Renormalised shares sum to 1 over those who arrived; unbiased ones only on average.
        let whole = match self.weigher.rule.participation {
            Participation::Renormalize => self.share,
            Participation::Unbiased => 1.0,
        };
        // τ_eff is a mean over those who arrived, whatever their shares sum to: who is missing
        // shortens the direction, and must not shorten the step a second time.
        let mean_accumulation = self.accumulation / self.share;
        let tau_eff = match self.weigher.rule.tau_eff {
            TauEff::Accumulation => mean_accumulation,
            TauEff::Steps => self.steps / self.share,
            TauEff::Fixed(value) => value,
        };
        let scale = match self.weigher.rule.weighting {
            Weighting::FedNova => 1.0 / whole,
            Weighting::FedAvg => 1.0 / (mean_accumulation * whole),
        };
        let factor = tau_eff * scale;
        for (x, direction) in x.iter_mut().zip(&self.direction) {
            *x += factor * direction;
        }
        Applied { tau_eff, scale }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ALL: Draw = Draw::Uniform { clients: 2, asked: 2 };

    fn rule(weighting: Weighting, tau_eff: TauEff, participation: Participation) -> RuleConfig {
        RuleConfig { weighting, tau_eff, participation }
    }

    fn contribution(p: f64, tau: u64) -> Contribution {
        Contribution { p, times_drawn: 1, tau, accumulation: tau as f64 }
    }

    fn aggregate(
        rule: RuleConfig,
        draw: Draw,
        updates: &[(Contribution, f64)],
    ) -> (f64, Applied, Vec<f64>) {
        let mut sums = Aggregator::new(Weigher::new(rule, draw), 1);
        let raw: Vec<f64> = updates.iter().map(|(c, delta)| sums.add(c, &[*delta])).collect();
        let mut x = [0.0];
        let applied = sums.apply(&mut x);
        (x[0], applied, raw.iter().map(|raw| raw * applied.scale).collect())
    }

    /// a = 10 and 40, equal shares: the case in which one published implementation moves 0.64
    /// times as far as it should.
    #[test]
    fn two_clients_by_hand() {
        let updates = [(contribution(0.5, 10), -1.0), (contribution(0.5, 40), -8.0)];
        let fedavg = rule(Weighting::FedAvg, TauEff::Accumulation, Participation::Renormalize);
        let (moved, applied, weights) = aggregate(fedavg, ALL, &updates);
        assert!((moved - -4.5).abs() < 1e-15);
        assert_eq!((applied.tau_eff, weights), (25.0, vec![0.2, 0.8]));

        let fednova = rule(Weighting::FedNova, TauEff::Accumulation, Participation::Renormalize);
        let (moved, applied, weights) = aggregate(fednova, ALL, &updates);
        // τ_eff Σ p_i Δ_i/τ_i = 25 · (0.5·(−1/10) + 0.5·(−8/40))
        assert!((moved - -3.75).abs() < 1e-15);
        assert_eq!((applied.tau_eff, weights), (25.0, vec![0.5, 0.5]));

        let fixed = rule(Weighting::FedNova, TauEff::Fixed(4.0), Participation::Renormalize);
        assert!((aggregate(fixed, ALL, &updates).0 - -0.6).abs() < 1e-15);
    }

    #[test]
    fn a_missing_client_is_renormalised_away_or_counts_as_no_progress() {
        let arrived = [(contribution(0.25, 8), -2.0)];
        let draw = Draw::Uniform { clients: 4, asked: 2 };
        for weighting in [Weighting::FedAvg, Weighting::FedNova] {
            // Algorithm 1: (0.25·8/0.25) · (0.25/0.25) · (−2/8).
            let renormalised = rule(weighting, TauEff::Accumulation, Participation::Renormalize);
            assert_eq!(aggregate(renormalised, draw, &arrived).0, -2.0);
            // Footnote, scheme (ii): share 0.25·4/2 = 0.5.
            let unbiased = rule(weighting, TauEff::Accumulation, Participation::Unbiased);
            let (moved, applied, _) = aggregate(unbiased, draw, &arrived);
            assert_eq!(applied.tau_eff, 8.0);
            assert_eq!(moved, -1.0);
        }
        // Footnote, scheme (i): drawn twice of five draws counts 2/5.
        let twice = [(Contribution { times_drawn: 2, ..contribution(0.25, 8) }, -2.0)];
        let unbiased = rule(Weighting::FedAvg, TauEff::Accumulation, Participation::Unbiased);
        assert_eq!(aggregate(unbiased, Draw::BySize { asked: 5 }, &twice).0, 0.4 * -2.0);
    }

    #[test]
    fn nobody_moves_nothing() {
        let fednova = rule(Weighting::FedNova, TauEff::Fixed(9.0), Participation::Renormalize);
        let (moved, applied, _) = aggregate(fednova, ALL, &[]);
        assert_eq!((moved, applied), (0.0, Applied::default()));
    }

    /// Both unbiased schemes give what full participation would give, on average over all ways to
    /// draw: FedAvg for any τ_i, FedNova for any τ_i at a given τ_eff (its direction is unbiased),
    /// and both for equal τ_i.
    #[test]
    fn unbiased_schemes_are_unbiased() {
        let p = [0.5, 0.3, 0.2];
        let delta = [-1.0, 4.0, 2.5];
        let everyone = Draw::Uniform { clients: 3, asked: 3 };
        for (weighting, tau_eff, taus) in [
            (Weighting::FedAvg, TauEff::Accumulation, [3, 9, 5]),
            (Weighting::FedNova, TauEff::Fixed(7.0), [3, 9, 5]),
            (Weighting::FedNova, TauEff::Accumulation, [6, 6, 6]),
            (Weighting::FedAvg, TauEff::Fixed(7.0), [6, 6, 6]),
        ] {
            let unbiased = rule(weighting, tau_eff, Participation::Unbiased);
            let moved = |draw, drawn: &[usize]| {
                let mut times = [0; 3];
                drawn.iter().for_each(|&i| times[i] += 1);
                let updates: Vec<_> = (0..3)
                    .filter(|&i| times[i] > 0)
                    .map(|i| {
                        let once = contribution(p[i], taus[i]);
                        (Contribution { times_drawn: times[i], ..once }, delta[i])
                    })
                    .collect();
                aggregate(unbiased, draw, &updates).0
            };
            let truth = moved(everyone, &[0, 1, 2]);
            let uniform = Draw::Uniform { clients: 3, asked: 2 };
            let pairs = [[0, 1], [0, 2], [1, 2]];
            let mean: f64 = pairs.iter().map(|pair| moved(uniform, pair)).sum::<f64>() / 3.0;
            assert!((mean - truth).abs() < 1e-14, "{weighting:?} {tau_eff:?}: {mean} {truth}");
            let mut mean = 0.0;
            for i in 0..3 {
                for j in 0..3 {
                    mean += p[i] * p[j] * moved(Draw::BySize { asked: 2 }, &[i, j]);
                }
            }
            assert!((mean - truth).abs() < 1e-14, "{weighting:?} {tau_eff:?}: {mean} {truth}");
        }
    }

    /// Drawn by size and renormalised: a draw is a vote, so size is not counted twice.
    #[test]
    fn by_size_draws_weigh_the_same() {
        let updates = [(contribution(0.9, 5), -1.0), (contribution(0.1, 5), -3.0)];
        let config = rule(Weighting::FedNova, TauEff::Accumulation, Participation::Renormalize);
        let (_, _, weights) = aggregate(config, Draw::BySize { asked: 2 }, &updates);
        assert_eq!(weights, [0.5, 0.5]);
    }

    proptest! {
        #[test]
        fn weights_sum_to_one_and_tau_eff_stays_within_the_taus(
            clients in proptest::collection::vec((1e-3..1.0f64, 1u64..500, -5.0..5.0f64), 1..40),
            fednova in any::<bool>(),
            steps in any::<bool>(),
            unbiased in any::<bool>(),
        ) {
            let weighting = if fednova { Weighting::FedNova } else { Weighting::FedAvg };
            let tau_eff = if steps { TauEff::Steps } else { TauEff::Accumulation };
            let updates: Vec<_> =
                clients.iter().map(|&(p, tau, delta)| (contribution(p, tau), delta)).collect();
            let draw = Draw::Uniform { clients: 100, asked: clients.len() };
            let participation =
                if unbiased { Participation::Unbiased } else { Participation::Renormalize };
            let config = rule(weighting, tau_eff, participation);
            let (moved, applied, weights) = aggregate(config, draw, &updates);
            prop_assert!(unbiased || (weights.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            let least = clients.iter().map(|c| c.1).min().unwrap() as f64;
            let most = clients.iter().map(|c| c.1).max().unwrap() as f64;
            prop_assert!(applied.tau_eff >= least * (1.0 - 1e-12));
            prop_assert!(applied.tau_eff <= most * (1.0 + 1e-12));
            // The rule as the paper writes it, from the weights: x moves by τ_eff Σ w_i Δ_i/‖a_i‖₁.
            let paper: f64 = weights.iter().zip(&updates)
                .map(|(w, (c, delta))| applied.tau_eff * w * delta / c.accumulation).sum();
            prop_assert!((moved - paper).abs() < 1e-9 * (1.0 + paper.abs()));
        }

        #[test]
        fn equal_taus_make_fedavg_and_fednova_agree(
            clients in proptest::collection::vec((1e-3..1.0f64, -5.0..5.0f64), 1..40),
            tau in 1u64..1000,
        ) {
            let updates: Vec<_> =
                clients.iter().map(|&(p, delta)| (contribution(p, tau), delta)).collect();
            let draw = Draw::Uniform { clients: 100, asked: clients.len() };
            for participation in [Participation::Renormalize, Participation::Unbiased] {
                let moved = |weighting| {
                    let config = rule(weighting, TauEff::Accumulation, participation);
                    aggregate(config, draw, &updates).0
                };
                let (a, b) = (moved(Weighting::FedAvg), moved(Weighting::FedNova));
                prop_assert!((a - b).abs() <= 1e-12 * (1.0 + a.abs()), "{} {}", a, b);
            }
        }
    }
}
