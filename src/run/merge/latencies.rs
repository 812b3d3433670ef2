//! LatencyLines of `latency.hlog`, taken over as they are: only the name of the run may be another one.

use crate::memory::read_at_most;
use crate::run_files::{MOST_TEXT, Phase, ReadError};
use std::path::{Path, PathBuf};

/// The lines of a log that have a tag.
pub(super) struct LatencyLines {
    path: PathBuf,
    text: String,
}

impl LatencyLines {
    pub(super) fn read(path: &Path) -> Result<Self, ReadError> {
        let failed = |source| ReadError::Read { path: path.to_owned(), source };
        let bytes = read_at_most(path, MOST_TEXT).map_err(failed)?;
        let text = String::from_utf8(bytes);
        match text {
            Ok(text) => Ok(LatencyLines { path: path.to_owned(), text }),
            Err(_) => Err(ReadError::broken(path, "it is not text")),
        }
    }

    /// Those of a run, by its name, with another name: there is one for each phase.
    pub(super) fn of(&self, then: &str, now: &str) -> Result<Vec<u8>, ReadError> {
        let mut found = String::new();
        let mut phases = 0;
        for line in self.text.lines() {
            let Some((tag, rest)) = line.strip_prefix("Tag=").and_then(|tag| tag.split_once(','))
            else {
                continue;
            };
            if let Some((_, phase)) = tag.rsplit_once('.').filter(|(run, _)| *run == then) {
                phases += 1;
                found.push_str(&format!("Tag={now}.{phase},{rest}\n"));
            }
        }
        match phases == Phase::ALL.len() {
            true => Ok(found.into_bytes()),
            false => {
                let what = format!("it does not have all latencies of {then}");
                Err(ReadError::broken(&self.path, what))
            }
        }
    }
}
