//! What a client's device must have been like for the client to take part as it did.

use super::parts::Part;
use super::rates;
use super::times::{Coming, Dues};
use super::trips::{PartConditions, TraceCell, lost_at};
use crate::client::ClientSide;
use crate::clock::{SimTime, Span};
use crate::device::{Direction, LinkRate, NO_LIMIT, Payload, Transfer};
use crate::policy::Sent;
use crate::record::{Leg, Outcome};
use gruppetto_trace::{Change, Compute, Recording};

/// Works out what devices were like.
pub(super) struct Player<'a> {
    pub payload: Payload,
    pub client_side: &'a ClientSide,
    pub dues: &'a Dues,
    /// Clients are sent off one by one, and their work is counted by how often each has been.
    pub one_by_one: bool,
    pub digits: usize,
}

impl Player<'_> {
    /// The recording of a client that took part so often.
    pub(super) fn device(&self, client: u32, parts: &[Part], comings: &[Coming]) -> Recording {
        let nominal = &self.client_side.fleet.devices[client as usize];
        let conditions = PartConditions { payload: self.payload, nominal, due: None, steps: None };
        let mut cells: Vec<(u64, TraceCell)> = Vec::new();
        cells.extend(comings.iter().map(|coming| (coming.at, TraceCell::There(coming.there))));
        for (index, part) in parts.iter().enumerate() {
            let key = if self.one_by_one { index as u64 + 1 } else { u64::from(part.round) };
            let (round, now) = (u64::from(part.round), SimTime::from_nanos(part.at));
            let sent = Sent { client, round, now, deadline: None, key };
            let steps = self.client_side.workload.steps(sent, nominal.step);
            let conditions =
                PartConditions { due: self.dues.of_round(part.round), steps, ..conditions };
            let from = cells.len();
            conditions.add_cells(part, &mut cells);
            // What would have come after it was asked again did not.
            let next = parts.get(index + 1).map_or(u64::MAX, |next| next.at);
            let mut new = cells.split_off(from);
            new.retain(|(at, _)| *at < next);
            if index > 0 && is_sent_at_once(&parts[index - 1]) && parts[index - 1].end() == part.at
            {
                // An upload that took no time must find no limit at this instant.
                let known = |(at, cell): &&mut (u64, TraceCell)| {
                    *at == part.at && matches!(cell, TraceCell::Up(_))
                };
                new.iter_mut().filter(known).for_each(|(at, _)| *at += 1);
                cells.push((part.at, TraceCell::Up(NO_LIMIT)));
            }
            cells.append(&mut new);
            if let Some(link) = self.cut_off(part).filter(|_| next == u64::MAX) {
                cells.retain(|(at, cell)| *at <= part.end() || matches!(cell, TraceCell::There(_)));
                cells.push((part.end(), link));
            } else if part.is_lost() && !goes(comings, part.end()) {
                cells.push((lost_at(part), TraceCell::Lost));
            }
        }
        let knows = |is: fn(&TraceCell) -> bool| cells.iter().any(|(_, cell)| is(cell));
        let mut usual = Vec::new();
        if !knows(|cell| matches!(cell, TraceCell::Step(_))) {
            usual.push((0, TraceCell::Step(nominal.step.nanos())));
            usual.push((0, TraceCell::Up(conditions.usual_upload())));
        }
        if !knows(|cell| matches!(cell, TraceCell::Down(_))) {
            usual.push((0, TraceCell::Down(conditions.usual_download())));
        }
        usual.append(&mut cells);
        usual.sort_by_key(|(at, _)| *at);
        let device = format!("client-{client:0digits$}", digits = self.digits);
        Recording { device, changes: changes(&usual), end: None }
    }

    /// The link that is gone for good, if that is why a client was lost.
    fn cut_off(&self, part: &Part) -> Option<TraceCell> {
        let (end, client) = (SimTime::from_nanos(part.end()), part.client);
        // The link of a device that never changes is never gone, and nothing else is kept of it.
        if self.client_side.is_steady(client) {
            return None;
        }
        let (direction, at, gone) = match (part.outcome, part.leg) {
            (Outcome::Offline, Leg::Download) => {
                let sent = end.before(self.client_side.latency(client)).unwrap_or(SimTime::ZERO);
                (Direction::Down, sent, TraceCell::Down(0))
            }
            (Outcome::Offline, Leg::Upload) => (Direction::Up, end, TraceCell::Up(0)),
            _ => return None,
        };
        let is_dead = self.client_side.link_cap(client, direction, at).rate == LinkRate::NONE;
        let stays_so = || self.client_side.transfer(client, direction, at);
        (is_dead && matches!(stays_so(), Ok(Transfer::Broken(_)))).then_some(gone)
    }
}

/// Whether an update was with the server as soon as it was there.
fn is_sent_at_once(part: &Part) -> bool {
    part.tau > 0 && part.upload == 0
}

/// Whether somebody goes at an instant.
fn goes(comings: &[Coming], at: u64) -> bool {
    let from = comings.partition_point(|coming| coming.at < at);
    comings[from..].iter().take_while(|coming| coming.at == at).any(|coming| !coming.there)
}

/// The rows of the trace, in the order of time. A value is written only when it changes; a link that
/// never had a limit is left out.
fn changes(cells: &[(u64, TraceCell)]) -> Vec<Change> {
    let limited = |of: fn(&TraceCell) -> Option<u64>| {
        cells.iter().filter_map(|(_, cell)| of(cell)).any(|rate| rate != NO_LIMIT)
    };
    let up = limited(|cell| if let TraceCell::Up(rate) = cell { Some(*rate) } else { None });
    let down = limited(|cell| if let TraceCell::Down(rate) = cell { Some(*rate) } else { None });
    let mut changes: Vec<Change> = Vec::new();
    let mut now = Change::default();
    for here in cells.chunk_by(|one, next| one.0 == next.0) {
        let mut next = Change { lost: false, ..now };
        for (_, cell) in here {
            match *cell {
                TraceCell::Step(nanos) => next.compute = Some(Compute::Step(nanos as f64)),
                TraceCell::Up(rate) if up => next.up = Some(rates::told(rate)),
                TraceCell::Down(rate) if down => next.down = Some(rates::told(rate)),
                TraceCell::Up(_) | TraceCell::Down(_) => {}
                TraceCell::There(there) => next.available = Some(there),
                TraceCell::Lost => next.lost = true,
            }
        }
        let available = next.available.filter(|_| next.available != now.available);
        let change = Change {
            at: Span::from_nanos(here[0].0),
            compute: next.compute.filter(|_| next.compute != now.compute),
            up: next.up.filter(|_| next.up != now.up),
            down: next.down.filter(|_| next.down != now.down),
            available,
            lost: next.lost && available.is_none(),
        };
        if change != (Change { at: change.at, ..Change::default() }) {
            changes.push(change);
        }
        now = next;
    }
    changes
}
