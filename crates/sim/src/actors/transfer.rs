//! Transfers over the server's links, as a client waits for them.

use super::client::{ClientActor, ClientShared};
use super::ending::Ending;
use super::shared_link::{PendingTransfer, SharedLink};
use crate::client::ClientSide;
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

/// How a leg ends that may never do.
pub(super) enum TransferEnd {
    Through,
    Broken,
}

/// The transfers of a client whose own link does not change meanwhile: the smallest of all futures
/// will do, and one for both ways.
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
            me.uploaded(now, ctx);
            return Poll::Ready(());
        }
        let Some((client, reaches)) = me.compute(now, ctx) else { return Poll::Ready(()) };
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

/// Carries a model or an update from `from` on, under a cap that may change.
pub(super) async fn carry(
    around: &ClientShared,
    client: u32,
    direction: Direction,
    from: SimTime,
) -> Result<TransferEnd, TimeOverflow> {
    let ClientShared { client_side, clock, shared_links, replan, .. } = around;
    let Some(link) = shared_links.of(direction) else {
        clock.sleep_until(from).await;
        loop {
            let (at, how) = match client_side.transfer(client, direction, from)? {
                Transfer::Through(at) => (at, TransferEnd::Through),
                Transfer::Broken(at) => (at, TransferEnd::Broken),
            };
            tokio::select! {
                biased;
                () = clock.sleep_until(at) => return Ok(how),
                // Up to now it comes out the same.
                () = replan.notified(), if client_side.scripted => {}
            }
        }
    };
    if client_side.scripted {
        // What is scripted may not be known yet.
        clock.sleep_until(from).await;
    }
    let bits = client_side.payload.bits(direction);
    let (mut cap, mut until) = client_side.link(client, direction, from);
    let mut pending = std::pin::pin!(link.carry(from, bits, cap));
    loop {
        if cap == 0 && until == SimTime::NEVER {
            clock.sleep_until(from).await;
            return Ok(TransferEnd::Broken);
        }
        match (until < SimTime::NEVER, client_side.scripted) {
            (false, false) => {
                pending.as_mut().await;
                return Ok(TransferEnd::Through);
            }
            (_, false) => tokio::select! {
                biased;
                () = &mut pending => return Ok(TransferEnd::Through),
                () = clock.sleep_until(until) => {}
            },
            (changes, true) => tokio::select! {
                biased;
                () = &mut pending => return Ok(TransferEnd::Through),
                () = clock.sleep_until(until), if changes => {}
                () = replan.notified() => {}
            },
        }
        (cap, until) = client_side.link(client, direction, clock.now());
        pending.set_cap(cap);
    }
}
