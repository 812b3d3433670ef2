//! What the paper predicts, and how far a run is from it.
//!
//! * [`Meter`]: whose gradients really moved the model (χ² of Theorem 2);
//! * [`ScheduledRound`], [`Rounds`]: Theorem 1's A, B, C of a round, and their averages (Theorem 3);
//! * [`Constants`], [`Budget`]: the error bounds in numbers, and the limit on the learning rate;
//! * [`GradientSpread`]: β² and κ² of assumption 3, from what a run has seen;
//! * [`FedProx`]: what the proximal term buys and costs (Figure 4);
//! * [`RestingPoint`]: where the general rule comes to rest on quadratics (appendix A).

mod bound;
mod budget;
mod dissimilarity;
mod fixed_point;
mod meter;
mod prox;
#[cfg(test)]
mod resting_places;
mod round;
#[cfg(test)]
mod special_cases;

pub use bound::{Constants, ErrorBound, RateLimit, TrueBound, theorem_lr};
pub use budget::Budget;
pub use dissimilarity::{Dissimilarity, GradientSpread};
pub use fixed_point::RestingPoint;
pub use meter::{Consistency, Meter, chi_square};
pub use prox::{FedProx, ProxPoint, ProxWeights, least_alpha, proximal_norms};
pub use round::{Averages, Participant, Rounds, ScheduledRound};
