//! The runs that are merged: read, and complete.

use super::MergeError;
use crate::report::{Findings, RunFindings};
use crate::resume::CellsFolder;
use crate::run_files::{Status, Summary, read_file};
use crate::scenario::repeats;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// A run that is merged with others.
pub(super) struct MergedRun {
    pub(super) folder: PathBuf,
    pub(super) summary: Summary,
    pub(super) scenario: String,
    pub(super) findings: Findings,
}

/// Reads the runs in these folders; a folder may also hold the folders of runs.
pub(super) fn read_all(folders: &[PathBuf]) -> Result<Vec<MergedRun>, MergeError> {
    let mut all = Vec::new();
    for folder in folders {
        if folder.join(Summary::FILE).exists() || !folder.is_dir() {
            all.push(MergedRun::read(folder)?);
            continue;
        }
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let mut inside: Vec<PathBuf> = entries
            .map(|entry| entry.path())
            .filter(|path| path.join(Summary::FILE).exists())
            .collect();
        if inside.is_empty() {
            return Err(MergeError::Empty { folder: folder.clone() });
        }
        inside.sort();
        for folder in inside {
            all.push(MergedRun::read(&folder)?);
        }
    }
    Ok(all)
}

impl MergedRun {
    fn read(folder: &Path) -> Result<MergedRun, MergeError> {
        let summary = Summary::read(folder)?;
        let scenario = summary.read_scenario(folder)?;
        if summary.status != Status::Complete || !CellsFolder::is_removed(folder) {
            let told = summary.variants.len();
            let what = match &summary.part {
                Some(part) => format!("{told} of its {} cells are over", part.cells.len()),
                None if told == 1 => "1 cell is over".into(),
                None => format!("{told} cells are over"),
            };
            let part = summary.part.as_ref();
            let part =
                part.map_or(String::new(), |own| format!(" --part {}/{}", own.number, own.of));
            return Err(MergeError::Unfinished { folder: folder.to_owned(), what, part });
        }
        let text = read_file(folder, Findings::FILE)?;
        let findings = serde_json::from_str(&text).map_err(|error| {
            crate::run_files::ReadError::broken(folder.join(Findings::FILE), error)
        })?;
        Ok(MergedRun { folder: folder.to_owned(), summary, scenario, findings })
    }

    /// Whether it is the run in a folder.
    pub(super) fn is_at(&self, folder: &Path) -> bool {
        let [own, other] = [&self.folder, folder].map(|path| fs::canonicalize(path).ok());
        own.is_some() && own == other
    }

    /// Whether the scenario has several seeds: then they are in the names of files.
    pub(super) fn several_seeds(&self) -> bool {
        repeats(&self.scenario) > 1
    }

    /// The seeds of its cells.
    pub(super) fn seeds(&self) -> BTreeSet<u64> {
        self.summary.variants.iter().map(|cell| cell.seed).collect()
    }

    /// What is drawn of a cell.
    pub(super) fn findings_of(&self, cell: usize) -> Option<RunFindings> {
        let told = &self.summary.variants[cell];
        let own = |drawn: &&RunFindings| drawn.is_of(&told.name, told.seed);
        self.findings.runs.iter().find(own).cloned()
    }
}
