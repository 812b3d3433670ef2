//! Adding a client's change to the sums of a round, against copying as much memory.

use super::{Extent, Figure, median, percent};
use crate::aggregate::{
    Aggregator, Contribution, Draw, Participation, RuleConfig, Sgd, TauEff, WeightingConfig,
};
use std::hint::black_box;
use std::time::Instant;

pub(super) fn figures(extent: Extent) -> Vec<Figure> {
    let (len, rounds) = if extent == Extent::Full { (10_000_000, 21) } else { (1_000_000, 11) };
    let rule = RuleConfig {
        weighting: WeightingConfig::FedNova,
        tau_eff: TauEff::Accumulation,
        participation: Participation::Renormalize,
    };
    let draw = Draw::Uniform { clients: 10, asked: 10 };
    let weighting = rule.init(draw).expect("it is built in");
    let mut sums = Aggregator::new(weighting, rule.tau_eff, len, false);
    let client = Contribution {
        client: 0,
        p: 0.1,
        times_drawn: 1,
        tau: 7,
        accumulation: 7.0,
        discount: 1.0,
    };
    let (delta, mut copy) = (vec![0.5; len], vec![1.0; len]);
    let gigabytes = |bytes: usize, seconds: f64| (bytes * len) as f64 / seconds / 1e9;
    let (mut rates, mut shares) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        // Read and written once.
        let began = Instant::now();
        copy.copy_from_slice(black_box(&delta));
        black_box(&mut copy);
        let copied = gigabytes(16, began.elapsed().as_secs_f64());
        // Both read, one written.
        let began = Instant::now();
        sums.add(&client, black_box(&delta[..]));
        let added = gigabytes(24, began.elapsed().as_secs_f64());
        rates.push(added);
        shares.push(added / copied);
    }
    let mut moved = vec![0.0; len];
    sums.apply(&mut moved, &mut Sgd { lr: 1.0 }, 0.1);
    assert!(moved.iter().all(|moved| *moved > 0.0), "the changes were really added");
    let (rate, share) = (median(rates), median(shares));
    let what = format!("aggregation of {} M parameters", len / 1_000_000);
    vec![
        Figure::new(what, format!("{rate:.1} GB/s")),
        Figure::new("  share of the bandwidth of a copy", percent(share))
            .goal("at least 50 %", share >= 0.5),
    ]
}
