//! Writes down what happens, in a thread of its own: the simulation does not wait for files.

use super::ending::{Ending, RunError, Trouble};
use super::simulate::Progress;
use crate::clock::SimTime;
use crate::device::Turn;
use crate::metric::Metrics;
use crate::record::{Account, ClientRow, RoundRow, Weights};
use crate::report::{FileError, Ledger};
use crate::theory::Consistency;
use crate::train::{Measured, describe};
use crossbeam::channel::{Receiver, Sender, bounded};
use std::cell::RefCell;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

/// Messages that may wait to be written down; then the simulation waits too.
const WAITING: usize = 16;

/// What the recorder is told.
pub(super) enum Happened {
    Began(Metrics),
    Turned(Vec<Turn>),
    Arrived(Vec<ClientRow>),
    Closed(RoundRow),
    Measured(SimTime, Measured),
    Ended { now: SimTime, accounts: Vec<Account>, consistency: Consistency, weights: Weights },
}

/// The simulation's end of it.
pub(super) struct Recorder {
    ending: Rc<Ending>,
    trouble: Arc<Trap>,
    /// There until the run is over.
    thread: RefCell<Option<(Sender<Happened>, JoinHandle<Ledger>)>>,
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
    pub(super) fn start(
        ledger: Ledger,
        ending: Rc<Ending>,
        progress: Option<Progress>,
    ) -> io::Result<Self> {
        let (happened, messages) = bounded(WAITING);
        let trouble = Arc::new(Trap::default());
        let (trap, seed) = (trouble.clone(), ending.seed);
        let thread = std::thread::Builder::new()
            .name("recorder".into())
            .spawn(move || Scribe { ledger, progress, trap, seed }.listen(&messages))?;
        Ok(Recorder { ending, trouble, thread: RefCell::new(Some((happened, thread))) })
    }

    /// Has something written down, in the order in which it is told. If writing has failed by now, the
    /// run ends.
    pub(super) fn tell(&self, happened: Happened) {
        if let Some((thread, _)) = &*self.thread.borrow() {
            // Where nobody listens any more, the trap says why.
            let _ = thread.send(happened);
        }
        if self.trouble.is_set.load(Ordering::Acquire) {
            self.report();
        }
    }

    /// The run is over: waits until everything is written down, and gives the ledger back.
    pub(super) fn finish(&self) -> Option<Ledger> {
        let (happened, thread) = self.thread.take()?;
        drop(happened);
        let ledger = thread.join().expect("it catches every panic of its own");
        self.report();
        Some(ledger)
    }

    fn report(&self) {
        if let Some(error) = self.trouble.take() {
            self.ending.announce(Err(error));
        }
    }
}

/// The thread's end.
struct Scribe {
    ledger: Ledger,
    progress: Option<Progress>,
    trap: Arc<Trap>,
    seed: u64,
}

impl Scribe {
    fn listen(mut self, messages: &Receiver<Happened>) -> Ledger {
        while let Ok(happened) = messages.recv() {
            let (round, _, _) = self.ledger.progress();
            let place = || format!("the recorder after round {round}");
            let work = AssertUnwindSafe(|| self.write(happened));
            let error = match catch_unwind(work) {
                Ok(Ok(())) => continue,
                Ok(Err(error)) => error.into_run_error(place(), self.seed),
                Err(panic) => RunError::Panicked {
                    place: place(),
                    seed: self.seed,
                    message: describe(&*panic),
                },
            };
            self.trap.set(error);
            break;
        }
        self.ledger
    }

    fn write(&mut self, happened: Happened) -> Result<(), FileError> {
        let ledger = &mut self.ledger;
        match happened {
            Happened::Began(metrics) => ledger.began(metrics),
            Happened::Turned(turns) => ledger.turned(&turns),
            Happened::Arrived(rows) => ledger.arrived(rows),
            Happened::Closed(row) => {
                ledger.closed(&row)?;
                if let Some(progress) = &mut self.progress {
                    progress(ledger);
                }
            }
            Happened::Measured(now, measured) => ledger.measured(now, &measured),
            Happened::Ended { now, accounts, consistency, weights } => {
                ledger.ended(now, accounts, consistency, weights);
            }
        }
        Ok(())
    }
}
