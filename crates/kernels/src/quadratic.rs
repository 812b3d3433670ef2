//! Gradient descent on a quadratic, many steps at once: x ← x − η(Hx − e), or the whole law of
//! `gruppetto_sim::solver`, which has two more constants and a buffer.
//!
//! With a diagonal H the coordinates do not know of each other, so a block of them stays in
//! registers for all steps and memory is touched once instead of once a step. A full H is read
//! column by column (it is symmetric, so its rows will do), which needs no sum across lanes.
//! No multiply-add is fused, and every coordinate sees the same operations in the same order
//! whatever the vector width: all instruction sets give the same bits, and so does the law written
//! out plainly.
//!
//! The wide versions are the same code compiled for wider vectors, so the only unsafe thing here
//! is to call them, after asking the processor.
#![allow(unsafe_code)]

#[cfg(test)]
mod tests;

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

/// What a step does with the gradient: `G = Hx − e + shrink·x`, `u = momentum·u + G`, `x −= lr·u`,
/// and then `lr *= decay`. A constant part of the gradient, c − μx₀, is subtracted from e.
#[derive(Debug)]
pub struct DescentLaw<'a> {
    /// Learning rate of the next step: it moves on with every step.
    pub lr: f64,
    /// What the rate is multiplied by after a step.
    pub decay: f64,
    /// Momentum factor ρ; of no effect without a buffer.
    pub momentum: f64,
    /// λ + μ: what pulls every coordinate to 0.
    pub shrink: f64,
    /// u, carried from step to step; without it u = G.
    pub buffer: Option<&'a mut [f64]>,
}

impl DescentLaw<'_> {
    /// Plain gradient descent.
    pub const fn sgd(lr: f64) -> Self {
        DescentLaw { lr, decay: 1.0, momentum: 0.0, shrink: 0.0, buffer: None }
    }
}

/// Coordinates that are kept in registers: eight vectors of eight, enough to hide the latency of
/// the four operations of a step. Their buffer takes eight vectors more.
const BLOCK: usize = 64;

