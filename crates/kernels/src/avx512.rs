//! The kernel for AVX-512, by hand.
//!
//! Both directions are bound by the two multiply-add units, which also need
//! one load each per operation: a feature is broadcast straight from memory
//! into the multiply-add, and the other operand is loaded once per tile. Tiles
//! of up to 24 samples or 16 rows keep all sums in registers and hide the
//! latency of the units.

#![allow(unsafe_code)] // vector loads and stores take raw pointers

use std::arch::{asm, x86_64::*};

use super::backend::{Backend, Lane, Scratch, Write, even_parts, with_const};
use super::{LANES, Law};

mod softmax;

/// Samples whose logits are computed together.
const TILE: usize = 24;

/// Independent sums of [`Backend::fma_burst`].
const BURST: usize = 16;

/// Proof that this processor has AVX-512: only [`Avx512::detect`] makes it.
pub(super) struct Avx512(());

static FOUND: Avx512 = Avx512(());

impl Avx512 {
    pub(super) fn detect() -> Option<&'static Self> {
        is_x86_feature_detected!("avx512f").then_some(&FOUND)
    }
}

impl Backend for Avx512 {
    fn forward(&self, scratch: &mut Scratch, w: &[f32], x: &[f32], batch: &[u32]) {
        // SAFETY: `self` proves that the processor has the instructions.
        unsafe { forward(scratch, w, x, batch) }
    }

    fn residuals(&self, scratch: &mut Scratch, scale: f32, score: bool) {
        // SAFETY: as above.
        unsafe { softmax::residuals(scratch, scale, score) }
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

#[target_feature(enable = "avx512f")]
fn forward(scratch: &mut Scratch, w: &[f32], x: &[f32], batch: &[u32]) {
    let rows = scratch.shape.rows();
    let count = scratch.count;
    let parts = scratch.parts();
    let source = Source::new(x, rows, batch);
    for (block, (w, logits)) in
        w.chunks_exact(rows * LANES).zip(parts.logits.chunks_exact_mut(parts.padded)).enumerate()
    {
        for (first, size) in even_parts(count, TILE) {
            let source = (block == 0).then_some(&source);
            let panels = parts.panels.chunks_exact_mut(count);
            let logits = &mut logits[first..first + size];
            with_const!(size, forward_tile(w, source, panels, first, logits),
                1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24);
        }
    }
}

/// The rows of a batch in a data set that contains all of them.
struct Source<'a> {
    x: &'a [f32],
    rows: usize,
    batch: &'a [u32],
}

impl<'a> Source<'a> {
    fn new(x: &'a [f32], rows: usize, batch: &'a [u32]) -> Self {
        let largest = batch.iter().fold(0, |m, &index| m.max(index)) as usize;
        assert!(largest < x.len() / rows, "no sample {largest}");
        Self { x, rows, batch }
    }

    /// Copies up to LANES features of consecutive samples, from `feature` on.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn copy<const S: usize>(&self, first: usize, feature: usize, to: &mut [Lane; S]) {
        let width = lane_mask(LANES.min(self.rows - feature));
        let batch: &[u32; S] = self.batch[first..first + S].try_into().expect("S samples");
        for (to, &index) in to.iter_mut().zip(batch) {
            // SAFETY: `new` checked that the row is in `x`, the subtraction
            // that `feature` is in the row, and the mask ends the load with it.
            let value = unsafe {
                let from = self.x.as_ptr().add(index as usize * self.rows + feature);
                _mm512_maskz_loadu_ps(width, from)
            };
            store(to, value);
        }
    }
}

