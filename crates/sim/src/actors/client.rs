//! A client on its way.

use super::departures::Departures;
use super::ending::{Ending, RunError};
use super::server::ServerActor;
use super::shared_link_round::SharedLinkRound;
use super::transfer::SharedLinks;
use crate::client::{ClientSide, PlanError};
use crate::clock::{Clock, SimTime, TimeOverflow};
use crate::participation::{Arrival, ClientContext, Request, Round};
use crate::record::Outcome;
use crate::train::{LocalRun, Panicked, Pool, describe};
use actix::prelude::*;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::Arc;
use std::task::Poll;
use tokio::sync::Notify;

/// What all client actors share.
pub(super) struct ClientShared {
    pub(super) client_side: ClientSide,
    /// The server's links, where they are shared.
    pub(super) shared_links: SharedLinks,
    /// Watches over those who share them.
    pub(super) departures: Option<Rc<Departures>>,
    /// Tells transfers that the script has changed.
    pub(super) replan: Notify,
    pub(super) clock: Clock,
    pub(super) ending: Rc<Ending>,
    pub(super) server: Addr<ServerActor>,
}

/// The actor of one client. It exists while its client takes part.
pub(super) struct ClientActor {
    pub(super) around: Rc<ClientShared>,
    /// Apart, because a task is as large as its actor and is rounded up: with its trip inside it
    /// every live client would take 140 bytes more.
    pub(super) trip: Option<Box<Trip>>,
}

/// A client on its way.
pub(super) struct Trip {
    /// What it will bring, as far as that is known.
    pub(super) arrival: Arrival,
    /// What it waits for.
    pub(super) wait: SpawnHandle,
    /// Of one that shares the server's links.
    pub(super) shared_link_round: Option<Box<SharedLinkRound>>,
}

impl ClientActor {
    pub(super) fn new(around: Rc<ClientShared>) -> Self {
        ClientActor { around, trip: None }
    }

    /// Waits for the arrival.
    pub(super) fn travel(&mut self, arrival: Arrival, ctx: &mut Context<Self>) {
        let (clock, at) = (&self.around.clock, arrival.way.arrives);
        let sleep = match arrival.lost {
            Some(_) => clock.sleep_until_losses_of(at),
            None => clock.sleep_until_arrival(at, arrival.request.number),
        };
        let wait = ctx.spawn(sleep.into_actor(self).map(|(), me: &mut Self, _| me.arrive()));
        self.trip = Some(Box::new(Trip { arrival, wait, shared_link_round: None }));
    }

    pub(super) fn arrive(&mut self) {
        if let Some(Trip { arrival, .. }) = self.trip.take().map(|trip| *trip) {
            self.around.client_side.settle(arrival.request.asked.client, &arrival.way);
            self.around.server.do_send(Arrived(arrival));
        }
    }

    /// Under the wall clock a client really waits and steps.
    fn wall_round(&mut self, dispatch: Dispatch, ctx: &mut Context<Self>) {
        let around = self.around.clone();
        let Dispatch { round, request, context } = dispatch;
        let place = place(request.asked.client, round.number);
        let planned = around.ending.watch(&place, || -> Result<_, PlanError> {
            let request = around.client_side.depart(&round, request, context.key)?;
            Ok((request, around.client_side.planned(&round, &request, &context)?))
        });
        let Some((request, planned)) = planned else { return };
        let arrival = around.client_side.arrival(round.clone(), request, planned, None);
        if planned.lost.is_some() {
            // It will not come back, and what it would have trained nobody will see.
            return self.travel(arrival, ctx);
        }
        let wall_round = caught(wall_round(around.clone(), round, request, context));
        let wait = ctx.spawn(wall_round.into_actor(self).map(move |arrival, me, _| {
            let seed = around.ending.seed;
            let panicked = |message| RunError::Panicked { place: place(), seed, message };
            match arrival.unwrap_or_else(|message| Err(panicked(message))) {
                Ok(arrival) => {
                    if let Some(trip) = &mut me.trip {
                        trip.arrival = arrival;
                    }
                    me.arrive();
                }
                Err(error) => around.ending.announce(Err(error)),
            }
        }));
        self.trip = Some(Box::new(Trip { arrival, wait, shared_link_round: None }));
    }
}

pub(super) fn place(client: u32, round: u64) -> impl Fn() -> String {
    move || format!("client {client} in round {round}")
}

impl Actor for ClientActor {
    type Context = Context<Self>;
}

/// A client is asked to take part in a round.
#[derive(Message)]
#[rtype(result = "()")]
pub(super) struct Dispatch {
    pub(super) round: Arc<Round>,
    pub(super) request: Request,
    pub(super) context: ClientContext,
}

impl Handler<Dispatch> for ClientActor {
    type Result = ();

