//! A client, without the actor: what it does between being asked and being back.
//!
//! Under the virtual clock a client knows all its times the moment it is asked, hands its
//! training to the pool to be ready by its arrival, and sleeps once. If the script changes while it
//! is on its way, its times are worked out again from the start: up to that moment it comes out
//! the same. Under the wall clock it really takes one step after another; [`WallClockRound`] is that loop's
//! state. Clients that share the server's links plan one leg at a time
//! ([`ClientSide::begin_shared_link_round`]). All of them go through the same three legs
//! ([`RoundTask::legs`]), so they make the same number of steps, but for what the wall's timing and the
//! other clients add.

mod departure_queue;
mod devices;
mod history;
mod links;
mod shared_link_round;
#[cfg(test)]
mod tests;
mod training;
mod wall_clock_round;

pub use departure_queue::DepartureQueue;
pub use history::DeviceHistory;
pub use links::LinkCap;
pub use shared_link_round::{give_up, update_received};
pub use wall_clock_round::WallClockRound;

use crate::clock::{SimTime, TimeOverflow};
use crate::compress::Packer;
use crate::device::{
    DeviceView, Fleet, Foresight, LegTimes, LinkRate, Payload, RoundTask, SteadyLegs, UsualDevice,
};
use crate::participation::{Arrival, ClientContext, Request, Round, Script};
use crate::policy::{Sent, Workload};
use crate::random::{Purpose, stream};
use crate::record::{Leg, Outcome};
use crate::solver::Recipe;
use crate::train::{Trainer, Training};
use rand::RngExt;
use std::num::NonZeroU64;
use std::sync::Arc;

/// A client's round cannot be planned. The run cannot go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// Time ran out of numbers.
    #[error(transparent)]
    Time(#[from] TimeOverflow),
    /// Work until a deadline, and there is none.
    #[error(
        "the work policy says `until the deadline`, but this round has no deadline that clients work \
         towards (the closing policy gave none, or [server] partial = \"discard\")"
    )]
    NoDeadline,
}

/// What all clients of a run share.
pub struct ClientSide {
    /// The run's seed.
    pub seed: u64,
    /// Everybody's device.
    pub fleet: Arc<Fleet>,
    /// What devices carry from round to round.
    pub history: DeviceHistory,
    /// What happens to them.
    pub script: Script,
    /// Whether anything ever does.
    pub scripted: bool,
    /// What travels.
    pub payload: Payload,
    /// Floating-point operations of a step: in any case, and for every sample.
    pub flops: [f64; 2],
    /// What all downloads share; `None`: nothing.
    pub server_uplink: Option<u64>,
    /// What all uploads share; `None`: nothing.
    pub server_downlink: Option<u64>,
    /// What clients know when they decide whether another step fits.
    pub foresight: Foresight,
    /// What they take for usual, by client; empty: what their devices are like when nothing disturbs them.
    pub usual: Vec<UsualDevice>,
    /// Everybody's work.
    pub workload: Workload,
    /// Everybody's local update law.
    pub recipe: Recipe,
    /// A trainer that may follow a law of its own.
    pub foreign_law: Option<Arc<dyn Trainer>>,
    /// What becomes of everybody's updates on their way up.
    pub packer: Packer,
    /// `None`: the schedule alone is run.
    pub training: Option<Training>,
}

/// What will become of a client on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlannedRound {
    /// When it will be where.
    pub way: LegTimes,
    /// Why there will be no update, if it is lost on its way.
    pub lost: Option<Outcome>,
    /// How far it will get.
    pub leg: Leg,
    /// Whether its connection is gone for good.
    pub cut_off: bool,
}

impl PlannedRound {
    /// Of a client that nothing happens to.
    pub fn of(way: LegTimes) -> Self {
        PlannedRound { way, lost: None, leg: way.ends, cut_off: false }
    }
}

impl ClientSide {
    /// Virtual time: everything that will happen to a client that is asked now.
    pub fn set_out(
        &self,
        round: Arc<Round>,
        request: Request,
        context: ClientContext,
    ) -> Result<Arrival, PlanError> {
        let request = self.depart(&round, request, context.key)?;
        let planned = self.planned(&round, &request, &context)?;
        let change = self.train(&round, &request, context, &planned);
        Ok(self.arrival(round, request, planned, change))
    }

