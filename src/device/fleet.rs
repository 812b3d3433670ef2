//! Classes of devices, and the device each client gets.

use super::class::{Availability, ClassConfig, ComputeConfig, Repeat, Replay, Thermal};
use super::course::{Effort, NO_LIMIT, Reel, Spell};
use super::episodes::Alternation;
use super::presence::{Coming, Presence};
use super::tape::Tape;
use super::trace::Compute;
use super::way::Direction;
use crate::clock::{SimTime, Span, TimeOverflow};
use crate::random::{Dist, Purpose, shuffle, stream};
use rand::RngExt;
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
    /// Bits per second to the server, or [`NO_LIMIT`].
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
    pub tape: Option<Arc<Tape>>,
}

impl Class {
    /// Whether its devices are not always the same.
    pub fn varies(&self) -> bool {
        self.tape.is_some() || self.slowdown.is_some() || self.thermal.is_some()
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
    pub reels: Vec<Reel>,
}

/// A client got a device whose times cannot be represented.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("client {client} (class {class}): its {what} is out of range: {source}")]
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
        let tapes = self.classes.iter().map(|class| class.trace.as_ref());
        let reels = if classes.iter().any(|class| class.tape.is_some()) {
            reels(seed, 0, &assigned, &tapes.collect::<Vec<_>>())
        } else {
            Vec::new()
        };
        let wires = demand.wires || classes.iter().any(Class::varies);
        let mut fleet =
            Fleet { devices: Vec::with_capacity(clients), classes, wires: vec![], reels };
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

