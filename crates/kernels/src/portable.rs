//! The kernel in plain Rust: the reference for the order of operations, and
//! the code of every processor without a version of its own.
//!
//! Everything works on arrays of 16 lanes and is always inlined, so that the
//! AVX2 version is this same source compiled with more instructions enabled.
//! Tiles are small enough for 16 vector registers of half a lane array each.

use super::backend::{Backend, Lane, Scratch, Write, even_parts, lanes_used, with_const};
use super::exp::exp;
use super::{LANES, Law};

/// Samples (forward) or rows (backward) whose sums stay in registers.
const TILE: usize = 6;

type Vector = [f32; LANES];

/// Plain Rust.
pub(super) struct Portable;

impl Backend for Portable {
    fn forward(&self, scratch: &mut Scratch, w: &[f32], x: &[f32], batch: &[u32]) {
        forward(scratch, w, x, batch);
    }

    fn residuals(&self, scratch: &mut Scratch, scale: f32, score: bool) {
        residuals(scratch, scale, score);
    }

    fn backward(&self, scratch: &Scratch, out: &mut [f32], write: Write) {
        backward(scratch, out, write);
    }

    fn apply(&self, law: Law<'_>, gradient: &[f32], w: &mut [f32]) {
        law.apply(gradient, w);
    }

    fn fma_burst(&self, rounds: u32) -> (u64, f32) {
        fma_burst(rounds)
    }
}

#[inline(always)]
pub(super) fn forward(scratch: &mut Scratch, w: &[f32], x: &[f32], batch: &[u32]) {
    let rows = scratch.shape.rows();
    let count = scratch.count;
    let parts = scratch.parts();
    gather(parts.panels, rows, x, batch);
    for (w, logits) in blocks(w, rows).zip(parts.logits.chunks_exact_mut(parts.padded)) {
        for (first, size) in even_parts(count, TILE) {
            let logits = &mut logits[first..first + size];
            let panels = parts.panels.chunks_exact(count);
            with_const!(size, forward_tile(w, panels, first, logits), 1 2 3 4 5 6);
        }
    }
}

/// Copies the batch to the panels; lanes beyond the last row are never read.
#[inline(always)]
pub(super) fn gather(panels: &mut [Lane], rows: usize, x: &[f32], batch: &[u32]) {
    for (s, &index) in batch.iter().enumerate() {
        let row = &x[index as usize * rows..][..rows];
        let mut panels = panels.iter_mut().skip(s).step_by(batch.len());
        let (whole, rest) = row.as_chunks::<LANES>();
        for (part, panel) in whole.iter().zip(&mut panels) {
            panel.0 = *part;
        }
        if let Some(panel) = panels.next() {
            for (to, from) in panel.0.iter_mut().zip(rest) {
                *to = *from;
            }
        }
    }
}

#[inline(always)]
fn forward_tile<'a, const S: usize>(
    w: &[Vector],
    panels: impl Iterator<Item = &'a [Lane]>,
    first: usize,
    logits: &mut [Lane],
) {
    let mut sums = [[0.0; LANES]; S];
    for (panel, w) in panels.zip(w.chunks(LANES)) {
        let panel: &[Lane; S] = panel[first..first + S].try_into().expect("S samples");
        for (j, w) in w.iter().enumerate() {
            for s in 0..S {
                accumulate(&mut sums[s], w, panel[s].0[j % LANES]);
            }
        }
    }
    for (logit, sum) in logits.iter_mut().zip(sums) {
        logit.0 = sum;
    }
}

