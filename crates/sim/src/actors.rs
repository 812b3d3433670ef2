//! The actor shell: a server, a client for everyone on the way, a recorder.
//!
//! ```text
//!            Dispatch                     Arrived                  Rows, Closed
//!   Server ───────────► Client (sleeps) ───────────► Server ───────────────────► Recorder
//!     └── sleeps until the deadline
//! ```
//!
//! This is the only room that knows actix. Each actor is a thin shell around a plain struct
//! ([`crate::server::Server`], [`crate::client::ClientSide`]) that decides; the actor carries messages and
//! sleeps. All of them live on one thread, so the order of messages is the order of events. The recorder
//! tells the run's observers of everything in that order, on a thread of its own. A panic in any handler
//! ends the run with a message that says where it happened.

mod client;
mod departures;
mod shared_link_round;
mod transfer;

mod ending;

mod recorder;
mod server;
mod shared_link;
mod simulate;

pub use crate::train::Interrupt;
pub use ending::RunError;
pub use server::Checkpoints;
pub use simulate::{ClockMode, Finished, Simulation, simulate};
