//! The kernel for processors with AVX2 and FMA but without AVX-512.
//!
//! The two loops of multiply-adds are written by hand, because the compiler
//! shuffles the portable ones into vectors across the lane arrays and loses
//! most of their speed. The softmax is the portable source, compiled with
//! these instructions enabled.

#![allow(unsafe_code)] // functions compiled for optional instructions

use std::arch::x86_64::*;

use super::backend::{Backend, Lane, Scratch, Write, even_parts, with_const};
use super::portable;
use super::{LANES, Law};

/// Samples (forward) or rows (backward) whose sums stay in the 16 registers.
const TILE: usize = 6;

/// The lower and the upper lanes.
type RegisterPair = [__m256; 2];

// SAFETY: all bits 0 is a vector of zeros; constants may not use instructions.
const ZERO: RegisterPair = unsafe { std::mem::zeroed() };

/// Proof that this processor has AVX2 and FMA: only [`Avx2::detect`] makes it.
pub(super) struct Avx2(());

static FOUND: Avx2 = Avx2(());

impl Avx2 {
    pub(super) fn detect() -> Option<&'static Self> {
        let found = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
        found.then_some(&FOUND)
    }
}

impl Backend for Avx2 {
    fn forward(&self, scratch: &mut Scratch, w: &[f32], x: &[f32], batch: &[u32]) {
        // SAFETY: `self` proves that the processor has the instructions.
        unsafe { forward(scratch, w, x, batch) }
    }

    fn residuals(&self, scratch: &mut Scratch, scale: f32, score: bool) {
        // SAFETY: as above.
        unsafe { residuals(scratch, scale, score) }
    }

    fn backward(&self, scratch: &Scratch, out: &mut [f32], write: Write) {
        // SAFETY: as above.
        unsafe { backward(scratch, out, write) }
    }

    fn apply(&self, law: Law<'_>, gradient: &[f32], w: &mut [f32]) {
        // SAFETY: as above.
        unsafe { apply(law, gradient, w) }
    }

    fn fma_burst(&self, rounds: u32) -> (u64, f32) {
        // SAFETY: as above.
        unsafe { fma_burst(rounds) }
    }
}

#[target_feature(enable = "avx2,fma")]
fn forward(scratch: &mut Scratch, w: &[f32], x: &[f32], batch: &[u32]) {
    let (rows, count) = (scratch.shape.rows(), scratch.count);
    let parts = scratch.parts();
    portable::gather(parts.panels, rows, x, batch);
    for (w, logits) in w.chunks_exact(rows * LANES).zip(parts.logits.chunks_exact_mut(parts.padded))
    {
        for (first, size) in even_parts(count, TILE) {
            let logits = &mut logits[first..first + size];
            let panels = parts.panels.chunks_exact(count);
            with_const!(size, forward_tile(w, panels, first, logits), 1 2 3 4 5 6);
        }
    }
}

#[target_feature(enable = "avx2,fma")]
fn forward_tile<'a, const S: usize>(
    w: &[f32],
    panels: impl Iterator<Item = &'a [Lane]>,
    first: usize,
    logits: &mut [Lane],
) {
    let mut sums = [ZERO; S];
    for (panel, w) in panels.zip(w.chunks(LANES * LANES)) {
        let panel = panel[first..first + S].as_ptr().cast::<f32>();
        for (j, w) in w.as_chunks().0.iter().enumerate() {
            let w = load(w);
            for (s, sum) in sums.iter_mut().enumerate() {
                // SAFETY: the panel has S vectors, and j < LANES.
                let x = unsafe { &*panel.add(s * LANES + j) };
                *sum = fma(w, x, *sum);
            }
        }
    }
    for (logit, sum) in logits.iter_mut().zip(sums) {
        store(&mut logit.0, sum);
    }
}

#[target_feature(enable = "avx2,fma")]
fn residuals(scratch: &mut Scratch, scale: f32, score: bool) {
    portable::residuals(scratch, scale, score);
}

#[target_feature(enable = "avx2,fma")]
fn backward(scratch: &Scratch, out: &mut [f32], write: Write) {
    let rows = scratch.shape.rows();
    for (block, out) in out.chunks_exact_mut(rows * LANES).enumerate() {
        let residuals = scratch.residuals(block);
        let panels = scratch.panels().chunks_exact(scratch.count);
        let (out, _) = out.as_chunks_mut::<LANES>();
        for (panel, out) in panels.zip(out.chunks_mut(LANES)) {
            for (first, size) in even_parts(out.len(), TILE) {
                let out = &mut out[first..first + size];
                with_const!(size, backward_tile(panel, residuals, first, out, write), 1 2 3 4 5 6);
            }
        }
    }
}

#[target_feature(enable = "avx2,fma")]
fn backward_tile<const R: usize>(
    panel: &[Lane],
    residuals: &[Lane],
    first: usize,
    out: &mut [[f32; LANES]],
    write: Write,
) {
    assert!(first + R <= LANES);
    let mut sums = [ZERO; R];
    for (x, d) in panel.iter().zip(residuals) {
        let d = load(&d.0);
        for (j, sum) in sums.iter_mut().enumerate() {
            // SAFETY: `first + j < LANES`.
            let x = unsafe { x.0.get_unchecked(first + j) };
            *sum = fma(d, x, *sum);
        }
    }
    for (out, mut sum) in out.iter_mut().zip(sums) {
        if write == Write::Add {
            let old = load(out);
            sum = [0, 1].map(|half| _mm256_add_ps(old[half], sum[half]));
        }
        store(out, sum);
    }
}

#[target_feature(enable = "avx2,fma")]
fn apply(law: Law<'_>, gradient: &[f32], w: &mut [f32]) {
    law.apply(gradient, w);
}

#[target_feature(enable = "avx2,fma")]
fn fma_burst(rounds: u32) -> (u64, f32) {
    let mut sums = [ZERO; TILE];
    let factor = std::hint::black_box(0.999);
    let term = [_mm256_set1_ps(factor); 2];
    for _ in 0..rounds {
        for sum in &mut sums {
            *sum = fma(*sum, &factor, term);
        }
    }
    let mut lanes = [0.0; LANES];
    let mut total = 0.0;
    for sum in sums {
        store(&mut lanes, sum);
        total += lanes.iter().sum::<f32>();
    }
    (u64::from(rounds) * (TILE * LANES) as u64, total)
}

/// `vector * factor + sum`
#[inline]
#[target_feature(enable = "avx2,fma")]
fn fma(vector: RegisterPair, factor: &f32, sum: RegisterPair) -> RegisterPair {
    let factor = _mm256_set1_ps(*factor);
    [_mm256_fmadd_ps(vector[0], factor, sum[0]), _mm256_fmadd_ps(vector[1], factor, sum[1])]
}

#[inline]
#[target_feature(enable = "avx2,fma")]
fn load(from: &[f32; LANES]) -> RegisterPair {
    // SAFETY: both halves of the array are read.
    unsafe { [_mm256_loadu_ps(from.as_ptr()), _mm256_loadu_ps(from.as_ptr().add(8))] }
}

#[inline]
#[target_feature(enable = "avx2,fma")]
fn store(to: &mut [f32; LANES], value: RegisterPair) {
    // SAFETY: both halves of the array are written.
    unsafe {
        _mm256_storeu_ps(to.as_mut_ptr(), value[0]);
        _mm256_storeu_ps(to.as_mut_ptr().add(8), value[1]);
    }
}
