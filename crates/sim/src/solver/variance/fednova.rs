//! FedNova with variance reduction (section 5, "Combination with Acceleration Techniques", and
//! Algorithm 2).
//!
//! Each local gradient is corrected by `Σ p_j d_j − d_i` of the client's last round. Section 5
//! defines d_i as the normalized sum of *stochastic gradients*, G_i a_i/‖a_i‖₁. Algorithm 2
//! computes it as `(x⁽⁰⁾ − x⁽τ⁾)/(ηa_i)`, which is the normalized sum of *corrected* gradients:
//! d_i + c_i. The two are not the same algorithm. With d_i alone, c_i settles at ∇F − ∇F_i and all
//! clients move alike: drift is gone, whatever their τ_i. With d_i + c_i in its place,
//! c_i ← ∇F − ∇F_i − c_i, which alternates between nothing and all of it, slowly damped: over two rounds
//! half of the drift stays. We take section 5's; `fednova-as-printed` is there for comparison.

use super::Heard;

/// d_i = −Δ_i/(η‖a_i‖₁) − c_i: what the client's own gradients were, without the correction.
pub(super) fn control(heard: &Heard<'_>) -> Vec<f64> {
    let correction = heard.correction.vector(heard.delta.len());
    let pairs = heard.delta.iter().zip(correction);
    pairs.map(|(delta, correction)| -delta / heard.gain - correction).collect()
}

/// Algorithm 2, line 12, to the letter.
pub(super) fn as_printed(heard: &Heard<'_>) -> Vec<f64> {
    heard.delta.iter().map(|delta| -delta / heard.gain).collect()
}
