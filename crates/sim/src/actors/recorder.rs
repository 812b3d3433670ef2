//! Tells observers what happens, on a thread of their own: the simulation does not wait for files.

use super::ending::{Ending, RunError};
use crate::clock::SimTime;
use crate::device::AvailabilityChange;
use crate::metric::Metrics;
use crate::observer::{Observer, ObserverError, RunEnd};
use crate::record::{ClientRow, RoundRow};
use crate::train::{Measured, describe};
use crossbeam::channel::{Receiver, RecvTimeoutError, Sender, bounded};
use std::cell::RefCell;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// Messages that may wait for the observers; with more, the simulation waits too.
const WAITING: usize = 16;

/// How long the observers hear nothing before they are told that they are idle.
const IDLE: Duration = Duration::from_millis(200);

/// What the recorder is told.
pub(super) enum Happened {
    Began(Metrics),
    Turned(Vec<AvailabilityChange>),
    Arrived(Vec<ClientRow>),
    Closed(RoundRow),
    Measured(SimTime, Measured),
    Ended(RunEnd),
}

/// The simulation's end of it.
pub(super) struct Recorder {
    ending: Rc<Ending>,
    trouble: Arc<Trap>,
    /// There until the run is over.
    thread: RefCell<Option<(Sender<Happened>, JoinHandle<()>)>>,
}

/// What went wrong in the thread, until the simulation hears of it.
#[derive(Default)]
struct Trap {
    is_set: AtomicBool,
    error: Mutex<Option<RunError>>,
}

impl Trap {
    fn set(&self, error: RunError) {
        *self.error.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
        self.is_set.store(true, Ordering::Release);
    }

    fn take(&self) -> Option<RunError> {
        self.error.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Recorder {
    pub(super) fn start(observers: Vec<Box<dyn Observer>>, ending: Rc<Ending>) -> io::Result<Self> {
        let (happened, messages) = bounded(WAITING);
        let trouble = Arc::new(Trap::default());
        let (trap, seed) = (trouble.clone(), ending.seed);
        let thread = std::thread::Builder::new()
            .name("recorder".into())
            .spawn(move || Listening { observers, round: 0, trap, seed }.listen(&messages))?;
        Ok(Recorder { ending, trouble, thread: RefCell::new(Some((happened, thread))) })
    }

    /// Tells the observers what happened, in the order of the calls. If one of them has failed by now,
    /// the run ends.
    pub(super) fn tell(&self, happened: Happened) {
        if let Some((thread, _)) = &*self.thread.borrow() {
            // Where nobody listens any more, the trap says why.
            let _ = thread.send(happened);
        }
        if self.trouble.is_set.load(Ordering::Acquire) {
            self.report();
        }
    }

    /// The run is over: waits until the observers have heard everything, and drops them.
    pub(super) fn finish(&self) {
        let Some((happened, thread)) = self.thread.take() else { return };
        drop(happened);
        thread.join().expect("it catches every panic of its own");
        self.report();
    }

    fn report(&self) {
        if let Some(error) = self.trouble.take() {
            self.ending.announce(Err(error));
        }
    }
}

/// The thread's end.
struct Listening {
    observers: Vec<Box<dyn Observer>>,
    /// The last round that closed.
    round: u64,
    trap: Arc<Trap>,
    seed: u64,
}

impl Listening {
    fn listen(mut self, messages: &Receiver<Happened>) {
        // Once is enough until something happens again.
        let mut is_idle = false;
        loop {
            let heard = match is_idle {
                true => messages.recv().map_err(RecvTimeoutError::from),
                false => messages.recv_timeout(IDLE),
            };
            if let Err(RecvTimeoutError::Disconnected) = heard {
                return;
            }
            is_idle = heard.is_err();
            let work = AssertUnwindSafe(|| match &heard {
                Ok(happened) => self.tell_all(happened),
                Err(_) => self.observers.iter_mut().try_for_each(|observer| observer.idle()),
            });
            let error = match catch_unwind(work) {
                Ok(Ok(())) => continue,
                Ok(Err(error)) => RunError::Observer(error),
                Err(panic) => RunError::Panicked {
                    place: format!("the recorder after round {}", self.round),
                    seed: self.seed,
                    message: describe(&*panic),
                },
            };
            self.trap.set(error);
            break;
        }
    }

    fn tell_all(&mut self, happened: &Happened) -> Result<(), ObserverError> {
        if let Happened::Closed(row) = happened {
            self.round = row.round;
        }
        self.observers.iter_mut().try_for_each(|observer| match happened {
            Happened::Began(metrics) => observer.started(metrics),
            Happened::Turned(turns) => observer.availability(turns),
            Happened::Arrived(rows) => observer.arrived(rows),
            Happened::Closed(row) => observer.closed(row),
            Happened::Measured(now, measured) => observer.measured(*now, measured),
            Happened::Ended(end) => observer.ended(end),
        })
    }
}
