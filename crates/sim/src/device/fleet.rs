//! Classes of devices, and the device each client gets.

mod draw;
mod places;
#[cfg(test)]
mod tests;

use super::class::{ClassConfig, Thermal};
use super::episodes::Alternation;
use super::foresight::UsualDevice;
use super::link_rate::LinkRate;
use super::speed_profile::{Effort, SteadyInterval, TraceCursor};
use super::trace_store::TraceStore;
use super::varying::Direction;
use crate::clock::{SimTime, Span, TimeOverflow};
use crate::random::{Purpose, shuffle, stream};
use places::{LINKS, SPEEDS, trace_cursors};
use std::sync::Arc;

/// `[fleet]`.
#[derive(Clone, Debug, PartialEq)]
pub struct FleetConfig {
    /// How classes are given to clients.
    pub assign: Assign,
    /// At least one class; shares are positive and sum to 1.
    pub classes: Vec<ClassConfig>,
    /// Bits per second that all downloads share, the server's way out; `None`: no limit.
    pub server_uplink: Option<u64>,
    /// Bits per second that all uploads share, the server's way in; `None`: no limit.
    pub server_downlink: Option<u64>,
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

/// Bits that travel to a client and back, in every round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Payload {
    pub down: u64,
    pub up: u64,
}

impl Payload {
    /// Bits in one direction.
    pub fn bits(&self, direction: Direction) -> u64 {
        match direction {
            Direction::Down => self.down,
            Direction::Up => self.up,
        }
    }
}

/// The device of one client. Transfers of a run are all of one size, so links are kept as the
/// time that size takes: half the memory, and no division in the middle of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Device {
    /// An undisturbed local step.
    pub step: Span,
    /// Latency and transfer of a model from the server.
    pub download: Span,
    /// Latency and transfer of an update to the server.
    pub upload: Span,
    /// Relative standard deviation of a step.
    pub jitter: f32,
    /// Index of the class.
    pub class: u16,
}

/// The links of one client, for those who must know more than how long a transfer takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wire {
    /// Bits per second to the server, or [`NO_LIMIT`](super::NO_LIMIT).
    pub up: u64,
    /// Bits per second from the server.
    pub down: u64,
    /// Before the first bit arrives, each way.
    pub latency: Span,
}

/// What the devices of a class have in common.
#[derive(Clone, Debug, PartialEq)]
pub struct Class {
    /// Its name.
    pub name: String,
    /// The chance to vanish during a round.
    pub dropout: f64,
    /// When devices are slower, and how many times.
    pub slowdown: Option<(Alternation, f64)>,
    /// What continuous work does to the speed.
    pub thermal: Option<Thermal>,
    /// Recordings that say how fast they are.
    pub trace: Option<Arc<TraceStore>>,
    /// Recordings that say how fast their links are, in the place of what `trace` says.
    pub links: Option<Arc<TraceStore>>,
}

impl Class {
    /// Whether its devices are not always the same.
    pub fn varies(&self) -> bool {
        self.is_recorded() || self.slowdown.is_some() || self.thermal.is_some()
    }

    /// Whether recordings say how fast its devices or their links are.
    pub fn is_recorded(&self) -> bool {
        self.trace.is_some() || self.links.is_some()
    }
}

/// The devices of all clients.
#[derive(Clone, Debug, PartialEq)]
pub struct Fleet {
    /// By client.
    pub devices: Vec<Device>,
    /// By index.
    pub classes: Vec<Class>,
    /// By client; empty where all devices are steady and nothing is shared.
    pub wires: Vec<Wire>,
    /// Places in the recordings of speeds, by client; empty if there are none.
    pub trace_cursors: Vec<TraceCursor>,
    /// Places in the recordings of links alone, by client; empty if there are none.
    pub link_cursors: Vec<TraceCursor>,
}

/// A client got a device whose times cannot be represented.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("client {client} (class {class}): its {what} is out of range: {source}")]
#[non_exhaustive]
pub struct FleetError {
    /// Which client.
    pub client: usize,
    /// Its class.
    pub class: String,
    /// Which of its times.
    pub what: &'static str,
    /// Why.
    pub source: TimeOverflow,
}

/// What a run asks of everybody's device.
pub struct Demand<'a> {
    /// What travels.
    pub payload: Payload,
    /// What a local step of a client takes.
    pub effort: &'a dyn Fn(usize) -> Effort,
    /// Whether links may change or be shared, so that times of transfers are not enough.
    pub wires: bool,
}