/// Takes `steps` steps of gradient descent, in place.
///
/// # Panics
/// If the lengths of `hessian`, `center`, `x` and the buffer do not fit, or the instruction set is
/// not there.
pub fn descend(
    isa: Isa,
    hessian: Hessian<'_>,
    center: &[f64],
    x: &mut [f64],
    law: &mut DescentLaw<'_>,
    steps: u64,
) {
    let dim = x.len();
    assert_eq!(center.len(), dim, "one centre per coordinate");
    match hessian {
        Hessian::Identity => {}
        Hessian::Diagonal(h) => assert_eq!(h.len(), dim, "one curvature per coordinate"),
        Hessian::Full(h) => assert_eq!(h.len(), dim * dim, "a square matrix"),
    }
    if let Some(buffer) = &law.buffer {
        assert_eq!(buffer.len(), dim, "one buffer per coordinate");
    }
    assert!(isa.backend().is_some(), "{isa} is not available");
    match isa {
        Isa::Portable => descend_with(hessian, center, x, law, steps),
        // SAFETY: the processor has the instruction set, as was just asserted.
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 => unsafe { descend_avx2(hessian, center, x, law, steps) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 => unsafe { descend_avx512(hessian, center, x, law, steps) },
        #[cfg(not(target_arch = "x86_64"))]
        Isa::Avx2 | Isa::Avx512 => unreachable!("not available"),
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn descend_avx2(h: Hessian<'_>, center: &[f64], x: &mut [f64], law: &mut DescentLaw<'_>, n: u64) {
    descend_with(h, center, x, law, n);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
fn descend_avx512(h: Hessian<'_>, center: &[f64], x: &mut [f64], law: &mut DescentLaw<'_>, n: u64) {
    descend_with(h, center, x, law, n);
}

/// Inlined into each of the above, so that it is compiled for their vectors.
#[inline(always)]
fn descend_with(
    hessian: Hessian<'_>,
    center: &[f64],
    x: &mut [f64],
    law: &mut DescentLaw<'_>,
    steps: u64,
) {
    let DescentLaw { lr, decay, momentum, shrink, .. } = *law;
    let factors = Factors { lr, decay, momentum, shrink, steps };
    let buffer = law.buffer.as_deref_mut();
    law.lr = match hessian {
        Hessian::Identity => diagonal::<false>(x, buffer, center, center, factors),
        Hessian::Diagonal(h) => diagonal::<true>(x, buffer, center, h, factors),
        Hessian::Full(h) => full(x, buffer, center, h, factors),
    };
}

/// The numbers of a law, and for how many steps it is followed.
#[derive(Clone, Copy)]
struct Factors {
    lr: f64,
    decay: f64,
    momentum: f64,
    shrink: f64,
    steps: u64,
}

/// Without `DIAGONAL` the curvature is 1 and `h` is not looked at. Returns the next learning rate,
/// as do all below.
///
/// Each mix has its own loop: what plain steps do not need would cost them some percent, and to
/// add 0·x is not nothing, it loses the sign of a zero.
#[inline(always)]
fn diagonal<const DIAGONAL: bool>(
    x: &mut [f64],
    buffer: Option<&mut [f64]>,
    center: &[f64],
    h: &[f64],
    factors: Factors,
) -> f64 {
    match (factors.shrink != 0.0, factors.decay != 1.0) {
        (false, false) => blocks::<DIAGONAL, false, false>(x, buffer, center, h, factors),
        (false, true) => blocks::<DIAGONAL, false, true>(x, buffer, center, h, factors),
        (true, false) => blocks::<DIAGONAL, true, false>(x, buffer, center, h, factors),
        (true, true) => blocks::<DIAGONAL, true, true>(x, buffer, center, h, factors),
    }
}

#[inline(always)]
fn blocks<const DIAGONAL: bool, const SHRINK: bool, const DECAY: bool>(
    x: &mut [f64],
    buffer: Option<&mut [f64]>,
    center: &[f64],
    h: &[f64],
    factors: Factors,
) -> f64 {
    let (blocks, rest) = x.as_chunks_mut::<BLOCK>();
    let (centers, rest_centers) = center.as_chunks::<BLOCK>();
    let (curvatures, rest_curvatures) = h.as_chunks::<BLOCK>();
    let constants = centers.iter().zip(curvatures);
    // Local copies, so that the compiler may keep them in registers.
    if let Some(buffer) = buffer {
        let (buffers, rest_buffer) = buffer.as_chunks_mut::<BLOCK>();
        for ((x, u), (e, h)) in blocks.iter_mut().zip(buffers).zip(constants) {
            let (mut block, mut buffer) = (*x, *u);
            rolling::<DIAGONAL, SHRINK, DECAY>(&mut block, &mut buffer, e, h, factors);
            (*x, *u) = (block, buffer);
        }
        rolling::<DIAGONAL, SHRINK, DECAY>(
            rest,
            rest_buffer,
            rest_centers,
            rest_curvatures,
            factors,
        )
    } else {
        for (x, (e, h)) in blocks.iter_mut().zip(constants) {
            let mut block = *x;
            direct::<DIAGONAL, SHRINK, DECAY>(&mut block, e, h, factors);
            *x = block;
        }
        direct::<DIAGONAL, SHRINK, DECAY>(rest, rest_centers, rest_curvatures, factors)
    }
}

#[inline(always)]
fn direct<const DIAGONAL: bool, const SHRINK: bool, const DECAY: bool>(
    x: &mut [f64],
    center: &[f64],
    h: &[f64],
    mut factors: Factors,
) -> f64 {
    for _ in 0..factors.steps {
        for ((x, e), h) in x.iter_mut().zip(center).zip(h) {
            let g = if DIAGONAL { h * *x - e } else { *x - e };
            *x -= factors.lr * if SHRINK { g + factors.shrink * *x } else { g };
        }
        if DECAY {
            factors.lr *= factors.decay;
        }
    }
    factors.lr
}

/// [`direct`] with momentum.
#[inline(always)]
fn rolling<const DIAGONAL: bool, const SHRINK: bool, const DECAY: bool>(
    x: &mut [f64],
    buffer: &mut [f64],
    center: &[f64],
    h: &[f64],
    mut factors: Factors,
) -> f64 {
    for _ in 0..factors.steps {
        for (((x, u), e), h) in x.iter_mut().zip(&mut *buffer).zip(center).zip(h) {
            let g = if DIAGONAL { h * *x - e } else { *x - e };
            *u = factors.momentum * *u + if SHRINK { g + factors.shrink * *x } else { g };
            *x -= factors.lr * *u;
        }
        if DECAY {
            factors.lr *= factors.decay;
        }
    }
    factors.lr
}

#[inline(always)]
fn full(
    x: &mut [f64],
    mut buffer: Option<&mut [f64]>,
    center: &[f64],
    h: &[f64],
    mut factors: Factors,
) -> f64 {
    let mut gradient = vec![0.0; x.len()];
    for _ in 0..factors.steps {
        for (g, e) in gradient.iter_mut().zip(center) {
            *g = -e;
        }
        for (column, x) in h.chunks_exact(x.len()).zip(&*x) {
            for (g, h) in gradient.iter_mut().zip(column) {
                *g += h * x;
            }
        }
        if factors.shrink != 0.0 {
            for (g, x) in gradient.iter_mut().zip(&*x) {
                *g += factors.shrink * x;
            }
        }
        if let Some(buffer) = &mut buffer {
            for (g, u) in gradient.iter_mut().zip(&mut **buffer) {
                *u = factors.momentum * *u + *g;
                *g = *u;
            }
        }
        for (x, g) in x.iter_mut().zip(&gradient) {
            *x -= factors.lr * g;
        }
        factors.lr *= factors.decay;
    }
    factors.lr
}
