//! A client that shares the server's links: it cannot know beforehand when its transfers are
//! through, so it goes leg by leg.
//!
//! ```text
//!   asked ─► carried down ─► downloaded ─► steps ─► carried up ─► back
//!                    (the server sends at once; what it sends arrives a latency later, and
//!                     what a client sends reaches the server's link a latency later)
//! ```

use super::client::{ClientActor, Dispatch, Surroundings, Trip, place};
use super::curfew::Curfewed;
use super::ending::Ending;
use super::lane::Lane;
use crate::client::{Fate, World};
use crate::clock::{Clock, SimTime, TimeOverflow};
use crate::device::{Direction, Itinerary, Transfer};
use crate::record::{Leg, Outcome};
use crate::server::Errand;
use actix::prelude::*;
use std::rc::Rc;

/// The server's links.
pub(super) struct Lanes {
    down: Option<Rc<Lane>>,
    up: Option<Rc<Lane>>,
}

impl Lanes {
    pub(super) fn open(world: &World, clock: &Clock, ending: &Rc<Ending>) -> Self {
        let lane = |capacity| Lane::open(capacity, clock.clone(), ending.clone());
        Lanes { down: world.server_uplink.map(lane), up: world.server_downlink.map(lane) }
    }

    pub(super) fn are_shared(&self) -> bool {
        self.down.is_some() || self.up.is_some()
    }

    fn of(&self, direction: Direction) -> Option<Rc<Lane>> {
        match direction {
            Direction::Down => self.down.clone(),
            Direction::Up => self.up.clone(),
        }
    }
}

/// What a client needs beside its trip when it goes leg by leg.
pub(super) struct Journey {
    errand: Errand,
    /// What will end it before it is back.
    end: Option<SpawnHandle>,
}

impl Journey {
    pub(super) fn cancel(&self, ctx: &mut Context<ClientActor>) {
        self.end.into_iter().for_each(|end| {
            ctx.cancel_future(end);
        });
    }
}

/// How a leg ends that may never do.
enum Carriage {
    Through,
    Broken,
}

impl ClientActor {
    /// Sets out on a journey.
    pub(super) fn set_out(&mut self, dispatch: Dispatch, ctx: &mut Context<Self>) {
        let Dispatch { round, request, errand } = dispatch;
        let around = self.around.clone();
        let client = request.asked.client;
        let mut end = None;
        around.world.depart(client, request.at);
        if around.world.may_vanish(client) {
            // When it vanishes is drawn from its way as it would be if it were alone.
            let place = place(client, round.number);
            let alone = around.ending.watch(place, || around.world.fate(&round, &request, &errand));
            let Some(alone) = alone else { return };
            if alone.lost == Some(Outcome::Dropped) {
                end = Some(self.lose_at(alone.way.arrives, Outcome::Dropped, ctx));
            }
        }
        self.observe_curfew(client, errand.leaves);
        let never = SimTime::NEVER;
        let way = Itinerary { downloaded: never, computed: never, arrives: never, tau: 0 };
        let fate = Fate { way, lost: None, leg: Leg::Done };
        let due = round.due;
        let arrival = around.world.arrival(round, request, fate, None);
        let wait = self.carry(client, Direction::Down, request.at, due, ctx);
        let journey = Some(Box::new(Journey { errand, end }));
        self.trip = Some(Box::new(Trip { arrival, wait, journey }));
    }