impl FleetConfig {
    /// Gives each of `clients` clients a device that meets a `demand`.
    pub fn init(
        &self,
        seed: u64,
        clients: usize,
        demand: &Demand<'_>,
    ) -> Result<Fleet, FleetError> {
        let classes: Vec<Class> = self.classes.iter().map(ClassConfig::class).collect();
        let assigned = self.assignment(seed, clients);
        // A recording of speeds and presence is one device. So a class whose trace tells presence alone has
        // its places here, too.
        let speeds: Vec<_> = self.classes.iter().map(|class| class.trace.as_ref()).collect();
        let links: Vec<_> = self.classes.iter().map(|class| class.links.as_ref()).collect();
        let [trace_cursors, link_cursors] = [
            (SPEEDS, speeds, classes.iter().any(|class| class.trace.is_some())),
            (LINKS, links, classes.iter().any(|class| class.links.is_some())),
        ]
        .map(|(aspect, replays, needed)| match needed {
            true => trace_cursors(seed, aspect, &assigned, &replays),
            false => Vec::new(),
        });
        let wires = demand.wires || classes.iter().any(Class::varies);
        let devices = Vec::with_capacity(clients);
        let mut fleet = Fleet { devices, classes, wires: vec![], trace_cursors, link_cursors };
        for (client, class) in assigned.into_iter().enumerate() {
            let config = &self.classes[usize::from(class)];
            let first = fleet.first_point(client, class);
            let drawn = config.draw(seed, client as u64, class, demand, first);
            let (device, wire) = drawn.map_err(|(what, source)| FleetError {
                client,
                class: config.name.clone(),
                what,
                source,
            })?;
            fleet.devices.push(device);
            if wires {
                fleet.wires.push(wire);
            }
        }
        Ok(fleet)
    }

    /// The class of every client.
    fn assignment(&self, seed: u64, clients: usize) -> Vec<u16> {
        let mut assigned = Vec::with_capacity(clients);
        for (class, count) in self.counts(clients).into_iter().enumerate() {
            assigned.extend(std::iter::repeat_n(class as u16, count));
        }
        if self.assign == Assign::Random {
            shuffle(&mut assigned, &mut stream(seed, Purpose::Assignment, 0, 0));
        }
        assigned
    }

    /// How many clients each class gets: the whole part of its share, and the clients left over
    /// to the largest remainders (the earlier class on a tie).
    pub fn counts(&self, clients: usize) -> Vec<usize> {
        let exact: Vec<f64> = self.classes.iter().map(|c| c.share * clients as f64).collect();
        // A share like 0.2 of 30 may come out as 5.999…: the nearest whole number is meant.
        let whole = |x: f64| {
            if (x - x.round()).abs() < 1e-6 { x.round() } else { x.floor() }
        };
        let mut counts: Vec<usize> = exact.iter().map(|x| whole(*x) as usize).collect();
        let mut order: Vec<usize> = (0..counts.len()).collect();
        order.sort_by(|&a, &b| {
            let rest = |i: usize| exact[i] - counts[i] as f64;
            rest(b).total_cmp(&rest(a)).then(a.cmp(&b))
        });
        let left = clients.saturating_sub(counts.iter().sum());
        for &class in order.iter().cycle().take(left) {
            counts[class] += 1;
        }
        counts
    }
}

impl Fleet {
    /// Names by class.
    pub fn class_names(&self) -> Vec<String> {
        self.classes.iter().map(|class| class.name.clone()).collect()
    }

    /// Clients of each class.
    pub fn class_sizes(&self) -> Vec<u64> {
        let mut sizes = vec![0; self.classes.len()];
        self.devices.iter().for_each(|device| sizes[usize::from(device.class)] += 1);
        sizes
    }

    /// What is usual for a client's device: the means of its recording, of what that tells.
    pub fn usual(&self, client: u32, effort: Effort) -> UsualDevice {
        let usual = UsualDevice::from(self.nominal(client));
        let class = &self.classes[usize::from(self.devices[client as usize].class)];
        let over = |trace: &Option<Arc<TraceStore>>, cursors: &[TraceCursor]| {
            let (trace, cursor) = (trace.as_ref()?, cursors[client as usize]);
            let track = cursor.track as usize;
            let length = if cursor.period > 0 { cursor.period } else { trace.length(track) };
            Some(usual.over(trace.points(track), length, effort))
        };
        let speeds = over(&class.trace, &self.trace_cursors).unwrap_or(usual);
        let links = over(&class.links, &self.link_cursors).unwrap_or(speeds);
        UsualDevice { step: speeds.step, up: links.up }
    }

    /// What a client's device is like when nothing else is said.
    pub fn nominal(&self, client: u32) -> SteadyInterval {
        let Wire { up, down, .. } = self.wires[client as usize];
        let (up, down) = (LinkRate::bps(up), LinkRate::bps(down));
        SteadyInterval { step: self.devices[client as usize].step, up, down, until: SimTime::NEVER }
    }
}
