//! Worker threads that compute results before they are asked for.
//!
//! ```text
//!   submit(when, cost) ──► queue by (virtual instant, order) ──► workers ──► ticket.wait()
//!                                │
//!                                └ window: as many as may be begun and not yet taken;
//!                                  the costliest of them is begun first
//! ```
//!
//! Whoever waits for a result is the simulation itself, at the instant at which the result is
//! due. Jobs are begun in about that order, so the one waited for is nearly always done. The window
//! keeps memory bounded however many clients are on their way; the job that is waited for may pass
//! it, so the pool cannot lock up. Within the window the costliest goes first: a round ends with
//! its last result, and a long job begun last would leave the other workers idle. What is computed
//! does not depend on who computes it or when: the number of workers changes the time a run takes
//! and nothing else.

use crate::clock::SimTime;
use crossbeam::channel::{Receiver, Sender, TryRecvError, bounded};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Where a job stands in the queue: `None` is before every instant.
type Place = (Option<SimTime>, u64);

type Work = Box<dyn FnOnce() + Send>;

/// Results that may wait to be taken, for each worker, however large they are.
const AHEAD_PER_WORKER: usize = 4;
/// More may wait as long as all of them take no more than this many bytes.
const AHEAD_BYTES: usize = 1 << 25;
/// A window need not be wider than this for the order in it to be good.
const WIDEST: usize = 64;

/// A job ended in a panic.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Panicked(pub String);

/// A fixed set of worker threads.
pub struct Pool {
    shared: Arc<Shared>,
    workers: Vec<JoinHandle<()>>,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    ahead: usize,
}

#[derive(Default)]
struct State {
    queue: BTreeMap<Place, (u64, Work)>,
    submitted: u64,
    /// Begun, and not yet taken or given up.
    begun: usize,
    /// Somebody is waiting for this one.
    urgent: Option<Place>,
    busy: Duration,
    closed: bool,
}

impl State {
    /// The costliest job of those that may be begun; the earliest of equals.
    fn costliest(&self, ahead: usize) -> Option<Place> {
        let window = self.queue.iter().take(ahead.saturating_sub(self.begun));
        window.rev().max_by_key(|(_, (cost, _))| *cost).map(|(place, _)| *place)
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        // Jobs run outside the lock and their panics are caught, so it cannot be poisoned by them.
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn work(&self) {
        let mut state = self.lock();
        loop {
            let urgent = state.urgent.filter(|place| state.queue.contains_key(place));
            let next = urgent.or_else(|| state.costliest(self.ahead));
            if let Some((_, job)) = next.and_then(|place| state.queue.remove(&place)) {
                state.begun += 1;
                drop(state);
                let began = Instant::now();
                job();
                state = self.lock();
                state.busy += began.elapsed();
            } else if state.closed {
                return;
            } else {
                state = self.changed.wait(state).unwrap_or_else(|poisoned| poisoned.into_inner());
            }
        }
    }
}

/// The place a begun job takes until its result is used. It travels with the result, so it is
/// given back exactly once: when the result is taken, or wherever it is thrown away.
struct Taken(Arc<Shared>);

impl Drop for Taken {
    fn drop(&mut self) {
        self.0.lock().begun -= 1;
        self.0.changed.notify_one();
    }
}

type Outcome<T> = (Result<T, Panicked>, Taken);

impl Pool {
    /// Starts `workers` threads, at least one, for results of about `bytes` bytes.
    pub fn new(workers: usize, bytes: usize) -> std::io::Result<Self> {
        let workers = workers.max(1);
        let small = (AHEAD_BYTES / bytes.max(1)).min(WIDEST);
        let shared = Arc::new(Shared {
            state: Mutex::default(),
            changed: Condvar::new(),
            ahead: small.max(workers * AHEAD_PER_WORKER),
        });
        let workers = (0..workers)
            .map(|n| {
                let shared = shared.clone();
                let name = format!("worker-{n}");
                std::thread::Builder::new().name(name).spawn(move || shared.work())
            })
            .collect::<Result<_, _>>()?;
        Ok(Pool { shared, workers })
    }

