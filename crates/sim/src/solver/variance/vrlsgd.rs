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

/// Δ_i − (x_i − x)/(kη): all but x̂, which nobody knows yet.
pub(super) fn before_the_close(heard: &Heard<'_>, own: Option<&Vec<f64>>) -> Vec<f64> {
    let own = |i: usize| own.map_or(0.0, |own| own[i]);
    heard.delta.iter().enumerate().map(|(i, delta)| own(i) - delta / heard.gain).collect()
}

/// Adds (x̂ − x)/(kη), where `sum`/`share` is the way from x to the average x̂.
pub(super) fn at_the_close(own: &mut [f64], sum: &[f64], share: f64, gain: f64) {
    own.iter_mut().zip(sum).for_each(|(own, sum)| *own += sum / share / gain);
}
