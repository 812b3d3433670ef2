//! How a client moves its model, and the accumulation vector a_i that its law implies.
//!
//! Every local solver here is one law, [`Solver`], with terms that may be switched on in any mix:
//!
//! ```text
//!   G ← g(x) + λx + μ(x − x₀) + c     weight decay λ, proximal term μ, variance reduction c
//!   u ← ρu + G                        momentum ρ, the buffer is zero when a round begins
//!   x ← x − ηγᵏu                      learning rate η, decayed by γ at every step
//! ```
//!
//! Whatever the mix, a client's change is a linear combination of its gradients,
//! `Δ_i = −η G_i a_i` (section 4.1 of the paper), and the server must know ‖a_i‖₁ to normalise it.
//! Linear means that ‖a_i‖₁ can be read off the law itself: run it from 0 on the constant
//! gradient 1. Weight decay and variance reduction belong to the gradient and leave a_i as it is.
//!
//! [`Recipe`] says which law a client follows in which round, [`Controls`] keeps the state of
//! variance reduction.

mod accumulation;
#[cfg(test)]
mod closed_forms;
mod law;
mod long;
mod recipe;
mod variance;

pub use accumulation::Accumulation;
pub use law::{Descent, Solver};
pub use recipe::{LrChange, Recipe, Schedule};
pub use variance::{
    ControlVector, Controls, ControlsState, Correction, Heard, OpenControls, VarianceReduction,
};
