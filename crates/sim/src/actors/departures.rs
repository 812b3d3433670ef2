//! Clients that go offline on their way.
//!
//! Whoever goes leg by leg does not know whether it will be back before it has to go. One task
//! watches over all of them: a timer for each would be set and thrown away in nearly every round.

use super::server::ServerActor;
use crate::clock::{Clock, SimTime, Sleep};
use actix::prelude::*;
use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Poll, Waker};

/// Knows when everybody goes.
pub(super) struct Departures {
    clock: Clock,
    state: RefCell<State>,
}

struct State {
    queue: BinaryHeap<Reverse<(SimTime, u32)>>,
    /// By client: the latest instant it is in the queue for.
    known: Vec<SimTime>,
    watchman: Option<Waker>,
}

/// It is time to go.
#[derive(Message)]
#[rtype(result = "()")]
pub(super) struct DepartureDue {
    pub(super) at: SimTime,
    pub(super) client: u32,
}

impl Departures {
    /// A watch over `clients` clients that tells the server, which knows who acts for whom.
    pub(super) fn open(clients: usize, clock: Clock, server: Addr<ServerActor>) -> Rc<Self> {
        let known = vec![SimTime::NEVER; clients];
        let state = State { queue: BinaryHeap::new(), known, watchman: None };
        let departures = Rc::new(Departures { clock, state: RefCell::new(state) });
        actix::spawn(watch(departures.clone(), server));
        departures
    }

    /// The server is told when `client` goes, at `at`.
    pub(super) fn register(&self, client: u32, at: SimTime) {
        let watchman = {
            let state = &mut *self.state.borrow_mut();
            if std::mem::replace(&mut state.known[client as usize], at) == at {
                return;
            }
            state.queue.push(Reverse((at, client)));
            state.watchman.take()
        };
        if let Some(watchman) = watchman {
            watchman.wake();
        }
    }

    /// Tells of everybody whose time has come.
    fn call(&self, server: &Addr<ServerActor>) {
        let now = self.clock.now();
        let state = &mut *self.state.borrow_mut();
        while let Some(Reverse((at, client))) = state.queue.peek().copied() {
            if at > now {
                return;
            }
            state.queue.pop();
            // It may have another time by now: events come and go too.
            if state.known[client as usize] == at {
                server.do_send(DepartureDue { at, client });
            }
        }
    }
}

async fn watch(departures: Rc<Departures>, server: Addr<ServerActor>) {
    let mut alarm: Option<(SimTime, Sleep)> = None;
    loop {
        let next = departures.state.borrow().queue.peek().map(|Reverse((at, _))| *at);
        match next {
            Some(at) if alarm.as_ref().is_none_or(|(set, _)| at != *set) => {
                // Whoever is through at this very instant is through.
                alarm = Some((at, departures.clock.sleep_until_end_of(at)));
            }
            _ => {}
        }
        let rang = poll_fn(|cx| {
            if let Some((_, sleep)) = &mut alarm
                && Pin::new(sleep).poll(cx).is_ready()
            {
                return Poll::Ready(true);
            }
            let mut state = departures.state.borrow_mut();
            let first = state.queue.peek().map(|Reverse((at, _))| *at);
            if first != alarm.as_ref().map(|(at, _)| *at) {
                return Poll::Ready(false);
            }
            state.watchman = Some(cx.waker().clone());
            Poll::Pending
        })
        .await;
        if rang {
            alarm = None;
            departures.call(&server);
        }
    }
}
