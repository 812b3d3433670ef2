//! The kernel against the law written out plainly, bit by bit, and against the solver's.

use super::*;
use gruppetto_sim::random::{Purpose, stream};
use gruppetto_sim::solver::{Descent, Solver};
use rand::RngExt;

const DIMS: [usize; 8] = [1, 2, 7, 8, 63, 64, 65, 130];

/// H, e and where x begins.
struct Problem {
    diagonal: Vec<f64>,
    full: Vec<f64>,
    center: Vec<f64>,
    start: Vec<f64>,
}

impl Problem {
    fn new(dim: usize) -> Self {
        let mut rng = stream(3, Purpose::Data, 0, dim as u64);
        let mut draw = |n: usize| (0..n).map(|_| rng.random::<f64>() - 0.3).collect::<Vec<_>>();
        let half = draw(dim * dim);
        let full = (0..dim * dim).map(|k| half[k] + half[(k % dim) * dim + k / dim]).collect();
        Problem { diagonal: draw(dim), full, center: draw(dim), start: draw(dim) }
    }

    fn hessians(&self) -> [Hessian<'_>; 3] {
        [Hessian::Identity, Hessian::Diagonal(&self.diagonal), Hessian::Full(&self.full)]
    }
}

/// Hx − e, one coordinate after another.
fn gradient(hessian: Hessian<'_>, center: &[f64], x: &[f64]) -> Vec<f64> {
    let dim = x.len();
    let of = |i: usize| match hessian {
        Hessian::Identity => x[i] - center[i],
        Hessian::Diagonal(h) => h[i] * x[i] - center[i],
        Hessian::Full(h) => (0..dim).fold(-center[i], |g, j| g + h[j * dim + i] * x[j]),
    };
    (0..dim).map(of).collect()
}

/// The law as it is written.
fn plain(hessian: Hessian<'_>, center: &[f64], x: &mut [f64], law: &mut DescentLaw<'_>, n: u64) {
    for _ in 0..n {
        for (i, mut g) in gradient(hessian, center, x).into_iter().enumerate() {
            if law.shrink != 0.0 {
                g += law.shrink * x[i];
            }
            if let Some(buffer) = &mut law.buffer {
                buffer[i] = law.momentum * buffer[i] + g;
                g = buffer[i];
            }
            x[i] -= law.lr * g;
        }
        law.lr *= law.decay;
    }
}

/// Whether there is momentum, λ + μ, and γ: in every combination.
fn mixes() -> impl Iterator<Item = (bool, f64, f64)> {
    [false, true].into_iter().flat_map(|momentum| {
        [(0.0, 1.0), (0.7, 1.0), (0.0, 0.9), (0.7, 0.9)]
            .map(|(shrink, decay)| (momentum, shrink, decay))
    })
}

fn law(shrink: f64, decay: f64, buffer: Option<&mut [f64]>) -> DescentLaw<'_> {
    DescentLaw { lr: 0.01, decay, momentum: 0.8, shrink, buffer }
}

fn bits(x: &[f64]) -> Vec<u64> {
    x.iter().map(|x| x.to_bits()).collect()
}

#[test]
fn every_instruction_set_gives_the_bits_of_the_plain_law() {
    for dim in DIMS {
        let problem = Problem::new(dim);
        for (momentum, shrink, decay) in mixes() {
            for hessian in problem.hessians() {
                // In two parts: rate and buffer go on where they were.
                let run = |isa: Option<Isa>| {
                    let (mut x, mut u) = (problem.start.clone(), vec![0.0; dim]);
                    let mut law = law(shrink, decay, momentum.then_some(&mut u[..]));
                    for steps in [14, 9] {
                        match isa {
                            None => plain(hessian, &problem.center, &mut x, &mut law, steps),
                            Some(isa) => {
                                descend(isa, hessian, &problem.center, &mut x, &mut law, steps);
                            }
                        }
                    }
                    let lr = law.lr.to_bits();
                    (bits(&x), bits(&u), lr)
                };
                let expected = run(None);
                for isa in Isa::available() {
                    assert_eq!(run(Some(isa)), expected, "{isa}, {dim}, {shrink}, {decay}");
                }
            }
        }
    }
}

/// All plain steps have the bits that they had before there was any other law.
#[test]
fn no_terms_leave_no_trace() {
    for dim in DIMS {
        let Problem { diagonal: h, center, start, .. } = Problem::new(dim);
        let (mut expected, mut x) = (start.clone(), start);
        for _ in 0..23 {
            for ((x, e), h) in expected.iter_mut().zip(&center).zip(&h) {
                *x -= 0.01 * (h * *x - e);
            }
        }
        let mut law = DescentLaw::sgd(0.01);
        descend(Isa::detect(), Hessian::Diagonal(&h), &center, &mut x, &mut law, 23);
        assert_eq!((bits(&x), law.lr), (bits(&expected), 0.01));
    }
}

/// The solver's law, with the proximal term and the correction folded into two constants.
#[test]
fn every_mix_is_the_solvers() {
    let (prox, weight_decay) = (0.4, 0.3);
    for (momentum, shrink, decay) in mixes() {
        let (prox, weight_decay) = if shrink == 0.0 { (0.0, 0.0) } else { (prox, weight_decay) };
        let rho = if momentum { 0.8 } else { 0.0 };
        let solver = Solver { lr: 0.01, momentum: rho, prox, lr_decay: decay, weight_decay };
        let problem = Problem::new(65);
        let Problem { diagonal: correction, center, start, .. } = &problem;
        for hessian in problem.hessians() {
            let mut expected = start.clone();
            let mut descent = Descent::new(solver, start, correction);
            for _ in 0..23 {
                let g = gradient(hessian, center, &expected);
                descent.step(&mut expected, &g);
            }
            let constant = correction.iter().zip(start).map(|(c, start)| c - prox * start);
            let shifted: Vec<f64> = center.iter().zip(constant).map(|(e, q)| e - q).collect();
            let (mut x, mut u) = (start.clone(), vec![0.0; 65]);
            let mut law = law(shrink, decay, momentum.then_some(&mut u[..]));
            descend(Isa::detect(), hessian, &shifted, &mut x, &mut law, 23);
            for (got, want) in x.iter().zip(&expected) {
                assert!((got - want).abs() <= 1e-13 * want.abs().max(1.0), "{got} {want}");
            }
        }
    }
}

fn refused(h: &[f64], buffer: Option<&mut [f64]>) {
    let mut law = law(0.0, 1.0, buffer);
    descend(Isa::Portable, Hessian::Diagonal(h), &[0.0; 2], &mut [0.0; 2], &mut law, 1);
}

#[test]
#[should_panic(expected = "one curvature per coordinate")]
fn the_length_of_the_curvature_is_checked() {
    refused(&[1.0], None);
}

#[test]
#[should_panic(expected = "one buffer per coordinate")]
fn the_length_of_the_buffer_is_checked() {
    refused(&[1.0; 2], Some(&mut [0.0]));
}
