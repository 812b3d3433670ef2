//! `gruppetto watch`: a run folder as a dashboard in the terminal, while the run goes on or later.
//!
//! ```text
//!   summary.json ─► Summary ─────────────────┐
//!   rounds.csv  ─► Tail ─► RoundLine ────────┼─► State ──┬─► draw: a screen
//!   clients.csv ─► Tail ─► ClientLine ───────┘     ▲     └─► text: a snapshot
//!                                                  │
//!                                      keys ─► View: which run, which measure
//! ```
//!
//! The run does not know that it is watched: everything comes from the files that it writes anyway,
//! read as they grow. What is kept does not grow with them.

mod curve;
mod display;
mod draw;
mod event;
mod follow;
mod measure;
mod rows;
mod run;
mod screen;
mod spread;
mod state;
mod tail;
mod text;
mod view;

pub use follow::WatchError;

use crate::report::TextStyle;
use crate::run_files::ReadError;
use follow::Follower;
use std::path::Path;
use std::time::{Duration, Instant};

/// How long a folder is waited for.
const PATIENCE: Duration = Duration::from_secs(10);

/// What to do about a folder that is not there yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// That is an error.
    Refuse,
    /// A run may be about to begin: wait for some seconds.
    Wait,
}

/// Shows the run in `folder` on the terminal until the user quits.
pub fn watch(folder: &Path, missing: Missing, style: TextStyle) -> Result<(), WatchError> {
    screen::show(&mut find(folder, missing)?, style)
}

/// The state of the run in `folder` as text.
pub fn snapshot(folder: &Path, missing: Missing) -> Result<String, WatchError> {
    Ok(text::snapshot(find(folder, missing)?.catch_up()?))
}

fn find(folder: &Path, missing: Missing) -> Result<Follower, WatchError> {
    let follower = Follower::new(folder);
    let began = Instant::now();
    while !follower.is_there() {
        if missing == Missing::Refuse || began.elapsed() > PATIENCE {
            return Err(ReadError::NoRun(folder.to_owned()).into());
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    Ok(follower)
}
