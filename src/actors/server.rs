//! Sends clients off, takes their updates in, closes rounds.

use super::carriage::Lanes;
use super::client::{Arrived, ClientActor, Dispatch, Halt, Surroundings, Upset};
use super::curfew::{Curfew, Curfewed};
use super::ending::Ending;
use super::recorder::{Happened, RecorderActor};
use crate::client::World;
use crate::clock::{Clock, SimTime};
use crate::policy::Asked;
use crate::record::{ClientRow, Outcome, StopReason};
use crate::server::{Next, Opening, Server, ServerError};
use actix::prelude::*;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::Poll;
use tokio::sync::Notify;
use tracing::debug;

/// Rows that travel to the recorder in one message.
const ROWS: usize = 512;
/// Clients that are sent off at once.
const WAVE: usize = 256;
/// If so many clients in a row are lost at the instant at which they are asked, or ten times as many
/// as there are, it will go on like this.
const LOST_AT_ONCE: usize = 10_000;

/// The end of a run, once everybody has been called back.
struct Halting {
    now: SimTime,
    reason: StopReason,
}

pub(super) struct ServerActor {
    server: Server,
    clock: Clock,
    ending: Rc<Ending>,
    recorder: Addr<RecorderActor>,
    /// Taken by the first start, which knows the server's address.
    world: Option<World>,
    around: Option<Rc<Surroundings>>,
    /// The actors of those who take part; nobody else has one.
    clients: Vec<Option<Addr<ClientActor>>>,
    /// Actors without a client: whoever is asked next takes one of them.
    idle: Vec<Addr<ClientActor>>,
    seated: Vec<u32>,
    /// Who is still to be sent off in this round.
    asked: std::vec::IntoIter<Asked>,
    deadline: Option<SpawnHandle>,
    /// What the server waits for when too few clients are there.
    waiting: Option<Option<SpawnHandle>>,
    /// Where clients are sent off one by one: waits for somebody to take an empty place.
    vacancy: Option<(SimTime, SpawnHandle)>,
    /// The run is over; those who are on the way are called back.
    halting: Option<Halting>,
    stop_time: Option<SimTime>,
    /// The latest instant at which something happened.
    latest: SimTime,
    /// How many in a row were lost at the very instant at which they were asked.
    lost_at_once: usize,
    rows: Vec<ClientRow>,
}

impl ServerActor {
    pub(super) fn new(
        server: Server,
        world: World,
        clock: Clock,
        ending: Rc<Ending>,
        recorder: Addr<RecorderActor>,
        stop_time: Option<SimTime>,
    ) -> Self {
        let clients = (0..world.fleet.devices.len()).map(|_| None).collect();
        let rows = Vec::with_capacity(ROWS);
        ServerActor {
            server,
            clock,
            ending,
            recorder,
            world: Some(world),
            around: None,
            clients,
            idle: Vec::new(),
            seated: Vec::new(),
            asked: Vec::new().into_iter(),
            deadline: None,
            waiting: None,
            vacancy: None,
            halting: None,
            stop_time,
            latest: SimTime::ZERO,
            lost_at_once: 0,
            rows,
        }
    }

    /// Runs a handler's work; an error or panic in it ends the run. What comes after the end is
    /// not handled any more.
    fn watch(
        &mut self,
        ctx: &mut Context<Self>,
        work: impl FnOnce(&mut Self, &mut Context<Self>) -> Result<(), ServerError>,
    ) {
        if self.ending.is_over() || self.halting.is_some() {
            return;
        }
        let ending = self.ending.clone();
        // The first round is on its way to being opened when there is none yet.
        let round = self.server.round().number.max(1);
        ending.watch(|| format!("the server in round {round}"), || work(self, ctx));
    }