    fn handle(&mut self, dispatch: Dispatch, ctx: &mut Context<Self>) {
        if self.around.shared_links.are_shared() {
            return self.set_out(dispatch, ctx);
        }
        if self.around.clock.is_wall() {
            return self.wall_round(dispatch, ctx);
        }
        let Dispatch { round, request, context } = dispatch;
        let ClientShared { ending, client_side, .. } = &*self.around;
        let place = place(request.asked.client, round.number);
        if let Some(arrival) = ending.watch(place, || client_side.set_out(round, request, context))
        {
            self.travel(arrival, ctx);
        }
    }
}

/// Something has happened that a client on its way could not know of.
#[derive(Message)]
#[rtype(result = "()")]
pub(super) struct Replan {
    pub(super) context: ClientContext,
    pub(super) now: SimTime,
}

impl Handler<Replan> for ClientActor {
    type Result = ();

    fn handle(&mut self, Replan { mut context, now }: Replan, ctx: &mut Context<Self>) {
        let Some(Trip { mut arrival, wait, shared_link_round }) =
            self.trip.take().map(|trip| *trip)
        else {
            return;
        };
        if context.key == 0 {
            context.key = arrival.round.number;
        }
        let ClientShared { ending, client_side, clock, .. } = &*self.around;
        if context.leaves > now && (clock.is_wall() || shared_link_round.is_some()) {
            // On the wall clock it looks at the script before every step.
            self.trip = Some(Box::new(Trip { arrival, wait, shared_link_round }));
            return self.reroute(context, ctx);
        }
        ctx.cancel_future(wait);
        if clock.is_wall() || shared_link_round.is_some() {
            shared_link_round
                .into_iter()
                .for_each(|shared_link_round| shared_link_round.cancel(ctx));
            arrival.halt(now, Outcome::Offline);
            return self.travel(arrival, ctx);
        }
        let place = place(arrival.request.asked.client, arrival.round.number);
        if let Some(arrival) =
            ending.watch(place, || client_side.set_out_again(arrival, context, now))
        {
            self.travel(arrival, ctx);
        }
    }
}

/// Training has taken over from a replay.
#[derive(Message)]
#[rtype(result = "()")]
pub(super) struct BeginTraining {
    pub(super) context: ClientContext,
}

/// The run is over.
#[derive(Message)]
#[rtype(result = "()")]
pub(super) struct Halt(pub(super) SimTime);

impl Handler<Halt> for ClientActor {
    type Result = ();

    fn handle(&mut self, Halt(now): Halt, ctx: &mut Context<Self>) {
        if let Some(Trip { mut arrival, wait, shared_link_round }) =
            self.trip.take().map(|trip| *trip)
        {
            ctx.cancel_future(wait);
            shared_link_round
                .into_iter()
                .for_each(|shared_link_round| shared_link_round.cancel(ctx));
            arrival.halt(now, Outcome::Unfinished);
            self.around.server.do_send(Arrived(arrival));
        }
    }
}

/// A client is back, or has given up.
#[derive(Message)]
#[rtype(result = "()")]
pub(super) struct Arrived(pub(super) Arrival);

/// Completes with what `future` gives, or with the message of its panic: the runtime would drop a
/// task that panics without a word.
async fn caught<F: Future>(future: F) -> Result<F::Output, Panicked> {
    let mut future = std::pin::pin!(future);
    poll_fn(|cx| match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(cx))) {
        Ok(poll) => poll.map(Ok),
        Err(panic) => Poll::Ready(Err(describe(&*panic))),
    })
    .await
}

/// Wall time: really waits for the download, takes one step after another, waits for the upload.
async fn wall_round(
    around: Rc<ClientShared>,
    round: Arc<Round>,
    request: Request,
    context: ClientContext,
) -> Result<Arrival, RunError> {
    let ClientShared { client_side, clock, ending, .. } = &*around;
    let client = request.asked.client;
    let place = format!("client {client} in round {}", round.number);
    let time =
        |source: TimeOverflow| RunError::Time { place: place.clone(), seed: ending.seed, source };
    let mut wall_round =
        client_side.begin_wall_clock_round(round, request, context).map_err(time)?;
    clock.sleep_until(client_side.way(&mut wall_round).map_err(time)?.downloaded).await;
    while let Some(end) = client_side.next_step(&mut wall_round).map_err(time)? {
        if let (Some(run), Some(training)) = (wall_round.run.take(), &client_side.training) {
            wall_round.run = Some(step_once(&training.pool, run).await.map_err(|message| {
                RunError::Panicked {
                    place: format!("training of {place}"),
                    seed: ending.seed,
                    message,
                }
            })?);
        }
        clock.sleep_until(wall_round.stepped(end, clock.now())).await;
    }
    clock
        .sleep_until_arrival(
            client_side.way(&mut wall_round).map_err(time)?.arrives,
            request.number,
        )
        .await;
    client_side.end_wall_clock_round(wall_round).map_err(time)
}

/// One step on a worker, so that other clients' timers are not held up by it.
async fn step_once(pool: &Pool, mut run: Box<dyn LocalRun>) -> Result<Box<dyn LocalRun>, Panicked> {
    pool.spawn(move || {
        run.steps(1);
        run
    })
    .await
}
