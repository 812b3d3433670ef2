//! Variance-reduced local SGD (Liang et al., 2019, Algorithm 1).
//!
//! A client steps on `g − Δ_i` and, once the new average x̂ is known, sets
//! `Δ_i ← Δ_i + (x̂ − x_i)/(kη)`, k being the number of local steps that all clients make. It is
//! only meant for that case. x̂ is the average of the clients' models, which need not be where a
//! server's optimiser goes. Where clients make different numbers of steps we do as the FedNova
//! paper does (section 3): k becomes the client's own τ_i. Then (x̂ − x_i)/(τ_iη) is no longer a
//! difference of mean gradients, the Δ_i no longer sum to zero, and the method goes astray
//! (Figure 2).

use super::Heard;

/// −(x_i − x)/(kη): all of the change but x̂, which is not known yet.
pub(super) fn own_part(heard: &Heard<'_>) -> Vec<f64> {
    heard.delta.iter().map(|delta| -delta / heard.gain).collect()
}

/// Δ_i ← Δ_i + (x̂ − x_i)/(kη), where `sum`/`share` is the way from x to the average x̂.
pub(super) fn change(own: &mut [f64], own_part: &[f64], sum: &[f64], share: f64, gain: f64) {
    for ((own, part), sum) in own.iter_mut().zip(own_part).zip(sum) {
        *own = *own + part + sum / share / gain;
    }
}
