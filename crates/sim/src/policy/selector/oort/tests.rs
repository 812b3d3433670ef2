//! Oort's scores by hand, its draws by statistics.

use super::*;
use crate::random::{Purpose, stream};

fn seconds(seconds: u64) -> Span {
    Span::from_nanos(seconds * 1_000_000_000)
}

fn in_two_seconds() -> OortConfig {
    OortConfig { round_time: Some(seconds(2)), ..OortConfig::PUBLISHED }
}

fn oort(config: OortConfig, p: &[f64]) -> Oort {
    Oort::new(config, p.into())
}

impl Oort {
    /// Hears of a client: the round, how many seconds it took, the norm.
    fn hear(&mut self, client: u32, (round, duration, norm): (u64, u64, f64)) {
        self.note(client, round, seconds(duration), norm);
    }
}

fn choose(oort: &Oort, round: u64, wanted: usize, busy: impl Fn(u32) -> bool) -> Vec<u32> {
    let rngs = [2, 3].map(|drawn| stream(1, Purpose::Selection, drawn, round));
    let free = (0..oort.p.len() as u32).filter(|client| !busy(*client)).count();
    let mut chosen = oort.choose(round, rngs, wanted, free, |client| !busy(client));
    chosen.sort_unstable();
    assert!(chosen.windows(2).all(|pair| pair[0] < pair[1]), "nobody twice: {chosen:?}");
    assert_eq!(chosen.len(), wanted);
    chosen
}

/// How often each client is asked in `rounds` rounds of `wanted` that all go well.
fn asked(
    oort: &mut Oort,
    rounds: u64,
    wanted: usize,
    back: impl Fn(u32) -> (u64, f64),
) -> Vec<u32> {
    let mut counts = vec![0; oort.p.len()];
    for round in 1..=rounds {
        for client in choose(oort, round, wanted, |_| false) {
            counts[client as usize] += 1;
            let (duration, norm) = back(client);
            oort.hear(client, (round, duration, norm));
        }
    }
    counts
}

fn assert_scores(oort: &Oort, round: u64, expected: &[f64]) {
    let scores = oort.scores(round, &oort.known);
    for (scored, expected) in scores.iter().zip(expected) {
        assert!((scored.score - expected).abs() < 1e-12, "{scores:?} {expected}");
    }
    assert_eq!(scores.len(), expected.len());
}

#[test]
fn scores_by_hand() {
    let mut oort = oort(in_two_seconds(), &[0.1, 0.2, 0.3, 0.4]);
    assert_scores(&oort, 5, &[]);
    // Utilities 1, 2 and 3; the last takes twice as long as it should: (2/4)².
    oort.hear(0, (1, 1, 10.0));
    oort.hear(1, (2, 2, 10.0));
    oort.hear(2, (4, 4, 10.0));
    let rare = |since: f64| (0.1 * 5f64.ln() / since).sqrt();
    let [low, middle] = [0.001 / 2.001 + rare(1.0), 1.001 / 2.001 + rare(2.0)];
    assert_scores(&oort, 5, &[low, middle, (1.0 + rare(4.0)) / 4.0]);
    // Heard again it is quicker and worth less: now the last is worth most, 1 as before.
    oort.hear(2, (5, 2, 5.0));
    let (least, range) = (0.999, 2.0 - 0.999);
    let rest = [1.001 / range + rare(2.0), (1.5 - least) / range + rare(5.0)];
    assert_scores(&oort, 5, &[0.001 / range + rare(1.0), rest[0], rest[1]]);
}

#[test]
fn nothing_heard_is_worth_nothing_and_the_unheard_is_worth_the_mean() {
    let mut oort = oort(in_two_seconds(), &[0.25; 4]);
    oort.hear(0, (1, 1, 4.0));
    oort.hear(1, (1, 1, 8.0));
    oort.hear(2, (1, 1, f64::NAN));
    oort.hear(3, (1, 1, 0.0));
    let range = 2.0 - 0.999;
    // The mean of 1, 2 and 0 is 1.
    assert_scores(&oort, 1, &[0.001 / range, 1.0, 0.001 / range, 0.0]);
    // Too late to be looked at: as before, but for how long it took.
    oort.hear(1, (2, 4, f64::NAN));
    assert_eq!(oort.known[1].utility, Some(2.0));
    assert_eq!((oort.known[1].round, oort.known[1].duration), (2, seconds(4)));
    // A model that has blown up tells nothing.
    oort.hear(0, (3, 1, f64::NAN));
    oort.hear(0, (3, 1, f64::INFINITY));
    assert_eq!(oort.known[0].utility, Some(1.0));
}

