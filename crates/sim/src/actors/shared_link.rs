//! A link of the server as futures: transfers that wait until they are through.

use super::ending::{Ending, RunError};
use crate::clock::{Clock, SimTime, Sleep, Span, TimeOverflow};
use crate::device::{Flow, Link};
use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

/// One way of the server's connection, divided among all who use it.
pub(super) struct SharedLink {
    clock: Clock,
    state: RefCell<State>,
}

struct State {
    link: Link,
    /// Every transfer that is under way or will be.
    seats: Vec<Seat>,
    free: Vec<u32>,
    /// Seats by slot of the link.
    by_slot: Vec<u32>,
    /// Transfers that begin later: when, under which number they were announced, whose seat.
    later: BinaryHeap<Reverse<(SimTime, u64, u32)>>,
    /// When they are through at the earliest. A beginning changes nothing that anybody waits for,
    /// so nobody wakes for it: it is made up for when the link is next looked at.
    earliest: BinaryHeap<Reverse<(SimTime, u64, u32)>>,
    announced: u64,
    capacity: u64,
    /// Whether something has changed since the keeper last looked.
    rung: bool,
    keeper: Option<Waker>,
}

enum Seat {
    Free,
    /// Announced under this number, not begun.
    Later {
        number: u64,
        bits: u64,
        cap: u64,
        waker: Option<Waker>,
    },
    PendingTransfer {
        flow: Flow,
        waker: Option<Waker>,
    },
    Through,
}

impl SharedLink {
    /// A link of `capacity` bits per second, kept by a task of its own.
    pub(super) fn open(capacity: u64, clock: Clock, ending: Rc<Ending>) -> Rc<Self> {
        let state = State {
            link: Link::new(capacity),
            seats: Vec::new(),
            free: Vec::new(),
            by_slot: Vec::new(),
            later: BinaryHeap::new(),
            earliest: BinaryHeap::new(),
            announced: 0,
            capacity,
            rung: false,
            keeper: None,
        };
        let link = Rc::new(SharedLink { clock, state: RefCell::new(state) });
        actix::spawn(keep(link.clone(), ending));
        link
    }

    /// Carries `bits` from `at` on for somebody whose own link then allows `cap` bits per second.
    pub(super) fn carry(self: Rc<Self>, at: SimTime, bits: u64, cap: u64) -> PendingTransfer {
        let now = self.clock.now();
        let seat = self.state.borrow_mut().announce(now, at, bits, cap);
        self.ring();
        PendingTransfer { link: self, seat }
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

    /// Lets those begin who were announced, and wakes everybody who is through by now, in order.
    fn attend(&self) {
        let now = self.clock.now();
        self.state.borrow_mut().begin(now);
        loop {
            let waker = {
                let mut state = self.state.borrow_mut();
                let Some(flow) = state.link.finish(now) else {
                    return;
                };
                let seat = state.by_slot[flow.slot()] as usize;
                match std::mem::replace(&mut state.seats[seat], Seat::Through) {
                    Seat::PendingTransfer { waker, .. } => waker,
                    other => {
                        state.seats[seat] = other;
                        None
                    }
                }
            };
            // Outside the borrow: a waker may run code that looks at the link.
            if let Some(waker) = waker {
                waker.wake();
            }
        }
    }
}

impl State {
    fn announce(&mut self, now: SimTime, at: SimTime, bits: u64, cap: u64) -> u32 {
        self.announced += 1;
        let number = self.announced;
        let seat = self.free.pop().unwrap_or_else(|| {
            self.seats.push(Seat::Free);
            self.seats.len() as u32 - 1
        });
        if at <= now {
            self.begin(now);
            self.start(now, seat, bits, cap, None);
        } else {
            self.seats[seat as usize] = Seat::Later { number, bits, cap, waker: None };
            self.later.push(Reverse((at, number, seat)));
            self.expect(at, number, seat, bits, cap);
        }
        seat
    }

