//! A link of the server as futures: transfers that wait until they are through.

use super::ending::{Ending, RunError};
use crate::clock::{Clock, SimTime, Sleep};
use crate::device::{Flow, Link};
use std::cell::RefCell;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

/// One way of the server's connection, divided among all who use it.
pub(super) struct Lane {
    clock: Clock,
    state: RefCell<State>,
}

struct State {
    link: Link,
    /// By slot of the link.
    seats: Vec<Seat>,
    /// Whether something has changed since the keeper last looked.
    rung: bool,
    keeper: Option<Waker>,
}

/// Who is carried in a slot. A slot that is another's has been left by somebody who is through.
struct Seat {
    flow: Flow,
    through: bool,
    waker: Option<Waker>,
}

impl Lane {
    /// A lane of `capacity` bits per second, kept by a task of its own.
    pub(super) fn open(capacity: u64, clock: Clock, ending: Rc<Ending>) -> Rc<Self> {
        let link = Link::new(capacity);
        let state = State { link, seats: Vec::new(), rung: false, keeper: None };
        let lane = Rc::new(Lane { clock, state: RefCell::new(state) });
        actix::spawn(keep(lane.clone(), ending));
        lane
    }

    /// Begins to carry `bits` for somebody whose own link allows `cap` bits per second.
    pub(super) fn carry(self: Rc<Self>, bits: u64, cap: u64) -> Carried {
        let now = self.clock.now();
        let flow = {
            let mut state = self.state.borrow_mut();
            let flow = state.link.start(now, bits, cap);
            let seat = Seat { flow, through: false, waker: None };
            match state.seats.get_mut(flow.slot()) {
                Some(free) => *free = seat,
                // The link counts its slots up one by one.
                None => state.seats.push(seat),
            }
            flow
        };
        self.ring();
        Carried { lane: self, flow, over: false }
    }

    /// Tells the keeper that something has changed.
    fn ring(&self) {
        let keeper = {
            let mut state = self.state.borrow_mut();
            state.rung = true;
            state.keeper.take()
        };
        if let Some(keeper) = keeper {
            keeper.wake();
        }
    }

    /// Wakes everybody who is through by now, in order.
    fn release(&self) {
        loop {
            let waker = {
                let mut state = self.state.borrow_mut();
                let Some(flow) = state.link.finish(self.clock.now()) else {
                    return;
                };
                let seat = &mut state.seats[flow.slot()];
                seat.through = true;
                seat.waker.take()
            };
            // Outside the borrow: a waker may run code that looks at the lane.
            if let Some(waker) = waker {
                waker.wake();
            }
        }
    }
}

/// Sleeps until the next transfer is through, again and again.
async fn keep(lane: Rc<Lane>, ending: Rc<Ending>) {
    // A start makes others slower: then the alarm is early, which is found out when it rings.
    let mut alarm: Option<(SimTime, Sleep)> = None;
    loop {
        let next = lane.state.borrow_mut().link.next();
        match next {
            Err(source) => {
                let (place, seed) = ("the server's link".into(), ending.seed);
                return ending.announce(Err(RunError::Time { place, seed, source }));
            }
            Ok(None) => alarm = None,
            Ok(Some(at)) if alarm.as_ref().is_none_or(|(set, _)| at < *set) => {
                alarm = Some((at, lane.clock.sleep_until(at)));
            }
            Ok(Some(_)) => {}
        }
        let rang = poll_fn(|cx| {
            if let Some((_, sleep)) = &mut alarm
                && Pin::new(sleep).poll(cx).is_ready()
            {
                return Poll::Ready(true);
            }
            let mut state = lane.state.borrow_mut();
            if std::mem::take(&mut state.rung) {
                return Poll::Ready(false);
            }
            state.keeper = Some(cx.waker().clone());
            Poll::Pending
        })
        .await;
        if rang {
            alarm = None;
            lane.release();
        }
    }
}

/// A transfer on its way; it completes when the last bit is through. Dropped before that, it is
/// taken off the lane.
pub(super) struct Carried {
    lane: Rc<Lane>,
    flow: Flow,
    over: bool,
}

impl Carried {
    /// From now on its own link allows `cap` bits per second.
    pub(super) fn set_cap(&self, cap: u64) {
        self.lane.state.borrow_mut().link.set_cap(self.lane.clock.now(), self.flow, cap);
        self.lane.ring();
    }
}

impl Future for Carried {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let me = self.get_mut();
        let mut state = me.lane.state.borrow_mut();
        let seat = &mut state.seats[me.flow.slot()];
        if seat.through || seat.flow != me.flow {
            me.over = true;
            return Poll::Ready(());
        }
        seat.waker = Some(cx.waker().clone());
        Poll::Pending
    }
}

impl Drop for Carried {
    fn drop(&mut self) {
        if !self.over {
            self.lane.state.borrow_mut().link.cancel(self.lane.clock.now(), self.flow);
            self.lane.ring();
        }
    }
}