#[inline(always)]
pub(super) fn residuals(scratch: &mut Scratch, scale: f32, score: bool) {
    let (shape, count) = (scratch.shape, scratch.count);
    let parts = scratch.parts();
    for s in 0..count {
        let label = parts.labels[s] as usize;
        let logits = &mut parts.logits[s..];
        let blocks = || (0..shape.blocks()).map(|block| (block, lanes_used(shape, block)));

        let mut largest = [f32::NEG_INFINITY; LANES];
        for (block, used) in blocks() {
            let z = &logits[block * parts.padded].0;
            for lane in 0..LANES {
                let next = larger(largest[lane], z[lane]);
                largest[lane] = if in_use(lane, used) { next } else { largest[lane] };
            }
        }
        let largest = halve(largest, larger);
        if score {
            let target = logits[label / LANES * parts.padded].0[label % LANES];
            let mut classes =
                blocks().flat_map(|(block, used)| logits[block * parts.padded].0[..used].iter());
            parts.outcomes[s].gap = largest - target;
            parts.outcomes[s].hit = classes.position(|&z| z == largest) == Some(label);
        }

        let mut sums = [0.0; LANES];
        for (block, used) in blocks() {
            let z = &mut logits[block * parts.padded].0;
            for lane in 0..LANES {
                let e = exp(z[lane] - largest);
                z[lane] = if in_use(lane, used) { e } else { 0.0 };
                sums[lane] += z[lane];
            }
        }
        let sum = halve(sums, |a, b| a + b);
        parts.outcomes[s].sum = sum;

        let factor = scale / sum;
        for (block, used) in blocks() {
            let e = &mut logits[block * parts.padded].0;
            let hot = label.wrapping_sub(block * LANES) as u32;
            for (lane, value) in e.iter_mut().enumerate() {
                let term = if lane as u32 == hot { scale } else { 0.0 };
                let residual = value.mul_add(factor, -term);
                *value = if in_use(lane, used) { residual } else { 0.0 };
            }
        }
    }
}

#[inline(always)]
pub(super) fn backward(scratch: &Scratch, out: &mut [f32], write: Write) {
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

#[inline(always)]
fn backward_tile<const R: usize>(
    panel: &[Lane],
    residuals: &[Lane],
    first: usize,
    out: &mut [Vector],
    write: Write,
) {
    let mut sums = [[0.0; LANES]; R];
    for (x, d) in panel.iter().zip(residuals) {
        let x: &[f32; R] = x.0[first..first + R].try_into().expect("R rows");
        for j in 0..R {
            accumulate(&mut sums[j], &d.0, x[j]);
        }
    }
    for (out, sum) in out.iter_mut().zip(sums) {
        for (out, sum) in out.iter_mut().zip(sum) {
            *out = match write {
                Write::Replace => sum,
                Write::Add => *out + sum,
            };
        }
    }
}

#[inline(always)]
pub(super) fn fma_burst(rounds: u32) -> (u64, f32) {
    let mut sums = [[1.0_f32; LANES]; TILE];
    let factor = std::hint::black_box([0.999; LANES]);
    for _ in 0..rounds {
        for sum in &mut sums {
            for (sum, factor) in sum.iter_mut().zip(factor) {
                *sum = sum.mul_add(factor, factor);
            }
        }
    }
    let total = sums.iter().flatten().sum();
    (u64::from(rounds) * (TILE * LANES) as u64, total)
}

#[inline(always)]
fn blocks(w: &[f32], rows: usize) -> impl Iterator<Item = &[Vector]> {
    w.as_chunks::<LANES>().0.chunks_exact(rows)
}

#[inline(always)]
fn accumulate(sum: &mut Vector, vector: &Vector, factor: f32) {
    for lane in 0..LANES {
        sum[lane] = vector[lane].mul_add(factor, sum[lane]);
    }
}

/// In 32 bits, because comparing in more would halve the vectors.
#[inline(always)]
fn in_use(lane: usize, used: usize) -> bool {
    (lane as u32) < used as u32
}

/// Takes the second operand if either is NaN, as x86 does.
#[inline(always)]
fn larger(a: f32, b: f32) -> f32 {
    if a > b { a } else { b }
}

#[inline(always)]
fn halve(v: Vector, op: impl Fn(f32, f32) -> f32) -> f32 {
    let v: [f32; 8] = std::array::from_fn(|i| op(v[i], v[i + 8]));
    let v: [f32; 4] = std::array::from_fn(|i| op(v[i], v[i + 4]));
    let v: [f32; 2] = std::array::from_fn(|i| op(v[i], v[i + 2]));
    op(v[0], v[1])
}