    /// Asks for `job` to be done by the virtual instant `when`. `cost` tells long jobs from short
    /// ones; any unit will do.
    pub fn submit<T: Send + 'static>(
        &self,
        when: SimTime,
        cost: u64,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> Ticket<T> {
        self.enqueue(Some(when), cost, job)
    }

    /// Asks for `job` before everything that has a date.
    pub fn submit_first<T: Send + 'static>(
        &self,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> Ticket<T> {
        self.enqueue(None, u64::MAX, job)
    }

    fn enqueue<T: Send + 'static>(
        &self,
        when: Option<SimTime>,
        cost: u64,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> Ticket<T> {
        let (sender, result): (Sender<Outcome<T>>, _) = bounded(1);
        // Nobody takes the result if the ticket was thrown away.
        let place = self.push(when, cost, job, move |outcome| drop(sender.send(outcome)));
        Ticket { result: Some(result), place, shared: self.shared.clone() }
    }

    /// Like [`Pool::submit_first`], for those who can do something else meanwhile.
    pub async fn spawn<T: Send + 'static>(
        &self,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Panicked> {
        let (sender, result) = tokio::sync::oneshot::channel::<Outcome<T>>();
        self.push(None, u64::MAX, job, move |outcome| drop(sender.send(outcome)));
        result.await.map_or_else(|_| Err(gone()), |(result, _taken)| result)
    }

    fn push<T>(
        &self,
        when: Option<SimTime>,
        cost: u64,
        job: impl FnOnce() -> T + Send + 'static,
        deliver: impl FnOnce(Outcome<T>) + Send + 'static,
    ) -> Place {
        let shared = self.shared.clone();
        let work = Box::new(move || {
            let taken = Taken(shared);
            let result = catch_unwind(AssertUnwindSafe(job)).map_err(|panic| describe(&*panic));
            deliver((result, taken));
        });
        let mut state = self.shared.lock();
        state.submitted += 1;
        let place = (when, state.submitted);
        state.queue.insert(place, (cost, work));
        drop(state);
        self.shared.changed.notify_one();
        place
    }

