//! Threads that compute results before they are asked for.
//!
//! ```text
//!   submit(when, cost) ──► queue by (virtual instant, order) ──► helpers     ──► ticket.wait()
//!                                │                          └──► who waits ──┘
//!                                └ window: as many as may be begun and not yet taken
//! ```
//!
//! Whoever waits for a result is the simulation itself, at the instant at which the result is
//! due. If nobody has begun it, the waiting thread computes it; if somebody has, it computes the
//! next one meanwhile. So a pool for one thread has no helper at all, a pool for two has one, and
//! there are never more busy threads than asked for.
//!
//! Helpers begin with the costliest job of the window: a round ends with its last result, and a
//! long job begun last would leave the others idle. The window keeps memory bounded however many
//! clients are on their way; the job that is waited for may pass it, so the pool cannot lock up.
//! What is computed does not depend on who computes it or when: the number of threads changes the
//! time a run takes and nothing else.
//!
//! Where other processes train ([`Elsewhere`]), a job only waits for one of them. Then there are more helpers
//! than cores, none of them listens, and whoever waits for one result begins no other.

#[cfg(test)]
mod tests;

use super::{Interrupt, LocalRun};
use crate::clock::SimTime;
use crossbeam::channel::{Receiver, Sender, TryRecvError, bounded};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Where a job stands in the queue: `None` is before every instant.
type Place = (Option<SimTime>, u64);

type PoolJob = Box<dyn FnOnce() + Send>;

/// Results that may wait to be taken, for each thread, however large they are.
const AHEAD_PER_THREAD: usize = 4;
/// More may wait as long as all of them take no more than this many bytes.
const AHEAD_BYTES: usize = 1 << 25;
/// How long a helper listens before it sleeps.
const PATIENCE: Duration = Duration::from_micros(150);
/// A window need not be wider than this for the order in it to be good.
const WIDEST: usize = 64;

/// A job ended in a panic.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Panicked(pub String);

/// A queue of jobs and the threads that help with them.
pub struct Pool {
    shared: Arc<SharedQueue>,
    helpers: Vec<JoinHandle<()>>,
}

/// What a pool and those who train in other processes know of each other.
#[derive(Clone, Debug, Default)]
pub struct Elsewhere {
    /// Nanoseconds of training, and of evaluation, as those say who did it.
    pub busy: Arc<[AtomicU64; 2]>,
    /// Set when the pool ends: what is on its way is not needed any more.
    pub closing: Interrupt,
}

/// The queue of jobs, shared by the threads of a pool.
struct SharedQueue {
    state: Mutex<QueueState>,
    changed: Condvar,
    /// Goes up whenever there may be something new to do.
    news: AtomicUsize,
    ahead: usize,
    interrupt: OnceLock<Interrupt>,
    elsewhere: Option<Elsewhere>,
    /// Local steps that were made.
    steps: AtomicU64,
}

/// The jobs of the queue, and what is known of those that have begun.
#[derive(Default)]
struct QueueState {
    queue: BTreeMap<Place, (u64, PoolJob)>,
    submitted: u64,
    /// Begun, and not yet taken or given up.
    begun: usize,
    /// Helpers with nothing to do.
    idle: usize,
    busy: Duration,
    /// What of it was evaluation.
    evaluating: Duration,
    /// The first panic of a job, whether or not anybody still wants its result.
    panicked: Option<Panicked>,
    closed: bool,
}

impl QueueState {
    /// Takes a job out of the queue to begin it.
    fn begin(&mut self, place: Place) -> Option<PoolJob> {
        let (_, job) = self.queue.remove(&place)?;
        self.begun += 1;
        Some(job)
    }

    /// The jobs that may be begun, earliest first.
    fn window(&self, ahead: usize) -> impl Iterator<Item = (Place, u64)> {
        let jobs = self.queue.iter().map(|(place, (cost, _))| (*place, *cost));
        jobs.take(ahead.saturating_sub(self.begun))
    }

    /// The costliest job of the window; the earliest of equals.
    fn costliest(&self, ahead: usize) -> Option<Place> {
        let costlier =
            |best: (Place, u64), job: (Place, u64)| if job.1 > best.1 { job } else { best };
        self.window(ahead).reduce(costlier).map(|(place, _)| place)
    }

    fn earliest(&self, ahead: usize) -> Option<Place> {
        self.window(ahead).next().map(|(place, _)| place)
    }
}

