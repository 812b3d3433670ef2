//! `summary.json`: the numbers that scripts rely on.
//!
//! The same types are written by a run and read by every command that looks at one. On reading, keys
//! that this version does not know are ignored, and keys that an older version did not write have
//! default values; without `name`, `status` and `variants` it is not a summary.
//!
//! JSON has no numbers that are not finite: they are written as `null`, and `null` is read as not a
//! number where a number belongs.
//!
//! The comments of the fields of [`Summary`] and [`VariantSummary`] are the tables in
//! `docs/outputs.md`; a test compares them.

mod by_name;
mod one_run;
mod over_seeds;
mod parts;

pub use one_run::VariantSummary;
pub use over_seeds::{OverSeeds, Spread};
pub use parts::{
    Bytes, Diverged, ExpectResult, FilesSummary, Legs, Losses, PartOfRun, RestSummary,
    ScheduleSummary, TargetReached, TauSummary, TheorySummary, Throughput, Waited,
};

use super::read_error::{ReadError, read_file};
use crate::run_files::{ClientsCsv, RoundsCsv, RunTable};
use crate::sweep::SweptKey;
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;
use std::path::Path;
use xxhash_rust::xxh3::xxh3_128;

/// The whole scenario.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Summary {
    /// The scenario's name.
    pub name: String,
    /// Version of Gruppetto.
    #[serde(default)]
    pub version: String,
    /// `complete`, `incomplete` (the run goes on, failed or was killed) or `interrupted`.
    pub status: Status,
    /// Whether the schedule alone was run, without training.
    #[serde(default)]
    pub timing_only: bool,
    /// Whether it was run on the wall clock; only if it was.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub wall_clock: bool,
    /// What went wrong; only if something did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Digest of the scenario with every override, and of what is in the files that it names; wherever these are.
    #[serde(default)]
    pub scenario_digest: String,
    /// Digest of every file or folder that the scenario names, by path.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub inputs: BTreeMap<String, String>,
    /// The kind of processor that it was run on. The bits of native models do not depend on it, those of libtorch do.
    #[serde(default)]
    pub processor: String,
    /// What belongs to this summary: the digest of `scenario.toml`, and the rows of `rounds.csv` and `clients.csv`
    /// once they are all written.
    #[serde(default)]
    pub files: FilesSummary,
    /// With a sweep: an entry per swept key, with the whole `key`, the `label` that stands for it in names, and its
    /// `values`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub swept: Vec<SweptKey>,
    /// With `--part`: its `number`, `of` how many, and the numbers of its `cells`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<PartOfRun>,
    /// An entry per variant and seed, see below; with a sweep, per variant, combination of swept values, and seed.
    pub variants: Vec<VariantSummary>,
    /// An entry per variant, with a sweep per combination (then with `variant` and `swept`): `name`, number of `seeds`, and `mean` and standard deviation `std` over the
    /// seeds of every one of its `metrics`, of `rounds`, `virtual_seconds`, `chi2`, `missing_mass` and
    /// `waste`.
    #[serde(default)]
    pub over_seeds: Vec<OverSeeds>,
    /// An entry per `[[expect]]`: `that`, what was expected; whether it is `ok`, or `skipped` because
    /// nothing was trained; what was `measured`.
    #[serde(default)]
    pub expect: Vec<ExpectResult>,
}

impl Summary {
    /// The name of the file.
    pub const FILE: &'static str = "summary.json";

    /// Reads the summary in a run's folder.
    pub fn read(folder: &Path) -> Result<Summary, ReadError> {
        Summary::parse(&folder.join(Summary::FILE), read_file(folder, Summary::FILE)?.as_bytes())
    }

    /// Reads the content of the file at `path`.
    pub fn parse(path: &Path, content: &[u8]) -> Result<Summary, ReadError> {
        serde_json::from_slice(content).map_err(|error| {
            ReadError::broken(path, format!("it is not the summary of a run: {error}"))
        })
    }

    /// The scenario of the run in `folder`, if it is the one that the summary is of.
    pub fn read_scenario(&self, folder: &Path) -> Result<String, ReadError> {
        let text = read_file(folder, "scenario.toml")?;
        let own = format!("{:032x}", xxh3_128(text.as_bytes()));
        match &self.files.scenario {
            Some(digest) if *digest != own => {
                let what = "it is not the scenario that summary.json is of";
                let error = ReadError::broken(folder.join("scenario.toml"), what);
                Err(error
                    .help("are there files of two runs in this folder? Run the scenario again"))
            }
            _ => Ok(text),
        }
    }

    /// The rows that a table of the run must have, once they are all written.
    pub fn rows_of<T: RunTable>(&self) -> Option<u64> {
        match T::FILE {
            RoundsCsv::FILE => self.files.rounds,
            ClientsCsv::FILE => self.files.clients,
            _ => None,
        }
    }

    /// The content of the file.
    pub fn to_json(&self) -> String {
        let mut json = serde_json::to_string_pretty(self).expect("a summary is plain data");
        json.push('\n');
        json
    }
}

/// Whether a run or a scenario came to its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// It did.
    Complete,
    /// It has not, or not yet.
    #[default]
    Incomplete,
    /// Its model blew up.
    Diverged,
    /// The user ended it: everything up to then is here.
    Interrupted,
}

impl Status {
    /// The name in the file.
    pub const fn name(self) -> &'static str {
        match self {
            Status::Complete => "complete",
            Status::Incomplete => "incomplete",
            Status::Diverged => "diverged",
            Status::Interrupted => "interrupted",
        }
    }
}

/// A number that was not finite when it was written.
pub(super) fn nan_if_null<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or(f64::NAN))
}

#[cfg(test)]
mod tests;
