//! How well classes describe a trace: quantiles of both, side by side.

use super::{FitClass, Lognormal, Summary};
use crate::ComputeColumn;
use crate::inspect::Weights;
use serde::Serialize;

/// The quantiles that are compared.
pub(super) const SHARES: [f64; 4] = [0.1, 0.5, 0.9, 0.99];

/// An aspect of the trace and of the classes.
#[derive(Clone, Debug, Serialize)]
pub struct Quality {
    /// The key in a scenario.
    pub name: &'static str,
    /// The unit of every number.
    pub unit: &'static str,
    /// p10, p50, p90 and p99 of the devices in the trace; of windows, of all that were seen whole.
    pub trace: [f64; 4],
    /// The same of devices drawn from the classes.
    pub fit: [f64; 4],
}

/// Every aspect that classes have.
pub(super) fn compare(
    devices: &[Summary],
    classes: &[FitClass],
    column: Option<ComputeColumn>,
    windows: &[Weights; 2],
) -> Vec<Quality> {
    type Told = fn(&Summary) -> Option<f64>;
    type Fitted = fn(&FitClass) -> Option<Lognormal>;
    let compute: (_, _, _, Told, Fitted) = match column {
        Some(ComputeColumn::Speed) => ("speed", "GFLOPS", 1e9, |d| d.compute, |c| c.speed),
        _ => ("step_time", "ms", 1e6, |d| d.compute, |c| c.step_time),
    };
    let links: [(_, _, _, Told, Fitted); 2] = [
        ("uplink", "Mbps", 1e6, |d| d.up, |c| c.uplink),
        ("downlink", "Mbps", 1e6, |d| d.down, |c| c.downlink),
    ];
    let mut all = Vec::new();
    for (name, unit, scale, told, fitted) in [compute].into_iter().chain(links) {
        let mut logs: Vec<f64> = devices.iter().filter_map(told).collect();
        let parts: Vec<(f64, Lognormal)> =
            classes.iter().filter_map(|class| Some((class.share, fitted(class)?))).collect();
        if logs.is_empty() || parts.is_empty() {
            continue;
        }
        logs.sort_by(f64::total_cmp);
        let rank = |share: f64| ((share * logs.len() as f64).ceil() as usize).max(1) - 1;
        let trace = SHARES.map(|share| logs[rank(share)].exp() / scale);
        let total: f64 = parts.iter().map(|(share, _)| share).sum();
        let below = |log: f64| {
            let part = |(share, class): &(f64, Lognormal)| share * normal(log, class);
            parts.iter().map(part).sum::<f64>() / total
        };
        let fit = SHARES.map(|share| inverted(below, share, -60.0, 60.0).exp());
        all.push(Quality { name, unit, trace, fit });
    }
    for (name, windows, is_on) in
        [("there for", &windows[0], true), ("away for", &windows[1], false)]
    {
        let parts: Vec<(f64, f64)> = classes
            .iter()
            .filter_map(|class| Some((class.share, class.availability?)))
            .map(|(_, told)| (told.windows, if is_on { told.on } else { told.off }))
            .collect();
        if parts.is_empty() || windows.is_empty() {
            continue;
        }
        let total: f64 = parts.iter().map(|(windows, _)| windows).sum();
        let below = |log: f64| {
            let part = |(windows, mean): &(f64, f64)| windows * (1.0 - (-log.exp() / mean).exp());
            parts.iter().map(part).sum::<f64>() / total
        };
        let spread = windows.spread(1.0);
        let trace = [spread.p10, spread.p50, spread.p90, spread.p99];
        let fit = SHARES.map(|share| inverted(below, share, -60.0, 60.0).exp());
        all.push(Quality { name, unit: "s", trace, fit });
    }
    all
}

/// The part of a class below a logarithm.
fn normal(log: f64, class: &Lognormal) -> f64 {
    let apart = log - class.median.ln();
    match class.sigma > 0.0 {
        true => 0.5 * erfc(-apart / class.sigma * std::f64::consts::FRAC_1_SQRT_2),
        false => f64::from(apart >= -1e-9),
    }
}

/// The complementary error function, to seven digits (a Chebyshev fit; Press et al., Numerical
/// Recipes).
fn erfc(x: f64) -> f64 {
    const TERMS: [f64; 10] = [
        -1.26551223,
        1.00002368,
        0.37409196,
        0.09678418,
        -0.18628806,
        0.27886807,
        -1.13520398,
        1.48851587,
        -0.82215223,
        0.17087277,
    ];
    let t = 1.0 / (1.0 + 0.5 * x.abs());
    let sum = TERMS.iter().rev().fold(0.0, |sum, term| sum * t + term);
    let tail = t * (sum - x * x).exp();
    if x >= 0.0 { tail } else { 2.0 - tail }
}

/// Where a growing function reaches `share`.
fn inverted(below: impl Fn(f64) -> f64, share: f64, mut low: f64, mut high: f64) -> f64 {
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        *(if below(middle) < share { &mut low } else { &mut high }) = middle;
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_function_is_right() {
        for (x, value) in
            [(0.0, 1.0), (0.5, 0.479_500_122), (2.0, 0.004_677_735), (-1.0, 1.842_700_793)]
        {
            assert!((erfc(x) - value).abs() < 2e-7, "{x}: {}", erfc(x));
        }
    }

    #[test]
    fn quantiles_of_a_lognormal() {
        let class = Lognormal { median: 5.0, unit: "ms", sigma: 0.5 };
        let below = |log: f64| normal(log, &class);
        assert!((inverted(below, 0.5, -60.0, 60.0).exp() - 5.0).abs() < 1e-5);
        let p90 = 5.0 * (0.5 * 1.281_551_566f64).exp();
        assert!((inverted(below, 0.9, -60.0, 60.0).exp() - p90).abs() < 1e-4);
        let fixed = Lognormal { sigma: 0.0, ..class };
        assert!((inverted(|log| normal(log, &fixed), 0.9, -60.0, 60.0).exp() - 5.0).abs() < 1e-6);
    }
}
