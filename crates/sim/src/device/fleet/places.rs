//! Who replays which recording, from where.

use super::{Assign, Fleet, FleetConfig};
use crate::clock::SimTime;
use crate::device::Compute;
use crate::device::class::{Availability, ClassConfig, Repeat, Replay};
use crate::device::episodes::Alternation;
use crate::device::presence::{Coming, Presence};
use crate::device::speed_profile::TraceCursor;
use crate::device::trace_store::TraceStore;
use crate::random::{Purpose, shuffle, stream};
use rand::RngExt;
use std::sync::Arc;

impl FleetConfig {
    /// Who is there when; `None` if everybody always is, unless `scripted` events may change that.
    pub fn presence(&self, seed: u64, fleet: &Fleet, scripted: bool) -> Option<Presence> {
        let coming = |class: &ClassConfig| match (&class.availability, &class.trace) {
            (Some(Availability::OnOff { on, off }), _) => {
                Coming::OnOff(Alternation::new(Purpose::Availability, on.clone(), off.clone()))
            }
            (Some(Availability::Trace(replay)), _) | (None, Some(replay))
                if replay.trace.tells_availability() =>
            {
                Coming::Recorded(replay.trace.clone())
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
        let mut places = trace_cursors(seed, PRESENCE, &classes, &replays);
        for (client, class) in classes.iter().enumerate() {
            if !own(&self.classes[usize::from(*class)]) && !fleet.trace_cursors.is_empty() {
                places[client] = fleet.trace_cursors[client];
            }
        }
        let presence = Presence::new(seed, laws, &classes, &places);
        Some(if scripted { presence.scripted() } else { presence })
    }
}

impl Fleet {
    /// How a client's recording begins, if it has one.
    pub(super) fn first_point(
        &self,
        client: usize,
        class: u16,
    ) -> (Option<Compute>, Option<u64>, Option<u64>) {
        let class = &self.classes[usize::from(class)];
        let first = |trace: &Option<Arc<TraceStore>>, cursors: &[TraceCursor]| {
            let (trace, cursor) = (trace.as_ref()?, cursors[client]);
            let points = trace.points(cursor.track as usize);
            let (local, _) = cursor.local(SimTime::ZERO);
            points.get(points.partition_point(|point| point.at <= local).max(1) - 1).copied()
        };
        let speeds = first(&class.trace, &self.trace_cursors).unwrap_or_default();
        let links = match &class.links {
            None => speeds,
            links => first(links, &self.link_cursors).unwrap_or_default(),
        };
        (speeds.compute, links.up, links.down)
    }
}

/// What is replayed, to keep the draws for each apart. A client draws its moment with the number that is two
/// higher.
pub(super) const SPEEDS: u64 = 0;
const PRESENCE: u64 = 1;
pub(super) const LINKS: u64 = 4;

/// Gives every client its recording of its class's `replays`, which are of one aspect.
pub(super) fn trace_cursors(
    seed: u64,
    aspect: u64,
    classes: &[u16],
    replays: &[Option<&Replay>],
) -> Vec<TraceCursor> {
    // The order in which each class hands out its recordings, and how many it has handed out.
    let mut orders: Vec<(Vec<u32>, usize)> = replays
        .iter()
        .enumerate()
        .map(|(class, replay)| {
            let mut order: Vec<u32> =
                (0..replay.map_or(0, |replay| replay.trace.len()) as u32).collect();
            if replay.is_some_and(|replay| replay.assign == Assign::Random) {
                shuffle(&mut order, &mut stream(seed, Purpose::Replay, aspect, class as u64));
            }
            (order, 0)
        })
        .collect();
    let place = |(client, class): (usize, &u16)| {
        let (order, given) = &mut orders[usize::from(*class)];
        let Some(replay) = replays[usize::from(*class)].filter(|_| !order.is_empty()) else {
            return TraceCursor { track: 0, shift: 0, period: 0 };
        };
        let track = order[*given % order.len()];
        *given += 1;
        let length = replay.trace.length(track as usize);
        let whole = match replay.repeat {
            Repeat::Every(span) => span.nanos(),
            _ => length,
        };
        let shift = match replay.shifted {
            true => {
                let mut rng = stream(seed, Purpose::Replay, 2 + aspect, client as u64);
                (rng.random::<f64>() * whole as f64) as u64
            }
            false => 0,
        };
        TraceCursor::new(track, shift, replay.repeat, length)
    };
    classes.iter().enumerate().map(place).collect()
}
