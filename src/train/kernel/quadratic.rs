//! Gradient descent on a quadratic, x ← x − η(Hx − e), many steps at once.
//!
//! With a diagonal H the coordinates do not know of each other, so a block of them stays in
//! registers for all steps and memory is touched once instead of once a step. A full H is read
//! column by column (it is symmetric, so its rows will do), which needs no sum across lanes.
//! No multiply-add is fused, and every coordinate sees the same operations in the same order
//! whatever the vector width: all instruction sets give the same bits, and so does the plain law
//! `g = Hx − e`, `x −= ηg`.
//!
//! The wide versions are the same code compiled for wider vectors, so the only unsafe thing here
//! is to call them, after asking the processor.
#![allow(unsafe_code)]

use super::Isa;

/// H, as thin as it is.
#[derive(Clone, Copy, Debug)]
pub enum Hessian<'a> {
    /// The identity.
    Identity,
    /// diag(h).
    Diagonal(&'a [f64]),
    /// All entries, by rows; symmetric.
    Full(&'a [f64]),
}

/// Coordinates that are kept in registers: eight vectors of eight, enough to hide the latency of
/// the four operations of a step.
const BLOCK: usize = 64;

/// Takes `steps` steps of gradient descent with learning rate `lr`, in place.
///
/// # Panics
/// If the lengths of `hessian`, `center` and `x` do not fit, or the instruction set is not there.
pub fn descend(isa: Isa, hessian: Hessian<'_>, center: &[f64], x: &mut [f64], lr: f64, steps: u64) {
    let dim = x.len();
    assert_eq!(center.len(), dim, "one centre per coordinate");
    match hessian {
        Hessian::Identity => {}
        Hessian::Diagonal(h) => assert_eq!(h.len(), dim, "one curvature per coordinate"),
        Hessian::Full(h) => assert_eq!(h.len(), dim * dim, "a square matrix"),
    }
    assert!(isa.backend().is_some(), "{isa} is not available");
    match isa {
        Isa::Portable => descend_with(hessian, center, x, lr, steps),
        // SAFETY: the processor has the instruction set, as was just asserted.
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 => unsafe { descend_avx2(hessian, center, x, lr, steps) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 => unsafe { descend_avx512(hessian, center, x, lr, steps) },
        #[cfg(not(target_arch = "x86_64"))]
        Isa::Avx2 | Isa::Avx512 => unreachable!("not available"),
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn descend_avx2(hessian: Hessian<'_>, center: &[f64], x: &mut [f64], lr: f64, steps: u64) {
    descend_with(hessian, center, x, lr, steps);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
fn descend_avx512(hessian: Hessian<'_>, center: &[f64], x: &mut [f64], lr: f64, steps: u64) {
    descend_with(hessian, center, x, lr, steps);
}

/// Inlined into each of the above, so that it is compiled for their vectors.
#[inline(always)]
fn descend_with(hessian: Hessian<'_>, center: &[f64], x: &mut [f64], lr: f64, steps: u64) {
    match hessian {
        Hessian::Identity => {
            let (blocks, rest) = x.as_chunks_mut::<BLOCK>();
            let (centers, rest_centers) = center.as_chunks::<BLOCK>();
            for (x, e) in blocks.iter_mut().zip(centers) {
                // A local copy, so that the compiler may keep it in registers.
                let mut block = *x;
                identity(&mut block, e, lr, steps);
                *x = block;
            }
            identity(rest, rest_centers, lr, steps);
        }
        Hessian::Diagonal(h) => {
            let (blocks, rest) = x.as_chunks_mut::<BLOCK>();
            let (centers, rest_centers) = center.as_chunks::<BLOCK>();
            let (curvatures, rest_curvatures) = h.as_chunks::<BLOCK>();
            for ((x, e), h) in blocks.iter_mut().zip(centers).zip(curvatures) {
                let mut block = *x;
                diagonal(&mut block, e, h, lr, steps);
                *x = block;
            }
            diagonal(rest, rest_centers, rest_curvatures, lr, steps);
        }
        Hessian::Full(h) => full(x, center, h, lr, steps),
    }
}

#[inline(always)]
fn identity(x: &mut [f64], center: &[f64], lr: f64, steps: u64) {
    for _ in 0..steps {
        for (x, e) in x.iter_mut().zip(center) {
            *x -= lr * (*x - e);
        }
    }
}

#[inline(always)]
fn diagonal(x: &mut [f64], center: &[f64], h: &[f64], lr: f64, steps: u64) {
    for _ in 0..steps {
        for ((x, e), h) in x.iter_mut().zip(center).zip(h) {
            *x -= lr * (h * *x - e);
        }
    }
}

#[inline(always)]
fn full(x: &mut [f64], center: &[f64], h: &[f64], lr: f64, steps: u64) {
    let mut gradient = vec![0.0; x.len()];
    for _ in 0..steps {
        for (g, e) in gradient.iter_mut().zip(center) {
            *g = -e;
        }
        for (column, x) in h.chunks_exact(x.len()).zip(&*x) {
            for (g, h) in gradient.iter_mut().zip(column) {
                *g += h * x;
            }
        }
        for (x, g) in x.iter_mut().zip(&gradient) {
            *x -= lr * g;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, stream};
    use rand::RngExt;

    /// The law as it is written, one coordinate after another.
    fn plain(hessian: Hessian<'_>, center: &[f64], x: &mut [f64], lr: f64, steps: u64) {
        for _ in 0..steps {
            let gradient: Vec<f64> = (0..x.len())
                .map(|i| match hessian {
                    Hessian::Identity => x[i] - center[i],
                    Hessian::Diagonal(h) => h[i] * x[i] - center[i],
                    Hessian::Full(h) => {
                        (0..x.len()).fold(-center[i], |g, j| g + h[j * x.len() + i] * x[j])
                    }
                })
                .collect();
            x.iter_mut().zip(gradient).for_each(|(x, g)| *x -= lr * g);
        }
    }

    #[test]
    fn every_instruction_set_gives_the_bits_of_the_plain_law() {
        let mut rng = stream(3, Purpose::Data, 0, 0);
        let mut draw = |n: usize| (0..n).map(|_| rng.random::<f64>() - 0.3).collect::<Vec<_>>();
        for dim in [1, 2, 7, 8, 63, 64, 65, 130] {
            let (center, start, h) = (draw(dim), draw(dim), draw(dim));
            let half = draw(dim * dim);
            let full: Vec<f64> =
                (0..dim * dim).map(|k| half[k] + half[(k % dim) * dim + k / dim]).collect();
            for hessian in [Hessian::Identity, Hessian::Diagonal(&h), Hessian::Full(&full)] {
                let mut expected = start.clone();
                plain(hessian, &center, &mut expected, 0.01, 23);
                for isa in Isa::available() {
                    let mut x = start.clone();
                    descend(isa, hessian, &center, &mut x, 0.01, 23);
                    let bits = |x: &[f64]| x.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
                    assert_eq!(bits(&x), bits(&expected), "{isa}, dimension {dim}");
                }
            }
        }
    }

    #[test]
    #[should_panic(expected = "one curvature per coordinate")]
    fn lengths_are_checked() {
        descend(Isa::Portable, Hessian::Diagonal(&[1.0]), &[0.0; 2], &mut [0.0; 2], 0.1, 1);
    }
}
