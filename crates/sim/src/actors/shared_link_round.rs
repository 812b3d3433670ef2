//! A client that shares the server's links: it cannot know beforehand when its transfers are
//! through, so it goes leg by leg.
//!
//! ```text
//!   asked ─► sent down ─► downloaded ─► steps ─► sent up ─► back
//!                    (the server sends at once; what it sends arrives a latency later, and
//!                     what a client sends reaches the server's link a latency later)
//! ```

use super::client::{ClientActor, ClientShared, Dispatch, Trip, place};
use super::departures::DepartureDue;
use super::shared_link::PendingTransfer;
use super::transfer::{SteadyTransfer, TransferEnd, carry};
use crate::client::PlannedRound;
use crate::clock::{SimTime, TimeOverflow};
use crate::device::{Direction, LegTimes};
use crate::participation::{ClientContext, Request, Round};
use crate::record::{Leg, Outcome};
use actix::prelude::*;

/// What a client needs beside its trip when it goes leg by leg.
pub(super) struct SharedLinkRound {
    context: ClientContext,
    /// What will end it before it is back.
    end: Option<SpawnHandle>,
}

impl SharedLinkRound {
    pub(super) fn cancel(&self, ctx: &mut Context<ClientActor>) {
        self.end.into_iter().for_each(|end| {
            ctx.cancel_future(end);
        });
    }
}

impl ClientActor {
    /// Begins a round over shared links.
    pub(super) fn set_out(&mut self, dispatch: Dispatch, ctx: &mut Context<Self>) {
        let Dispatch { round, request, context } = dispatch;
        let around = self.around.clone();
        let client = request.asked.client;
        let place = place(client, round.number);
        let departed = || around.client_side.depart(&round, request, context.key);
        let Some(request) = around.ending.watch(place, departed) else { return };
        let Some(end) = self.may_vanish(&round, &request, &context, ctx) else { return };
        self.register_departure(client, context.leaves);
        let never = SimTime::NEVER;
        let way = LegTimes { downloaded: never, computed: never, arrives: never, tau: 0 };
        let planned = PlannedRound { way, lost: None, leg: Leg::Done, cut_off: false };
        let due = round.due;
        let arrival = around.client_side.arrival(round, request, planned, None);
        let wait = self.carry(client, Direction::Down, request.at, due, ctx);
        let shared_link_round = Some(Box::new(SharedLinkRound { context, end }));
        self.trip = Some(Box::new(Trip { arrival, wait, shared_link_round }));
    }

    /// If the client will vanish, what ends its trip then: at a moment of its way as that would be
    /// if it were alone. `None` if that cannot be told, which ends the run.
    fn may_vanish(
        &self,
        round: &Round,
        request: &Request,
        context: &ClientContext,
        ctx: &mut Context<Self>,
    ) -> Option<Option<SpawnHandle>> {
        let ClientShared { client_side, ending, clock, .. } = &*self.around;
        if !client_side.may_vanish(request.asked.client) {
            return Some(None);
        }
        let place = place(request.asked.client, round.number);
        let alone =
            ending.watch(place, || client_side.plan_from(clock.now(), round, request, context))?;
        let vanishes = alone.lost == Some(Outcome::Dropped);
        Some(vanishes.then(|| self.lose_at(alone.way.arrives, Outcome::Dropped, ctx)))
    }

    /// Has itself told when it is time to go.
    fn register_departure(&self, client: u32, leaves: SimTime) {
        if let Some(departures) =
            self.around.departures.as_ref().filter(|_| leaves < SimTime::NEVER)
        {
            departures.register(client, leaves);
        }
    }

    /// A transfer on a link of the server during which the client's own does not change, nor anything
    /// else that is known to come.
    pub(super) fn steady_transfer(
        &self,
        client: u32,
        direction: Direction,
        from: SimTime,
    ) -> Option<PendingTransfer> {
        let ClientShared { client_side, shared_links, .. } = &*self.around;
        if client_side.scripted {
            return None;
        }
        let link = shared_links.of(direction)?;
        let (cap, until) = client_side.link(client, direction, from);
        (cap > 0 && until == SimTime::NEVER)
            .then(|| link.carry(from, client_side.payload.bits(direction), cap))
    }

