//! Rank 0's hold on the others.

use crate::hub::{Cell, Command, Hub};
use crate::remote::RemoteTrainer;
use crate::transport::Link;
use crate::worker::{Post, Worker};
use crossbeam::channel::{Receiver, Sender, bounded, unbounded};
use gruppetto_sim::train::{Elsewhere, Interrupt, Trainer};
use std::sync::Arc;
use std::thread::JoinHandle;

/// Jobs on rank 0 for each one that is trained: one is trained, one may stand behind it, one waits for whoever is
/// free first.
const JOBS_PER_SLOT: usize = 3;

/// What this process is in its job.
pub enum Joined {
    /// The only one.
    Alone,
    /// The one that simulates.
    Leader(Leader),
    /// One that trains.
    Worker(Worker),
}

/// The ranks cannot train together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RankError {
    /// A rank has no data.
    #[error("rank {rank}: {what}")]
    #[allow(missing_docs)]
    Build { rank: usize, what: String },
    /// A rank has other data than rank 0.
    #[error(
        "rank {0} has built other data than rank 0 from the same scenario\n  = help: the files that the scenario \
         names, and data sets in their usual folders, must be the same on all machines"
    )]
    OtherData(usize),
    /// The thread that owns MPI has ended.
    #[error("the thread that speaks to the other ranks has ended; what it said stands above")]
    Gone,
}

/// Joins the MPI job that this process was started in. A thread of its own owns MPI from now on.
pub fn join() -> std::io::Result<Joined> {
    let (joined, place) = bounded(1);
    let (commands, orders) = unbounded();
    let (start, station) = bounded(1);
    let thread = std::thread::Builder::new().name("mpi".into()).spawn(move || {
        let Some(link) = Link::join() else { return };
        let (rank, size) = (link.rank(), link.size());
        let _ = joined.send((rank, size));
        match (rank, size) {
            (_, 1) => {}
            (0, _) => Hub::new(link, orders).run(),
            _ => {
                if let Ok(station) = station.recv() {
                    Post::new(link, station).serve();
                }
            }
        }
    })?;
    let gone = |_| std::io::Error::other("MPI was joined by this process before");
    Ok(match place.recv().map_err(gone)? {
        (_, 1) => Joined::Alone,
        (0, size) => Joined::Leader(Leader { workers: size - 1, commands, thread: Some(thread) }),
        (rank, _) => Joined::Worker(Worker { rank, start, thread }),
    })
}

/// Rank 0. Dropped, it says goodbye to the others.
pub struct Leader {
    workers: usize,
    commands: Sender<Command>,
    thread: Option<JoinHandle<()>>,
}

/// What a worker says of itself before anything is built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Greeting {
    /// Its number.
    pub rank: usize,
    /// How many jobs it trains side by side.
    pub slots: usize,
    /// What it was given to say.
    pub text: String,
}

impl Leader {
    /// How many ranks train.
    pub fn workers(&self) -> usize {
        self.workers
    }

    /// What every worker says of itself; waits until all have.
    pub fn greet(&self) -> Result<Vec<Greeting>, RankError> {
        let (reply, hellos) = bounded(1);
        self.commands.send(Command::Greet(reply)).map_err(|_| RankError::Gone)?;
        let hellos = hellos.recv().map_err(|_| RankError::Gone)?;
        let greeting = |(rank, (slots, text))| Greeting { rank, slots, text };
        Ok((1..).zip(hellos).map(greeting).collect())
    }

    /// Threads of rank 0 that it takes to keep so many slots busy: they wait.
    pub fn helpers(slots: usize) -> usize {
        JOBS_PER_SLOT * slots
    }

    /// Has all workers build the data of a variant with a seed. Meanwhile rank 0 builds its own.
    pub fn build(&self, variant: u64, seed: u64) -> Result<Building, RankError> {
        let (reply, built) = bounded(1);
        let command = Command::Build { variant, seed, reply };
        self.commands.send(command).map_err(|_| RankError::Gone)?;
        Ok(Building { commands: self.commands.clone(), built })
    }
}

impl Drop for Leader {
    fn drop(&mut self) {
        let _ = self.commands.send(Command::End);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Data that the workers are building.
pub struct Building {
    commands: Sender<Command>,
    built: Receiver<Vec<Result<u64, String>>>,
}

impl Building {
    /// The trainer that has the workers train, once all have the same data as `own`. `interrupt` says that the
    /// run should end; the pool that the trainer is used with must be told of the other part.
    pub fn finish(
        self,
        own: Arc<dyn Trainer>,
        interrupt: Interrupt,
    ) -> Result<(RemoteTrainer, Elsewhere), RankError> {
        let digest = own.digest();
        let built = self.built.recv().map_err(|_| RankError::Gone)?;
        for (rank, built) in (1..).zip(built) {
            match built {
                Err(what) => return Err(RankError::Build { rank, what }),
                Ok(other) if other != digest => return Err(RankError::OtherData(rank)),
                Ok(_) => {}
            }
        }
        let elsewhere = Elsewhere::default();
        let stops = [interrupt, elsewhere.closing.clone()];
        let cell = Arc::new(Cell { stops, busy: elsewhere.busy.clone() });
        Ok((RemoteTrainer::new(own, self.commands, cell), elsewhere))
    }
}
