//! A rank that trains.
//!
//! Three kinds of threads: one owns MPI, the main thread builds data, and as many as the rank has slots train.

use crate::message::{Answer, Order, Version, VersionKey, What};
use crate::pace::Pace;
use crate::queue::{Queue, Ready};
use crate::transport::{Array, Link};
use crossbeam::channel::{Receiver, RecvTimeoutError, Sender, unbounded};
use gruppetto_sim::train::{Interrupt, Model, Trainer, describe};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{JoinHandle, yield_now};

/// A worker rank, before it says hello.
pub struct Worker {
    pub(crate) rank: usize,
    pub(crate) start: Sender<Station>,
    pub(crate) thread: JoinHandle<()>,
}

/// What the thread that owns MPI has to do with the others of its rank.
pub(crate) struct Station {
    answers: Receiver<Answer>,
    builds: Sender<(u64, u64, u64)>,
    queue: Arc<Queue>,
    trainer: Arc<Mutex<Option<Arc<dyn Trainer>>>>,
}

impl Worker {
    /// Its number in the job.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// Says `hello` to rank 0 and does what that asks until it says goodbye: builds the data of a variant with
    /// a seed, and trains `slots` jobs side by side.
    pub fn serve(
        self,
        hello: String,
        slots: usize,
        mut build: impl FnMut(u64, u64) -> Result<Arc<dyn Trainer>, String>,
    ) -> std::io::Result<()> {
        let (answers, answered) = unbounded();
        let (builds, asked) = unbounded();
        let queue: Arc<Queue> = Arc::default();
        let trainer: Arc<Mutex<Option<Arc<dyn Trainer>>>> = Arc::default();
        let threads: Vec<_> = (0..slots)
            .map(|n| {
                let (queue, answers) = (queue.clone(), answers.clone());
                let name = format!("trains-{n}");
                std::thread::Builder::new().name(name).spawn(move || queue.work(&answers))
            })
            .collect::<Result<_, _>>()?;
        let _ = answers.send(Answer::Hello { slots: slots as u64, text: hello });
        let station =
            Station { answers: answered, builds, queue: queue.clone(), trainer: trainer.clone() };
        let _ = self.start.send(station);
        for (number, variant, seed) in asked {
            let put = |new| *trainer.lock().unwrap_or_else(PoisonError::into_inner) = new;
            // Two would take twice the memory.
            put(None);
            let built = catch_unwind(AssertUnwindSafe(|| build(variant, seed)))
                .unwrap_or_else(|panic| Err(describe(&*panic).0));
            let digest = built.map(|built| {
                let digest = built.digest();
                put(Some(built));
                digest
            });
            let _ = answers.send(Answer::Built { number, digest });
        }
        queue.end();
        for thread in threads {
            // Panics of jobs are caught and told to rank 0.
            let _ = thread.join();
        }
        let _ = self.thread.join();
        Ok(())
    }
}

/// What rank 0 asked for, by the thread that owns MPI.
pub(crate) struct Post {
    link: Link,
    station: Station,
    models: BTreeMap<VersionKey, Arc<Model>>,
    /// Jobs that are not over.
    open: BTreeMap<u64, Interrupt>,
}

impl Post {
    pub(crate) fn new(link: Link, station: Station) -> Self {
        Post { link, station, models: BTreeMap::new(), open: BTreeMap::new() }
    }

    /// Carries messages to and fro until rank 0 says goodbye.
    pub(crate) fn serve(mut self) {
        let mut pace = Pace::new();
        loop {
            let mut heard = None;
            if let Some((_, message)) = self.link.receive() {
                match Order::read(message) {
                    Order::Bye => break,
                    order => self.follow(order),
                }
                pace.heard();
                continue;
            }
            match pace.pause(self.link.is_moving()) {
                Some(pause) => match self.station.answers.recv_timeout(pause) {
                    Ok(answer) => heard = Some(answer),
                    Err(RecvTimeoutError::Timeout) => {}
                    // The other threads are gone, and with them whatever there was to say.
                    Err(RecvTimeoutError::Disconnected) => std::thread::sleep(pause),
                },
                None => {
                    heard = self.station.answers.try_recv().ok();
                    if heard.is_none() {
                        yield_now();
                    }
                }
            }
            if let Some(answer) = heard {
                if let Answer::Done { id, .. } = &answer {
                    self.open.remove(id);
                }
                self.link.send(0, answer.write());
                pace.heard();
            }
        }
        self.link.flush();
    }

    fn follow(&mut self, order: Order) {
        match order {
            Order::Build { number, variant, seed } => {
                let _ = self.station.builds.send((number, variant, seed));
            }
            Order::Leave(ids) => {
                for leave in ids.iter().filter_map(|id| self.open.get(id)) {
                    leave.set();
                }
            }
            Order::Work { id, version, what } => self.begin(id, version, what),
            Order::Bye => {}
        }
    }

    fn begin(&mut self, id: u64, version: Version, what: What) {
        let Version { key, model, forget } = version;
        if let Some(forgotten) = forget {
            self.models.remove(&forgotten);
        }
        if let Some(model) = model {
            let model = match model {
                Array::Singles(values) => Model::from_narrow(values),
                Array::Doubles(values) => {
                    Model::new(Arc::try_unwrap(values).unwrap_or_else(|values| values.to_vec()))
                }
                _ => unreachable!("a model is numbers"),
            };
            self.models.insert(key, Arc::new(model));
        }
        let model = self.models[&key].clone();
        let trainer = self.station.trainer.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let trainer = trainer.expect("jobs come once the data is built");
        let leave = Interrupt::default();
        self.open.insert(id, leave.clone());
        self.station.queue.add(Ready { id, trainer, model, what, leave });
    }
}
