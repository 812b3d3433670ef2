//! Tells the server when clients go offline while they take part.
//!
//! A client on shared links does not know whether it will be back before it goes offline. One task
//! waits for the departures of all clients: a timer for each would be set and cancelled in nearly
//! every round.

use super::server::ServerActor;
use crate::client::DepartureQueue;
use crate::clock::{Clock, SimTime, Sleep};
use actix::prelude::*;
use std::cell::RefCell;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Poll, Waker};

/// The departures of all clients, and the task that waits for them.
pub(super) struct Departures {
    clock: Clock,
    queue: RefCell<DepartureQueue>,
    /// Wakes the task.
    task: RefCell<Option<Waker>>,
}

/// `client` goes offline now, at `at`.
#[derive(Message)]
#[rtype(result = "()")]
pub(super) struct DepartureDue {
    pub(super) at: SimTime,
    pub(super) client: u32,
}

impl Departures {
    /// Departures of `clients` clients. The server is told of them: it knows which actor acts for a
    /// client.
    pub(super) fn open(clients: usize, clock: Clock, server: Addr<ServerActor>) -> Rc<Self> {
        let queue = RefCell::new(DepartureQueue::new(clients));
        let departures = Rc::new(Departures { clock, queue, task: RefCell::new(None) });
        actix::spawn(send_departures(departures.clone(), server));
        departures
    }

    /// The server is told when `client` goes offline, at `at`.
    pub(super) fn register(&self, client: u32, at: SimTime) {
        if self.queue.borrow_mut().register(client, at)
            && let Some(task) = self.task.take()
        {
            task.wake();
        }
    }
}

/// Sleeps until the next departure, tells the server of all that are due, and starts again.
async fn send_departures(departures: Rc<Departures>, server: Addr<ServerActor>) {
    let mut timer: Option<(SimTime, Sleep)> = None;
    loop {
        let next = departures.queue.borrow().earliest();
        if let Some(at) = next
            && timer.as_ref().is_none_or(|(set, _)| at != *set)
        {
            // A transfer that completes at this instant still counts.
            timer = Some((at, departures.clock.sleep_until_losses_of(at)));
        }
        let fired = poll_fn(|cx| {
            if let Some((_, sleep)) = &mut timer
                && Pin::new(sleep).poll(cx).is_ready()
            {
                return Poll::Ready(true);
            }
            if departures.queue.borrow().earliest() != timer.as_ref().map(|(at, _)| *at) {
                return Poll::Ready(false);
            }
            departures.task.replace(Some(cx.waker().clone()));
            Poll::Pending
        })
        .await;
        if fired {
            timer = None;
            let now = departures.clock.now();
            let mut queue = departures.queue.borrow_mut();
            while let Some((at, client)) = queue.take_due(now) {
                server.do_send(DepartureDue { at, client });
            }
        }
    }
}
