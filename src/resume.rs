//! What is kept while a run goes on, so that it can go on after a kill.
//!
//! ```text
//!   runs/NAME/cells/finished.jsonl     a line for every cell (a variant with a seed) that is over
//!   runs/NAME/cells/3/                 of the cell that goes on, the fourth:
//!       checkpoint.safetensors         its numbers, and where in the schedule they belong
//!       vectors-K.safetensors          vectors of single clients; a checkpoint says where each one is
//!       log                            what evaluations and norms decided before the checkpoint
//! ```
//!
//! A cell that runs alone writes its rows to the files at the top, where people look for them; they are in the order of
//! the cells. Cells that run side by side write the same files into their own folders, and these are added at the top
//! when it is their turn. One that waits for that has a `finished.json` there. A cell that goes on writes its rows again
//! anyway, so a run may go on with another number of cells side by side.
//!
//! Files appear whole, in an order that leaves every checkpoint with all it needs. All of it is gone from a run
//! that is complete. What numbers mean is in [`crate::server`].

mod cells;
mod codec;
mod keeper;
mod log;
mod so_far;
mod vectors;

pub use cells::{CellPath, CellsFolder, FinishedCell};
pub use codec::CheckpointError;
pub use keeper::Keeper;
pub use so_far::RunSoFar;

/// Whether a program can go on with what another has kept: raised when results or these files change.
pub(crate) const FORMAT: u32 = 4;
