//! A client's round over the shared links of the server, one leg at a time.
//!
//! When a transfer over a shared link ends depends on the other clients, so the times of a round are
//! not known when it begins. [`ClientSide::begin_shared_link_round`] gives an [`Arrival`] without
//! times, and each function below adds what the end of a leg decides:
//!
//! ```text
//!   begin ──► model_sent ──► update_received
//!        │        └─ no step fits: the client gives up
//!        ├──► give_up: it is due, and the model is not there
//!        └──► connection_lost: during the download or the upload
//! ```
//!
//! Times of transfers are those at the server. The model arrives a latency after its last bit was
//! sent, and an update reaches the server's link a latency after the last step.

use super::{ClientSide, PlannedRound};
use crate::clock::{SimTime, TimeOverflow};
use crate::device::{DeviceView, Direction, LegEnds, LegTimes, RoundTask, Transfer};
use crate::participation::{Arrival, ClientContext, Request, Round};
use crate::record::{Leg, Outcome};
use std::sync::Arc;

/// A client whose update goes over a shared link: when the upload ends is not known before.
struct SharedLegs<'a, 'b>(DeviceView<'a, 'b>);

impl LegEnds for SharedLegs<'_, '_> {
    fn download(&mut self, from: SimTime) -> Result<Transfer, TimeOverflow> {
        self.0.download(from)
    }

    fn begin_to_compute(&mut self, at: SimTime) {
        self.0.begin_to_compute(at);
    }

    fn steps(&mut self, task: &RoundTask, from: SimTime) -> Result<(u64, SimTime), TimeOverflow> {
        self.0.steps(task, from)
    }

    fn upload(&mut self, _: SimTime) -> Result<Transfer, TimeOverflow> {
        Ok(Transfer::Through(SimTime::NEVER))
    }
}

impl ClientSide {
    /// The round of a client that has [departed](ClientSide::depart): none of its times is known.
    pub fn begin_shared_link_round(&self, round: Arc<Round>, request: Request) -> Arrival {
        let way = LegTimes::without_step(SimTime::NEVER, Leg::Done);
        let planned = PlannedRound { way, lost: None, leg: Leg::Done, cut_off: false };
        self.arrival(round, request, planned, None)
    }

    /// When the client vanishes, if it does: at a moment of its round as that would be if it had the
    /// links to itself.
    pub fn vanishes_at(
        &self,
        now: SimTime,
        round: &Round,
        request: &Request,
        context: &ClientContext,
    ) -> Result<Option<SimTime>, TimeOverflow> {
        if !self.may_vanish(request.asked.client) {
            return Ok(None);
        }
        let alone = self.plan_from(now, round, request, context)?;
        Ok((alone.lost == Some(Outcome::Dropped)).then_some(alone.way.arrives))
    }

    /// The last bit of the model left the server at `sent`: plans the steps, and begins to train. Returns
    /// when the first bit of its update reaches the server's link; `None` if no step fits and its round
    /// ends when its arrival says.
    pub fn model_sent(
        &self,
        arrival: &mut Arrival,
        context: &ClientContext,
        sent: SimTime,
    ) -> Result<Option<SimTime>, TimeOverflow> {
        let (round, request) = (arrival.round.clone(), arrival.request);
        let latency = self.latency(request.asked.client);
        let downloaded = sent.after(latency)?;
        let (client, script) = (request.asked.client, self.script.borrow());
        let mut profile = self.profile(client, downloaded, &script);
        let mut pace = self.pace(client, context.key);
        let view = self.view(&round, client, &mut profile, &mut pace);
        let task = self.task(&round, &request);
        let (way, _) = task.legs_after_download(&mut SharedLegs(view), downloaded)?;
        if way.tau == 0 {
            let end = way.arrives.max(sent);
            give_up(arrival, end, way.ends);
            arrival.way.downloaded = downloaded.min(end);
            return Ok(None);
        }
        let reaches = way.computed.after(latency)?;
        let planned = PlannedRound::of(way);
        let change = match arrival.change.take() {
            // The same steps as before the script changed: they are being made already.
            Some(change) if arrival.way.tau == way.tau => Some(change),
            _ => self.train(&round, &request, context.clone(), &planned),
        };
        *arrival = self.arrival(round, request, planned, change);
        Ok(Some(reaches))
    }

    /// There is no connection any more, at the server's end of a transfer. During the download the
    /// client sees that when what leaves the server now would have arrived; if it is due by then, it
    /// gives up as if there were a connection.
    pub fn connection_lost(&self, arrival: &mut Arrival, direction: Direction, now: SimTime) {
        let latency = self.latency(arrival.request.asked.client);
        let (seen, gives_up) = match direction {
            Direction::Down => {
                let task = self.task(&arrival.round, &arrival.request);
                (now.after(latency).unwrap_or(SimTime::NEVER), task.gives_up())
            }
            Direction::Up => (now, None),
        };
        match gives_up.filter(|gives_up| *gives_up <= seen) {
            Some(gives_up) => give_up(arrival, gives_up, Leg::Download),
            None => {
                arrival.halt(seen, Outcome::Offline);
                arrival.cut_off = true;
            }
        }
    }

    /// The script has changed at `now`. A client that has its model and is not done with its steps
    /// plans them again from the first: then this is when the last bit of the model was sent.
    /// Transfers look at the script themselves.
    pub fn steps_to_replan(&self, arrival: &Arrival, now: SimTime) -> Option<SimTime> {
        let LegTimes { downloaded, computed, .. } = arrival.way;
        let latency = self.latency(arrival.request.asked.client);
        // A connection that is lost stays so, though the client sees it only a latency later.
        (arrival.lost.is_none() && downloaded < SimTime::NEVER && now < computed)
            .then(|| downloaded.before(latency).unwrap_or(SimTime::ZERO))
    }
}

/// The last bit of the update has reached the server.
pub fn update_received(arrival: &mut Arrival, now: SimTime) {
    arrival.way.arrives = now;
}

/// No step fits: the client ends its round at `now` in this leg, without an update.
pub fn give_up(arrival: &mut Arrival, now: SimTime, leg: Leg) {
    arrival.way = LegTimes::without_step(now, leg);
    arrival.leg = leg;
}
