//! Half precision: 11 significant bits, exponents from −14 to 15.
//!
//! Written out because a run must not depend on the machine: libraries round a double by way of
//! single precision where the processor can do the second half, which rounds twice, and directly
//! where it cannot.

/// The largest finite number.
pub(super) const LARGEST: f64 = 65504.0;

/// The nearest number in half precision, the even one of two that are equally near. What is too
/// large becomes the largest, not infinity: one entry would spoil the model. What already is
/// infinite or no number stays so.
#[inline]
pub(super) fn round(value: f64) -> f64 {
    let finite = value.clamp(-LARGEST, LARGEST);
    // Below 2⁻¹⁴ numbers no longer get denser.
    let exponent = ((finite.to_bits() >> 52) & 0x7ff).max(1023 - 14);
    // Doubles of this size are as far apart as half-precision numbers are around `value`, so the
    // sum is rounded to one of those, and the difference is exact.
    let rounder = 1.5 * f64::from_bits((exponent + 52 - 10) << 52);
    let rounded = ((finite + rounder) - rounder).copysign(value);
    if value.is_infinite() { value } else { rounded }
}
