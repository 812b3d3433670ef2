//! Recordings of how devices behaved: compute speed, links and availability over time.
//!
//! A trace is a CSV file (see `traces/README.md`), one row per change, rows of one device together
//! and in time order. Values are piecewise constant: what a row says holds until a later row of
//! the same device says otherwise.
//!
//! ```text
//!   FedScale, FLASH, logs, tables ──import──┐
//!                      a Mixture ──devices──┴─► TraceWriter ──► trace.csv.gz
//!                                                                   │
//!              inspect: what is in it, what is wrong ◄── rows ──────┤
//!                          one Recording after the other ◄── Recordings
//!                                                                   │
//!                     fit: classes of devices for a scenario ◄──────┘
//! ```

mod columns;
mod error;
mod fit;
mod import;
mod inspect;
mod number;
mod pickle;
mod reader;
mod records;
mod rows;
mod source;
mod synth;
mod writer;

pub use columns::{Columns, ComputeColumn};
pub use error::TraceError;
pub use fit::{Fit, FitClass, FitOptions, Lognormal, Presence, Quality, fit};
pub use import::{Direction, Format, ImportOptions, ImportSummary, Mapping, import};
pub use inspect::{Aspect, Availability, Bin, Inspection, Problem, Spread, inspect};
pub use reader::Recordings;
pub use source::Input;
pub use synth::{Air, Crowd, Load, Mixture, Outage, Rhythm, Tier};
pub use writer::TraceWriter;

use crate::clock::Span;

/// How fast a device computes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Compute {
    /// Nanoseconds for one local step, whatever the batch.
    Step(f64),
    /// Nanoseconds for one training sample: a step takes as many as its batch.
    Sample(f64),
    /// Floating-point operations per second: a step takes the model's work over this.
    Flops(f64),
}

impl Compute {
    /// The number, in its own unit.
    pub fn value(self) -> f64 {
        match self {
            Compute::Step(value) | Compute::Sample(value) | Compute::Flops(value) => value,
        }
    }
}

/// A change, from `at` on. `None`: as before.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Change {
    /// Since the recording began.
    pub at: Span,
    /// Compute speed.
    pub compute: Option<Compute>,
    /// Bits per second from client to server.
    pub up: Option<f64>,
    /// Bits per second from server to client.
    pub down: Option<f64>,
    /// Whether the device can take part.
    pub available: Option<bool>,
    /// What it is doing is lost at this very instant; it is there as before.
    pub lost: bool,
}

/// What was recorded of one device.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recording {
    /// The device's name in the file.
    pub device: String,
    /// In time order, at most one per instant.
    pub changes: Vec<Change>,
    /// When the recording ended, if the file says so: a recording that repeats begins again then.
    pub end: Option<Span>,
}
