//! The device that a class gives to a client.

use super::{Class, Demand, Device, Wire};
use crate::clock::{Span, TimeOverflow};
use crate::device::Compute;
use crate::device::class::{ClassConfig, ComputeConfig};
use crate::device::episodes::Alternation;
use crate::device::speed_profile::NO_LIMIT;
use crate::random::{Dist, Purpose, stream};

impl ClassConfig {
    pub(super) fn class(&self) -> Class {
        Class {
            name: self.name.clone(),
            dropout: self.dropout,
            slowdown: self.slowdown.as_ref().map(|slowdown| {
                let (on, off) = (slowdown.lasting.clone(), slowdown.every.clone());
                (Alternation::new(Purpose::Slowdown, on, off), slowdown.factor)
            }),
            thermal: self.thermal.clone(),
            trace: self
                .trace
                .as_ref()
                .filter(|replay| replay.trace.tells_speeds())
                .map(|replay| replay.trace.clone()),
            links: self.links.as_ref().map(|replay| replay.trace.clone()),
        }
    }

    pub(super) fn draw(
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