    /// Who is there when; `None` if everybody always is, unless `scripted` events may change that.
    pub fn presence(&self, seed: u64, fleet: &Fleet, scripted: bool) -> Option<Presence> {
        let coming = |class: &ClassConfig| match (&class.availability, &class.trace) {
            (Some(Availability::OnOff { on, off }), _) => {
                Coming::OnOff(Alternation::new(Purpose::Availability, on.clone(), off.clone()))
            }
            (Some(Availability::Trace(replay)), _) | (None, Some(replay))
                if replay.tape.tells_availability() =>
            {
                Coming::Recorded(replay.tape.clone())
            }
            _ => Coming::Always,
        };
        let laws: Vec<Coming> = self.classes.iter().map(coming).collect();
        if !scripted && laws.iter().all(|law| *law == Coming::Always) {
            return None;
        }
        let classes: Vec<u16> = fleet.devices.iter().map(|device| device.class).collect();
        // A recording of both speeds and presence is one device; one of presence alone is given
        // out by itself.
        let own = |class: &ClassConfig| matches!(class.availability, Some(Availability::Trace(_)));
        let replays: Vec<Option<&Replay>> = self
            .classes
            .iter()
            .map(|class| match &class.availability {
                Some(Availability::Trace(replay)) => Some(replay),
                _ => class.trace.as_ref(),
            })
            .collect();
        let mut places = reels(seed, 1, &classes, &replays);
        for (client, class) in classes.iter().enumerate() {
            if !own(&self.classes[usize::from(*class)]) && !fleet.reels.is_empty() {
                places[client] = fleet.reels[client];
            }
        }
        let presence = Presence::new(seed, laws, &classes, &places);
        Some(if scripted { presence.scripted() } else { presence })
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

/// Gives every client its recording of its class's `replays`. `aspect` keeps the draws for speeds
/// and for presence apart.
fn reels(seed: u64, aspect: u64, classes: &[u16], replays: &[Option<&Replay>]) -> Vec<Reel> {
    // The order in which each class hands out its recordings, and how many it has handed out.
    let mut orders: Vec<(Vec<u32>, usize)> = replays
        .iter()
        .enumerate()
        .map(|(class, replay)| {
            let mut order: Vec<u32> =
                (0..replay.map_or(0, |replay| replay.tape.len()) as u32).collect();
            if replay.is_some_and(|replay| replay.assign == Assign::Random) {
                shuffle(&mut order, &mut stream(seed, Purpose::Replay, aspect, class as u64));
            }
            (order, 0)
        })
        .collect();
    let place = |(client, class): (usize, &u16)| {
        let (order, given) = &mut orders[usize::from(*class)];
        let Some(replay) = replays[usize::from(*class)].filter(|_| !order.is_empty()) else {
            return Reel { track: 0, shift: 0, period: 0 };
        };
        let track = order[*given % order.len()];
        *given += 1;
        let length = replay.tape.length(track as usize);
        let whole = match replay.repeat {
            Repeat::Every(span) => span.nanos(),
            _ => length,
        };
        let shift = match replay.shifted {
            true => {
                // Above all aspects of orders: clients draw for themselves.
                let mut rng = stream(seed, Purpose::Replay, 2 + aspect, client as u64);
                (rng.random::<f64>() * whole as f64) as u64
            }
            false => 0,
        };
        Reel::new(track, shift, replay.repeat, length)
    };
    classes.iter().enumerate().map(place).collect()
}

impl Fleet {
    /// Names by class.
    pub fn class_names(&self) -> Vec<String> {
        self.classes.iter().map(|class| class.name.clone()).collect()
    }

    /// What a client's device is like when nothing else is said.
    pub fn nominal(&self, client: u32) -> Spell {
        let Wire { up, down, .. } = self.wires[client as usize];
        Spell { step: self.devices[client as usize].step, up, down, until: SimTime::NEVER }
    }

    /// How a client's recording begins, if it has one.
    fn first_point(
        &self,
        client: usize,
        class: u16,
    ) -> (Option<Compute>, Option<u64>, Option<u64>) {
        let tape = self.classes[usize::from(class)].tape.as_ref();
        let point = tape.and_then(|tape| {
            let reel = self.reels[client];
            let points = tape.points(reel.track as usize);
            let (local, _) = reel.local(SimTime::ZERO);
            points.get(points.partition_point(|point| point.at <= local).max(1) - 1)
        });
        point.map_or((None, None, None), |point| (point.compute, point.up, point.down))
    }
}

impl ClassConfig {
    fn class(&self) -> Class {
        Class {
            name: self.name.clone(),
            dropout: self.dropout,
            slowdown: self.slowdown.as_ref().map(|slowdown| {
                let (on, off) = (slowdown.lasting.clone(), slowdown.every.clone());
                (Alternation::new(Purpose::Slowdown, on, off), slowdown.factor)
            }),
            thermal: self.thermal.clone(),
            tape: self
                .trace
                .as_ref()
                .filter(|replay| replay.tape.tells_speeds())
                .map(|replay| replay.tape.clone()),
        }
    }

    fn draw(
        &self,
        seed: u64,
        client: u64,
        class: u16,
        demand: &Demand<'_>,
        (compute, up, down): (Option<Compute>, Option<u64>, Option<u64>),
    ) -> Result<(Device, Wire), (&'static str, TimeOverflow)> {
        // One stream per aspect: a change of the uplink's distribution leaves all else as it was.
        let draw = |aspect, dist: &Dist| {
            if dist.is_fixed() {
                dist.typical()
            } else {
                dist.sample(&mut stream(seed, Purpose::Device, client, aspect))
            }
        };
        let link = |aspect, dist: &Option<Dist>| {
            // A whole number of bits per second, at least one.
            dist.as_ref().map_or(NO_LIMIT, |dist| draw(aspect, dist).round().max(1.0) as u64)
        };
        let effort = || (demand.effort)(client as usize);
        let step = match (compute, &self.compute) {
            (Some(compute), _) => effort().step(compute),
            (None, Some(ComputeConfig::StepTime(dist))) => draw(0, dist),
            (None, Some(ComputeConfig::Speed(dist))) => {
                effort().step(Compute::Flops(draw(0, dist)))
            }
            (None, None) => 1.0,
        };
        let wire = Wire {
            down: down.unwrap_or_else(|| link(1, &self.downlink)),
            up: up.unwrap_or_else(|| link(2, &self.uplink)),
            latency: Span::from_nanos_f64(draw(3, &self.latency)).map_err(|e| ("latency", e))?,
        };
        let transfer = |what, bits, rate| {
            transfer_time(bits, rate)
                .and_then(|wired| wire.latency.plus(wired))
                .map_err(|e| (what, e))
        };
        let device = Device {
            step: Span::from_nanos_f64(step.max(1.0)).map_err(|e| ("step_time", e))?,
            download: transfer("download", demand.payload.down, wire.down)?,
            upload: transfer("upload", demand.payload.up, wire.up)?,
            jitter: self.jitter as f32,
            class,
        };
        Ok((device, wire))
    }
}

/// Time for `bits` at `rate` bits per second, rounded up to the nanosecond: the last bit has
/// arrived. Without a connection there is none that could be told.
fn transfer_time(bits: u64, rate: u64) -> Result<Span, TimeOverflow> {
    match rate {
        NO_LIMIT | 0 => Ok(Span::ZERO),
        rate => {
            let nanos = (u128::from(bits) * 1_000_000_000).div_ceil(u128::from(rate));
            u64::try_from(nanos).map(Span::from_nanos).map_err(|_| TimeOverflow)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Shape;

    pub(crate) fn class(name: &str, share: f64) -> ClassConfig {
        ClassConfig {
            name: name.into(),
            share,
            compute: Some(ComputeConfig::StepTime(Dist::fixed(10e6))),
            jitter: 0.0,
            uplink: None,
            downlink: None,
            latency: Dist::fixed(0.0),
            dropout: 0.0,
            trace: None,
            availability: None,
            slowdown: None,
            thermal: None,
        }
    }

    fn fleet_of(assign: Assign, classes: Vec<ClassConfig>) -> FleetConfig {
        FleetConfig { assign, classes, server_uplink: None, server_downlink: None }
    }

    fn sized(bits: u64) -> Demand<'static> {
        let payload = Payload { down: bits, up: bits };
        Demand { payload, effort: &|_| Effort { samples: 1.0, flops: 1.0 }, wires: false }
    }

    #[test]
    fn counts_follow_shares_exactly() {
        let fleet = |shares: &[f64]| {
            fleet_of(Assign::InOrder, shares.iter().map(|s| class("c", *s)).collect())
        };
        assert_eq!(fleet(&[0.2, 0.8]).counts(30), [6, 24]);
        assert_eq!(fleet(&[0.5, 0.5]).counts(3), [2, 1]);
        assert_eq!(fleet(&[1.0 / 3.0; 3]).counts(10), [4, 3, 3]);
        assert_eq!(fleet(&[0.05, 0.95]).counts(4), [0, 4]);
        assert_eq!(fleet(&[0.1; 10]).counts(1_000_000), [100_000; 10]);
    }

    #[test]
    fn transfers_take_latency_and_the_last_bit() {
        let config = ClassConfig {
            uplink: Some(Dist::fixed(3e6)),
            downlink: Some(Dist::fixed(8e6)),
            latency: Dist::fixed(30e6),
            ..class("phone", 1.0)
        };
        let fleet = fleet_of(Assign::InOrder, vec![config]);
        let device = fleet.init(1, 1, &sized(1_000_000)).unwrap().devices[0];
        assert_eq!(device.download.nanos(), 30_000_000 + 125_000_000);
        // 1e6 bits at 3 Mbit/s is 333,333,333.3… ns.
        assert_eq!(device.upload.nanos(), 30_000_000 + 333_333_334);
    }

    #[test]
    fn one_aspect_does_not_disturb_another() {
        let spread =
            |median| Dist { shape: Shape::Lognormal { median, sigma: 0.5 }, ..Dist::fixed(0.0) };
        let one =
            ClassConfig { compute: Some(ComputeConfig::StepTime(spread(1e7))), ..class("a", 1.0) };
        let two = ClassConfig { uplink: Some(spread(1e6)), ..one.clone() };
        let draw = |class| fleet_of(Assign::Random, vec![class]).init(3, 20, &sized(800)).unwrap();
        let (one, two) = (draw(one), draw(two));
        for (a, b) in one.devices.iter().zip(&two.devices) {
            assert_eq!(a.step, b.step);
            assert_ne!(a.upload, b.upload);
        }
    }

    #[test]
    fn impossible_times_name_the_client() {
        let slow = ClassConfig { uplink: Some(Dist::fixed(1.0)), ..class("modem", 1.0) };
        let fleet = fleet_of(Assign::InOrder, vec![slow]);
        let error = fleet.init(1, 2, &sized(u64::MAX)).unwrap_err();
        assert_eq!((error.client, error.what), (0, "upload"));
        assert!(error.to_string().contains("class modem"));
    }
}
