//! A client on the shared links of the server waits for one leg after the other.
//!
//! ```text
//!   asked ─► model sent ─► downloaded ─► steps ─► update sent ─► update received
//!                    (what the server sends arrives a latency later, and what a client sends
//!                     reaches the server's link a latency later)
//! ```
//!
//! What each leg decides is in `client/shared_link_round.rs`; here are the waits.

use super::client::{ClientActor, ClientShared, Dispatch, Trip, place};
use super::departures::DepartureDue;
use super::shared_link::PendingTransfer;
use super::transfer::{SteadyTransfer, carry};
use crate::client::{ClientSide, give_up, update_received};
use crate::clock::SimTime;
use crate::device::{Direction, Transfer};
use crate::participation::{Arrival, ClientContext, Request, Round};
use crate::record::{Leg, Outcome};
use actix::prelude::*;

/// What a client on shared links needs beside its trip.
pub(super) struct SharedLinkRound {
    context: ClientContext,
    /// Waits for the moment at which the client vanishes, if it does.
    end: Option<SpawnHandle>,
}

impl SharedLinkRound {
    /// What the client takes along is known only now: it was sent off in a replay.
    pub(in crate::actors) fn take_along(
        &mut self,
        ClientContext { own, residual, .. }: &ClientContext,
    ) {
        (self.context.own, self.context.residual) = (own.clone(), residual.clone());
    }

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
        let gives_up = around.client_side.task(&round, &request).gives_up();
        let arrival = around.client_side.begin_shared_link_round(round, request);
        let wait = self.carry(client, Direction::Down, request.at, gives_up, ctx);
        let shared_link_round = Some(Box::new(SharedLinkRound { context, end }));
        self.trip = Some(Box::new(Trip { arrival, wait, shared_link_round }));
    }

    /// Waits for the moment at which the client vanishes, if it does. `None` if that moment cannot be
    /// computed, which ends the run.
    fn may_vanish(
        &self,
        round: &Round,
        request: &Request,
        context: &ClientContext,
        ctx: &mut Context<Self>,
    ) -> Option<Option<SpawnHandle>> {
        let ClientShared { client_side, ending, clock, .. } = &*self.around;
        let place = place(request.asked.client, round.number);
        let vanishes = ending
            .watch(place, || client_side.vanishes_at(clock.now(), round, request, context))?;
        Some(vanishes.map(|at| self.lose_at(at, Outcome::Dropped, ctx)))
    }

    /// Registers to be notified when the client goes offline.
    fn register_departure(&self, client: u32, leaves: SimTime) {
        if let Some(departures) =
            self.around.departures.as_ref().filter(|_| leaves < SimTime::NEVER)
        {
            departures.register(client, leaves);
        }
    }

    /// A transfer over a shared link, if the client's own link does not change meanwhile and no
    /// script can change it.
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
        let cap = client_side.link_cap(client, direction, from);
        cap.is_constant().then(|| link.carry(from, client_side.payload.bits(direction), cap.rate))
    }

    /// Ends the trip at `at` if it is still under way.
    fn lose_at(&self, at: SimTime, outcome: Outcome, ctx: &mut Context<Self>) -> SpawnHandle {
        // A transfer that completes at this instant still counts.
        let sleep = self.around.clock.sleep_until_losses_of(at);
        ctx.spawn(sleep.into_actor(self).map(move |(), me: &mut Self, ctx| {
            if let Some(trip) = &mut me.trip {
                ctx.cancel_future(trip.wait);
                trip.arrival.halt(at, outcome);
                me.arrive();
            }
        }))
    }

    /// Waits for a transfer that begins at `from`, at most until `until`.
    pub(super) fn carry(
        &self,
        client: u32,
        direction: Direction,
        from: SimTime,
        until: Option<SimTime>,
        ctx: &mut Context<Self>,
    ) -> SpawnHandle {
        if until.is_none()
            && let Some(pending) = self.steady_transfer(client, direction, from)
        {
            return ctx.spawn(SteadyTransfer { pending, direction });
        }
        let around = self.around.clone();
        let pending = async move {
            let pending = carry(&around, client, direction, from);
            match until {
                None => Some(pending.await),
                Some(at) => tokio::select! {
                    biased;
                    how = pending => Some(how),
                    // Before the round closes, so that the client can be asked in the next. A model
                    // that arrives at this instant leaves no time for a step either.
                    () = around.clock.sleep_until(at) => None,
                },
            }
        };
        ctx.spawn(pending.into_actor(self).map(move |how, me: &mut Self, ctx| {
            let now = me.around.clock.now();
            match (how, direction) {
                (Some(Ok(Transfer::Through(_))), Direction::Down) => me.downloaded(now, ctx),
                (Some(Ok(Transfer::Through(_))), Direction::Up) => {
                    me.end_with(ctx, |_, arrival| update_received(arrival, now));
                }
                (Some(Ok(Transfer::Broken(_))), direction) => {
                    me.end_with(ctx, |side, arrival| side.connection_lost(arrival, direction, now));
                }
                (Some(Err(error)), _) => {
                    me.around.ending.watch(|| "a transfer".into(), || Err::<(), _>(error));
                }
                (None, _) => me.end_with(ctx, |_, arrival| give_up(arrival, now, Leg::Download)),
            }
        }))
    }

    /// The last bit of the model has left the server: waits for the upload.
    fn downloaded(&mut self, sent: SimTime, ctx: &mut Context<Self>) {
        let Some((client, reaches)) = self.model_sent(sent, ctx) else { return };
        let wait = self.carry(client, Direction::Up, reaches, None, ctx);
        if let Some(trip) = &mut self.trip {
            trip.wait = wait;
        }
    }

    /// The last bit of the model has left the server: which client it is for, and when the first bit
    /// of its update reaches the server. `None` if it makes no step.
    pub(super) fn model_sent(
        &mut self,
        sent: SimTime,
        ctx: &mut Context<Self>,
    ) -> Option<(u32, SimTime)> {
        let ClientShared { client_side, ending, .. } = &*self.around;
        let Trip { arrival, shared_link_round, .. } = &mut **self.trip.as_mut()?;
        let context = &shared_link_round.as_ref()?.context;
        let client = arrival.request.asked.client;
        let place = place(client, arrival.round.number);
        let next = ending.watch(place, || client_side.model_sent(arrival, context, sent))?;
        match next {
            Some(reaches) => Some((client, reaches)),
            None => {
                self.end_with(ctx, |_, _| {});
                None
            }
        }
    }

    /// Ends the round as `decide` says: now, or later if its arrival is later. Clients that arrive at the same
    /// instant are heard in the order in which they were sent off, over which links ever.
    pub(super) fn end_with(
        &mut self,
        ctx: &mut Context<Self>,
        decide: impl FnOnce(&ClientSide, &mut Arrival),
    ) {
        let ClientShared { client_side, clock, .. } = &*self.around;
        let Some(trip) = &mut self.trip else { return };
        trip.shared_link_round.iter().for_each(|shared_link_round| shared_link_round.cancel(ctx));
        decide(client_side, &mut trip.arrival);
        let at = trip.arrival.way.arrives;
        let sleep = match trip.arrival.lost {
            Some(_) if at <= clock.now() => return self.arrive(),
            // A client that loses its connection sees that a latency from now.
            Some(_) => clock.sleep_until_losses_of(at),
            None => clock.sleep_until_arrival(at, trip.arrival.request.number),
        };
        let wait = ctx.spawn(sleep.into_actor(self).map(|(), me: &mut Self, ctx| {
            if let Some(shared) = me.trip.as_ref().and_then(|trip| trip.shared_link_round.as_ref())
            {
                shared.cancel(ctx);
            }
            me.arrive();
        }));
        if let Some(trip) = &mut self.trip {
            trip.wait = wait;
        }
    }

    /// The script has changed during the round. Transfers are notified on their own; steps that are
    /// not done are planned again.
    pub(super) fn reroute(&mut self, context: ClientContext, ctx: &mut Context<Self>) {
        let now = self.around.clock.now();
        let Some(trip) = &self.trip else { return };
        let wait = trip.wait;
        let replan = self.around.client_side.steps_to_replan(&trip.arrival, now);
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
        if let Some(sent) = replan {
            ctx.cancel_future(wait);
            self.downloaded(sent, ctx);
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
        // The actor may act for another client by now, or the client may be in another round.
        if arrival.request.asked.client == client && shared_link_round.context.leaves == at {
            ctx.cancel_future(*wait);
            let now = self.around.clock.now();
            self.end_with(ctx, |_, arrival| arrival.halt(now, Outcome::Offline));
        }
    }
}
