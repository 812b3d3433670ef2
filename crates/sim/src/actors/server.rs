//! Sends clients off, takes their updates in, closes rounds.

mod checkpoints;
mod dispatch;
mod finish;

pub use checkpoints::Checkpoints;

use super::client::{Arrived, ClientActor, ClientShared, Replan};
use super::departures::{DepartureDue, Departures};
use super::ending::Ending;
use super::recorder::{Happened, Recorder};
use super::transfer::SharedLinks;
use crate::client::ClientSide;
use crate::clock::{Clock, SimTime};
use crate::policy::Asked;
use crate::record::{ClientRow, Outcome, StopReason};
use crate::server::{Next, Opening, Server, ServerError};
use crate::train::Interrupt;
use actix::prelude::*;
use std::rc::Rc;
use std::time::Duration;
use tokio::sync::Notify;
use tracing::debug;

/// Rows that travel to the recorder in one message.
const ROWS: usize = 512;
/// If so many clients in a row are lost at the instant at which they are asked, or ten times as many
/// as there are, it will go on like this.
const LOST_AT_ONCE: usize = 10_000;
/// How often the server looks up from its sleep on the wall clock.
const LOOK_UP: Duration = Duration::from_millis(200);

/// Whom the server tells what happens, and who may tell it to end.
pub(super) struct Post {
    pub(super) ending: Rc<Ending>,
    pub(super) recorder: Rc<Recorder>,
    pub(super) interrupt: Interrupt,
    pub(super) checkpoints: Option<Box<dyn Checkpoints>>,
}

/// The end of a run, once everybody has been called back.
struct Halting {
    now: SimTime,
    reason: StopReason,
}

pub(super) struct ServerActor {
    server: Server,
    clock: Clock,
    ending: Rc<Ending>,
    recorder: Rc<Recorder>,
    interrupt: Interrupt,
    checkpoints: Option<Box<dyn Checkpoints>>,
    /// Taken by the first start, which knows the server's address.
    client_side: Option<ClientSide>,
    around: Option<Rc<ClientShared>>,
    /// The actors of those who take part; nobody else has one.
    clients: Vec<Option<Addr<ClientActor>>>,
    /// Actors without a client: whoever is asked next takes one of them.
    idle: Vec<Addr<ClientActor>>,
    seated: Vec<u32>,
    /// Who is still to be sent off in this round.
    asked: std::vec::IntoIter<Asked>,
    /// When the closing policy is woken, and what waits for that.
    wake: Option<(SimTime, SpawnHandle)>,
    /// What the next round waits for: more clients, or the end of the instant at which it opens.
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
        client_side: ClientSide,
        clock: Clock,
        Post { ending, recorder, interrupt, checkpoints }: Post,
        stop_time: Option<SimTime>,
    ) -> Self {
        let clients = (0..client_side.fleet.devices.len()).map(|_| None).collect();
        let rows = Vec::with_capacity(ROWS);
        ServerActor {
            server,
            clock,
            ending,
            recorder,
            interrupt,
            checkpoints,
            client_side: Some(client_side),
            around: None,
            clients,
            idle: Vec::new(),
            seated: Vec::new(),
            asked: Vec::new().into_iter(),
            wake: None,
            waiting: None,
            vacancy: None,
            halting: None,
            stop_time,
            latest: SimTime::ZERO,
            lost_at_once: 0,
            rows,
        }
    }

    /// Runs a handler's work; an error or panic in it ends the run, and so does an interrupt. What comes
    /// after the end is not handled any more.
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
        let interrupted = self.interrupt.is_set();
        let work =
            || match if interrupted { Err(ServerError::Interrupted) } else { work(self, ctx) } {
                Err(ServerError::Interrupted) => self.leave(None),
                Ok(()) => {
                    self.after_event();
                    Ok(())
                }
                Err(error) => Err(error),
            };
        ending.watch(|| format!("the server in round {round}"), work);
    }

    /// Opens the next round at `now`, which on the wall clock is when it should be, not when this
    /// machine got round to it.
    fn open_round(&mut self, now: SimTime, ctx: &mut Context<Self>) -> Result<(), ServerError> {
        self.latest = self.latest.max(now);
        if let Some(Some(wait)) = self.waiting.take() {
            ctx.cancel_future(wait);
        }
        let opening = self.server.open_round(now)?;
        if self.server.take_replan() {
            self.replan(now);
        }
        let mut asked = match opening {
            Opening::Asked(asked) => asked,
            Opening::Wait(until) => {
                // It may take long until there is more to tell.
                self.send_rows();
                let clients = self.server.can_be_asked();
                debug!(virtual_seconds = now.seconds(), clients, "too few clients: waiting");
                match until {
                    Some(at) => self.open_at_end_of(at, ctx),
                    None => self.waiting = Some(None),
                }
                return Ok(());
            }
            Opening::Nobody => return self.end(now, StopReason::Deserted),
        };
        if self.server.is_asynchronous() {
            asked.into_iter().for_each(|asked| self.send(asked, now));
            self.watch_vacancy(now, ctx)?;
        } else {
            self.unseat(&asked);
            self.server.order(&mut asked);
            self.asked = asked.into_iter();
            self.dispatch(ctx);
        }
        self.set_alarm(ctx);
        Ok(())
    }

    /// Sleeps until the closing policy wants to be woken, if that has changed.
    fn set_alarm(&mut self, ctx: &mut Context<Self>) {
        let wanted = self.server.wake();
        if self.wake.map(|(at, _)| at) == wanted {
            return;
        }
        self.cancel_alarm(ctx);
        self.wake = wanted.map(|at| {
            let sleep = self.clock.sleep_until_end_of(at);
            let wait = ctx.spawn(sleep.into_actor(self).map(move |(), me, ctx| {
                me.wake = None;
                me.watch(ctx, |me, ctx| me.wake_policy(at, ctx));
            }));
            (at, wait)
        });
    }

    fn cancel_alarm(&mut self, ctx: &mut Context<Self>) {
        if let Some((_, wait)) = self.wake.take() {
            ctx.cancel_future(wait);
        }
    }

    /// It is the instant at which the closing policy wanted to be woken, or a moment later if that
    /// had passed when it said so.
    fn wake_policy(&mut self, at: SimTime, ctx: &mut Context<Self>) -> Result<(), ServerError> {
        let now = at.max(self.latest);
        match self.server.time_is_up(now)? {
            Next::CloseRound => self.close_round(now, ctx),
            Next::Wait => {
                self.set_alarm(ctx);
                Ok(())
            }
        }
    }

    /// Tells everybody on the way that things are not as they were.
    fn replan(&self, now: SimTime) {
        if let Some(around) = &self.around {
            around.replan.notify_waiters();
        }
        for (client, seat) in (0..).zip(&self.clients) {
            if let Some(seat) = seat.as_ref().filter(|_| self.server.is_on_the_way(client)) {
                let context = self.server.client_context_again(client);
                seat.do_send(Replan { context, now });
            }
        }
    }

    /// On the wall clock the server may sleep for long: looks now and then whether it should end, and tells
    /// what happened since.
    fn look_up(&mut self, ctx: &mut Context<Self>) {
        self.watch(ctx, |me, _| {
            me.send_rows();
            Ok(())
        });
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
}

