//! The user's wish that a run should end.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Set from anywhere, for instance by Ctrl-C; the run ends after its next aggregation.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// The run should end. Whether somebody has said so before.
    pub fn set(&self) -> bool {
        self.0.swap(true, Ordering::Relaxed)
    }

    /// Whether the run should end.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