    /// Ends the trip at `at` if it is still under way.
    fn lose_at(&self, at: SimTime, outcome: Outcome, ctx: &mut Context<Self>) -> SpawnHandle {
        // Whoever is through at this very instant is through.
        let sleep = self.around.clock.sleep_until_end_of(at);
        ctx.spawn(sleep.into_actor(self).map(move |(), me: &mut Self, ctx| {
            if let Some(trip) = &mut me.trip {
                ctx.cancel_future(trip.wait);
                trip.arrival.halt(at, outcome);
                me.arrive();
            }
        }))
    }

    /// Waits for a transfer that begins at `from`, at most until `give_up`.
    pub(super) fn carry(
        &self,
        client: u32,
        direction: Direction,
        from: SimTime,
        give_up: Option<SimTime>,
        ctx: &mut Context<Self>,
    ) -> SpawnHandle {
        if give_up.is_none()
            && let Some(pending) = self.steady_transfer(client, direction, from)
        {
            return ctx.spawn(SteadyTransfer { pending, direction });
        }
        let around = self.around.clone();
        let pending = async move {
            let pending = carry(&around, client, direction, from);
            match give_up {
                None => Some(pending.await),
                Some(at) => tokio::select! {
                    biased;
                    how = pending => Some(how),
                    // Before the round closes, so that it can be asked in the next. One whose model
                    // arrives at this very instant has no time for a step either.
                    () = around.clock.sleep_until(at) => None,
                },
            }
        };
        ctx.spawn(pending.into_actor(self).map(move |how, me: &mut Self, ctx| {
            let now = me.around.clock.now();
            match (how, direction) {
                (Some(Ok(TransferEnd::Through)), Direction::Down) => me.downloaded(now, ctx),
                (Some(Ok(TransferEnd::Through)), Direction::Up) => me.uploaded(now, ctx),
                (Some(Ok(TransferEnd::Broken)), direction) => me.cut_off(now, direction, ctx),
                (Some(Err(error)), _) => {
                    me.around.ending.watch(|| "a transfer".into(), || Err::<(), _>(error));
                }
                (None, _) => me.give_up(now, ctx),
            }
        }))
    }

    /// The last bit of the model has left the server.
    fn downloaded(&mut self, sent: SimTime, ctx: &mut Context<Self>) {
        let Some((client, reaches)) = self.compute(sent, ctx) else { return };
        let wait = self.carry(client, Direction::Up, reaches, None, ctx);
        if let Some(trip) = &mut self.trip {
            trip.wait = wait;
        }
    }

    /// The steps of a client whose model has left the server by `sent`: who it is, and when the
    /// first bit of its update reaches the server. `None` if it makes none.
    pub(super) fn compute(
        &mut self,
        sent: SimTime,
        ctx: &mut Context<Self>,
    ) -> Option<(u32, SimTime)> {
        let around = self.around.clone();
        let trip = self.trip.as_mut()?;
        let shared_link_round = trip.shared_link_round.as_ref()?;
        let (round, request) = (trip.arrival.round.clone(), trip.arrival.request);
        let place = place(request.asked.client, round.number);
        let plan = around.ending.watch(place, || -> Result<_, TimeOverflow> {
            let downloaded = sent.after(around.client_side.latency(request.asked.client))?;
            let (tau, computed) = around.client_side.compute(
                &round,
                &request,
                shared_link_round.context.key,
                downloaded,
            )?;
            let reaches = computed.after(around.client_side.latency(request.asked.client))?;
            Ok((downloaded, tau, computed, reaches))
        });
        let (downloaded, tau, computed, reaches) = plan?;
        if tau == 0 {
            let end = round.due.map_or(downloaded, |due| downloaded.min(due));
            self.give_up(end.max(sent), ctx);
            return None;
        }
        let way = LegTimes { downloaded, computed, arrives: SimTime::NEVER, tau };
        let planned = PlannedRound::of(way);
        let known = trip.arrival.way;
        let change = match trip.arrival.change.take() {
            // The same steps as before the script changed: they are being made already.
            Some(change) if known.tau == tau => Some(change),
            _ => around.client_side.train(
                &round,
                &request,
                shared_link_round.context.clone(),
                &planned,
            ),
        };
        trip.arrival = around.client_side.arrival(round, request, planned, change);
        Some((request.asked.client, reaches))
    }