    /// Has itself told when it is time to go.
    fn observe_curfew(&self, client: u32, leaves: SimTime) {
        if let Some(curfew) = self.around.curfew.as_ref().filter(|_| leaves < SimTime::NEVER) {
            curfew.watch_over(client, leaves);
        }
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
    fn carry(
        &self,
        client: u32,
        direction: Direction,
        from: SimTime,
        give_up: Option<SimTime>,
        ctx: &mut Context<Self>,
    ) -> SpawnHandle {
        let around = self.around.clone();
        if let (Some(lane), None, false) =
            (around.lanes.of(direction), give_up, around.world.scripted)
        {
            let bits = around.world.payload.bits(direction);
            let (cap, until) = around.world.link(client, direction, from);
            if cap > 0 && until == SimTime::NEVER {
                // Nothing will change: the smallest of all futures will do.
                let carried = lane.carry(from, bits, cap);
                return ctx.spawn(carried.into_actor(self).map(move |(), me: &mut Self, ctx| {
                    let now = me.around.clock.now();
                    match direction {
                        Direction::Down => me.downloaded(now, ctx),
                        Direction::Up => me.uploaded(now, ctx),
                    }
                }));
            }
        }
        let carried = async move {
            let carried = carry(&around, client, direction, from);
            match give_up {
                None => Some(carried.await),
                Some(at) => tokio::select! {
                    biased;
                    how = carried => Some(how),
                    // Before the round closes, so that it can be asked in the next. One whose model
                    // arrives at this very instant has no time for a step either.
                    () = around.clock.sleep_until(at) => None,
                },
            }
        };
        ctx.spawn(carried.into_actor(self).map(move |how, me: &mut Self, ctx| {
            let now = me.around.clock.now();
            match (how, direction) {
                (Some(Ok(Carriage::Through)), Direction::Down) => me.downloaded(now, ctx),
                (Some(Ok(Carriage::Through)), Direction::Up) => me.uploaded(now, ctx),
                (Some(Ok(Carriage::Broken)), _) => me.lose_at_once(Outcome::Offline, ctx),
                (Some(Err(error)), _) => {
                    me.around.ending.watch(|| "a transfer".into(), || Err::<(), _>(error));
                }
                (None, _) => me.give_up(now, ctx),
            }
        }))
    }

    /// The last bit of the model has left the server.
    fn downloaded(&mut self, sent: SimTime, ctx: &mut Context<Self>) {
        let around = self.around.clone();
        let Some(trip) = &mut self.trip else { return };
        let Some(journey) = &trip.journey else { return };
        let (round, request) = (trip.arrival.round.clone(), trip.arrival.request);
        let place = place(request.asked.client, round.number);
        let plan = around.ending.watch(place, || -> Result<_, TimeOverflow> {
            let downloaded = sent.after(around.world.latency(request.asked.client))?;
            let (tau, computed) =
                around.world.compute(&round, &request, journey.errand.key, downloaded)?;
            let reaches = computed.after(around.world.latency(request.asked.client))?;
            Ok((downloaded, tau, computed, reaches))
        });
        let Some((downloaded, tau, computed, reaches)) = plan else { return };
        if tau == 0 {
            let end = round.due.map_or(downloaded, |due| downloaded.min(due));
            return self.give_up(end.max(sent), ctx);
        }
        let way = Itinerary { downloaded, computed, arrives: SimTime::NEVER, tau };
        let fate = Fate { way, lost: None, leg: Leg::Done };
        let known = trip.arrival.way;
        let change = match trip.arrival.change.take() {
            // The same steps as before the script changed: they are being made already.
            Some(change) if known.tau == tau => Some(change),
            _ => around.world.train(&round, &request, journey.errand.clone(), &fate),
        };
        trip.arrival = around.world.arrival(round, request, fate, change);
        let wait = self.carry(request.asked.client, Direction::Up, reaches, None, ctx);
        if let Some(trip) = &mut self.trip {
            trip.wait = wait;
        }
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
    fn uploaded(&mut self, now: SimTime, ctx: &mut Context<Self>) {
        self.finish(ctx, |trip| trip.arrival.way.arrives = now);
    }

    /// Not one step fits.
    fn give_up(&mut self, now: SimTime, ctx: &mut Context<Self>) {
        self.finish(ctx, |trip| {
            trip.arrival.way = Itinerary { downloaded: now, computed: now, arrives: now, tau: 0 };
            trip.arrival.leg = Leg::Compute;
        });
    }

    fn lose_at_once(&mut self, outcome: Outcome, ctx: &mut Context<Self>) {
        let now = self.around.clock.now();
        self.finish(ctx, |trip| trip.arrival.halt(now, outcome));
    }

    fn finish(&mut self, ctx: &mut Context<Self>, change: impl FnOnce(&mut Trip)) {
        let Some(trip) = &mut self.trip else { return };
        trip.journey.iter().for_each(|journey| journey.cancel(ctx));
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
    pub(super) fn reroute(&mut self, errand: Errand, ctx: &mut Context<Self>) {
        let now = self.around.clock.now();
        let Some(trip) = &mut self.trip else { return };
        let (way, wait) = (trip.arrival.way, trip.wait);
        let client = trip.arrival.request.asked.client;
        let Some(journey) = &mut trip.journey else { return };
        journey.errand.leaves = errand.leaves;
        self.observe_curfew(client, errand.leaves);
        if way.downloaded < SimTime::NEVER && now < way.computed {
            ctx.cancel_future(wait);
            let latency = self.around.world.latency(client);
            self.downloaded(way.downloaded.before(latency).unwrap_or(SimTime::ZERO), ctx);
        }
    }
}

/// Carries a model or an update from `from` on, under a cap that may change.
async fn carry(
    around: &Surroundings,
    client: u32,
    direction: Direction,
    from: SimTime,
) -> Result<Carriage, TimeOverflow> {
    let Surroundings { world, clock, lanes, upset, .. } = around;
    let Some(lane) = lanes.of(direction) else {
        clock.sleep_until(from).await;
        loop {
            let (at, how) = match world.transfer(client, direction, from)? {
                Transfer::Through(at) => (at, Carriage::Through),
                Transfer::Broken(at) => (at, Carriage::Broken),
            };
            tokio::select! {
                biased;
                () = clock.sleep_until(at) => return Ok(how),
                // Up to now it comes out the same.
                () = upset.notified(), if world.scripted => {}
            }
        }
    };
    if world.scripted {
        // What is scripted may not be known yet.
        clock.sleep_until(from).await;
    }
    let bits = world.payload.bits(direction);
    let (mut cap, mut until) = world.link(client, direction, from);
    let mut carried = std::pin::pin!(lane.carry(from, bits, cap));
    loop {
        if cap == 0 && until == SimTime::NEVER {
            clock.sleep_until(from).await;
            return Ok(Carriage::Broken);
        }
        match (until < SimTime::NEVER, world.scripted) {
            (false, false) => {
                carried.as_mut().await;
                return Ok(Carriage::Through);
            }
            (_, false) => tokio::select! {
                biased;
                () = &mut carried => return Ok(Carriage::Through),
                () = clock.sleep_until(until) => {}
            },
            (changes, true) => tokio::select! {
                biased;
                () = &mut carried => return Ok(Carriage::Through),
                () = clock.sleep_until(until), if changes => {}
                () = upset.notified() => {}
            },
        }
        (cap, until) = world.link(client, direction, clock.now());
        carried.set_cap(cap);
    }
}

impl Handler<Curfewed> for ClientActor {
    type Result = ();

    fn handle(&mut self, Curfewed { at, client }: Curfewed, ctx: &mut Context<Self>) {
        let Some(trip) = &self.trip else { return };
        let Trip { arrival, wait, journey: Some(journey) } = &**trip else { return };
        // It may be somebody else's by now, or be back and away again.
        if arrival.request.asked.client == client && journey.errand.leaves == at {
            ctx.cancel_future(*wait);
            self.lose_at_once(Outcome::Offline, ctx);
        }
    }
}
