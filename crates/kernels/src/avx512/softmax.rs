//! The softmax for AVX-512.
//!
//! Samples are taken four at a time: four fill one vector exactly after two
//! halvings, and from there on one instruction works for all of them, division
//! included. The results return to the samples as broadcasts from memory.
//!
//! One group is a dependent chain of well over a hundred cycles, too long for
//! the processor to look past. So each stage runs over all groups before the
//! next one starts, and the chains of different groups overlap.

use std::arch::x86_64::*;

use super::super::LANES;
use super::super::backend::{GROUP, Lane, Parts, Scratch, lanes_used};
use super::super::exp::{FLUSH, LN2_HIGH, LN2_LOW, LOG2_E, POLY, ROUND};
use super::{lane_mask, load, store};

type Group = [__m512; GROUP];

#[target_feature(enable = "avx512f")]
pub(super) fn residuals(scratch: &mut Scratch, scale: f32, score: bool) {
    match (score, scratch.shape.blocks()) {
        (false, 1) => passes::<false, true>(scratch, scale),
        (false, _) => passes::<false, false>(scratch, scale),
        (true, _) => passes::<true, false>(scratch, scale),
    }
}

/// `SINGLE` gives the usual case of one block code without loops over blocks.
#[target_feature(enable = "avx512f")]
fn passes<const SCORE: bool, const SINGLE: bool>(scratch: &mut Scratch, scale: f32) {
    let shape = scratch.shape;
    let last = if SINGLE { 0 } else { shape.blocks() - 1 };
    let tail = lane_mask(lanes_used(shape, last));
    let used = |block| if block == last { tail } else { u16::MAX };
    let Parts { labels, logits, outcomes, padded, groups, sums, .. } = scratch.parts();
    let (sums, _) = sums.as_chunks_mut::<GROUP>();
    let (labels, _) = labels.as_chunks::<GROUP>();

    for (g, largest) in groups.iter_mut().enumerate() {
        let mut v = [_mm512_set1_ps(f32::NEG_INFINITY); GROUP];
        for block in 0..=last {
            let logits = &logits[block * padded + g * GROUP..][..GROUP];
            for (v, logits) in v.iter_mut().zip(logits) {
                *v = _mm512_mask_max_ps(*v, used(block), *v, load(logits));
            }
        }
        store(largest, halve(v, |a, b| _mm512_max_ps(a, b)));
    }
    if SCORE {
        for (g, (largest, labels)) in groups.iter().zip(labels).enumerate() {
            for (i, &label) in labels.iter().enumerate() {
                let s = g * GROUP + i;
                let largest = largest.0[i * GROUP];
                let label = label as usize;
                let target = logits[label / LANES * padded + s].0[label % LANES];
                let all = logits[s..].iter().step_by(padded);
                outcomes[s].gap = largest - target;
                outcomes[s].hit = argmax(all, tail, largest) == Some(label);
            }
        }
    }
    for ((g, largest), sums) in groups.iter().enumerate().zip(sums.iter_mut()) {
        let mut total = [_mm512_setzero_ps(); GROUP];
        for block in 0..=last {
            let logits = &mut logits[block * padded + g * GROUP..][..GROUP];
            for i in 0..GROUP {
                let largest = _mm512_set1_ps(largest.0[i * GROUP]);
                let e = exp(_mm512_sub_ps(load(&logits[i]), largest), used(block));
                store(&mut logits[i], e);
                total[i] = _mm512_add_ps(total[i], e);
            }
        }
        for i in 0..GROUP {
            store(&mut sums[i], total[i]);
        }
    }
    for ((g, factor), sums) in groups.iter_mut().enumerate().zip(sums.iter()) {
        let sum = halve(std::array::from_fn(|i| load(&sums[i])), |a, b| _mm512_add_ps(a, b));
        if SCORE {
            store(factor, sum);
            for i in 0..GROUP {
                outcomes[g * GROUP + i].sum = factor.0[i * GROUP];
            }
        }
        store(factor, _mm512_div_ps(_mm512_set1_ps(scale), sum));
    }
    for ((g, factor), labels) in groups.iter().enumerate().zip(labels) {
        let mut classes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
        for block in 0..=last {
            let values = &mut logits[block * padded + g * GROUP..][..GROUP];
            for i in 0..GROUP {
                let hot = _mm512_cmpeq_epi32_mask(classes, _mm512_set1_epi32(labels[i] as i32));
                let hot = _mm512_maskz_mov_ps(hot, _mm512_set1_ps(scale));
                let factor = _mm512_set1_ps(factor.0[i * GROUP]);
                let d = _mm512_maskz_fmsub_ps(used(block), load(&values[i]), factor, hot);
                store(&mut values[i], d);
            }
            classes = _mm512_add_epi32(classes, _mm512_set1_epi32(LANES as i32));
        }
    }
}

