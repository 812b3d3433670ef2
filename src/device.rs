//! Who computes, and how fast.
//!
//! A [`FleetConfig`] describes classes of devices; [`FleetConfig::init`] gives every client a
//! [`Device`]; [`Device::itinerary`] says when a client that sets out now will have downloaded,
//! stepped and uploaded, and therefore how many local steps τ it makes.
//!
//! ```text
//!   dispatched ──download──► downloaded ──step──step── … ──► computed ──upload──► arrives
//!                                          another step only if it and the upload fit
//! ```

mod fleet;
mod itinerary;
mod pace;
pub mod trace;

pub use fleet::{Assign, ClassConfig, Device, Fleet, FleetConfig, FleetError, Payload};
pub use itinerary::{Itinerary, Trip};
pub use pace::Pace;
