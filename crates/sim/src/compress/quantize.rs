//! A few bits per number: stochastic uniform quantisation (Alistarh et al., QSGD, 2017), with the
//! largest magnitude as the scale.
//!
//! One bit is the sign; the others count how many of s = 2^(b−1) − 1 equal parts of the scale a
//! number is. It becomes one of its two neighbours, by a chance that makes it right on average.
//! Zero stays zero, so two bits are the least: −scale, 0 and scale.

use crate::random::Stream;
use rand::Rng;

/// Rounds every number of `update` to one that `bits` bits can tell.
pub(super) fn quantize(update: &mut [f64], bits: u32, rng: &mut Stream) {
    // Magnitudes are in the order of their bits, and what is no number comes last.
    let largest = update.iter().fold(0, |largest: u64, value| largest.max(value.abs().to_bits()));
    let scale = f64::from_bits(largest);
    if scale == 0.0 || !scale.is_finite() {
        return;
    }
    let parts = parts(bits);
    // Drawn in advance, so that the arithmetic is done for several numbers at once.
    let mut draws = [0; 64];
    for values in update.chunks_mut(draws.len()) {
        draws.fill_with(|| rng.next_u32());
        for (value, draw) in values.iter_mut().zip(draws) {
            let (below, chance) = neighbour(*value, scale, parts);
            // The draw is one of 2³² equally likely ones.
            let up = f64::from(draw) < chance * 4_294_967_296.0;
            *value = level(below + f64::from(u8::from(up)), scale, parts).copysign(*value);
        }
    }
}

/// s: into how many parts the scale is cut.
pub(super) fn parts(bits: u32) -> f64 {
    f64::from((1u32 << (bits - 1)) - 1)
}

/// How many whole parts of the scale a magnitude has, and the chance that it is rounded up.
#[inline]
pub(super) fn neighbour(value: f64, scale: f64, parts: f64) -> (f64, f64) {
    // In this order nothing overflows, and the largest is exactly all parts.
    let exact = value.abs() / scale * parts;
    // There are fewer than 2¹⁵ parts, and to cut is faster than to ask for the floor.
    let below = f64::from(exact as i32);
    (below, exact - below)
}

/// The magnitude that so many parts are.
#[inline]
pub(super) fn level(count: f64, scale: f64, parts: f64) -> f64 {
    scale * (count / parts)
}
