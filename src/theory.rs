//! What the paper predicts, and how far a run is from it.

mod fixed_point;
mod meter;

pub use fixed_point::{QuadraticClient, fixed_point};
pub use meter::{Consistency, Meter, chi_square};