    /// Virtual time: something has changed while the client was on its way.
    pub fn set_out_again(
        &self,
        known: Arrival,
        context: ClientContext,
        now: SimTime,
    ) -> Result<Arrival, TimeOverflow> {
        let planned = self.plan_from(now, &known.round, &known.request, &context)?;
        let Arrival { round, request, way, change, .. } = known;
        // The same steps from the same model: whatever else changes, that is trained already.
        let change = match (change, planned.lost) {
            (Some(change), None) if planned.way.tau == way.tau => Some(change),
            _ => self.train(&round, &request, context, &planned),
        };
        Ok(self.arrival(round, request, planned, change))
    }

    /// What will become of a client, as far as is known.
    pub fn planned(
        &self,
        round: &Round,
        request: &Request,
        context: &ClientContext,
    ) -> Result<PlannedRound, TimeOverflow> {
        self.plan_from(request.at, round, request, context)
    }

    /// What will become of a client that was still on its way at `now`.
    pub fn plan_from(
        &self,
        now: SimTime,
        round: &Round,
        request: &Request,
        context: &ClientContext,
    ) -> Result<PlannedRound, TimeOverflow> {
        let client = request.asked.client;
        let task = self.task(round, request);
        let mut pace = self.pace(client, context.key);
        let (way, broken) = if self.is_steady(client) {
            let device = &self.fleet.devices[client as usize];
            task.legs(&mut SteadyLegs { device, pace: &mut pace })?
        } else {
            let script = self.script.borrow();
            let mut profile = self.profile(client, request.at, &script);
            // Alone on the server's links, if these are shared.
            let view = self.view(round, client, &mut profile, &mut pace);
            task.legs(&mut DeviceView { share: LinkRate::UNLIMITED, ..view })?
        };
        let (mut end, mut cut_off) = (None, broken);
        if broken {
            end = Some((way.arrives, Outcome::Offline, way.ends));
        }
        for (at, outcome) in [
            (context.leaves, Outcome::Offline),
            // On a way that has become shorter the moment may have passed: then it is this one.
            (self.vanishes(request, context.key, &way).max(now), Outcome::Dropped),
        ] {
            if at < end.map_or(way.arrives, |(at, ..)| at) {
                // Somebody who is asked when it goes has not even begun.
                let at = at.max(request.at);
                end = Some((at, outcome, way.leg(at)));
                cut_off = false;
            }
        }
        Ok(match end {
            Some((at, outcome, leg)) => {
                PlannedRound { way: way.cut(at), lost: Some(outcome), leg, cut_off }
            }
            None => PlannedRound::of(way),
        })
    }

    /// A client sets out: how much it is to do is decided now, and stays.
    pub fn depart(&self, round: &Round, request: Request, key: u64) -> Result<Request, PlanError> {
        let (client, now) = (request.asked.client, request.at);
        let sent = Sent { client, round: round.number, now, deadline: round.deadline, key };
        let steps = self.workload.steps(sent, self.fleet.devices[client as usize].step);
        if steps.is_none() && round.due.is_none() {
            return Err(PlanError::NoDeadline);
        }
        let class = self.fleet.devices[client as usize].class;
        if let Some((law, _)) = &self.fleet.classes[usize::from(class)].slowdown {
            self.history.depart(law, client, now);
        }
        Ok(Request { steps: steps.and_then(NonZeroU64::new), ..request })
    }

    /// A client is back, or lost: what its device will remember.
    pub fn settle(&self, client: u32, way: &LegTimes) {
        let class = self.fleet.devices[client as usize].class;
        if let Some(thermal) = &self.fleet.classes[usize::from(class)].thermal {
            self.history.worked(thermal, client, way);
        }
    }

    /// When a client vanishes, if it does: at a uniformly drawn moment of its way.
    fn vanishes(&self, request: &Request, key: u64, way: &LegTimes) -> SimTime {
        let client = request.asked.client;
        let class = self.fleet.devices[client as usize].class;
        let chance = self.fleet.classes[usize::from(class)].dropout;
        if chance == 0.0 || way.tau == 0 {
            return SimTime::NEVER;
        }
        let mut rng = stream(self.seed, Purpose::Dropout, u64::from(client), key);
        let vanishes = rng.random::<f64>() < chance;
        let nanos = way.arrives.since(request.at).nanos();
        // Before its arrival, so that it is not heard and lost at once.
        let at = ((rng.random::<f64>() * nanos as f64) as u64).min(nanos.saturating_sub(1));
        if vanishes { SimTime::from_nanos(request.at.nanos() + at) } else { SimTime::NEVER }
    }

    /// What a client is to do in a round.
    pub fn task(&self, round: &Round, request: &Request) -> RoundTask {
        let steps = request.steps.map(NonZeroU64::get);
        RoundTask { start: request.at, steps, due: round.due, foresight: self.foresight }
    }
}
