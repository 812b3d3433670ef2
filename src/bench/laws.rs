//! What the terms of a local law cost: a step with them against a step of plain SGD.

use super::steps::{BenchedTerms, Steps};
use super::{Extent, Figure, median};
use gruppetto_kernels::Isa;

/// A term or a mix, and how much longer than plain SGD its step may take.
const LAWS: [(&str, BenchedTerms, f64); 7] = {
    const NONE: BenchedTerms = BenchedTerms::NONE;
    const PROXIMAL: BenchedTerms = BenchedTerms { shrink: true, pull: true, ..NONE };
    const REDUCTION: BenchedTerms = BenchedTerms { pull: true, ..NONE };
    [
        ("momentum", BenchedTerms { momentum: true, ..NONE }, 0.15),
        ("proximal", PROXIMAL, 0.15),
        ("momentum and proximal", BenchedTerms { momentum: true, ..PROXIMAL }, 0.15),
        ("weight decay", BenchedTerms { shrink: true, ..NONE }, 0.15),
        ("learning-rate decay", BenchedTerms { lr_decay: true, ..NONE }, 0.15),
        ("variance reduction", REDUCTION, 0.35),
        ("variance reduction and momentum", BenchedTerms { momentum: true, ..REDUCTION }, 0.35),
    ]
};

pub(super) fn figures(extent: Extent) -> Vec<Figure> {
    // A millisecond each, so that on a busy machine most of them are not interrupted.
    let (rounds, steps) = if extent == Extent::Full { (201, 1_500) } else { (21, 1_500) };
    let bench = Steps::new();
    let mut costs = [const { Vec::new() }; LAWS.len()];
    // In turns, so that all see the same machine; each beside a plain run of its own.
    for _ in 0..rounds {
        for ((_, terms, _), costs) in LAWS.iter().zip(&mut costs) {
            let plain = bench.rate(Isa::detect(), steps, BenchedTerms::NONE);
            costs.push(plain / bench.rate(Isa::detect(), steps, *terms) - 1.0);
        }
    }
    LAWS.iter()
        .zip(costs)
        .map(|((name, _, most), costs)| {
            let cost = median(costs);
            Figure::new(format!("  {name}"), format!("{:+.0} % time", 100.0 * cost))
                .goal(format!("at most +{:.0} %", 100.0 * most), cost <= *most)
        })
        .collect()
}