#[test]
fn outliers_are_clipped() {
    let mut oort = oort(in_two_seconds(), &[0.025; 40]);
    (0..40).for_each(|client| oort.hear(client, (1, 1, f64::from(client + 1))));
    oort.hear(39, (1, 1, 1e9));
    let scores = oort.scores(1, &oort.known);
    // 5 % of 40 are as good as the best that is not among them.
    assert_eq!([scores[38].score, scores[39].score], [1.0; 2]);
    assert!(scores[37].score < 1.0 && scores[20].score > 0.5);
}

#[test]
fn the_scale_of_gradients_does_not_matter() {
    let scores = |scale: f64| {
        let mut oort = oort(in_two_seconds(), &[0.2; 5]);
        (0..5).for_each(|client| oort.hear(client, (1, 1, scale * f64::from(client + 1))));
        oort.scores(9, &oort.known).iter().map(|scored| scored.score).collect::<Vec<_>>()
    };
    for (one, other) in scores(1.0).into_iter().zip(scores(1e-12)) {
        assert!((one - other).abs() < 1e-9);
    }
}

#[test]
fn only_the_best_are_drawn_and_by_score() {
    let scored = |scores: &[f64]| -> Vec<Scored> {
        let numbered = scores.iter().enumerate();
        numbered.map(|(client, score)| Scored { client: client as u32, score: *score }).collect()
    };
    let count = |scores: &[f64], wanted: usize| {
        let mut counts = vec![0.0f64; scores.len()];
        for round in 0..20_000 {
            let mut rng = stream(1, Purpose::Selection, 2, round);
            for client in draw_by_score(scored(scores), wanted, &mut rng) {
                counts[client as usize] += 1.0 / 20_000.0;
            }
        }
        counts
    };
    // 0.96 is above 95 % of the best, 0.94 is not.
    let counts = count(&[0.94, 1.0, 0.96], 1);
    assert_eq!(counts[0], 0.0);
    assert!((counts[1] - 1.0 / 1.96).abs() < 0.01, "{counts:?}");
    // 4/6 + 2·(1/6)(4/5)
    let counts = count(&[4.0, 1.0, 1.0], 2);
    assert!((counts[0] - 14.0 / 15.0).abs() < 0.01, "{counts:?}");
    assert!((counts[1] - counts[2]).abs() < 0.02, "{counts:?}");
    // Nobody is worth anything.
    let counts = count(&[0.0; 3], 2);
    assert!((counts.iter().sum::<f64>() - 2.0).abs() < 1e-6);
}

#[test]
fn exploration_falls_from_round_to_round() {
    let untried = |round: u64, known: u32, wanted: usize| {
        let mut oort = oort(OortConfig::PUBLISHED, &[0.01; 100]);
        (0..known).for_each(|client| oort.hear(client, (1, 1, 1.0)));
        choose(&oort, round, wanted, |_| false).iter().filter(|client| **client >= known).count()
    };
    // ⌈0.9·10⌉, ⌈0.9·0.98·10⌉, ⌈0.9·0.98⁹·10⌉ = ⌈7.504⌉, and 0.2 at last.
    assert_eq!([1, 2, 10, 1000].map(|round| untried(round, 50, 10)), [9, 9, 8, 2]);
    assert_eq!([untried(1, 100, 10), untried(1, 0, 10)], [0, 10], "nobody left; nobody known");
    assert_eq!([untried(1, 97, 10), untried(1000, 3, 10)], [3, 7], "others fill the places");
}

#[test]
fn the_untried_are_drawn_evenly() {
    let mut oort = oort(OortConfig::PUBLISHED, &[1.0 / 60.0; 60]);
    (0..20).for_each(|client| oort.hear(client, (1, 1, 1.0)));
    let mut counts = [0; 60];
    for round in 1..=4000 {
        for client in choose(&oort, round, 10, |_| false) {
            counts[client as usize] += 1;
        }
    }
    let untried = &counts[20..];
    let mean = untried.iter().sum::<i32>() / 40;
    assert!((200..300).contains(&mean), "{mean}");
    assert!(untried.iter().all(|n| (n - mean).abs() < 80), "{untried:?}");
}

