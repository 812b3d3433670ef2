//! Extreme and invalid input: no NaN, no access out of bounds.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::*;

const SHAPE: SoftmaxShape = SoftmaxShape { features: 7, classes: 18 };

#[test]
fn extreme_logits_stay_finite() {
    let (x, y) = data_set(SHAPE, 36, 14);
    let y: Vec<u32> = y.iter().enumerate().map(|(s, _)| s as u32 % 18).collect();
    let data = Samples { x: &x, y: &y };
    for size in [1e4, -1e4, 1e30] {
        let mut w = vec![0.0; SHAPE.len()];
        for class in 0..18 {
            w[SHAPE.index(class, 7)] = if class % 2 == 0 { size } else { -size };
        }
        for mut kernel in kernels(SHAPE) {
            let mut gradient = vec![0.0; SHAPE.len()];
            let score = kernel.evaluate(&w, data, 0..36, Some(&mut gradient));
            // Nine classes share the probability; the others lose 2 * size.
            let far = 2.0 * f64::from(size.abs()) * 18.0;
            let expected = far + 36.0 * 9f64.ln();
            assert!((score.loss_sum / expected - 1.0).abs() < 1e-6);
            assert_eq!(score.correct, 2);
            assert!(gradient.iter().all(|g| g.is_finite()));
            let unlikely = SHAPE.index(if size > 0.0 { 1 } else { 0 }, 7);
            assert_eq!(gradient[unlikely], -2.0, "its two samples, and no others");
            let mut w = w.clone();
            kernel.step(&mut w, data, &batch_of(20, 36, 15), Law::sgd(LR));
            assert!(w.iter().all(|w| w.is_finite()) && pads_are_zero(SHAPE, &w));
        }
    }
}

#[test]
fn a_diverged_model_is_seen_and_contained() {
    let (x, y) = data_set(SHAPE, 20, 16);
    for bad in [f32::NAN, f32::INFINITY] {
        for mut kernel in kernels(SHAPE) {
            let mut w = parameters(SHAPE, 0.3, 17);
            w[SHAPE.index(3, 7)] = bad;
            let data = Samples { x: &x, y: &y };
            assert!(kernel.evaluate(&w, data, 0..20, None).loss_sum.is_nan());
            kernel.step(&mut w, data, &batch_of(20, 20, 18), Law::sgd(LR));
            assert!(w[SHAPE.index(17, 0)].is_nan());
            assert!(pads_are_zero(SHAPE, &w));
        }
    }
}

/// Whether each operation refuses the input, on every instruction set.
fn refuses(w_len: usize, x_len: usize, labels: &[u32], batch: &[u32]) -> bool {
    let x = vec![0.5; x_len];
    let data = Samples { x: &x, y: labels };
    let refused = |run: &mut dyn FnMut()| catch_unwind(AssertUnwindSafe(run)).is_err();
    kernels(SHAPE).iter_mut().all(|kernel| {
        let mut w = vec![0.0; w_len];
        let mut out = vec![0.0; SHAPE.len()];
        refused(&mut || kernel.gradient(&w, data, batch, &mut out))
            && refused(&mut || kernel.step(&mut w, data, batch, Law::sgd(LR)))
    })
}

#[test]
fn bad_input_panics() {
    let (len, rows) = (SHAPE.len(), SHAPE.rows());
    assert!(!refuses(len, 3 * rows, &[0, 17, 2], &[0, 1, 2]));
    assert!(refuses(len, 3 * rows, &[0, 18, 2], &[0, 1, 2]), "label");
    assert!(refuses(len, 3 * rows, &[0, u32::MAX, 2], &[1]), "label");
    assert!(refuses(len, 3 * rows, &[0, 1, 2], &[0, 3]), "index");
    assert!(refuses(len, 3 * rows, &[0, 1, 2], &[u32::MAX]), "index");
    assert!(refuses(len, 3 * rows, &[0, 1, 2], &[]), "empty batch");
    assert!(refuses(len, 3 * rows - 1, &[0, 1, 2], &[0]), "samples");
    assert!(refuses(len, 4 * rows, &[0, 1, 2], &[0]), "samples");
    assert!(refuses(len - 1, 3 * rows, &[0, 1, 2], &[0]), "parameters");
    assert!(refuses(len + LANES, 3 * rows, &[0, 1, 2], &[0]), "parameters");
}

#[test]
fn bad_output_or_range_panics() {
    let (x, y) = data_set(SHAPE, 3, 19);
    let data = Samples { x: &x, y: &y };
    let w = vec![0.0; SHAPE.len()];
    for mut kernel in kernels(SHAPE) {
        let mut evaluate = |range, out: Option<&mut [f64]>| {
            catch_unwind(AssertUnwindSafe(|| kernel.evaluate(&w, data, range, out))).is_err()
        };
        assert!(!evaluate(0..3, Some(&mut vec![0.0; SHAPE.len()])));
        assert!(evaluate(0..4, None));
        assert!(evaluate(0..3, Some(&mut vec![0.0; SHAPE.len() - 1])));
        let mut short = vec![0.0; SHAPE.len() - 1];
        let gradient = || kernel.gradient(&w, data, &[0], &mut short);
        assert!(catch_unwind(AssertUnwindSafe(gradient)).is_err());
    }
}
