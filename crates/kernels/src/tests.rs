//! Tests of the kernel: the instruction sets against each other bit by bit,
//! and all of them against a plain `f64` implementation that shares nothing
//! with the kernel but the formula.

use super::*;

mod laws;
mod limits;
mod reference;

use reference::{Reference, data_set, noise, parameters};

const LR: f32 = 0.1;

fn shapes() -> impl Iterator<Item = SoftmaxShape> {
    [1, 2, 7, 60, 61, 100].into_iter().flat_map(|features| {
        [2, 3, 10, 16, 17, 33, 62].map(|classes| SoftmaxShape { features, classes })
    })
}

fn kernels(shape: SoftmaxShape) -> Vec<SoftmaxKernel> {
    let isas = Isa::available();
    assert_eq!(isas.last(), Some(&Isa::Portable));
    isas.into_iter()
        .map(|isa| SoftmaxKernel::with_isa(shape, isa).expect("it is available"))
        .collect()
}

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|v| v.to_bits()).collect()
}

fn pads_are_zero(shape: SoftmaxShape, values: &[f32]) -> bool {
    (shape.classes..shape.blocks() * LANES)
        .all(|c| (0..shape.rows()).all(|f| values[shape.index(c, f)].to_bits() == 0))
}

fn batch_of(size: usize, samples: usize, seed: u64) -> Vec<u32> {
    let mut random = noise(seed);
    (0..size).map(|_| ((random() + 1.0) / 2.0 * samples as f32) as u32 % samples as u32).collect()
}

#[test]
fn instruction_sets_agree_bit_by_bit() {
    for shape in shapes() {
        let (x, y) = data_set(shape, 150, 1);
        let data = Samples { x: &x, y: &y };
        let start = parameters(shape, 0.3, 2);
        let mut kernels = kernels(shape);
        for size in [1, 2, 5, 19, 20, 21, 32, 64, 100] {
            let results: Vec<_> = kernels
                .iter_mut()
                .map(|kernel| {
                    let mut w = start.clone();
                    let mut gradient = vec![f32::NAN; shape.len()];
                    for step in 0..3 {
                        kernel.step(&mut w, data, &batch_of(size, 150, step), Law::sgd(LR));
                    }
                    kernel.gradient(&w, data, &batch_of(size, 150, 9), &mut gradient);
                    assert!(pads_are_zero(shape, &w) && pads_are_zero(shape, &gradient));
                    let mut sum = vec![0.0; shape.len()];
                    let score = kernel.evaluate(&w, data, 3..3 + size, Some(&mut sum));
                    let sum: Vec<_> = sum.iter().map(|v| v.to_bits()).collect();
                    let score = (score.loss_sum.to_bits(), score.correct);
                    (bits(&w), bits(&gradient), sum, score)
                })
                .collect();
            assert_ne!(results[0].0, bits(&start), "the steps moved nothing");
            for result in &results[1..] {
                assert!(*result == results[0], "{shape:?}, batch of {size}");
            }
        }
    }
}

#[test]
fn gradient_matches_f64() {
    for shape in shapes() {
        let (x, y) = data_set(shape, 60, 3);
        let w = parameters(shape, 0.3, 4);
        let batch = batch_of(37, 60, 5);
        let expected = Reference::new(shape, &w).mean_gradient(&x, &y, &batch);
        for mut kernel in kernels(shape) {
            let mut gradient = vec![f32::NAN; shape.len()];
            kernel.gradient(&w, Samples { x: &x, y: &y }, &batch, &mut gradient);
            for (got, want) in gradient.iter().zip(&expected) {
                assert!((f64::from(*got) - want).abs() < 1e-6, "{got} is not {want}");
            }
        }
    }
}

