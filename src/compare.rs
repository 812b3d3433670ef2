//! `gruppetto compare`: several runs side by side, if they can be compared.
//!
//! ```text
//!   summary.json ──► entry: a variant of a run, over its seeds ──► table: terminal, CSV
//!   scenario.toml ─► likeness: the same task, data and seeds? ───► refused, with what differs
//! ```

mod entry;
mod likeness;
mod table;

pub use entry::Entry;
pub use likeness::Difference;
pub use table::{csv, text};

use crate::report::{ReadError, read_file};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// A run as its folder tells it.
pub struct Told {
    /// The folder, as the user wrote it.
    pub folder: PathBuf,
    summary: Value,
    scenario: Value,
}

impl Told {
    /// Reads what the folder of a run tells.
    pub fn read(folder: &Path) -> Result<Self, ReadError> {
        let broken = |name: &str, what: String| ReadError::broken(folder.join(name), what);
        let summary: Value = serde_json::from_str(&read_file(folder, "summary.json")?)
            .map_err(|error| broken("summary.json", error.to_string()))?;
        let scenario = likeness::plain(&read_file(folder, "scenario.toml")?)
            .map_err(|what| broken("scenario.toml", what))?;
        if !summary["variants"].is_array() || !summary["over_seeds"].is_array() {
            return Err(broken("summary.json", "it tells of no variants".into()));
        }
        Ok(Told { folder: folder.into(), summary, scenario })
    }

    /// Whether everything that was asked for is there.
    pub fn is_complete(&self) -> bool {
        self.summary["status"] == "complete"
    }

    /// What makes two runs incomparable: another task, other data, other seeds.
    pub fn differences(&self, other: &Told) -> Vec<Difference> {
        likeness::differences(self, other)
    }

    /// Its variants, each over all its seeds. The run is called `name`.
    pub fn entries(&self, name: &str) -> Vec<Entry> {
        let all = self.summary["over_seeds"].as_array().map_or(&[][..], Vec::as_slice);
        let runs = self.summary["variants"].as_array().map_or(&[][..], Vec::as_slice);
        all.iter().map(|variant| Entry::of(name, variant, runs)).collect()
    }
}
