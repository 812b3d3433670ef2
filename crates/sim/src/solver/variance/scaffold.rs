//! SCAFFOLD, option II (Karimireddy et al., 2020, Algorithm 1).
//!
//! A client steps on `g − c_i + c` and then sets `c_i⁺ = c_i − c + (x − y_i)/(Kη_l)`; the server
//! keeps `c = Σ p_i c_i`. K is the client's own τ_i here. Only plain SGD is defined: with any other
//! law K steps do not move a client by Kη_l times its mean gradient.

use super::Heard;

/// c_i⁺, where x − y_i = −Δ_i and Kη_l is the gain of plain SGD.
pub(super) fn control(heard: &Heard<'_>) -> Vec<f64> {
    // c − c_i is what the client had added to its gradients.
    let correction = heard.correction.vector(heard.delta.len());
    let pairs = heard.delta.iter().zip(correction);
    pairs.map(|(delta, correction)| -correction + -delta / heard.gain).collect()
}
