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
use crate::device::{Direction, LegTimes};
use crate::participation::{Arrival, ClientContext, Request, Round};
use crate::record::{Leg, Outcome};
use std::sync::Arc;

/// What a client does when it has its model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextLeg {
    /// It makes its steps. The first bit of its update reaches the server's link at this instant.
    Upload(SimTime),
    /// No step fits. Its round ends when its arrival says.
    End,
}

impl ClientSide {
    /// The round of a client that has [departed](ClientSide::depart): none of its times is known.
    pub fn begin_shared_link_round(&self, round: Arc<Round>, request: Request) -> Arrival {
        let never = SimTime::NEVER;
        let way = LegTimes { downloaded: never, computed: never, arrives: never, tau: 0 };
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

    /// The last bit of the model left the server at `sent`: plans the steps, and begins to train.
    pub fn model_sent(
        &self,
        arrival: &mut Arrival,
        context: &ClientContext,
        sent: SimTime,
    ) -> Result<NextLeg, TimeOverflow> {
        let (round, request) = (arrival.round.clone(), arrival.request);
        let latency = self.latency(request.asked.client);
        let downloaded = sent.after(latency)?;
        let (tau, computed) = self.compute(&round, &request, context.key, downloaded)?;
        let reaches = computed.after(latency)?;
        if tau == 0 {
            let end = round.due.map_or(downloaded, |due| downloaded.min(due));
            give_up(arrival, end.max(sent));
            return Ok(NextLeg::End);
        }
        let way = LegTimes { downloaded, computed, arrives: SimTime::NEVER, tau };
        let planned = PlannedRound::of(way);
        let change = match arrival.change.take() {
            // The same steps as before the script changed: they are being made already.
            Some(change) if arrival.way.tau == tau => Some(change),
            _ => self.train(&round, &request, context.clone(), &planned),
        };
        *arrival = self.arrival(round, request, planned, change);
        Ok(NextLeg::Upload(reaches))
    }

    /// There is no connection any more, at the server's end of a transfer. During the download the
    /// client sees that when what leaves the server now would have arrived; if it is due by then, it
    /// gives up as if there were a connection.
    pub fn connection_lost(&self, arrival: &mut Arrival, direction: Direction, now: SimTime) {
        let latency = self.latency(arrival.request.asked.client);
        let (seen, due) = match direction {
            Direction::Down => (now.after(latency).unwrap_or(SimTime::NEVER), arrival.round.due),
            Direction::Up => (now, None),
        };
        match due.filter(|due| *due <= seen) {
            Some(due) => give_up(arrival, due),
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
        (downloaded < SimTime::NEVER && now < computed)
            .then(|| downloaded.before(latency).unwrap_or(SimTime::ZERO))
    }
}

/// The last bit of the update has reached the server.
pub fn update_received(arrival: &mut Arrival, now: SimTime) {
    arrival.way.arrives = now;
}

/// No step fits: the client ends its round at `now` without an update.
pub fn give_up(arrival: &mut Arrival, now: SimTime) {
    arrival.way = LegTimes { downloaded: now, computed: now, arrives: now, tau: 0 };
    arrival.leg = Leg::Compute;
}
