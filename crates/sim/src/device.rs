//! Who computes, and how fast.
//!
//! A [`FleetConfig`] describes classes of devices; [`FleetConfig::init`] gives every client a
//! [`Device`]; [`RoundTask::legs`] says when a client that sets out now will have downloaded,
//! stepped and uploaded, and therefore how many local steps τ it makes.
//!
//! ```text
//!   dispatched ──download──► downloaded ──step──step── … ──► computed ──upload──► arrives
//!                                          another step only if it and the upload fit, as far as the
//!                                          client knows ([`Foresight`])
//! ```
//!
//! Devices know only their own connection. A [`Link`] is what many of them share, such as the
//! network card of the server: it says who is through when, as others come and go.

mod class;
mod episodes;
mod event;
mod fleet;
mod foresight;
mod legs;
mod link;
mod link_rate;
mod pace;
mod presence;
mod recording;
mod script;
mod speed_profile;
mod steady;
mod trace_store;
mod varying;

pub use class::{Availability, ClassConfig, ComputeConfig, Repeat, Replay, Slowdown, Thermal};
pub use episodes::{Alternation, Episode};
pub use event::{Among, DeviceEffect, Effect, EventConfig, LrEffect, When, Whom};
pub use fleet::{Assign, Class, Demand, Device, Fleet, FleetConfig, FleetError, Payload, Wire};
pub use foresight::{Foreseen, Foresight, UsualDevice};
pub use legs::{LegEnds, LegTimes, RoundTask};
pub use link::{Flow, Link, LinkTransfers, TransferId};
pub use link_rate::LinkRate;
pub use pace::Pace;
pub use presence::{Absence, AvailabilityChange, Coming, Presence};
pub use recording::{Change, Compute, Recording};
pub use script::{ClientSet, Happening};
pub use speed_profile::{Effort, NO_LIMIT, SpeedProfile, SteadyInterval, TraceCursor};
pub use steady::SteadyLegs;
pub use trace_store::{Point, Toggle, TraceStore};
pub use varying::{DeviceView, Direction, STEP, Transfer, Warmth, transfer};
