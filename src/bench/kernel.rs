//! One SGD step of softmax regression: against NumPy, and against the core's peak.

use super::{Extent, Figure, median, millions};
use crate::data::{Synthetic, SyntheticConfig};
use crate::random::{Dist, Purpose, index, stream};
use crate::solver::Solver;
use crate::train::kernel::{Hessian, Isa, Samples, SoftmaxKernel, SoftmaxShape, descend, fma_peak};
use std::process::Command;
use std::time::Instant;

const SHAPE: SoftmaxShape = SoftmaxShape { features: 60, classes: 10 };
const BATCH: usize = 20;
/// Multiply-adds that matter: logits and gradient of every sample, feature and class.
const FLOP: f64 = 2.0 * 2.0 * 20.0 * 60.0 * 10.0;
const NUMPY: &str = include_str!("../../benches/numpy_softmax.py");

pub(super) fn figures(extent: Extent) -> Vec<Figure> {
    let (rounds, steps) = if extent == Extent::Full { (15, 40_000) } else { (5, 4_000) };
    // NumPy before, between and after, so that both see the same machine.
    let mut numpy = Vec::new();
    let mut rates = Vec::new();
    let mut peaks = Vec::new();
    for round in 0..rounds {
        if round % (rounds / 3).max(1) == 0 {
            numpy.extend(numpy_rate());
        }
        peaks.push(fma_peak());
        rates.push(rate(Isa::detect(), steps));
    }
    let (rate_here, peak) = (median(rates), median(peaks));
    let share = rate_here * FLOP / 1e9 / peak;
    let mut figures = vec![
        Figure::new("SGD steps, 60 features, 10 classes, batch 20", millions(rate_here)),
        Figure::new(
            format!("  share of this core's {peak:.0} GFLOP/s"),
            format!("{:.0} %", 100.0 * share),
        ),
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
        let rate = median((0..5).map(|_| rate(isa, few.max(20))).collect());
        figures.push(Figure::new(format!("  the same, {isa}"), millions(rate)));
    }
    figures.push(quadratic(steps));
    figures
}

/// A step on a diagonal quadratic of 1,000 coordinates, against the law written out plainly.
fn quadratic(steps: usize) -> Figure {
    let (h, center) = (vec![0.5; 1000], vec![1.0; 1000]);
    let solver = Solver { lr: 0.01 };
    let ratios = (0..7).map(|_| {
        let (mut x, mut gradient) = (vec![0.0; 1000], vec![0.0; 1000]);
        let began = Instant::now();
        for _ in 0..steps / 4 {
            for (((g, x), e), h) in gradient.iter_mut().zip(&x).zip(&center).zip(&h) {
                *g = h * x - e;
            }
            solver.step(&mut x, &gradient);
        }
        let plain = began.elapsed().as_secs_f64();
        let mut fused = vec![0.0; 1000];
        let began = Instant::now();
        let hessian = Hessian::Diagonal(&h);
        descend(Isa::detect(), hessian, &center, &mut fused, solver.lr, steps as u64 / 4);
        let ratio = plain / began.elapsed().as_secs_f64();
        assert_eq!(x, fused, "the same steps were taken");
        ratio
    });
    let ratio = median(ratios.collect());
    Figure::new("quadratic steps, times a plain loop", format!("{ratio:.1}"))
}

fn data() -> Synthetic {
    let size = Dist::fixed(556.0);
    let SoftmaxShape { features, classes } = SHAPE;
    SyntheticConfig { alpha: 1.0, beta: 1.0, features, classes, size }.init(1, 1)
}

/// Steps per second on one core, each from where the last one ended.
fn rate(isa: Isa, steps: usize) -> f64 {
    let data = data();
    let shard = &data.train[0];
    let samples = Samples { x: &shard.x, y: &shard.y };
    let mut kernel = SoftmaxKernel::with_isa(SHAPE, isa).expect("listed as available");
    let mut w = vec![0.0; SHAPE.len()];
    let mut rng = stream(1, Purpose::Batches, 0, 0);
    let batches: Vec<[u32; BATCH]> =
        (0..500).map(|_| std::array::from_fn(|_| index(&mut rng, shard.y.len() as u32))).collect();
    let began = Instant::now();
    for step in 0..steps {
        kernel.sgd_step(&mut w, samples, &batches[step % batches.len()], 0.02);
    }
    let rate = steps as f64 / began.elapsed().as_secs_f64();
    assert!(w.iter().all(|w| w.is_finite()), "the steps were really taken");
    rate
}

/// Steps per second of the same arithmetic in NumPy, if it is installed.
fn numpy_rate() -> Option<f64> {
    let python = std::env::var("PYTHON").unwrap_or_else(|_| "python3".into());
    let output = Command::new(python).arg("-c").arg(NUMPY).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.split_whitespace().last()?.parse().ok().filter(|_| output.status.success())
}