    /// Time spent in jobs so far, summed over workers.
    pub fn busy(&self) -> Duration {
        self.shared.lock().busy
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        {
            let mut state = self.shared.lock();
            state.queue.clear();
            state.closed = true;
        }
        self.shared.changed.notify_all();
        for worker in self.workers.drain(..) {
            // A worker catches the panics of its jobs; it has none of its own to report.
            let _ = worker.join();
        }
    }
}

/// A result to come. Thrown away, it cancels a job that has not begun.
pub struct Ticket<T> {
    result: Option<Receiver<Outcome<T>>>,
    place: Place,
    shared: Arc<Shared>,
}

impl<T> Ticket<T> {
    /// The result; blocks until it is there.
    pub fn wait(mut self) -> Result<T, Panicked> {
        let receiver = self.result.take().expect("a ticket is used once");
        let (result, _taken) = match receiver.try_recv() {
            Ok(outcome) => outcome,
            Err(TryRecvError::Disconnected) => return Err(gone()),
            Err(TryRecvError::Empty) => {
                self.shared.lock().urgent = Some(self.place);
                self.shared.changed.notify_all();
                let Ok(outcome) = receiver.recv() else {
                    return Err(gone());
                };
                outcome
            }
        };
        result
    }
}

impl<T> Drop for Ticket<T> {
    fn drop(&mut self) {
        if self.result.is_some() {
            // Dropped after the lock is released: a job may own whatever it likes.
            let _cancelled = { self.shared.lock().queue.remove(&self.place) };
        }
    }
}

fn gone() -> Panicked {
    Panicked("the worker pool was shut down".into())
}

/// The message of a panic.
pub fn describe(panic: &(dyn std::any::Any + Send)) -> Panicked {
    let text = panic
        .downcast_ref::<&str>()
        .map(|text| text.to_string())
        .or_else(|| panic.downcast_ref::<String>().cloned());
    Panicked(text.unwrap_or_else(|| "panicked without a message".into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn at(nanos: u64) -> SimTime {
        SimTime::from_nanos(nanos)
    }

    #[test]
    fn results_come_back_whoever_computed_them() {
        for workers in [1, 2, 7] {
            let pool = Pool::new(workers, 8).unwrap();
            // Asked for in an order that has nothing to do with that of submission.
            let mut tickets: Vec<_> = (0..500u64)
                .map(|i| (i * 7919 % 500, pool.submit(at(i * 7919 % 500), 1, move || i * i)))
                .collect();
            tickets.sort_by_key(|(when, _)| *when);
            let sum: u64 = tickets.into_iter().map(|(_, ticket)| ticket.wait().unwrap()).sum();
            assert_eq!(sum, (0..500u64).map(|i| i * i).sum::<u64>());
        }
    }

    #[test]
    fn look_ahead_is_bounded_and_waiting_in_the_wrong_order_does_not_lock_up() {
        let begun = Arc::new(AtomicUsize::new(0));
        let pool = Pool::new(2, usize::MAX).unwrap();
        let tickets: Vec<_> = (0..100)
            .map(|i| {
                let begun = begun.clone();
                pool.submit(at(i), 1, move || begun.fetch_add(1, Ordering::SeqCst))
            })
            .collect();
        std::thread::sleep(Duration::from_millis(100));
        assert_eq!(begun.load(Ordering::SeqCst), 2 * AHEAD_PER_WORKER);
        for ticket in tickets.into_iter().rev() {
            ticket.wait().unwrap();
        }
    }

    #[test]
    fn the_costliest_of_the_window_is_begun_first() {
        let order = Arc::new(Mutex::new(Vec::new()));
        let pool = Pool::new(1, 8).unwrap();
        // The first job holds the only worker until the others are in the queue.
        let (open, gate) = bounded::<()>(1);
        let first = pool.submit(at(0), 9, move || gate.recv().is_ok());
        let tickets: Vec<_> = [(1, 2), (2, 7), (3, 1), (4, 7)]
            .map(|(when, cost)| {
                let order = order.clone();
                pool.submit(at(when), cost, move || order.lock().unwrap().push(when))
            })
            .into();
        open.send(()).unwrap();
        assert!(first.wait().unwrap());
        // Waiting in the opposite order would jump the queue, so nobody waits yet.
        while order.lock().unwrap().len() < 4 {
            std::thread::yield_now();
        }
        assert_eq!(*order.lock().unwrap(), [2, 4, 1, 3]);
        tickets.into_iter().for_each(|ticket| ticket.wait().unwrap());
    }

    #[test]
    fn a_ticket_thrown_away_frees_its_place() {
        let pool = Pool::new(1, usize::MAX).unwrap();
        for round in 0..50u64 {
            let thrown: Vec<_> =
                (0..20).map(|i| pool.submit(at(round * 100 + i), 1, || ())).collect();
            let kept = pool.submit(at(round * 100 + 50), 1, || 3);
            if round % 2 == 0 {
                std::thread::sleep(Duration::from_micros(300));
            }
            drop(thrown);
            assert_eq!(kept.wait(), Ok(3));
        }
        let deadline = Instant::now() + Duration::from_secs(5);
        while pool.shared.lock().begun > 0 {
            assert!(Instant::now() < deadline, "places leaked");
            std::thread::yield_now();
        }
    }

    #[test]
    fn a_panic_is_a_result_and_the_worker_lives_on() {
        let pool = Pool::new(1, usize::MAX).unwrap();
        let bad = pool.submit(at(1), 1, || -> u8 { panic!("gradient {} is gone", 3) });
        let good = pool.submit(at(2), 1, || 5);
        assert_eq!(bad.wait(), Err(Panicked("gradient 3 is gone".into())));
        assert_eq!(good.wait(), Ok(5));
    }
}
