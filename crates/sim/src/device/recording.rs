//! What was recorded of a device, in memory: who reads such recordings from files is not known here.

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