#[test]
fn gradient_matches_differences_of_the_loss() {
    let shape = SoftmaxShape { features: 7, classes: 17 };
    let (x, y) = data_set(shape, 40, 6);
    let data = Samples { x: &x, y: &y };
    let w = parameters(shape, 0.3, 7);
    for mut kernel in kernels(shape) {
        let mut gradient = vec![0.0; shape.len()];
        kernel.evaluate(&w, data, 0..40, Some(&mut gradient));
        for class in 0..shape.classes {
            for row in 0..shape.rows() {
                let at = shape.index(class, row);
                let step = 1.0 / 64.0;
                let mut loss = |by: f32| {
                    let mut moved = w.clone();
                    moved[at] += by;
                    kernel.evaluate(&moved, data, 0..40, None).loss_sum
                };
                let slope = (loss(step) - loss(-step)) / (2.0 * f64::from(step));
                assert!((slope - gradient[at]).abs() < 2e-3, "{slope}, {}", gradient[at]);
            }
        }
    }
}

#[test]
fn a_step_follows_the_gradient() {
    for shape in shapes() {
        let (x, y) = data_set(shape, 50, 8);
        let data = Samples { x: &x, y: &y };
        let batch = batch_of(20, 50, 9);
        for mut kernel in kernels(shape) {
            let before = parameters(shape, 0.3, 10);
            let mut gradient = vec![0.0; shape.len()];
            kernel.gradient(&before, data, &batch, &mut gradient);
            let mut after = before.clone();
            kernel.step(&mut after, data, &batch, Law::sgd(LR));
            for ((after, before), gradient) in after.iter().zip(&before).zip(&gradient) {
                assert!((after - (before - LR * gradient)).abs() <= 2e-7);
            }
        }
    }
}

#[test]
fn evaluation_matches_f64() {
    for shape in shapes() {
        let (x, y) = data_set(shape, 300, 11);
        let w = parameters(shape, 0.5, 12);
        let reference = Reference::new(shape, &w);
        let range = 1..291;
        let (loss, correct) = reference.evaluate(&x, &y, range.clone());
        let indices: Vec<u32> = (1..291).collect();
        let mean = reference.mean_gradient(&x, &y, &indices);
        for mut kernel in kernels(shape) {
            // It must be added to what is there.
            let mut gradient = vec![5.0; shape.len()];
            let data = Samples { x: &x, y: &y };
            let score = kernel.evaluate(&w, data, range.clone(), Some(&mut gradient));
            assert!((score.loss_sum / loss - 1.0).abs() < 1e-6);
            assert_eq!(score.correct, correct);
            assert!(score.correct > 0 && score.correct < 290, "a poor test");
            for (got, want) in gradient.iter().zip(&mean) {
                assert!((got - 5.0 - want * 290.0).abs() < 2e-4);
            }
            assert_eq!(score, kernel.evaluate(&w, data, range.clone(), None));
            assert_eq!(kernel.evaluate(&w, data, 7..7, None), Evaluation::default());
        }
    }
}

#[test]
fn tied_classes_count_for_the_lowest() {
    let shape = SoftmaxShape { features: 2, classes: 40 };
    let (x, _) = data_set(shape, 40, 13);
    let y: Vec<u32> = (0..40).collect();
    for mut kernel in kernels(shape) {
        for lowest in [0, 3, 15, 16, 37] {
            let mut w = vec![0.0; shape.len()];
            for class in [lowest, 38, 39] {
                w[shape.index(class, 2)] = 1.0;
            }
            for label in 0..40 {
                let score = kernel.evaluate(&w, Samples { x: &x, y: &y }, label..label + 1, None);
                assert_eq!(score.correct, u64::from(label == lowest));
            }
        }
    }
}

#[test]
fn exponential_is_accurate() {
    assert_eq!(exp::exp(0.0), 1.0);
    assert_eq!(exp::exp(exp::FLUSH.next_down()), 0.0);
    for i in 0..=1_000_000 {
        let x = i as f32 * (exp::FLUSH / 1_000_000.0);
        let (got, want) = (exp::exp(x), f64::from(x).exp());
        let ulp = f64::from(got.next_up() - got);
        assert!((f64::from(got) - want).abs() < ulp, "exp({x}) is not {got}");
    }
}

#[test]
fn peak_is_plausible() {
    let peak = fma_peak();
    assert!(peak > 0.01 && peak < 1000.0, "{peak} GFLOP/s");
}
