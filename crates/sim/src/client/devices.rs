//! The devices of the clients, as a round meets them.

use super::ClientSide;
use crate::clock::SimTime;
use crate::device::{DeviceView, Effort, Happening, LinkRate, Pace, SpeedProfile, UsualDevice};
use crate::participation::Round;

impl ClientSide {
    /// Whether a client's device is the same all the time.
    pub fn is_steady(&self, client: u32) -> bool {
        let class = self.fleet.devices[client as usize].class;
        !self.fleet.classes[usize::from(class)].varies() && self.script.borrow().is_empty()
    }

    /// Whether a client may vanish on its way.
    pub fn may_vanish(&self, client: u32) -> bool {
        let class = self.fleet.devices[client as usize].class;
        self.fleet.classes[usize::from(class)].dropout > 0.0
    }

    /// A client's device from `now` on.
    pub fn profile<'a>(
        &'a self,
        client: u32,
        now: SimTime,
        script: &'a [Happening],
    ) -> SpeedProfile<'a> {
        let class = &self.fleet.classes[usize::from(self.fleet.devices[client as usize].class)];
        let profile = self.links(client, script);
        match &class.slowdown {
            Some((law, factor)) => {
                profile.slowed(law, *factor, self.history.episode(law, client, now))
            }
            None => profile,
        }
    }

    /// A client's device as far as its links go. Slow episodes do not concern them: there may be
    /// thousands in one transfer.
    pub(super) fn links<'a>(&'a self, client: u32, script: &'a [Happening]) -> SpeedProfile<'a> {
        let fleet = &self.fleet;
        let class = &fleet.classes[usize::from(fleet.devices[client as usize].class)];
        let effort = self.effort(client);
        let mut profile = SpeedProfile::new(self.seed, client, fleet.nominal(client), effort);
        if let Some(trace) = &class.trace {
            let trace_cursor = fleet.trace_cursors[client as usize];
            profile = profile.recorded(trace.points(trace_cursor.track as usize), trace_cursor);
        }
        if let Some(links) = &class.links {
            let cursor = fleet.link_cursors[client as usize];
            profile = profile.linked(links.points(cursor.track as usize), cursor);
        }
        profile.scripted(script)
    }

    /// What one local step asks of a client's device.
    pub(super) fn effort(&self, client: u32) -> Effort {
        let samples = self.workload.batch(client) as f64;
        Effort { samples, flops: self.flops[0] + self.flops[1] * samples }
    }

    /// What all clients take for usual. Recordings are averaged once, for there may be many changes in one.
    pub fn know_recordings(&mut self) {
        let usual = |client| self.fleet.usual(client, self.effort(client));
        self.usual = (0..self.fleet.devices.len() as u32).map(usual).collect();
    }

    fn usual(&self, client: u32) -> UsualDevice {
        let known = self.usual.get(client as usize).copied();
        known.unwrap_or_else(|| self.fleet.nominal(client).into())
    }

    /// A client's device as it takes steps and transfers over a speed profile.
    pub fn view<'a, 'b>(
        &'a self,
        round: &Round,
        client: u32,
        profile: &'b mut SpeedProfile<'a>,
        pace: &'b mut Pace,
    ) -> DeviceView<'a, 'b> {
        let class = &self.fleet.classes[usize::from(self.fleet.devices[client as usize].class)];
        let thermal = class.thermal.as_ref();
        DeviceView {
            profile,
            pace,
            warmth: thermal.map(|thermal| self.history.warmth(thermal, client)),
            latency: self.fleet.wires[client as usize].latency,
            payload: self.payload,
            share: self
                .server_downlink
                .map_or(LinkRate::UNLIMITED, |all| LinkRate::bps(all).among(round.crowd)),
            usual: self.usual(client),
        }
    }

    pub(super) fn pace(&self, client: u32, key: u64) -> Pace {
        let device = &self.fleet.devices[client as usize];
        Pace::new(device, self.seed, u64::from(client), key)
    }
}
