//! The general rule by hand, by enumeration and by property.

use super::*;
use crate::aggregate::{Draw, Participation, RuleConfig, Sgd, WeightingConfig};
use proptest::prelude::*;

const ALL: Draw = Draw::Uniform { clients: 2, asked: 2 };

fn rule(weighting: WeightingConfig, tau_eff: TauEff, participation: Participation) -> RuleConfig {
    RuleConfig { weighting, tau_eff, participation }
}

fn contribution(p: f64, tau: u64) -> Contribution {
    Contribution { client: 0, p, times_drawn: 1, tau, accumulation: tau as f64, discount: 1.0 }
}

fn aggregator(rule: RuleConfig, draw: Draw) -> Aggregator {
    Aggregator::new(rule.init(draw).unwrap(), rule.tau_eff, 1, false)
}

fn aggregate(
    rule: RuleConfig,
    draw: Draw,
    updates: &[(Contribution, f64)],
) -> (f64, Applied, Vec<f64>) {
    let mut sums = aggregator(rule, draw);
    sums.restart();
    let add = |(i, (c, delta)): (usize, &(Contribution, f64))| {
        sums.add(&Contribution { client: i as u32, ..*c }, vec![*delta])
    };
    let raw: Vec<f64> = updates.iter().enumerate().map(add).collect();
    let mut x = vec![0.0];
    let applied = sums.apply(&mut x, &mut Sgd { lr: 1.0 }, 0.1);
    (x[0], applied, raw.iter().map(|raw| raw * applied.scale).collect())
}

/// a = 10 and 40, equal shares: the case in which one published implementation moves 0.64
/// times as far as it should.
#[test]
fn two_clients_by_hand() {
    let updates = [(contribution(0.5, 10), -1.0), (contribution(0.5, 40), -8.0)];
    let fedavg = rule(WeightingConfig::FedAvg, TauEff::Accumulation, Participation::Renormalize);
    let (moved, applied, weights) = aggregate(fedavg, ALL, &updates);
    assert!((moved - -4.5).abs() < 1e-15);
    assert_eq!((applied.tau_eff, weights), (25.0, vec![0.2, 0.8]));

    let fednova = rule(WeightingConfig::FedNova, TauEff::Accumulation, Participation::Renormalize);
    let (moved, applied, weights) = aggregate(fednova, ALL, &updates);
    // τ_eff Σ p_i Δ_i/τ_i = 25 · (0.5·(−1/10) + 0.5·(−8/40))
    assert!((moved - -3.75).abs() < 1e-15);
    assert_eq!((applied.tau_eff, weights), (25.0, vec![0.5, 0.5]));

    let fixed = rule(WeightingConfig::FedNova, TauEff::Fixed(4.0), Participation::Renormalize);
    assert!((aggregate(fixed, ALL, &updates).0 - -0.6).abs() < 1e-15);
}

#[test]
fn a_missing_client_is_renormalised_away_or_counts_as_no_progress() {
    let arrived = [(contribution(0.25, 8), -2.0)];
    let draw = Draw::Uniform { clients: 4, asked: 2 };
    for weighting in [WeightingConfig::FedAvg, WeightingConfig::FedNova] {
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
    let unbiased = rule(WeightingConfig::FedAvg, TauEff::Accumulation, Participation::Unbiased);
    assert_eq!(aggregate(unbiased, Draw::BySize { clients: 4, asked: 5 }, &twice).0, 0.4 * -2.0);
}

#[test]
fn nobody_moves_nothing() {
    let fednova = rule(WeightingConfig::FedNova, TauEff::Fixed(9.0), Participation::Renormalize);
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
        (WeightingConfig::FedAvg, TauEff::Accumulation, [3, 9, 5]),
        (WeightingConfig::FedNova, TauEff::Fixed(7.0), [3, 9, 5]),
        (WeightingConfig::FedNova, TauEff::Accumulation, [6, 6, 6]),
        (WeightingConfig::FedAvg, TauEff::Fixed(7.0), [6, 6, 6]),
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
                mean += p[i] * p[j] * moved(Draw::BySize { clients: 3, asked: 2 }, &[i, j]);
            }
        }
        assert!((mean - truth).abs() < 1e-14, "{weighting:?} {tau_eff:?}: {mean} {truth}");
    }
}

