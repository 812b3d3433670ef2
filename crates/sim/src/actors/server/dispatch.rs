//! How the server sends clients off, and which of them have an actor.

use super::ServerActor;
use crate::actors::client::{ClientActor, Dispatch};
use crate::clock::SimTime;
use crate::policy::Asked;
use crate::record::StopReason;
use crate::server::ServerError;
use actix::prelude::*;
use std::future::poll_fn;
use std::task::Poll;

/// Clients that are sent off at once.
const WAVE: usize = 256;

impl ServerActor {
    /// Sends the next wave of clients off, and the others when these have set out: they handle their
    /// messages while those are still in the cache, and never more than a wave of messages is under
    /// way. All of it is one instant, for time moves only when nobody has anything left to do.
    pub(super) fn dispatch(&mut self, ctx: &mut Context<Self>) {
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
    pub(super) fn send(&mut self, asked: Asked, at: SimTime) {
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
        let context = self.server.client_context(asked.client, &round);
        client.do_send(Dispatch { round, request, context });
    }

    /// Where clients are sent off one by one: somebody else takes the place of who came back.
    pub(super) fn replace(
        &mut self,
        back: u32,
        now: SimTime,
        ctx: &mut Context<Self>,
    ) -> Result<(), ServerError> {
        let asked = self.server.refill(now)?;
        asked.into_iter().for_each(|asked| self.send(asked, now));
        self.stand_up(back);
        self.watch_vacancy(now, ctx)
    }

    /// If a place could not be filled, looks again when somebody may have come.
    pub(super) fn watch_vacancy(
        &mut self,
        now: SimTime,
        ctx: &mut Context<Self>,
    ) -> Result<(), ServerError> {
        if self.server.is_deserted() {
            return self.end(now, StopReason::Deserted);
        }
        let Some(at) = self.server.vacant_until() else { return Ok(()) };
        match self.vacancy.take() {
            Some((known, wait)) if known <= at => {
                self.vacancy = Some((known, wait));
                return Ok(());
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
                if me.server.wake() == Some(at) {
                    // The window that closes now closes first; the next one fills the place.
                    return Ok(());
                }
                me.latest = me.latest.max(at);
                if me.waits_in_vain() {
                    return me.end(at, StopReason::Interrupted);
                }
                let asked = me.server.refill(at)?;
                asked.into_iter().for_each(|asked| me.send(asked, at));
                me.watch_vacancy(at, ctx)
            });
        }));
        self.vacancy = Some((at, wait));
        Ok(())
    }

    /// Takes the actor from a client that came back and was not asked again.
    pub(super) fn stand_up(&mut self, back: u32) {
        if !self.server.is_on_the_way(back) {
            self.idle.extend(self.clients[back as usize].take());
        }
    }

    /// Takes the actors from clients that are free and were not asked again.
    pub(super) fn unseat(&mut self, asked: &[Asked]) {
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