    /// Opens the next round at `now`, which on the wall clock is when it should be, not when this
    /// machine got round to it.
    fn open_round(&mut self, now: SimTime, ctx: &mut Context<Self>) -> Result<(), ServerError> {
        self.latest = self.latest.max(now);
        if let Some(Some(wait)) = self.waiting.take() {
            ctx.cancel_future(wait);
        }
        let opening = self.server.open_round(now)?;
        if self.server.take_upset() {
            self.upset(now);
        }
        let mut asked = match opening {
            Opening::Asked(asked) => asked,
            Opening::Wait(until) => {
                let clients = self.server.can_be_asked();
                debug!(virtual_seconds = now.seconds(), clients, "too few clients: waiting");
                self.waiting = Some(until.map(|at| {
                    let sleep = self.clock.sleep_until_end_of(at);
                    ctx.spawn(sleep.into_actor(self).map(move |(), me, ctx| {
                        me.waiting = None;
                        me.watch(ctx, |me, ctx| me.open_round(at, ctx));
                    }))
                }));
                return Ok(());
            }
            Opening::Nobody => {
                self.end(now, StopReason::Deserted);
                return Ok(());
            }
        };
        if self.server.is_asynchronous() {
            asked.into_iter().for_each(|asked| self.send(asked, now));
            self.watch_vacancy(now, ctx);
        } else {
            self.unseat(&asked);
            self.server.order(&mut asked);
            self.asked = asked.into_iter();
            self.dispatch(ctx);
        }
        self.deadline = self.server.round().deadline.map(|at| {
            let sleep = self.clock.sleep_until_end_of(at);
            ctx.spawn(sleep.into_actor(self).map(move |(), me, ctx| {
                me.deadline = None;
                me.watch(ctx, |me, ctx| me.close_round(at, ctx));
            }))
        });
        Ok(())
    }

    /// Sends the next wave of clients off, and the others when these have set out: they handle their
    /// messages while those are still in the cache, and never more than a wave of messages is under
    /// way. All of it is one instant, for time moves only when nobody has anything left to do.
    fn dispatch(&mut self, ctx: &mut Context<Self>) {
        let opened = self.server.round().opened;
        let wave: Vec<Asked> = self.asked.by_ref().take(WAVE).collect();
        wave.into_iter().for_each(|asked| self.send(asked, opened));
        if self.asked.len() > 0 {
            ctx.spawn(after_the_others().into_actor(self).map(|(), me, ctx| {
                me.watch(ctx, |me, ctx| {
                    me.dispatch(ctx);
                    Ok(())
                });
            }));
        }
    }

    /// Sends a client off.
    fn send(&mut self, asked: Asked, at: SimTime) {
        let Some(around) = self.around.clone() else {
            return;
        };
        let request = self.server.send_off(asked, at);
        let seat = &mut self.clients[asked.client as usize];
        let one_by_one = self.server.is_asynchronous();
        let client = seat.get_or_insert_with(|| {
            // Who is sent off alone stands up alone.
            if !one_by_one {
                self.seated.push(asked.client);
            }
            self.idle.pop().unwrap_or_else(|| ClientActor::new(around).start())
        });
        let round = self.server.round().clone();
        let errand = self.server.errand(asked.client, &round);
        client.do_send(Dispatch { round, request, errand });
    }

    /// Where clients are sent off one by one: somebody else takes the place of who came back.
    fn replace(&mut self, back: u32, now: SimTime, ctx: &mut Context<Self>) {
        let asked = self.server.refill(now);
        asked.into_iter().for_each(|asked| self.send(asked, now));
        self.stand_up(back);
        self.watch_vacancy(now, ctx);
    }

    /// If a place could not be filled, looks again when somebody may have come.
    fn watch_vacancy(&mut self, now: SimTime, ctx: &mut Context<Self>) {
        if self.server.is_deserted() {
            return self.end(now, StopReason::Deserted);
        }
        let Some(at) = self.server.vacant_until() else { return };
        match self.vacancy.take() {
            Some((known, wait)) if known <= at => {
                self.vacancy = Some((known, wait));
                return;
            }
            // An event that has begun since is over earlier.
            Some((_, wait)) => {
                ctx.cancel_future(wait);
            }
            None => {}
        }
        let sleep = self.clock.sleep_until_end_of(at);
        let wait = ctx.spawn(sleep.into_actor(self).map(move |(), me, ctx| {
            me.vacancy = None;
            me.watch(ctx, |me, ctx| {
                if me.server.round().deadline == Some(at) {
                    // The window that closes now closes first; the next one fills the place.
                    return Ok(());
                }
                me.latest = me.latest.max(at);
                let asked = me.server.refill(at);
                asked.into_iter().for_each(|asked| me.send(asked, at));
                me.watch_vacancy(at, ctx);
                Ok(())
            });
        }));
        self.vacancy = Some((at, wait));
    }

