//! Steps with momentum, shrinking and pulling, in every combination.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::*;
use gruppetto_sim::solver::{Descent, Solver};

const PROX: f64 = 0.75;
const WEIGHT_DECAY: f64 = 0.5;

/// Which terms a law has.
#[derive(Clone, Copy, Debug)]
struct Terms {
    buffer: bool,
    shrink: bool,
    pull: bool,
}

fn all_terms() -> impl Iterator<Item = Terms> {
    (0..8).map(|i| Terms { buffer: i & 1 != 0, shrink: i & 2 != 0, pull: i & 4 != 0 })
}

impl Terms {
    fn law<'a>(self, lr: f32, pull: &'a [f32], buffer: &'a mut [f32]) -> Law<'a> {
        let shrink = if self.shrink { (PROX + WEIGHT_DECAY) as f32 } else { 0.0 };
        let (pull, buffer) = (self.pull.then_some(pull), self.buffer.then_some(buffer));
        Law { lr, momentum: 0.9, shrink, pull, buffer }
    }

    /// The same as a solver. Without `pull` there is no proximal term, all of `shrink` is decay.
    fn solver(self) -> Solver {
        let on = |term: bool, value: f64| if term { value } else { 0.0 };
        let prox = on(self.shrink && self.pull, PROX);
        let weight_decay = on(self.shrink, PROX + WEIGHT_DECAY) - prox;
        let (lr, momentum) = (f64::from(LR), on(self.buffer, f64::from(0.9f32)));
        Solver { lr, momentum, prox, lr_decay: 1.0, weight_decay }
    }
}

#[test]
fn instruction_sets_agree_on_every_law() {
    for shape in shapes() {
        let (x, y) = data_set(shape, 150, 22);
        let data = Samples { x: &x, y: &y };
        let start = parameters(shape, 0.3, 23);
        let pull = parameters(shape, 0.1, 24);
        let mut kernels = kernels(shape);
        for terms in all_terms() {
            let results: Vec<_> = kernels
                .iter_mut()
                .map(|kernel| {
                    let (mut w, mut u) = (start.clone(), vec![0.0; shape.len()]);
                    for step in 0..4 {
                        let law = terms.law(LR / (1 + step) as f32, &pull, &mut u);
                        kernel.step(&mut w, data, &batch_of(19, 150, step), law);
                    }
                    assert!(pads_are_zero(shape, &w) && pads_are_zero(shape, &u));
                    (bits(&w), bits(&u))
                })
                .collect();
            assert_ne!(results[0].0, bits(&start), "the steps moved nothing");
            for result in &results[1..] {
                assert!(*result == results[0], "{shape:?}, {terms:?}");
            }
        }
    }
}

#[test]
fn every_law_is_the_solvers() {
    for shape in shapes() {
        let (x, y) = data_set(shape, 60, 25);
        let start = parameters(shape, 0.3, 26);
        let correction = parameters(shape, 0.1, 27);
        let wide = |values: &[f32]| values.iter().map(|v| f64::from(*v)).collect::<Vec<_>>();
        let (start64, correction64) = (wide(&start), wide(&correction));
        for terms in all_terms() {
            let solver = terms.solver();
            let used = if terms.pull { &correction64[..] } else { &[] };
            let mut expected = start64.clone();
            let mut descent = Descent::new(solver, &start64, used);
            for step in 0..10 {
                let narrow: Vec<f32> = expected.iter().map(|v| *v as f32).collect();
                let g = Reference::new(shape, &narrow).mean_gradient(&x, &y, &batch(step));
                descent.step(&mut expected, &g);
            }
            let constant = correction64.iter().zip(&start64);
            let pull: Vec<f32> = constant.map(|(c, x0)| (c - solver.prox * x0) as f32).collect();
            for mut kernel in kernels(shape) {
                let (mut w, mut u) = (start.clone(), vec![0.0; shape.len()]);
                for step in 0..10 {
                    let law = terms.law(LR, &pull, &mut u);
                    kernel.step(&mut w, Samples { x: &x, y: &y }, &batch(step), law);
                }
                for (got, want) in w.iter().zip(&expected) {
                    assert!((f64::from(*got) - want).abs() < 2e-6, "{terms:?}: {got} {want}");
                }
            }
        }
    }
    fn batch(step: u64) -> Vec<u32> {
        batch_of(20, 60, 28 + step)
    }
}

/// A feature that is seen once and never again: its buffer must reach 0, not the slow numbers
/// just above.
#[test]
fn a_buffer_without_gradients_ends_at_zero() {
    let shape = SoftmaxShape { features: 1, classes: 3 };
    let data = Samples { x: &[1.0, 1.0, 0.0, 1.0], y: &[0, 1] };
    for mut kernel in kernels(shape) {
        let (mut w, mut u) = (vec![0.0; shape.len()], vec![0.0; shape.len()]);
        for step in 0..1000 {
            let law = Law { momentum: 0.9, buffer: Some(&mut u), ..Law::sgd(LR) };
            kernel.step(&mut w, data, &[u32::from(step > 0)], law);
            assert!(u.iter().all(|u| *u == 0.0 || u.is_normal()));
        }
        let (first, bias) = (shape.index(0, 0), shape.index(0, 1));
        assert!(u[first] == 0.0 && w[first] > LR, "{} {}", u[first], w[first]);
        assert!(u[bias] != 0.0);
    }
}

/// One number for all bits (FNV-1a).
fn digest(values: &[f32]) -> u64 {
    values.iter().fold(0xCBF2_9CE4_8422_2325, |hash, value| {
        (hash ^ u64::from(value.to_bits())).wrapping_mul(0x100_0000_01B3)
    })
}

/// The digest was taken when there was no other law. Published results of plain SGD stay what
/// they are.
#[test]
fn plain_sgd_has_the_bits_it_always_had() {
    let shape = SoftmaxShape { features: 60, classes: 17 };
    let (x, y) = data_set(shape, 150, 20);
    for mut kernel in kernels(shape) {
        let mut w = parameters(shape, 0.3, 21);
        for step in 0..20 {
            // A momentum factor means nothing without a buffer.
            let law = Law { momentum: 0.9, ..Law::sgd(LR) };
            kernel.step(&mut w, Samples { x: &x, y: &y }, &batch_of(20, 150, step), law);
        }
        assert_eq!(digest(&w), 0x4018_1B5D_22D1_2139);
    }
}

#[test]
fn lengths_are_checked() {
    let shape = SoftmaxShape { features: 7, classes: 3 };
    let (x, y) = data_set(shape, 5, 29);
    let (len, mut w) = (shape.len(), vec![0.0; shape.len()]);
    for mut kernel in kernels(shape) {
        let mut refused = |pull: usize, buffer: usize| {
            let (pull, mut buffer) = (vec![0.0; pull], vec![0.0; buffer]);
            let terms = Terms { buffer: true, shrink: false, pull: true };
            let law = terms.law(LR, &pull, &mut buffer);
            let step = || kernel.step(&mut w, Samples { x: &x, y: &y }, &[0, 1], law);
            catch_unwind(AssertUnwindSafe(step)).is_err()
        };
        assert!(!refused(len, len));
        assert!(refused(len - 1, len) && refused(len, len + LANES));
    }
}
