//! `gruppetto compare`: several runs side by side, if they can be compared.
//!
//! ```text
//!   summary.json ──► entry: a variant of a run, over its seeds ──► table: terminal, CSV
//!   scenario.toml ─► likeness: the same task, data and seeds? ───► refused, with what differs
//! ```

mod entry;
mod likeness;
mod table;

pub use entry::ComparedVariant;
pub use likeness::Difference;
pub use table::{csv, text};

use crate::run_files::{ReadError, Status, Summary, read_file};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// A run that is compared with others, as its folder has it.
pub struct ComparedRun {
    /// The folder, as the user wrote it.
    pub folder: PathBuf,
    summary: Summary,
    scenario: Value,
}

impl ComparedRun {
    /// Reads the folder of a run.
    pub fn read(folder: &Path) -> Result<Self, ReadError> {
        let summary = Summary::read(folder)?;
        let scenario = likeness::plain(&read_file(folder, "scenario.toml")?)
            .map_err(|what| ReadError::broken(folder.join("scenario.toml"), what))?;
        Ok(ComparedRun { folder: folder.into(), summary, scenario })
    }

    /// Whether everything that was asked for is there.
    pub fn is_complete(&self) -> bool {
        self.summary.status == Status::Complete
    }

    /// What makes two runs incomparable: another task, other data, other seeds.
    pub fn differences(&self, other: &ComparedRun) -> Vec<Difference> {
        likeness::differences(self, other)
    }

    /// Its variants, each over all its seeds. The run is called `name`.
    pub fn entries(&self, name: &str) -> Vec<ComparedVariant> {
        let Summary { over_seeds, variants, .. } = &self.summary;
        over_seeds.iter().map(|variant| ComparedVariant::of(name, variant, variants)).collect()
    }
}
