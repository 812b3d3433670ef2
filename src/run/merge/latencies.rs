//! LatencyLines of `latency.hlog`, taken over as they are: only the name of the run may be another one.

use crate::memory::read_at_most;
use crate::run_files::{MOST_TEXT, ReadError};
use std::path::Path;

/// The lines of a log that have a tag.
pub(super) struct LatencyLines(String);

impl LatencyLines {
    pub(super) fn read(path: &Path) -> Result<Self, ReadError> {
        let failed = |source| ReadError::Read { path: path.to_owned(), source };
        let bytes = read_at_most(path, MOST_TEXT).map_err(failed)?;
        let text = String::from_utf8(bytes);
        text.map(LatencyLines).map_err(|_| ReadError::broken(path, "it is not text"))
    }

    /// Those of a run, by its name, with another name.
    pub(super) fn of(&self, then: &str, now: &str) -> Vec<u8> {
        let mut found = String::new();
        for line in self.0.lines() {
            let Some((tag, rest)) = line.strip_prefix("Tag=").and_then(|tag| tag.split_once(','))
            else {
                continue;
            };
            if let Some((run, phase)) = tag.rsplit_once('.').filter(|(run, _)| *run == then) {
                debug_assert_eq!(run, then);
                found.push_str(&format!("Tag={now}.{phase},{rest}\n"));
            }
        }
        found.into_bytes()
    }
}
