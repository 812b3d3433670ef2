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

use crate::resume::RunSoFar;
use crate::run_files::{ReadError, Summary};
use serde_json::Value;
use std::path::Path;

/// A run that is compared with others, as its folder has it.
pub struct ComparedRun {
    /// The run, as far as it came.
    pub so_far: RunSoFar,
    scenario: Value,
}

impl ComparedRun {
    /// Reads the folder of a run.
    pub fn read(folder: &Path) -> Result<Self, ReadError> {
        let so_far = RunSoFar::read(folder)?;
        let scenario = likeness::plain(&so_far.summary.read_scenario(folder)?)
            .map_err(|what| ReadError::broken(folder.join("scenario.toml"), what))?;
        Ok(ComparedRun { so_far, scenario })
    }

    /// What makes two runs incomparable: another task, other data, other seeds.
    pub fn differences(&self, other: &ComparedRun) -> Vec<Difference> {
        likeness::differences(self, other)
    }

    /// Its variants, each over all its seeds. The run is called `name`.
    pub fn entries(&self, name: &str) -> Vec<ComparedVariant> {
        let Summary { over_seeds, variants, .. } = &self.so_far.summary;
        let seeds = self.scenario["repeats"].as_u64().unwrap_or(1);
        let entry = |variant| ComparedVariant::of(name, variant, variants, seeds);
        over_seeds.iter().map(entry).collect()
    }
}
