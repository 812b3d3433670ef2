//! What a scenario says of a class of devices.

use super::Assign;
use super::trace_store::TraceStore;
use crate::clock::Span;
use crate::random::Dist;
use std::sync::Arc;

/// `[[fleet.class]]`.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassConfig {
    /// Shown in tables and in `clients.csv`.
    pub name: String,
    /// Part of the fleet.
    pub share: f64,
    /// How fast its devices compute; `None`: their trace says so.
    pub compute: Option<ComputeConfig>,
    /// Relative standard deviation of every single step.
    pub jitter: f64,
    /// Bits per second from client to server; `None`: no limit.
    pub uplink: Option<Dist>,
    /// Bits per second from server to client; `None`: no limit.
    pub downlink: Option<Dist>,
    /// Nanoseconds before the first bit arrives, each way.
    pub latency: Dist,
    /// Chance to vanish during a round.
    pub dropout: f64,
    /// Recordings that are replayed: what they do not tell, the other keys do.
    pub trace: Option<Replay>,
    /// Recordings of links that are replayed, whatever `trace` says of links.
    pub links: Option<Replay>,
    /// When its devices can take part; `None`: as the trace says, or always.
    pub availability: Option<Availability>,
    /// Times in which a device is slower, such as when its owner uses it.
    pub slowdown: Option<Slowdown>,
    /// What continuous work does to the speed.
    pub thermal: Option<Thermal>,
}

impl ClassConfig {
    /// Nanoseconds per local step, if the class says so itself.
    pub fn step_time(&self) -> Option<&Dist> {
        match &self.compute {
            Some(ComputeConfig::StepTime(dist)) => Some(dist),
            _ => None,
        }
    }
}

/// How fast devices compute, drawn once per client.
#[derive(Clone, Debug, PartialEq)]
pub enum ComputeConfig {
    /// Nanoseconds per local step.
    StepTime(Dist),
    /// Floating-point operations per second: a step takes the model's work over this.
    Speed(Dist),
}

/// When devices can take part.
#[derive(Clone, Debug, PartialEq)]
pub enum Availability {
    /// At any time, whatever a trace says.
    Always,
    /// Coming and going, for so many nanoseconds each.
    #[allow(missing_docs)]
    OnOff { on: Dist, off: Dist },
    /// As recorded.
    Trace(Replay),
}

/// Episodes in which a step takes `factor` times as long.
#[derive(Clone, Debug, PartialEq)]
pub struct Slowdown {
    /// Above 0; below 1 the device is faster.
    pub factor: f64,
    /// Nanoseconds from the end of one to the beginning of the next.
    pub every: Dist,
    /// Nanoseconds.
    pub lasting: Dist,
}

/// A device that has worked for long is slower.
#[derive(Clone, Debug, PartialEq)]
pub struct Thermal {
    /// After so much continuous work, the speed as a part of the full one; strictly increasing in
    /// time. Before the first entry it is full.
    pub curve: Vec<(Span, f64)>,
    /// Every nanosecond of rest takes back so many of work.
    pub cooling: f64,
}

/// Recordings, and how they become devices of clients.
#[derive(Clone, Debug, PartialEq)]
pub struct Replay {
    /// The recordings, in the order of their file.
    pub trace: Arc<TraceStore>,
    /// What happens at the end of a recording.
    pub repeat: Repeat,
    /// Whether each client begins at a moment of its own, drawn from the whole recording.
    pub shifted: bool,
    /// Which recording a client gets: in order, or in a random order; begun again when there are
    /// more clients than recordings.
    pub assign: Assign,
}

/// What happens at the end of a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeat {
    /// What it said last holds for good.
    Never,
    /// It begins again when it ends.
    AtItsEnd,
    /// It begins again so often.
    Every(Span),
}