    /// Tells everybody on the way that things are not as they were.
    fn upset(&self, now: SimTime) {
        if let Some(around) = &self.around {
            around.upset.notify_waiters();
        }
        for (client, seat) in (0..).zip(&self.clients) {
            if let Some(seat) = seat.as_ref().filter(|_| self.server.is_on_the_way(client)) {
                let errand = self.server.errand_again(client);
                seat.do_send(Upset { errand, now });
            }
        }
    }

    /// Whether so many in a row were lost at the instant at which they were asked that it will go on
    /// like this, and time would stand still for ever.
    fn nobody_is_reached(&mut self, row: &ClientRow) -> bool {
        let lost = matches!(row.outcome, Outcome::Dropped | Outcome::Offline);
        if !lost || row.arrived > row.dispatched {
            self.lost_at_once = 0;
            return false;
        }
        self.lost_at_once += 1;
        self.lost_at_once > LOST_AT_ONCE.max(10 * self.clients.len())
    }

    /// Takes the actor from a client that came back and was not asked again.
    fn stand_up(&mut self, back: u32) {
        if !self.server.is_on_the_way(back) {
            self.idle.extend(self.clients[back as usize].take());
        }
    }

    /// Takes the actors from clients that are free and were not asked again.
    fn unseat(&mut self, asked: &[Asked]) {
        if asked.len() == self.seated.len() {
            // Nearly always the same clients again: then there is nobody to unseat.
            if asked.iter().all(|asked| self.clients[asked.client as usize].is_some()) {
                return;
            }
        }
        let server = &self.server;
        let (clients, idle) = (&mut self.clients, &mut self.idle);
        self.seated.retain(|client| {
            let wanted = asked.binary_search_by_key(client, |asked| asked.client).is_ok();
            let keep = wanted || server.is_on_the_way(*client);
            if !keep {
                idle.extend(clients[*client as usize].take());
            }
            keep
        });
    }

    fn close_round(&mut self, now: SimTime, ctx: &mut Context<Self>) -> Result<(), ServerError> {
        if let Some(deadline) = self.deadline.take() {
            ctx.cancel_future(deadline);
        }
        let (row, ends) = self.server.close_round(now)?;
        debug!(
            round = row.round,
            virtual_seconds = now.seconds(),
            asked = row.asked,
            arrived = row.arrived,
            tau_eff = row.tau_eff,
            "round closes"
        );
        self.send_rows();
        self.recorder.do_send(Happened::Closed(row));
        match ends {
            Some(reason) => self.end(now, reason),
            None if self.server.leaves_some_behind() => {
                // Others may arrive at this very instant. They are too late for this round, but
                // must not be passed over in the next.
                let sleep = self.clock.sleep_until_end_of(now);
                ctx.spawn(sleep.into_actor(self).map(move |(), me, ctx| {
                    me.watch(ctx, |me, ctx| me.open_round(now, ctx));
                }));
            }
            None => self.open_round(now, ctx)?,
        }
        Ok(())
    }

    /// `[stop] time` is reached. A round whose deadline this is closes as any other; in the middle
    /// of a round the model is measured as it is.
    fn time_is_up(&mut self, now: SimTime, ctx: &mut Context<Self>) -> Result<(), ServerError> {
        let round = self.server.round();
        if round.closed.get().is_none() && round.deadline.is_some_and(|deadline| deadline <= now) {
            return self.close_round(now, ctx);
        }
        let measured = self.server.evaluate()?;
        self.send_rows();
        if let Some(measured) = measured {
            self.recorder.do_send(Happened::Measured(now, measured));
        }
        self.end(now, StopReason::Time);
        Ok(())
    }

    /// The run is over: calls everybody back, and ends when they have told how far they came.
    fn end(&mut self, now: SimTime, reason: StopReason) {
        self.server.call_off(now);
        self.halting = Some(Halting { now, reason });
        for (client, seat) in (0..).zip(&self.clients) {
            if let Some(seat) = seat.as_ref().filter(|_| self.server.is_on_the_way(client)) {
                seat.do_send(Halt(now));
            }
        }
        self.end_if_all_are_back();
    }

