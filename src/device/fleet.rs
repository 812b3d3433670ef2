//! Classes of devices, and the device each client gets.

use crate::random::Dist;

/// `[fleet]`.
#[derive(Clone, Debug, PartialEq)]
pub struct FleetConfig {
    /// How classes are given to clients.
    pub assign: Assign,
    /// At least one class; shares are positive and sum to 1.
    pub classes: Vec<ClassConfig>,
}

/// How classes are given to clients. Either way the counts follow the shares exactly
/// (largest remainder).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Assign {
    /// Shuffled.
    Random,
    /// The first class to the first clients, and so on.
    InOrder,
}

/// `[[fleet.class]]`.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassConfig {
    /// Shown in tables and in `clients.csv`.
    pub name: String,
    /// Part of the fleet.
    pub share: f64,
    /// Nanoseconds per local step, drawn once per client.
    pub step_time: Dist,
    /// Relative standard deviation of every single step.
    pub jitter: f64,
    /// Bits per second from client to server; `None`: no limit.
    pub uplink: Option<Dist>,
    /// Bits per second from server to client; `None`: no limit.
    pub downlink: Option<Dist>,
    /// Nanoseconds before the first bit arrives, each way.
    pub latency: Dist,
}

/// The device of one client.
pub struct Device {}
/// All devices.
pub struct Fleet {}
