//! Training on the ranks of an MPI job: the only place where the crate `mpi` appears.
//!
//! Rank 0 simulates. Every other rank is a worker: it builds the same data from the same scenario, proves so
//! with a digest, and trains what it is sent.
//!
//! ```text
//!   rank 0                                                      rank 1, 2, …
//!   simulation ─► Pool ─► helpers ─► RemoteTrainer              queue ─► threads: a real Trainer
//!                                        │ ▲                      ▲          │
//!                                commands▼ │replies               │          ▼
//!                                       Hub ══════ Link ═══════ Link ◄── results
//!                                  (a thread that owns MPI)  (a thread that owns MPI)
//! ```
//!
//! [`RemoteTrainer`] stands where the real trainer would, so the simulation knows nothing of ranks. Results are
//! summed by the simulation in the order of arrivals, and changes come back with all their bits: any number of
//! ranks gives the same files as none. Partial sums by rank would not.
//!
//! **One thread owns MPI**, on every rank (`MPI_THREAD_FUNNELED`). With several, Open MPI would take locks in
//! every call, and a thread that waits in a call would spin. This one looks for messages, and sleeps between
//! two looks (`pace`): a rank shares its core with training.
//!
//! **A model version travels once to a rank.** Rank 0 knows which versions a rank holds, and says which one it
//! may forget.

mod change;
mod hub;
mod leader;
mod message;
mod pace;
mod queue;
mod remote;
mod transport;
mod worker;

pub use leader::{Building, Greeting, Joined, Leader, RankError, join};
pub use remote::RemoteTrainer;
pub use worker::Worker;
