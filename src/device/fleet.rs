//! Classes of devices, and the device each client gets.

use crate::clock::{Span, TimeOverflow};
use crate::random::{Dist, Purpose, shuffle, stream};

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
    /// Chance to vanish during a round.
    pub dropout: f64,
}

/// Bits that travel to a client and back, in every round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Payload {
    pub down: u64,
    pub up: u64,
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

/// The devices of all clients.
#[derive(Clone, Debug, PartialEq)]
pub struct Fleet {
    /// By client.
    pub devices: Vec<Device>,
    /// Names by class.
    pub classes: Vec<String>,
    /// Chances to vanish during a round, by class.
    pub dropout: Vec<f64>,
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

impl FleetConfig {
    /// Gives each of `clients` clients a device for transfers of `payload`.
    pub fn init(&self, seed: u64, clients: usize, payload: Payload) -> Result<Fleet, FleetError> {
        let devices = self
            .assignment(seed, clients)
            .into_iter()
            .enumerate()
            .map(|(client, class)| {
                let config = &self.classes[usize::from(class)];
                config.device(seed, client as u64, class, payload).map_err(|(what, source)| {
                    FleetError { client, class: config.name.clone(), what, source }
                })
            })
            .collect::<Result<_, _>>()?;
        let classes = self.classes.iter().map(|class| class.name.clone()).collect();
        let dropout = self.classes.iter().map(|class| class.dropout).collect();
        Ok(Fleet { devices, classes, dropout })
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

impl ClassConfig {
    fn device(
        &self,
        seed: u64,
        client: u64,
        class: u16,
        payload: Payload,
    ) -> Result<Device, (&'static str, TimeOverflow)> {
        // One stream per aspect: a change of the uplink's distribution leaves all else as it was.
        let draw = |aspect, dist: &Dist| {
            if dist.is_fixed() {
                dist.typical()
            } else {
                dist.sample(&mut stream(seed, Purpose::Device, client, aspect))
            }
        };
        let latency = Span::from_nanos_f64(draw(3, &self.latency)).map_err(|e| ("latency", e))?;
        let transfer = |what, bits, link: Option<f64>| {
            let wire = link.map_or(Ok(Span::ZERO), |rate| transfer_time(bits, rate));
            wire.and_then(|wire| latency.plus(wire)).map_err(|e| (what, e))
        };
        Ok(Device {
            step: Span::from_nanos_f64(draw(0, &self.step_time).max(1.0))
                .map_err(|e| ("step_time", e))?,
            download: transfer(
                "download",
                payload.down,
                self.downlink.as_ref().map(|dist| draw(1, dist)),
            )?,
            upload: transfer("upload", payload.up, self.uplink.as_ref().map(|dist| draw(2, dist)))?,
            jitter: self.jitter as f32,
            class,
        })
    }
}

/// Time for `bits` at `rate` bits per second, rounded up to the nanosecond: the last bit has
/// arrived. The rate is taken as a whole number of bits per second, at least one.
fn transfer_time(bits: u64, rate: f64) -> Result<Span, TimeOverflow> {
    let rate = rate.round().max(1.0) as u128;
    let nanos = (u128::from(bits) * 1_000_000_000).div_ceil(rate);
    u64::try_from(nanos).map(Span::from_nanos).map_err(|_| TimeOverflow)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Shape;

    pub(crate) fn class(name: &str, share: f64) -> ClassConfig {
        ClassConfig {
            name: name.into(),
            share,
            step_time: Dist::fixed(10e6),
            jitter: 0.0,
            uplink: None,
            downlink: None,
            latency: Dist::fixed(0.0),
            dropout: 0.0,
        }
    }

    #[test]
    fn counts_follow_shares_exactly() {
        let fleet = |shares: &[f64]| FleetConfig {
            assign: Assign::InOrder,
            classes: shares.iter().map(|s| class("c", *s)).collect(),
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
        let fleet = FleetConfig { assign: Assign::InOrder, classes: vec![config] };
        let device =
            fleet.init(1, 1, Payload { down: 1_000_000, up: 1_000_000 }).unwrap().devices[0];
        assert_eq!(device.download.nanos(), 30_000_000 + 125_000_000);
        // 1e6 bits at 3 Mbit/s is 333,333,333.3… ns.
        assert_eq!(device.upload.nanos(), 30_000_000 + 333_333_334);
    }

    #[test]
    fn one_aspect_does_not_disturb_another() {
        let spread =
            |median| Dist { shape: Shape::Lognormal { median, sigma: 0.5 }, ..Dist::fixed(0.0) };
        let one = ClassConfig { step_time: spread(1e7), ..class("a", 1.0) };
        let two = ClassConfig { uplink: Some(spread(1e6)), ..one.clone() };
        let draw = |class| {
            FleetConfig { assign: Assign::Random, classes: vec![class] }
                .init(3, 20, Payload { down: 800, up: 800 })
                .unwrap()
        };
        let (one, two) = (draw(one), draw(two));
        for (a, b) in one.devices.iter().zip(&two.devices) {
            assert_eq!(a.step, b.step);
            assert_ne!(a.upload, b.upload);
        }
    }

    #[test]
    fn impossible_times_name_the_client() {
        let slow = ClassConfig { uplink: Some(Dist::fixed(1.0)), ..class("modem", 1.0) };
        let fleet = FleetConfig { assign: Assign::InOrder, classes: vec![slow] };
        let error = fleet.init(1, 2, Payload { down: u64::MAX, up: u64::MAX }).unwrap_err();
        assert_eq!((error.client, error.what), (0, "upload"));
        assert!(error.to_string().contains("class modem"));
    }
}