/// The first class whose logit is `largest`.
#[target_feature(enable = "avx512f")]
fn argmax<'a>(
    mut blocks: impl ExactSizeIterator<Item = &'a Lane>,
    tail: __mmask16,
    largest: f32,
) -> Option<usize> {
    let mut class = 0;
    while let Some(logits) = blocks.next() {
        let used = if blocks.len() == 0 { tail } else { u16::MAX };
        let largest = _mm512_set1_ps(largest);
        let equal = _mm512_mask_cmp_ps_mask::<_CMP_EQ_OQ>(used, load(logits), largest);
        if equal != 0 {
            return Some(class + equal.trailing_zeros() as usize);
        }
        class += LANES;
    }
    None
}

/// Reduces each sample's lanes by halving. The first two halvings join two
/// vectors each, so that sample i ends in lanes `4i..4i + 4`, in all of them.
#[inline]
#[target_feature(enable = "avx512f")]
fn halve(v: Group, op: impl Fn(__m512, __m512) -> __m512) -> __m512 {
    const LOW: i32 = 0b01_00_01_00;
    const HIGH: i32 = 0b11_10_11_10;
    const EVEN: i32 = 0b10_00_10_00;
    const ODD: i32 = 0b11_01_11_01;
    const SWAP_PAIRS: i32 = 0b01_00_11_10;
    const SWAP: i32 = 0b10_11_00_01;
    let [a, b, c, d] = v;
    let ab = op(_mm512_shuffle_f32x4::<LOW>(a, b), _mm512_shuffle_f32x4::<HIGH>(a, b));
    let cd = op(_mm512_shuffle_f32x4::<LOW>(c, d), _mm512_shuffle_f32x4::<HIGH>(c, d));
    let v = op(_mm512_shuffle_f32x4::<EVEN>(ab, cd), _mm512_shuffle_f32x4::<ODD>(ab, cd));
    let v = op(v, _mm512_permute_ps::<SWAP_PAIRS>(v));
    op(v, _mm512_permute_ps::<SWAP>(v))
}

/// As the portable `exp`, and 0 in unused lanes.
#[inline]
#[target_feature(enable = "avx512f")]
fn exp(x: __m512, used: __mmask16) -> __m512 {
    let keep = _mm512_mask_cmp_ps_mask::<_CMP_NLT_UQ>(used, x, _mm512_set1_ps(FLUSH));
    let round = _mm512_set1_ps(ROUND);
    let rounded = _mm512_fmadd_ps(x, _mm512_set1_ps(LOG2_E), round);
    let n = _mm512_sub_ps(rounded, round);
    let r = _mm512_fnmadd_ps(n, _mm512_set1_ps(LN2_HIGH), x);
    let r = _mm512_fnmadd_ps(n, _mm512_set1_ps(LN2_LOW), r);
    let mut p = _mm512_set1_ps(POLY[0]);
    for c in &POLY[1..] {
        p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(*c));
    }
    let power = _mm512_slli_epi32::<23>(_mm512_castps_si512(rounded));
    let value = _mm512_maskz_add_epi32(keep, _mm512_castps_si512(p), power);
    _mm512_castsi512_ps(value)
}