#[test]
fn everybody_is_tried_in_the_end() {
    let mut oort = oort(OortConfig::PUBLISHED, &[0.02; 50]);
    // At least one of five in every round.
    asked(&mut oort, 50, 5, |_| (1, 1.0));
    assert_eq!(oort.known.len(), 50);
}

#[test]
fn the_slow_are_asked_less_than_the_fast() {
    for config in [OortConfig::PUBLISHED, in_two_seconds()] {
        let mut oort = oort(config, &[0.05; 20]);
        let counts = asked(&mut oort, 200, 4, |client| (2 + 4 * u64::from(client % 2), 1.0));
        let of = |odd| (0..20).filter(|c| c % 2 == odd).map(|c| counts[c]).sum::<u32>();
        assert!(of(1) * 4 < of(0), "{counts:?}");
        let alike = OortConfig { alpha: 0.0, ..config };
        let mut oort = Oort::new(alike, [0.05; 20].into());
        let counts = asked(&mut oort, 200, 4, |client| (2 + 4 * u64::from(client % 2), 1.0));
        let of = |odd| (0..20).filter(|c| c % 2 == odd).map(|c| counts[c]).sum::<u32>();
        assert!(of(1) * 2 > of(0), "without a penalty: {counts:?}");
    }
}

#[test]
fn those_with_large_gradients_or_much_data_are_asked_more() {
    let mut even = oort(OortConfig::PUBLISHED, &[0.05; 20]);
    let counts = asked(&mut even, 200, 4, |client| (1, f64::from(1 + client % 2)));
    let of = |odd| (0..20).filter(|c| c % 2 == odd).map(|c| counts[c]).sum::<u32>();
    assert!(of(1) > 4 * of(0), "{counts:?}");
    let p: Vec<f64> = (0..20).map(|client| f64::from(1 + client % 2) / 30.0).collect();
    let mut uneven = oort(OortConfig::PUBLISHED, &p);
    let by_size = asked(&mut uneven, 200, 4, |_| (1, 1.0));
    let of = |odd| (0..20).filter(|c| c % 2 == odd).map(|c| by_size[c]).sum::<u32>();
    assert!(of(1) > 4 * of(0), "{by_size:?}");
}

#[test]
fn the_busy_are_never_chosen() {
    let mut oort = oort(OortConfig::PUBLISHED, &[0.05; 20]);
    for round in 1..300 {
        let busy = |client: u32| (u64::from(client) + round).is_multiple_of(3);
        for client in choose(&oort, round, 5, busy) {
            assert!(!busy(client));
            oort.hear(client, (round, 1, 1.0));
        }
    }
}

#[test]
fn the_order_in_which_clients_are_heard_does_not_matter() {
    let [mut one, mut other] = [(); 2].map(|()| oort(OortConfig::PUBLISHED, &[0.1; 10]));
    let told = |client: u32| (1, u64::from(1 + client % 3), 1.0 + f64::from(client % 4));
    (0..8).for_each(|client| one.hear(client, told(client)));
    (0..8).rev().for_each(|client| other.hear(client, told(client)));
    for round in 2..200 {
        assert_eq!(choose(&one, round, 3, |_| false), choose(&other, round, 3, |_| false));
    }
}

#[test]
fn the_preferred_round_is_a_percentile_that_grows_when_less_is_heard() {
    let mut oort = oort(OortConfig::PUBLISHED, &[0.1; 10]);
    assert_eq!(oort.preferred(1), None, "nobody was heard");
    (0..10).for_each(|client| oort.hear(client, (1, u64::from(client) + 1, 1.0)));
    assert_eq!(oort.preferred(2), Some(seconds(4)), "three of ten are quicker");
    // Rounds 1 to 20 brought 1, 21 to 40 bring 0.8: 35 % from round 41 on, and so on.
    (0..8).for_each(|client| oort.hear(client, (21, u64::from(client) + 1, 1.0)));
    (0..6).for_each(|client| oort.hear(client, (41, u64::from(client) + 1, 1.0)));
    (0..9).for_each(|client| oort.hear(client, (61, u64::from(client) + 1, 1.0)));
    let at = |round| oort.preferred(round).unwrap().nanos() / 1_000_000_000;
    assert_eq!([40, 41, 60, 61, 80, 81, 900].map(at), [4, 4, 4, 5, 5, 5, 5]);
    let given = Oort { config: in_two_seconds(), ..oort };
    assert_eq!(given.preferred(61), Some(seconds(2)));
}