impl SharedQueue {
    fn lock(&self) -> MutexGuard<'_, QueueState> {
        // Jobs run outside the lock and their panics are caught, so it cannot be poisoned by them.
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn help(&self) {
        let mut state = self.lock();
        loop {
            let next = state.costliest(self.ahead);
            if let Some(job) = next.and_then(|place| state.begin(place)) {
                drop(state);
                self.work(job);
                state = self.lock();
            } else if state.closed {
                return;
            } else {
                let heard = self.news.load(Ordering::Acquire);
                drop(state);
                let soon = self.listen(heard);
                state = self.lock();
                // News may have come between listening and locking; who goes to sleep now would
                // miss it.
                if !soon && self.news.load(Ordering::Acquire) == heard && !state.closed {
                    state.idle += 1;
                    state =
                        self.changed.wait(state).unwrap_or_else(|poisoned| poisoned.into_inner());
                    state.idle -= 1;
                }
            }
        }
    }

    /// Waits a moment for news. The pause between two rounds is shorter than it takes to put a thread
    /// to sleep and wake it again.
    fn listen(&self, heard: usize) -> bool {
        let began = Instant::now();
        let patience = if self.elsewhere.is_some() { Duration::ZERO } else { PATIENCE };
        while began.elapsed() < patience {
            for _ in 0..32 {
                if self.news.load(Ordering::Acquire) != heard {
                    return true;
                }
                std::hint::spin_loop();
            }
        }
        false
    }

    fn work(&self, job: PoolJob) {
        let began = Instant::now();
        job();
        self.lock().busy += began.elapsed();
    }

    /// Tells a helper that there may be something to do, if one is idle: a call that wakes nobody
    /// still costs a call to the system.
    fn call(&self, state: MutexGuard<'_, QueueState>) {
        let wanted = state.idle > 0 && !state.queue.is_empty();
        self.news.fetch_add(1, Ordering::Release);
        drop(state);
        if wanted {
            self.changed.notify_one();
        }
    }
}

/// The place a begun job takes until its result is used. It travels with the result, so it is
/// given back exactly once: when the result is taken, or wherever it is thrown away.
struct Taken(Arc<SharedQueue>);

impl Drop for Taken {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.begun -= 1;
        self.0.call(state);
    }
}

type Delivery<T> = (Result<T, Panicked>, Taken);

impl Pool {
    /// Starts `helpers` threads, which may be none, for results of about `bytes` bytes.
    pub fn new(helpers: usize, bytes: usize) -> std::io::Result<Self> {
        Pool::start(helpers, bytes, None)
    }

    /// The same for jobs that wait for other processes.
    pub fn elsewhere(helpers: usize, bytes: usize, elsewhere: Elsewhere) -> std::io::Result<Self> {
        Pool::start(helpers, bytes, Some(elsewhere))
    }

    fn start(helpers: usize, bytes: usize, elsewhere: Option<Elsewhere>) -> std::io::Result<Self> {
        let small = (AHEAD_BYTES / bytes.max(1)).min(WIDEST);
        let shared = Arc::new(SharedQueue {
            state: Mutex::default(),
            changed: Condvar::new(),
            news: AtomicUsize::new(0),
            ahead: small.max((helpers + 1) * AHEAD_PER_THREAD),
            interrupt: OnceLock::new(),
            elsewhere,
            steps: AtomicU64::new(0),
        });
        let helpers = (0..helpers)
            .map(|n| {
                let shared = shared.clone();
                let name = format!("helper-{n}");
                std::thread::Builder::new().name(name).spawn(move || shared.help())
            })
            .collect::<Result<_, _>>()?;
        Ok(Pool { shared, helpers })
    }

    /// Jobs are to be left when the run should end.
    pub fn heed(&self, interrupt: Interrupt) {
        let _ = self.shared.interrupt.set(interrupt);
    }

    /// What tells jobs that the run should end.
    pub fn interrupt(&self) -> Interrupt {
        self.shared.interrupt.get().cloned().unwrap_or_default()
    }

