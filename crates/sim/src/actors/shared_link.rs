//! A shared link of the server for tasks that wait: a transfer is a future.
//!
//! [`LinkTransfers`] decides which transfer completes when. This file keeps the waker of every
//! transfer, and one task per link that sleeps until the next transfer completes.

use super::ending::{Ending, RunError};
use crate::clock::{Clock, SimTime, Sleep};
use crate::device::{LinkRate, LinkTransfers, TransferId};
use std::cell::RefCell;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

/// One direction of the server's connection, shared by all clients.
pub(super) struct SharedLink {
    clock: Clock,
    state: RefCell<LinkState>,
}

struct LinkState {
    transfers: LinkTransfers,
    /// What to wake when a transfer completes, by its id.
    wakers: Vec<Option<Waker>>,
    /// Whether the transfers have changed since the link's task last looked at them.
    changed: bool,
    /// Wakes the link's task.
    task: Option<Waker>,
}

impl SharedLink {
    /// A link of `capacity` bits per second, with a task that completes its transfers.
    pub(super) fn open(capacity: u64, clock: Clock, ending: Rc<Ending>) -> Rc<Self> {
        let state = LinkState {
            transfers: LinkTransfers::new(LinkRate::bps(capacity).fixed_point()),
            wakers: Vec::new(),
            changed: false,
            task: None,
        };
        let link = Rc::new(SharedLink { clock, state: RefCell::new(state) });
        actix::spawn(complete_transfers(link.clone(), ending));
        link
    }

    /// Carries `bits` from `at` on for a client whose own link then allows `cap`.
    pub(super) fn carry(self: Rc<Self>, at: SimTime, bits: u64, cap: LinkRate) -> PendingTransfer {
        let now = self.clock.now();
        // A link is told bits and rates in the same unit, a small part of a bit.
        let (bits, cap) = (LinkRate::fixed_point_bits(bits), cap.fixed_point());
        let id = {
            let state = &mut *self.state.borrow_mut();
            let id = state.transfers.announce(now, at, bits, cap);
            state.wakers.resize(state.wakers.len().max(id.index() + 1), None);
            id
        };
        self.notify();
        PendingTransfer { link: self, id }
    }

    /// Tells the link's task that the transfers have changed.
    fn notify(&self) {
        let task = {
            let mut state = self.state.borrow_mut();
            state.changed = true;
            state.task.take()
        };
        if let Some(task) = task {
            task.wake();
        }
    }

    /// Completes every transfer that ends by now, and wakes what waits for it, in order.
    fn complete(&self) {
        let now = self.clock.now();
        loop {
            let waker = {
                let mut state = self.state.borrow_mut();
                let Some(id) = state.transfers.complete(now) else {
                    return;
                };
                state.wakers[id.index()].take()
            };
            // Outside the borrow: a waker may run code that looks at the link.
            if let Some(waker) = waker {
                waker.wake();
            }
        }
    }
}

/// Sleeps until a transfer may complete, completes what ends then, and starts again.
async fn complete_transfers(link: Rc<SharedLink>, ending: Rc<Ending>) {
    // A start makes other transfers slower. Then the timer fires early, and is set again.
    let mut timer: Option<(SimTime, Sleep)> = None;
    loop {
        let next = link.state.borrow_mut().transfers.next_change();
        match next {
            Err(source) => {
                let (place, seed) = ("the server's link".into(), ending.seed);
                return ending.announce(Err(RunError::Time { place, seed, source }));
            }
            Ok(None) => timer = None,
            Ok(Some(at)) if timer.as_ref().is_none_or(|(set, _)| at < *set) => {
                timer = Some((at, link.clock.sleep_until(at)));
            }
            Ok(Some(_)) => {}
        }
        let fired = poll_fn(|cx| {
            if let Some((_, sleep)) = &mut timer
                && Pin::new(sleep).poll(cx).is_ready()
            {
                return Poll::Ready(true);
            }
            let mut state = link.state.borrow_mut();
            if std::mem::take(&mut state.changed) {
                return Poll::Ready(false);
            }
            state.task = Some(cx.waker().clone());
            Poll::Pending
        })
        .await;
        if fired {
            timer = None;
            link.complete();
        }
    }
}

/// A transfer over a shared link. It is ready when the last bit is carried; dropped before that, the
/// transfer is cancelled.
pub(super) struct PendingTransfer {
    link: Rc<SharedLink>,
    id: TransferId,
}

impl PendingTransfer {
    /// From now on the client's own link allows `cap`.
    pub(super) fn set_cap(&self, cap: LinkRate) {
        let now = self.link.clock.now();
        self.link.state.borrow_mut().transfers.set_cap(now, self.id, cap.fixed_point());
        self.link.notify();
    }
}

impl Future for PendingTransfer {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let mut state = self.link.state.borrow_mut();
        if state.transfers.is_completed(self.id) {
            return Poll::Ready(());
        }
        state.wakers[self.id.index()] = Some(cx.waker().clone());
        Poll::Pending
    }
}

impl Drop for PendingTransfer {
    fn drop(&mut self) {
        let now = self.link.clock.now();
        let (waker, cancelled) = {
            let state = &mut *self.link.state.borrow_mut();
            (state.wakers[self.id.index()].take(), state.transfers.remove(now, self.id))
        };
        // Outside the borrow: the last waker of a task drops the task and what that holds.
        drop(waker);
        if cancelled {
            self.link.notify();
        }
    }
}
