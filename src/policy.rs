//! When a round closes, who is asked, and how much work they are given.
//!
//! Plain state machines: an event goes in, a decision comes out. The server actor only carries
//! them out.

mod config;

pub use config::{
    Amount, Batch, ClientConfig, Close, Late, Partial, Redraw, Sample, Scheme, ServerConfig, Stop,
    Target, Work,
};
