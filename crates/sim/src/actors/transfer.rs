//! Transfers over the server's links, as a client waits for them.

use super::client::{ClientActor, ClientShared};
use super::ending::Ending;
use super::shared_link::{PendingTransfer, SharedLink};
use crate::client::{ClientSide, update_received};
use crate::clock::{Clock, SimTime, TimeOverflow};
use crate::device::{Direction, Transfer};
use actix::prelude::*;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{self, Poll, ready};

/// The server's links.
pub(super) struct SharedLinks {
    down: Option<Rc<SharedLink>>,
    up: Option<Rc<SharedLink>>,
}

impl SharedLinks {
    pub(super) fn open(client_side: &ClientSide, clock: &Clock, ending: &Rc<Ending>) -> Self {
        let link = |capacity| SharedLink::open(capacity, clock.clone(), ending.clone());
        SharedLinks {
            down: client_side.server_uplink.map(link),
            up: client_side.server_downlink.map(link),
        }
    }

    pub(super) fn are_shared(&self) -> bool {
        self.down.is_some() || self.up.is_some()
    }

    pub(super) fn of(&self, direction: Direction) -> Option<Rc<SharedLink>> {
        match direction {
            Direction::Down => self.down.clone(),
            Direction::Up => self.up.clone(),
        }
    }
}

/// The transfers of a client whose own link does not change meanwhile. There are many of these: the
/// future is small, and the same one carries the model and then the update.
pub(super) struct SteadyTransfer {
    pub(super) pending: PendingTransfer,
    pub(super) direction: Direction,
}

impl ActorFuture<ClientActor> for SteadyTransfer {
    type Output = ();

    fn poll(
        mut self: Pin<&mut Self>,
        me: &mut ClientActor,
        ctx: &mut Context<ClientActor>,
        cx: &mut task::Context<'_>,
    ) -> Poll<()> {
        ready!(Pin::new(&mut self.pending).poll(cx));
        let now = me.around.clock.now();
        if self.direction == Direction::Up {
            me.end_with(ctx, |_, arrival| update_received(arrival, now));
            return Poll::Ready(());
        }
        let Some((client, reaches)) = me.model_sent(now, ctx) else { return Poll::Ready(()) };
        if let Some(pending) = me.steady_transfer(client, Direction::Up, reaches) {
            *self = SteadyTransfer { pending, direction: Direction::Up };
            return self.poll(me, ctx, cx);
        }
        let wait = me.carry(client, Direction::Up, reaches, None, ctx);
        if let Some(trip) = &mut me.trip {
            trip.wait = wait;
        }
        Poll::Ready(())
    }
}

/// Carries a model or an update from `from` on, while the client's own link may change.
pub(super) async fn carry(
    around: &ClientShared,
    client: u32,
    direction: Direction,
    from: SimTime,
) -> Result<Transfer, TimeOverflow> {
    let ClientShared { client_side, clock, shared_links, replan, .. } = around;
    let Some(link) = shared_links.of(direction) else {
        clock.sleep_until(from).await;
        loop {
            let end = client_side.transfer(client, direction, from)?;
            let ends = match end {
                Transfer::Through(at) => clock.sleep_until(at),
                Transfer::Broken(at) => clock.sleep_until_losses_of(at),
            };
            tokio::select! {
                biased;
                () = ends => return Ok(end),
                // The script has changed. Up to now the transfer comes out the same.
                () = replan.notified(), if client_side.scripted => {}
            }
        }
    };
    if client_side.scripted {
        // The script may change before the transfer starts.
        clock.sleep_until(from).await;
    }
    let bits = client_side.payload.bits(direction);
    let mut cap = client_side.link_cap(client, direction, from);
    let mut pending = std::pin::pin!(link.carry(from, bits, cap.rate));
    loop {
        if cap.is_gone() {
            let lost = clock.sleep_until_losses_of(from.max(clock.now()));
            return Ok(tokio::select! {
                biased;
                // A transfer that completes at this instant still counts.
                () = &mut pending => Transfer::Through(clock.now()),
                () = lost => Transfer::Broken(clock.now()),
            });
        }
        match (cap.change(), client_side.scripted) {
            (None, false) => {
                pending.as_mut().await;
                return Ok(Transfer::Through(clock.now()));
            }
            (_, false) => tokio::select! {
                biased;
                () = &mut pending => return Ok(Transfer::Through(clock.now())),
                () = clock.sleep_until(cap.until) => {}
            },
            (change, true) => tokio::select! {
                biased;
                () = &mut pending => return Ok(Transfer::Through(clock.now())),
                () = clock.sleep_until(cap.until), if change.is_some() => {}
                () = replan.notified() => {}
            },
        }
        cap = client_side.link_cap(client, direction, clock.now());
        pending.set_cap(cap.rate);
    }
}