/// Drawn by size and renormalised: a draw is a vote, so size is not counted twice.
#[test]
fn by_size_draws_weigh_the_same() {
    let updates = [(contribution(0.9, 5), -1.0), (contribution(0.1, 5), -3.0)];
    let config = rule(WeightingConfig::FedNova, TauEff::Accumulation, Participation::Renormalize);
    let (_, _, weights) = aggregate(config, Draw::BySize { clients: 3, asked: 2 }, &updates);
    assert_eq!(weights, [0.5, 0.5]);
}

/// Everyone arrives: inverse-probability weights are what renormalised ones are, for every
/// weighting, by size too where each is drawn as often as its share says.
#[test]
fn inverse_probability_changes_nothing_when_everyone_arrives() {
    let updates = [(contribution(0.75, 10), -1.0), (contribution(0.25, 2), 5.0)];
    for weighting in [WeightingConfig::FedNova, WeightingConfig::FedAvg, WeightingConfig::Uniform] {
        for tau_eff in [TauEff::Accumulation, TauEff::Steps] {
            let of =
                |participation| aggregate(rule(weighting, tau_eff, participation), ALL, &updates);
            let (moved, applied, weights) = of(Participation::InverseProbability);
            let (expected, plain, plain_weights) = of(Participation::Renormalize);
            assert!((moved - expected).abs() < 1e-14, "{weighting:?}: {moved} {expected}");
            assert!((applied.tau_eff - plain.tau_eff).abs() < 1e-14);
            assert!(weights.iter().zip(plain_weights).all(|(a, b)| (a - b).abs() < 1e-14));
        }
    }
    let draw = Draw::BySize { clients: 2, asked: 4 };
    let drawn = |p, times_drawn, tau| Contribution { times_drawn, ..contribution(p, tau) };
    let updates = [(drawn(0.75, 3, 10), -1.0), (drawn(0.25, 1, 2), 5.0)];
    let config =
        rule(WeightingConfig::FedNova, TauEff::Accumulation, Participation::InverseProbability);
    let (_, applied, weights) = aggregate(config, draw, &updates);
    assert_eq!((applied.tau_eff, weights), (8.0, vec![0.75, 0.25]));
}

/// One client in every round, the other in every third, drawn twice then: in the long run both
/// move the model by their shares, and τ_eff does not depend on who is there.
#[test]
fn inverse_probability_gives_everyone_its_share_in_the_long_run() {
    for weighting in [WeightingConfig::FedNova, WeightingConfig::FedAvg] {
        let config = rule(weighting, TauEff::Accumulation, Participation::InverseProbability);
        let draw = Draw::Uniform { clients: 2, asked: 2 };
        let mut sums = aggregator(config, draw);
        let mut moved = [0.0; 2];
        for round in 1..=3000 {
            sums.restart();
            let often = sums.add(&contribution(0.5, 8), vec![0.0]);
            let rare = Contribution { client: 1, times_drawn: 2, ..contribution(0.5, 2) };
            let seldom = if round % 3 == 0 { sums.add(&rare, vec![0.0]) } else { 0.0 };
            let Applied { tau_eff, scale } = sums.apply(&mut vec![0.0], &mut Sgd { lr: 1.0 }, 0.1);
            if round > 3 {
                assert!((tau_eff - 5.0).abs() < 1e-9, "{tau_eff}");
            }
            moved[0] += tau_eff * scale * often;
            moved[1] += tau_eff * scale * seldom;
        }
        // FedAvg counts steps: 8 against 2.
        let expected = if weighting == WeightingConfig::FedAvg { 4.0 } else { 1.0 };
        let ratio = moved[0] / moved[1];
        assert!((ratio / expected - 1.0).abs() < 0.01, "{weighting:?}: {ratio}");
    }
}

