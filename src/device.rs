//! Who computes, and how fast.
//!
//! A [`FleetConfig`] describes classes of devices; [`Fleet::draw`] gives every client a
//! [`Device`]; [`Device::itinerary`] says when a client that starts now will have downloaded,
//! stepped and uploaded, and therefore how many local steps τ it makes.

mod fleet;
mod itinerary;

pub use fleet::{Assign, ClassConfig, Device, Fleet, FleetConfig};
pub use itinerary::{Itinerary, Pace, Trip};
