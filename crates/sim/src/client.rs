//! A client, without the actor: what it does between being asked and being back.
//!
//! Under the virtual clock a client knows all its times the moment it is asked, hands its
//! training to the pool to be ready by its arrival, and sleeps once. If the script changes while it
//! is on its way, its times are worked out again from the start: up to that moment it comes out
//! the same. Under the wall clock it really takes one step after another; [`WallClockRound`] is that loop's
//! state. Both ask the same device, pace and trip, so they make the same number of steps, but for
//! what the wall's timing adds. Clients that share the server's links plan one leg at a time
//! ([`ClientSide::begin_shared_link_round`]).

mod departure_queue;
mod history;
mod links;
mod shared_link_round;
#[cfg(test)]
mod tests;
mod wall_clock_round;

pub use departure_queue::DepartureQueue;
pub use history::DeviceHistory;
pub use links::LinkCap;
pub use shared_link_round::{NextLeg, give_up, update_received};
pub use wall_clock_round::WallClockRound;

use crate::clock::{SimTime, TimeOverflow};
use crate::compress::{Packer, Parcel};
use crate::device::{
    DeviceView, Effort, Fleet, Happening, LegTimes, NO_LIMIT, Pace, Payload, RoundTask,
    SpeedProfile,
};
use crate::participation::{Arrival, ClientContext, Request, Round, Script};
use crate::policy::{Sent, Workload};
use crate::random::{Purpose, stream};
use crate::record::{Leg, Outcome};
use crate::solver::{Correction, Recipe};
use crate::train::{Job, Model, Ticket, Trainer, Training};
use rand::RngExt;
use std::num::NonZeroU64;
use std::sync::Arc;

/// A client's round cannot be planned. The run cannot go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
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
    pub fleet: Fleet,
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
        let leg = if way.tau == 0 { Leg::Compute } else { Leg::Done };
        PlannedRound { way, lost: None, leg, cut_off: false }
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
        let trip = Self::trip(round, request);
        let mut pace = self.pace(client, context.key);
        let (way, broken) = if self.is_steady(client) {
            (self.fleet.devices[client as usize].leg_times(&trip, &mut pace)?, false)
        } else {
            let script = self.script.borrow();
            let mut profile = self.profile(client, request.at, &script);
            self.view(round, client, &mut profile, &mut pace).leg_times(&trip)?
        };
        let (mut end, mut cut_off) = (None, broken);
        if broken {
            let leg = if way.tau == 0 { Leg::Download } else { Leg::Upload };
            end = Some((way.arrives, Outcome::Offline, leg));
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

    /// The steps of a client that has its model since `downloaded`, and when the last is done.
    pub fn compute(
        &self,
        round: &Round,
        request: &Request,
        key: u64,
        downloaded: SimTime,
    ) -> Result<(u64, SimTime), TimeOverflow> {
        let client = request.asked.client;
        let script = self.script.borrow();
        let mut profile = self.profile(client, downloaded, &script);
        let mut pace = self.pace(client, key);
        let mut view = self.view(round, client, &mut profile, &mut pace);
        view.warmth = view.warmth.map(|warmth| warmth.rested(downloaded));
        view.steps(&Self::trip(round, request), downloaded)
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
    fn links<'a>(&'a self, client: u32, script: &'a [Happening]) -> SpeedProfile<'a> {
        let fleet = &self.fleet;
        let class = &fleet.classes[usize::from(fleet.devices[client as usize].class)];
        let samples = self.workload.batch(client) as f64;
        let effort = Effort { samples, flops: self.flops[0] + self.flops[1] * samples };
        let mut profile = SpeedProfile::new(self.seed, client, fleet.nominal(client), effort);
        if let Some(trace) = &class.trace {
            let trace_cursor = fleet.trace_cursors[client as usize];
            profile = profile.recorded(trace.points(trace_cursor.track as usize), trace_cursor);
        }
        profile.scripted(script)
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
            share: self.server_downlink.map_or(NO_LIMIT, |all| (all / round.crowd as u64).max(1)),
        }
    }

    /// Hands a client's training to the pool, if there is anything to train.
    pub fn train(
        &self,
        round: &Round,
        request: &Request,
        context: ClientContext,
        planned: &PlannedRound,
    ) -> Option<Box<Ticket<Parcel>>> {
        let client = request.asked.client;
        let PlannedRound { way, lost, .. } = *planned;
        // Who will come too late to be used need not really train, unless it remembers what it sent.
        // When an upload on a shared link is through nobody knows; not before it has begun.
        let ready = if way.arrives == SimTime::NEVER { way.computed } else { way.arrives };
        let in_time = round.useless_after.is_none_or(|after| ready <= after)
            || self.packer.packing.error_feedback;
        match (&self.training, &round.model) {
            (Some(Training { trainer, pool }), Some(model))
                if way.tau > 0 && lost.is_none() && in_time =>
            {
                let (packer, residual, key) = (self.packer, context.residual.clone(), context.key);
                let (trainer, job) = (trainer.clone(), self.job(model, round, client, context));
                let cost = way.tau * self.workload.batch(client) as u64;
                Some(Box::new(pool.submit(ready, cost, move || {
                    let mut run = trainer.begin(job);
                    run.steps(way.tau);
                    packer.pack(run.change(), residual, client, key)
                })))
            }
            _ => None,
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

    fn job(&self, model: &Arc<Model>, round: &Round, client: u32, context: ClientContext) -> Job {
        let class = self.fleet.devices[client as usize].class;
        Job {
            model: model.clone(),
            client,
            round: context.key,
            solver: self.recipe.solver(class, round.lr_factor),
            correction: Correction { shared: round.shared.clone(), own: context.own },
        }
    }

    fn trip(round: &Round, request: &Request) -> RoundTask {
        let steps = request.steps.map(NonZeroU64::get);
        RoundTask { start: request.at, steps, due: round.due }
    }

    fn pace(&self, client: u32, key: u64) -> Pace {
        let device = &self.fleet.devices[client as usize];
        Pace::new(device, self.seed, u64::from(client), key)
    }

    /// The news of a client that is back, or lost.
    pub fn arrival(
        &self,
        round: Arc<Round>,
        request: Request,
        PlannedRound { way, lost, leg, cut_off }: PlannedRound,
        change: Option<Box<Ticket<Parcel>>>,
    ) -> Arrival {
        let class = self.fleet.devices[request.asked.client as usize].class;
        let foreign = self.foreign_law.as_ref().and_then(|trainer| {
            let solver = self.recipe.solver(class, round.lr_factor);
            trainer.accumulation(&solver, round.lr, way.tau)
        });
        let accumulation =
            foreign.unwrap_or_else(|| self.recipe.accumulation(class, round.lr_factor, way.tau));
        Arrival { round, request, way, class, accumulation, lost, leg, cut_off, change }
    }
}
