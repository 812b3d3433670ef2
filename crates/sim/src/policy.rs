//! When a round closes, who is asked, and how much work they are given.
//!
//! Plain state machines: an event goes in, a decision comes out. The server only carries them out.

mod closing;
mod config;
mod selector;
mod workload;

pub use closing::{Closing, Durations, Verdict};
pub use config::{
    Adaptive, Amount, Batch, ClientConfig, Close, LastBatch, Late, OortConfig, Partial, Redraw,
    Sample, Scheme, ServerConfig, Staleness, Stop, Target, Work,
};
pub use selector::{Asked, Feedback, Selector};
pub use workload::Workload;