    /// A job that makes local steps, to be done by the virtual instant `when`; it gives nothing if it is
    /// left because the run should end. `flops` is what one step costs.
    pub fn submit_training<T: Send + 'static>(
        &self,
        when: SimTime,
        (steps, cost, flops): (u64, u64, f64),
        begin: impl FnOnce() -> Box<dyn LocalRun> + Send + 'static,
        finish: impl FnOnce(Box<dyn LocalRun>) -> T + Send + 'static,
    ) -> Ticket<Option<T>> {
        let (interrupt, shared) = (self.interrupt(), self.shared.clone());
        self.submit(when, cost, move || {
            let mut run = (!interrupt.is_set()).then(begin)?;
            if !interrupt.steps(&mut *run, steps, flops) {
                return None;
            }
            shared.steps.fetch_add(steps, Ordering::Relaxed);
            Some(finish(run))
        })
    }

    /// Local steps that were made so far.
    pub fn steps(&self) -> u64 {
        self.shared.steps.load(Ordering::Relaxed)
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

    /// The same for a part of an evaluation, whose time is counted apart.
    pub fn submit_evaluation<T: Send + 'static>(
        &self,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> Ticket<T> {
        let shared = self.shared.clone();
        self.submit_first(move || {
            let began = Instant::now();
            let result = job();
            shared.lock().evaluating += began.elapsed();
            result
        })
    }

    fn enqueue<T: Send + 'static>(
        &self,
        when: Option<SimTime>,
        cost: u64,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> Ticket<T> {
        let (sender, result): (Sender<Delivery<T>>, _) = bounded(1);
        // Nobody takes the result if the ticket was thrown away.
        let place = self.push(when, cost, job, move |outcome| drop(sender.send(outcome)));
        Ticket { result: Some(result), place, shared: self.shared.clone() }
    }

    /// Like [`Pool::submit_first`], for those who can do something else meanwhile. It is left to
    /// the helpers, so there must be one.
    pub async fn spawn<T: Send + 'static>(
        &self,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Panicked> {
        assert!(!self.helpers.is_empty(), "nobody would ever do it");
        let (sender, result) = tokio::sync::oneshot::channel::<Delivery<T>>();
        self.push(None, u64::MAX, job, move |outcome| drop(sender.send(outcome)));
        result.await.map_or_else(|_| Err(gone()), |(result, _taken)| result)
    }

    fn push<T>(
        &self,
        when: Option<SimTime>,
        cost: u64,
        job: impl FnOnce() -> T + Send + 'static,
        deliver: impl FnOnce(Delivery<T>) + Send + 'static,
    ) -> Place {
        let shared = self.shared.clone();
        let work = Box::new(move || {
            let result = catch_unwind(AssertUnwindSafe(job)).map_err(|panic| describe(&*panic));
            if let Err(panic) = &result {
                shared.lock().panicked.get_or_insert_with(|| panic.clone());
            }
            let taken = Taken(shared);
            deliver((result, taken));
        });
        let mut state = self.shared.lock();
        state.submitted += 1;
        let place = (when, state.submitted);
        state.queue.insert(place, (cost, work));
        self.shared.call(state);
        place
    }

    /// The first panic of a job, if there was one: its result may have been thrown away.
    pub fn panicked(&self) -> Option<Panicked> {
        self.shared.lock().panicked.clone()
    }

    /// Time spent in jobs so far, summed over threads: training, and evaluation.
    pub fn busy(&self) -> [Duration; 2] {
        if let Some(Elsewhere { busy, .. }) = &self.shared.elsewhere {
            return [0, 1].map(|which| Duration::from_nanos(busy[which].load(Ordering::Relaxed)));
        }
        let state = self.shared.lock();
        [state.busy.saturating_sub(state.evaluating), state.evaluating]
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        if let Some(Elsewhere { closing, .. }) = &self.shared.elsewhere {
            closing.set();
        }
        {
            let mut state = self.shared.lock();
            state.queue.clear();
            state.closed = true;
        }
        self.shared.changed.notify_all();
        for helper in self.helpers.drain(..) {
            // A helper catches the panics of its jobs; it has none of its own to report.
            let _ = helper.join();
        }
    }
}

/// A result to come. Thrown away, it cancels a job that has not begun.
pub struct Ticket<T> {
    result: Option<Receiver<Delivery<T>>>,
    place: Place,
    shared: Arc<SharedQueue>,
}

impl<T> Ticket<T> {
    /// The result. Computes it if nobody has begun to, helps with others if somebody has, and
    /// blocks when there is nothing left to help with.
    pub fn wait(mut self) -> Result<T, Panicked> {
        let receiver = self.result.take().expect("a ticket is used once");
        loop {
            match receiver.try_recv() {
                Ok((result, _taken)) => return result,
                Err(TryRecvError::Disconnected) => return Err(gone()),
                Err(TryRecvError::Empty) => {}
            }
            let job = {
                let mut state = self.shared.lock();
                state.begin(self.place).or_else(|| {
                    // To wait for another one would be to wait longer than need be.
                    if self.shared.elsewhere.is_some() {
                        return None;
                    }
                    let other = state.earliest(self.shared.ahead)?;
                    state.begin(other)
                })
            };
            match job {
                Some(job) => self.shared.work(job),
                None => return receiver.recv().map_or_else(|_| Err(gone()), |(result, _)| result),
            }
        }
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