/// Fills the panels from `source`, if given, just before they are used: the
/// processor then fetches the next rows during the multiply-adds.
#[target_feature(enable = "avx512f")]
fn forward_tile<'a, const S: usize>(
    w: &[f32],
    source: Option<&Source>,
    panels: impl Iterator<Item = &'a mut [Lane]>,
    first: usize,
    logits: &mut [Lane],
) {
    let mut sums = [_mm512_setzero_ps(); S];
    for (k, (panel, w)) in panels.zip(w.chunks(LANES * LANES)).enumerate() {
        let panel: &mut [Lane; S] = (&mut panel[first..first + S]).try_into().expect("S samples");
        if let Some(source) = source {
            source.copy(first, k * LANES, panel);
        }
        let panel = panel.as_ptr().cast::<f32>();
        for (j, w) in w.as_chunks::<LANES>().0.iter().enumerate() {
            // SAFETY: an array of LANES elements is read.
            let w = unsafe { _mm512_loadu_ps(w.as_ptr()) };
            for (s, sum) in sums.iter_mut().enumerate() {
                // SAFETY: the panel has S vectors, and a chunk of `w` at most
                // LANES rows.
                let x = unsafe { *panel.add(s * LANES + j) };
                *sum = _mm512_fmadd_ps(w, _mm512_set1_ps(x), *sum);
            }
        }
    }
    for (logit, sum) in logits.iter_mut().zip(sums) {
        store(logit, sum);
    }
}

#[target_feature(enable = "avx512f")]
fn backward(scratch: &Scratch, out: &mut [f32], write: Write) {
    let rows = scratch.shape.rows();
    for (block, out) in out.chunks_exact_mut(rows * LANES).enumerate() {
        let residuals = scratch.residuals(block);
        let panels = scratch.panels().chunks_exact(scratch.count);
        let (out, _) = out.as_chunks_mut::<LANES>();
        for (panel, out) in panels.zip(out.chunks_mut(LANES)) {
            with_const!(out.len(), backward_tile(panel, residuals, out, write),
                1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16);
        }
    }
}

#[target_feature(enable = "avx512f")]
fn backward_tile<const R: usize>(
    panel: &[Lane],
    residuals: &[Lane],
    out: &mut [[f32; LANES]],
    write: Write,
) {
    let mut sums = [_mm512_setzero_ps(); R];
    for (x, d) in panel.iter().zip(residuals) {
        let d = load(d);
        let x = in_own_register(x);
        for (sum, &x) in sums.iter_mut().zip(&x.0) {
            *sum = _mm512_fmadd_ps(d, _mm512_set1_ps(x), *sum);
        }
    }
    for (out, mut sum) in out.iter_mut().zip(sums) {
        // SAFETY: an array of LANES elements is read and written.
        unsafe {
            if write == Write::Add {
                sum = _mm512_add_ps(_mm512_loadu_ps(out.as_ptr()), sum);
            }
            _mm512_storeu_ps(out.as_mut_ptr(), sum);
        }
    }
}

#[target_feature(enable = "avx512f")]
fn apply(law: Law<'_>, gradient: &[f32], w: &mut [f32]) {
    law.apply(gradient, w);
}

#[target_feature(enable = "avx512f")]
fn fma_burst(rounds: u32) -> (u64, f32) {
    let mut sums = [_mm512_set1_ps(1.0); BURST];
    let factor = _mm512_set1_ps(std::hint::black_box(0.999));
    for _ in 0..rounds {
        for sum in &mut sums {
            *sum = _mm512_fmadd_ps(*sum, factor, factor);
        }
    }
    let total = sums.into_iter().fold(_mm512_setzero_ps(), |a, b| _mm512_add_ps(a, b));
    (u64::from(rounds) * (BURST * LANES) as u64, _mm512_reduce_add_ps(total))
}

/// Hides from the compiler that this address advances in step with others.
/// Otherwise it addresses all of them by one shared index, and a multiply-add
/// with an indexed operand is split in two by the processor, which costs 4 %.
#[inline(always)]
#[allow(clippy::pointers_in_nomem_asm_block)] // nothing is accessed
fn in_own_register(lane: &Lane) -> &Lane {
    let mut at: *const Lane = lane;
    // SAFETY: the assembly is a comment, so that `at` remains the address of
    // `lane`.
    unsafe {
        asm!("/* {0} */", inout(reg) at, options(pure, nomem, nostack, preserves_flags));
        &*at
    }
}

/// The first `used` lanes.
fn lane_mask(used: usize) -> __mmask16 {
    u16::MAX >> (LANES - used)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load(from: &Lane) -> __m512 {
    // SAFETY: a lane is 64 bytes, aligned to 64.
    unsafe { _mm512_load_ps(from.0.as_ptr()) }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn store(to: &mut Lane, value: __m512) {
    // SAFETY: a lane is 64 bytes, aligned to 64.
    unsafe { _mm512_store_ps(to.0.as_mut_ptr(), value) }
}
