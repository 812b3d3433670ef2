//! One SGD step of softmax regression, against NumPy and against the core's peak; and of a
//! quadratic, against a plain loop.

use super::steps::{BenchedTerms, Steps};
use super::{Extent, Figure, median, millions, percent};
use gruppetto_kernels::{DescentLaw, Hessian, Isa, descend, fma_peak};
use std::process::Command;
use std::time::Instant;

/// Multiply-adds that matter: logits and gradient of every sample, feature and class.
const FLOP: f64 = 2.0 * 2.0 * 20.0 * 60.0 * 10.0;
const NUMPY: &str = include_str!("../../benches/numpy_softmax.py");

pub(super) fn figures(extent: Extent) -> Vec<Figure> {
    let (rounds, steps) = if extent == Extent::Full { (15, 40_000) } else { (5, 4_000) };
    let bench = Steps::new();
    // NumPy before, between and after, so that both see the same machine.
    let mut numpy = Vec::new();
    let mut rates = Vec::new();
    let mut peaks = Vec::new();
    for round in 0..rounds {
        if round % (rounds / 3).max(1) == 0 {
            numpy.extend(numpy_rate());
        }
        peaks.push(fma_peak());
        rates.push(bench.rate(Isa::detect(), steps, BenchedTerms::NONE));
    }
    let (rate_here, peak) = (median(rates), median(peaks));
    let share = rate_here * FLOP / 1e9 / peak;
    let mut figures = vec![
        Figure::new("SGD steps, 60 features, 10 classes, batch 20", millions(rate_here)),
        Figure::new(format!("  share of this core's {peak:.0} GFLOP/s"), percent(share)),
    ];
    figures.push(if numpy.is_empty() {
        Figure::new("  times NumPy (python3 with numpy not found)", "-")
    } else {
        let times = rate_here / median(numpy);
        let enough = times >= 20.0 || Isa::detect() != Isa::Avx512;
        Figure::new("  times NumPy", format!("{times:.1}")).goal("at least 20 on AVX-512", enough)
    });
    for isa in Isa::available().into_iter().filter(|isa| *isa != Isa::detect()) {
        let few = if isa == Isa::Portable { steps / 100 } else { steps / 4 };
        let rate =
            median((0..5).map(|_| bench.rate(isa, few.max(20), BenchedTerms::NONE)).collect());
        figures.push(Figure::new(format!("  the same, {isa}"), millions(rate)));
    }
    figures
}

/// Steps on a diagonal quadratic of 1,000 coordinates, against the laws written out plainly.
pub(super) fn quadratics(extent: Extent) -> Vec<Figure> {
    let steps = if extent == Extent::Full { 10_000 } else { 1_000 };
    let times = |momentum| {
        format!("{:.1}", median((0..7).map(|_| times_plain_loop(momentum, steps)).collect()))
    };
    vec![
        Figure::new("quadratic steps, times a plain loop", times(0.0)),
        Figure::new("  with momentum", times(0.9)),
    ]
}

fn times_plain_loop(momentum: f64, steps: u64) -> f64 {
    let (h, center) = (vec![0.5; 1000], vec![1.0; 1000]);
    let lr = 0.01;
    let (mut x, mut u) = (vec![0.0; 1000], vec![0.0; 1000]);
    let mut gradient = vec![0.0; 1000];
    let began = Instant::now();
    for _ in 0..steps {
        for (((g, x), e), h) in gradient.iter_mut().zip(&x).zip(&center).zip(&h) {
            *g = h * x - e;
        }
        if momentum > 0.0 {
            u.iter_mut().zip(&gradient).for_each(|(u, g)| *u = momentum * *u + g);
            x.iter_mut().zip(&u).for_each(|(x, u)| *x -= lr * u);
        } else {
            x.iter_mut().zip(&gradient).for_each(|(x, g)| *x -= lr * g);
        }
    }
    let plain = began.elapsed().as_secs_f64();
    let (mut fused, mut buffer) = (vec![0.0; 1000], vec![0.0; 1000]);
    let buffer = (momentum > 0.0).then_some(&mut buffer[..]);
    let mut law = DescentLaw { momentum, buffer, ..DescentLaw::sgd(lr) };
    let began = Instant::now();
    descend(Isa::detect(), Hessian::Diagonal(&h), &center, &mut fused, &mut law, steps);
    let ratio = plain / began.elapsed().as_secs_f64();
    assert_eq!(x, fused, "the same steps were taken");
    ratio
}

/// Steps per second of the same arithmetic in NumPy, if it is installed.
fn numpy_rate() -> Option<f64> {
    let python = std::env::var("PYTHON").unwrap_or_else(|_| "python3".into());
    let output = Command::new(python).arg("-c").arg(NUMPY).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.split_whitespace().last()?.parse().ok().filter(|_| output.status.success())
}