    fn end_if_all_are_back(&mut self) {
        if self.server.on_the_way() > 0 {
            return;
        }
        let Some(Halting { now, reason }) = self.halting else {
            return;
        };
        let accounts = self.server.take_accounts();
        self.send_rows();
        let consistency = self.server.meter().read_exactly();
        self.recorder.do_send(Happened::Ended { now, accounts, consistency });
        self.ending.announce(Ok(reason));
    }

    fn send_rows(&mut self) {
        if !self.rows.is_empty() {
            let rows = std::mem::replace(&mut self.rows, Vec::with_capacity(ROWS));
            self.recorder.do_send(Happened::Arrived(rows));
        }
    }
}

/// Completes when every task that is ready to run has had its turn.
async fn after_the_others() {
    let mut asked = false;
    poll_fn(|cx| {
        if std::mem::replace(&mut asked, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

impl Actor for ServerActor {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Context<Self>) {
        let Some(world) = self.world.take() else {
            return;
        };
        let lanes = Lanes::open(&world, &self.clock, &self.ending);
        let curfew = lanes.are_shared() && self.server.clients_may_be_lost();
        self.around = Some(Rc::new(Surroundings {
            lanes,
            curfew: curfew.then(|| {
                Curfew::open(world.fleet.devices.len(), self.clock.clone(), ctx.address())
            }),
            world,
            upset: Notify::new(),
            clock: self.clock.clone(),
            ending: self.ending.clone(),
            server: ctx.address(),
        }));
        if let Some(at) = self.stop_time {
            let sleep = self.clock.sleep_until_end_of(at);
            ctx.spawn(sleep.into_actor(self).map(move |(), me, ctx| {
                me.watch(ctx, |me, ctx| me.time_is_up(at, ctx));
            }));
        }
        self.watch(ctx, |me, ctx| {
            if let Some(metrics) = me.server.begin()? {
                me.recorder.do_send(Happened::Began(metrics));
            }
            me.open_round(SimTime::ZERO, ctx)
        });
    }
}

impl Handler<Arrived> for ServerActor {
    type Result = ();

    fn handle(&mut self, Arrived(arrival): Arrived, ctx: &mut Context<Self>) {
        if self.halting.is_some() {
            self.rows.push(self.server.take_back(arrival));
            return self.end_if_all_are_back();
        }
        self.watch(ctx, |me, ctx| {
            // On the wall clock messages may overtake each other; rounds never go back in time.
            me.latest = me.latest.max(arrival.way.arrives);
            let now = me.latest;
            let (row, next) = me.server.arrive(arrival)?;
            let back = row.client;
            let gone = me.nobody_is_reached(&row);
            me.rows.push(row);
            if gone {
                me.end(now, StopReason::Unreachable);
                return Ok(());
            }
            let one_by_one = me.server.is_asynchronous();
            match next {
                Next::CloseRound => {
                    me.close_round(now, ctx)?;
                    if one_by_one {
                        me.stand_up(back);
                    }
                }
                Next::Wait if one_by_one => me.replace(back, now, ctx),
                // Perhaps this is who was missing.
                Next::Wait if me.waiting.is_some() => me.open_round(now, ctx)?,
                Next::Wait => {}
            }
            if me.rows.len() >= ROWS {
                me.send_rows();
            }
            Ok(())
        });
    }
}

impl Handler<Curfewed> for ServerActor {
    type Result = ();

    fn handle(&mut self, curfewed: Curfewed, _: &mut Context<Self>) {
        if let Some(seat) = &self.clients[curfewed.client as usize] {
            seat.do_send(curfewed);
        }
    }
}

/// The run is over: the model is wanted, and the round it got to.
#[derive(Message)]
#[rtype(result = "(Vec<f64>, u64)")]
pub(super) struct TakeModel;

impl Handler<TakeModel> for ServerActor {
    type Result = MessageResult<TakeModel>;

    fn handle(&mut self, _: TakeModel, _: &mut Context<Self>) -> Self::Result {
        // A run that failed still has rows to tell of.
        self.send_rows();
        MessageResult((self.server.take_parameters(), self.server.round().number))
    }
}
