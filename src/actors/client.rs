//! A client on its way.

use super::ending::{Ending, RunError};
use super::server::ServerActor;
use crate::client::World;
use crate::clock::{Clock, TimeOverflow};
use crate::server::{Arrival, Errand, Request, Round};
use crate::train::{LocalRun, Panicked, Pool, describe};
use actix::prelude::*;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::Arc;
use std::task::Poll;

/// What all client actors share.
pub(super) struct Surroundings {
    pub(super) world: World,
    pub(super) clock: Clock,
    pub(super) ending: Rc<Ending>,
    pub(super) server: Addr<ServerActor>,
}

/// The actor of one client. It exists while its client takes part.
pub(super) struct ClientActor {
    around: Rc<Surroundings>,
}

impl ClientActor {
    pub(super) fn new(around: Rc<Surroundings>) -> Self {
        ClientActor { around }
    }
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
    pub(super) errand: Errand,
}

impl Handler<Dispatch> for ClientActor {
    type Result = ();

    fn handle(&mut self, Dispatch { round, request, errand }: Dispatch, ctx: &mut Context<Self>) {
        let around = self.around.clone();
        let number = round.number;
        let place = move || format!("client {} in round {number}", request.asked.client);
        if around.clock.is_wall() {
            let walk = caught(walk(around.clone(), round, request, errand));
            ctx.spawn(walk.into_actor(self).map(move |arrival, _, _| {
                let seed = around.ending.seed;
                let panicked = |message| RunError::Panicked { place: place(), seed, message };
                match arrival.unwrap_or_else(|message| Err(panicked(message))) {
                    Ok(arrival) => around.server.do_send(Arrived(arrival)),
                    Err(error) => around.ending.announce(Err(error)),
                }
            }));
            return;
        }
        let Some(arrival) =
            around.ending.watch(place, || around.world.set_out(round, request, errand))
        else {
            return;
        };
        let sleep = around.clock.sleep_until(arrival.way.arrives);
        // The future is all that a client on its way costs beside its actor, so it holds the
        // arrival and nothing else.
        ctx.spawn(sleep.into_actor(self).map(|(), me: &mut Self, _| {
            me.around.server.do_send(Arrived(arrival));
        }));
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
async fn walk(
    around: Rc<Surroundings>,
    round: Arc<Round>,
    request: Request,
    errand: Errand,
) -> Result<Arrival, RunError> {
    let Surroundings { world, clock, ending, .. } = &*around;
    let client = request.asked.client;
    let place = format!("client {client} in round {}", round.number);
    let time =
        |source: TimeOverflow| RunError::Time { place: place.clone(), seed: ending.seed, source };
    if let Some(gone) = world.vanishing(&round, request, errand.key).map_err(time)? {
        clock.sleep_until(gone.way.arrives).await;
        return Ok(gone);
    }
    let mut walk = world.begin_walk(round, request, errand).map_err(time)?;
    clock.sleep_until(walk.itinerary().map_err(time)?.downloaded).await;
    while let Some(step) = walk.next_step().map_err(time)? {
        if let (Some(run), Some(training)) = (walk.run.take(), &world.training) {
            walk.run = Some(step_once(&training.pool, run).await.map_err(|message| {
                RunError::Panicked {
                    place: format!("training of {place}"),
                    seed: ending.seed,
                    message,
                }
            })?);
        }
        let end = walk.stepped(step, clock.now()).map_err(time)?;
        clock.sleep_until(end).await;
    }
    clock.sleep_until(walk.itinerary().map_err(time)?.arrives).await;
    world.end_walk(walk).map_err(time)
}

/// One step on a worker, so that other clients' timers are not held up by it.
async fn step_once(pool: &Pool, mut run: Box<dyn LocalRun>) -> Result<Box<dyn LocalRun>, Panicked> {
    pool.spawn(move || {
        run.steps(1);
        run
    })
    .await
}
