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

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// A run as its folder tells it.
pub struct Told {
    /// The folder, as the user wrote it.
    pub folder: PathBuf,
    summary: Value,
    scenario: Value,
}

/// Runs cannot be compared.
#[derive(Debug, thiserror::Error)]
pub enum CompareError {
    /// A folder is not that of a run.
    #[error("{}: there is no {missing}\n  = help: give the folders of runs, such as runs/demo", folder.display())]
    #[allow(missing_docs)]
    NoRun { folder: PathBuf, missing: &'static str },
    /// A file of a folder is not what it was.
    #[error("{}: {what}\n  = help: run the scenario again", path.display())]
    #[allow(missing_docs)]
    Broken { path: PathBuf, what: String },
}

impl Told {
    /// Reads what the folder of a run tells.
    pub fn read(folder: &Path) -> Result<Self, CompareError> {
        let text = |missing: &'static str| {
            let path = folder.join(missing);
            fs::read_to_string(&path).map_err(|error| match error.kind() {
                io::ErrorKind::NotFound => CompareError::NoRun { folder: folder.into(), missing },
                _ => CompareError::Broken { path, what: error.to_string() },
            })
        };
        let broken =
            |name: &str, what: String| CompareError::Broken { path: folder.join(name), what };
        let summary: Value = serde_json::from_str(&text("summary.json")?)
            .map_err(|error| broken("summary.json", error.to_string()))?;
        let scenario = likeness::plain(&text("scenario.toml")?)
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
