//! Transfers over the server's links, as a client waits for them.

use super::client::{ClientActor, Surroundings};
use super::ending::Ending;
use super::lane::{Carried, Lane};
use crate::client::World;
use crate::clock::{Clock, SimTime, TimeOverflow};
use crate::device::{Direction, Transfer};
use actix::prelude::*;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{self, Poll, ready};

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

    pub(super) fn of(&self, direction: Direction) -> Option<Rc<Lane>> {
        match direction {
            Direction::Down => self.down.clone(),
            Direction::Up => self.up.clone(),
        }
    }
}

/// How a leg ends that may never do.
pub(super) enum Carriage {
    Through,
    Broken,
}

/// The transfers of a client whose own link does not change meanwhile: the smallest of all futures
/// will do, and one for both ways.
pub(super) struct Ride {
    pub(super) carried: Carried,
    pub(super) direction: Direction,
}

impl ActorFuture<ClientActor> for Ride {
    type Output = ();

    fn poll(
        mut self: Pin<&mut Self>,
        me: &mut ClientActor,
        ctx: &mut Context<ClientActor>,
        cx: &mut task::Context<'_>,
    ) -> Poll<()> {
        ready!(Pin::new(&mut self.carried).poll(cx));
        let now = me.around.clock.now();
        if self.direction == Direction::Up {
            me.uploaded(now, ctx);
            return Poll::Ready(());
        }
        let Some((client, reaches)) = me.compute(now, ctx) else { return Poll::Ready(()) };
        if let Some(carried) = me.simply_carried(client, Direction::Up, reaches) {
            *self = Ride { carried, direction: Direction::Up };
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