    /// Notes when an announced transfer is through at the earliest: if it gets all it can take.
    fn expect(&mut self, at: SimTime, number: u64, seat: u32, bits: u64, cap: u64) {
        let nanos = match cap.min(self.capacity) {
            // It has to begin before anything can be said.
            0 => 0,
            rate => (u128::from(bits) * 1_000_000_000).div_ceil(rate.into()),
        };
        let nanos = Span::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX));
        let through = at.after(nanos).unwrap_or(SimTime::NEVER);
        self.earliest.push(Reverse((through, number, seat)));
    }

    /// When the link must be looked at again.
    fn next(&mut self) -> Result<Option<SimTime>, TimeOverflow> {
        // Those that have begun are known to the link.
        while let Some(Reverse((_, announced, seat))) = self.earliest.peek()
            && !matches!(&self.seats[*seat as usize], Seat::Later { number, .. } if number == announced)
        {
            self.earliest.pop();
        }
        let earliest = self.earliest.peek().map(|Reverse((at, ..))| *at);
        Ok([self.link.next()?, earliest].into_iter().flatten().min())
    }

    fn start(&mut self, now: SimTime, seat: u32, bits: u64, cap: u64, waker: Option<Waker>) {
        let flow = self.link.start(now, bits, cap);
        self.by_slot.resize(self.by_slot.len().max(flow.slot() + 1), 0);
        self.by_slot[flow.slot()] = seat;
        self.seats[seat as usize] = Seat::PendingTransfer { flow, waker };
    }

    /// Begins what was announced up to now, each at its time. Seats that were given up since are
    /// passed over.
    fn begin(&mut self, now: SimTime) {
        while let Some(Reverse((at, announced, seat))) = self.later.peek().copied() {
            if at > now {
                return;
            }
            self.later.pop();
            if let Seat::Later { number, bits, cap, waker } = &mut self.seats[seat as usize]
                && *number == announced
            {
                let (bits, cap, waker) = (*bits, *cap, waker.take());
                self.start(at, seat, bits, cap, waker);
            }
        }
    }
}

/// Sleeps until something happens on the link, again and again.
async fn keep(link: Rc<SharedLink>, ending: Rc<Ending>) {
    // A start makes others slower: then the alarm is early, which is found out when it rings.
    let mut alarm: Option<(SimTime, Sleep)> = None;
    loop {
        let next = link.state.borrow_mut().next();
        match next {
            Err(source) => {
                let (place, seed) = ("the server's link".into(), ending.seed);
                return ending.announce(Err(RunError::Time { place, seed, source }));
            }
            Ok(None) => alarm = None,
            Ok(Some(at)) if alarm.as_ref().is_none_or(|(set, _)| at < *set) => {
                alarm = Some((at, link.clock.sleep_until(at)));
            }
            Ok(Some(_)) => {}
        }
        let rang = poll_fn(|cx| {
            if let Some((_, sleep)) = &mut alarm
                && Pin::new(sleep).poll(cx).is_ready()
            {
                return Poll::Ready(true);
            }
            let mut state = link.state.borrow_mut();
            if std::mem::take(&mut state.rung) {
                return Poll::Ready(false);
            }
            state.keeper = Some(cx.waker().clone());
            Poll::Pending
        })
        .await;
        if rang {
            alarm = None;
            link.attend();
        }
    }
}

/// A transfer on its way; it completes when the last bit is through. Dropped before that, it is
/// taken off the link.
pub(super) struct PendingTransfer {
    link: Rc<SharedLink>,
    seat: u32,
}

impl PendingTransfer {
    /// From now on its own link allows `cap` bits per second.
    pub(super) fn set_cap(&self, cap: u64) {
        {
            let state = &mut *self.link.state.borrow_mut();
            state.begin(self.link.clock.now());
            match &mut state.seats[self.seat as usize] {
                Seat::Later { cap: known, number, bits, .. } => {
                    *known = cap;
                    // Wider, it may be through before it was expected.
                    let (number, bits) = (*number, *bits);
                    state.expect(self.link.clock.now(), number, self.seat, bits, cap);
                }
                Seat::PendingTransfer { flow, .. } => {
                    state.link.set_cap(self.link.clock.now(), *flow, cap);
                }
                Seat::Through | Seat::Free => {}
            }
        }
        self.link.ring();
    }
}

impl Future for PendingTransfer {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let mut state = self.link.state.borrow_mut();
        match &mut state.seats[self.seat as usize] {
            Seat::Later { waker, .. } | Seat::PendingTransfer { waker, .. } => {
                *waker = Some(cx.waker().clone());
                Poll::Pending
            }
            Seat::Through | Seat::Free => Poll::Ready(()),
        }
    }
}

impl Drop for PendingTransfer {
    fn drop(&mut self) {
        let under_way = {
            let state = &mut *self.link.state.borrow_mut();
            state.begin(self.link.clock.now());
            state.free.push(self.seat);
            let seat = std::mem::replace(&mut state.seats[self.seat as usize], Seat::Free);
            if let Seat::PendingTransfer { flow, .. } = seat {
                state.link.cancel(self.link.clock.now(), flow);
            }
            !matches!(seat, Seat::Through)
        };
        if under_way {
            self.link.ring();
        }
    }
}