impl Actor for ServerActor {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Context<Self>) {
        let Some(client_side) = self.client_side.take() else {
            return;
        };
        let shared_links = SharedLinks::open(&client_side, &self.clock, &self.ending);
        let departures = shared_links.are_shared() && self.server.clients_may_be_lost();
        self.around = Some(Rc::new(ClientShared {
            shared_links,
            departures: departures.then(|| {
                Departures::open(client_side.fleet.devices.len(), self.clock.clone(), ctx.address())
            }),
            client_side,
            replan: Notify::new(),
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
        if self.clock.is_wall() {
            ctx.run_interval(LOOK_UP, |me, ctx| me.look_up(ctx));
        }
        self.watch(ctx, |me, ctx| {
            if let Some(metrics) = me.server.begin()? {
                me.recorder.tell(Happened::Began(metrics));
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
        if self.interrupt.is_set() && !self.ending.is_over() {
            let ending = self.ending.clone();
            ending.watch(|| "the interrupted server".into(), || self.leave(Some(arrival)));
            return;
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
                return me.end(now, StopReason::Unreachable);
            }
            let one_by_one = me.server.is_asynchronous();
            match next {
                Next::CloseRound => {
                    me.close_round(now, ctx)?;
                    if one_by_one {
                        me.stand_up(back);
                    }
                }
                Next::Wait if one_by_one => me.replace(back, now, ctx)?,
                // Perhaps this is who was missing; others may be back at the same instant.
                Next::Wait if me.waiting.is_some() => me.open_at_end_of(now, ctx),
                Next::Wait => {}
            }
            me.set_alarm(ctx);
            if me.rows.len() >= ROWS {
                me.send_rows();
            }
            Ok(())
        });
    }
}

impl Handler<DepartureDue> for ServerActor {
    type Result = ();

    fn handle(&mut self, due: DepartureDue, _: &mut Context<Self>) {
        if let Some(seat) = &self.clients[due.client as usize] {
            seat.do_send(due);
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