proptest! {
    #[test]
    fn weights_sum_to_one_and_tau_eff_stays_within_the_taus(
        clients in proptest::collection::vec((1e-3..1.0f64, 1u64..500, -5.0..5.0f64), 1..40),
        fednova in any::<bool>(),
        steps in any::<bool>(),
        unbiased in any::<bool>(),
    ) {
        let weighting = if fednova { WeightingConfig::FedNova } else { WeightingConfig::FedAvg };
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
            let (a, b) = (moved(WeightingConfig::FedAvg), moved(WeightingConfig::FedNova));
            prop_assert!((a - b).abs() <= 1e-12 * (1.0 + a.abs()), "{} {}", a, b);
        }
    }
}

/// Two clients of shares 1/4 and 3/4 with one weight, a statistic and a counter each. The statistic is averaged by
/// shares whatever the weighting, and neither enters the direction.
#[test]
fn buffers_are_averaged_by_value_and_counters_take_the_largest() {
    for weighting in [WeightingConfig::FedAvg, WeightingConfig::FedNova] {
        let rule = rule(weighting, TauEff::Accumulation, Participation::Renormalize);
        let buffers = Buffers { averaged: 1, counters: 1 };
        let mut sums = aggregator(rule, ALL).with_buffers(buffers);
        let (mut with, mut without) = (vec![1.0, 5.0, 7.0], vec![1.0]);
        let mut bare = aggregator(rule, ALL);
        for (p, tau, delta, statistic, counter) in
            [(0.25, 10, -1.0, 8.0, 20.0), (0.75, 40, -8.0, 4.0, 11.0)]
        {
            sums.add(&contribution(p, tau), vec![delta, statistic, counter]);
            bare.add(&contribution(p, tau), vec![delta]);
        }
        sums.apply(&mut with, &mut Sgd { lr: 1.0 }, 0.1);
        bare.apply(&mut without, &mut Sgd { lr: 1.0 }, 0.1);
        assert_eq!(with, [without[0], 5.0, 20.0], "(8 + 3·4)/4, and the larger count");
        // The next round begins with nothing, and a counter never goes back.
        sums.restart();
        sums.add(&contribution(0.25, 10), vec![0.0, 2.0, 3.0]);
        sums.apply(&mut with, &mut Sgd { lr: 1.0 }, 0.1);
        assert_eq!(with[1..], [2.0, 20.0]);
    }
}

/// An optimiser that collects is handed weights alone; a stale update counts as much less as it is discounted.
#[test]
fn buffers_are_not_what_an_optimiser_collects() {
    struct Collects;
    impl ServerOptimizer for Collects {
        fn apply(&mut self, x: &mut [f64], update: &AggregatedUpdate<'_>) {
            assert!(x.len() == 1 && update.updates.iter().all(|held| held.delta.len() == 1));
        }
        fn collects(&self) -> bool {
            true
        }
    }
    let rule = rule(WeightingConfig::FedNova, TauEff::Accumulation, Participation::Renormalize);
    let weighting = rule.init(ALL).unwrap();
    let buffers = Buffers { averaged: 1, counters: 0 };
    let mut sums = Aggregator::new(weighting, rule.tau_eff, 1, true).with_buffers(buffers);
    sums.add(&contribution(0.5, 1), vec![1.0, 9.0]);
    sums.add(&Contribution { discount: 0.5, ..contribution(0.5, 1) }, vec![1.0, 3.0]);
    let mut x = vec![0.0, 0.0];
    sums.apply(&mut x, &mut Collects, 0.1);
    assert_eq!(x, [0.0, 7.0], "(2·9 + 3)/3");
}
