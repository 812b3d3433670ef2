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
//!
//! Devices know only their own connection. A [`Link`] is what many of them share, such as the
//! network card of the server: it says who is through when, as others come and go.

mod class;
mod course;
mod episodes;
mod event;
mod fleet;
mod itinerary;
mod link;
mod pace;
mod presence;
mod recording;
mod script;
mod tape;
mod way;

pub use class::{Availability, ClassConfig, ComputeConfig, Repeat, Replay, Slowdown, Thermal};
pub use course::{Course, Effort, NO_LIMIT, Reel, Spell};
pub use episodes::{Alternation, Episode};
pub use event::{Among, DeviceEffect, Effect, EventConfig, LrEffect, When, Whom};
pub use fleet::{Assign, Class, Demand, Device, Fleet, FleetConfig, FleetError, Payload, Wire};
pub use itinerary::{Itinerary, Trip};
pub use link::{Flow, Link};
pub use pace::Pace;
pub use presence::{Absence, Coming, Presence, Turn};
pub use recording::{Change, Compute, Recording};
pub use script::{Happening, Selection};
pub use tape::{Point, Tape, Toggle};
pub use way::{Direction, Gear, STEP, Transfer, Warmth, transfer};
