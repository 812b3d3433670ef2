//! The exponential function of the softmax.
//!
//! The C library's `expf` differs between systems and does not vectorise, so
//! the kernel has its own: reduce to `r` in `±ln2/2` (Cody and Waite), one
//! polynomial of degree 6, then add the power of two to the exponent. Every
//! instruction set evaluates the same operations in the same order. The error
//! is below 1 ulp for arguments in `FLUSH..=0`, the only ones a softmax has
//! once the maximum is subtracted.

/// Arguments below this give exactly 0. Such a term cannot change a sum that
/// is at least 1, and its products with small features and learning rates
/// would be subnormal, which costs over a hundred cycles each on x86.
pub(super) const FLUSH: f32 = -64.0;

pub(super) const LOG2_E: f32 = std::f32::consts::LOG2_E;

/// Adding 1.5 * 2^23 rounds to an integer and leaves it in the low bits.
pub(super) const ROUND: f32 = 12_582_912.0;

/// `ln 2` in two parts. A fused multiply-add makes the first product exact,
/// so the high part may use all 24 bits.
pub(super) const LN2_HIGH: f32 = std::f32::consts::LN_2;
pub(super) const LN2_LOW: f32 = -1.904_654_2e-9;

/// Coefficients of `r^6` down to `r^0`: the minimax fit of the relative error
/// with the last two fixed at 1, so that `exp(0)` is exactly 1.
pub(super) const POLY: [f32; 7] =
    [0.001_381_454, 0.008_368_745, 0.041_668_39, 0.166_665_21, 0.499_999_94, 1.0, 1.0];

/// `exp(x)` for `x <= 0`; NaN stays NaN.
#[inline(always)]
pub(super) fn exp(x: f32) -> f32 {
    let rounded = x.mul_add(LOG2_E, ROUND);
    let n = rounded - ROUND;
    let r = n.mul_add(-LN2_LOW, n.mul_add(-LN2_HIGH, x));
    let mut p = POLY[0];
    for c in &POLY[1..] {
        p = p.mul_add(r, *c);
    }
    // The constant's own bits are shifted out and only n reaches the exponent.
    let power = rounded.to_bits() << 23;
    let value = f32::from_bits(p.to_bits().wrapping_add(power));
    if x < FLUSH { 0.0 } else { value }
}