    /// Does `then` at `at`, unless the trip has ended before.
    fn wait_until(
        &mut self,
        at: SimTime,
        ctx: &mut Context<Self>,
        then: impl FnOnce(&mut Self, &mut Context<Self>) + 'static,
    ) {
        let sleep = self.around.clock.sleep_until(at);
        let wait =
            ctx.spawn(sleep.into_actor(self).map(move |(), me: &mut Self, ctx| then(me, ctx)));
        if let Some(trip) = &mut self.trip {
            trip.wait = wait;
        }
    }

    /// The last bit of the update has reached the server.
    pub(super) fn uploaded(&mut self, now: SimTime, ctx: &mut Context<Self>) {
        self.finish(ctx, |trip| trip.arrival.way.arrives = now);
    }

    /// Not one step fits.
    fn give_up(&mut self, now: SimTime, ctx: &mut Context<Self>) {
        self.finish(ctx, |trip| {
            trip.arrival.way = LegTimes { downloaded: now, computed: now, arrives: now, tau: 0 };
            trip.arrival.leg = Leg::Compute;
        });
    }

    /// There is no connection any more. On the way down the client sees that when what leaves the
    /// server now would have reached it.
    fn cut_off(&mut self, now: SimTime, direction: Direction, ctx: &mut Context<Self>) {
        let Some(trip) = &self.trip else { return };
        let (client, due) = (trip.arrival.request.asked.client, trip.arrival.round.due);
        let (seen, due) = match direction {
            Direction::Down => (now.after(self.around.client_side.latency(client)), due),
            Direction::Up => (Ok(now), None),
        };
        let seen = seen.unwrap_or(SimTime::NEVER);
        match due.filter(|due| *due <= seen) {
            Some(due) => self.give_up(due, ctx),
            None => self.finish(ctx, |trip| {
                trip.arrival.halt(seen, Outcome::Offline);
                trip.arrival.cut_off = true;
            }),
        }
    }

    fn lose(&mut self, at: SimTime, outcome: Outcome, ctx: &mut Context<Self>) {
        self.finish(ctx, |trip| trip.arrival.halt(at, outcome));
    }

    fn finish(&mut self, ctx: &mut Context<Self>, change: impl FnOnce(&mut Trip)) {
        let Some(trip) = &mut self.trip else { return };
        trip.shared_link_round.iter().for_each(|shared_link_round| shared_link_round.cancel(ctx));
        change(trip);
        let at = trip.arrival.way.arrives;
        if at > self.around.clock.now() {
            // It gives up a latency from now.
            self.wait_until(at, ctx, |me, _| me.arrive());
        } else {
            self.arrive();
        }
    }

    /// The script has changed under a client that goes leg by leg. Transfers have heard of it; steps
    /// are worked out again from their beginning.
    pub(super) fn reroute(&mut self, context: ClientContext, ctx: &mut Context<Self>) {
        let now = self.around.clock.now();
        let Some(trip) = &self.trip else { return };
        let (way, wait) = (trip.arrival.way, trip.wait);
        let (round, request) = (trip.arrival.round.clone(), trip.arrival.request);
        let client = request.asked.client;
        let Some(end) = self.may_vanish(&round, &request, &context, ctx) else { return };
        let Some(shared_link_round) =
            self.trip.as_mut().and_then(|trip| trip.shared_link_round.as_mut())
        else {
            return;
        };
        shared_link_round.cancel(ctx);
        (shared_link_round.context.leaves, shared_link_round.end) = (context.leaves, end);
        self.register_departure(client, context.leaves);
        if way.downloaded < SimTime::NEVER && now < way.computed {
            ctx.cancel_future(wait);
            let latency = self.around.client_side.latency(client);
            self.downloaded(way.downloaded.before(latency).unwrap_or(SimTime::ZERO), ctx);
        }
    }
}

impl Handler<DepartureDue> for ClientActor {
    type Result = ();

    fn handle(&mut self, DepartureDue { at, client }: DepartureDue, ctx: &mut Context<Self>) {
        let Some(trip) = &self.trip else { return };
        let Trip { arrival, wait, shared_link_round: Some(shared_link_round) } = &**trip else {
            return;
        };
        // It may be somebody else's by now, or be back and away again.
        if arrival.request.asked.client == client && shared_link_round.context.leaves == at {
            ctx.cancel_future(*wait);
            self.lose(self.around.clock.now(), Outcome::Offline, ctx);
        }
    }
}
