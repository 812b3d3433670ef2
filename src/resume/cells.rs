//! Which cells of a run are over, and where the checkpoints of the others are.

use super::FORMAT;
use super::codec::{self, CheckpointError};
use crate::report::{CELLS, FileError, FileLengths, FolderError, RunFindings, RunPath};
use crate::run_files::VariantSummary;
use crate::server::Resume;
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Thousands of short cells need not be put on the disk one by one.
const TOGETHER: Duration = Duration::from_secs(1);
/// But the first ones are.
const AT_ONCE: usize = 16;

/// A cell that is over: what the whole run will need of it.
#[derive(Clone, Serialize, Deserialize)]
pub struct FinishedCell {
    /// Its entry in `summary.json`.
    pub summary: VariantSummary,
    /// What is drawn of it.
    pub findings: Option<RunFindings>,
    /// How long the files of the run are with it.
    pub lengths: FileLengths,
}

/// A line of the file.
#[derive(Serialize, Deserialize)]
struct FinishedLine<T> {
    format: u32,
    cell: T,
}

/// The folder of a cell, wherever that of its run is.
#[derive(Clone)]
pub struct CellPath {
    run: RunPath,
    cell: usize,
}

impl CellPath {
    /// Where it is now.
    pub(super) fn get(&self) -> PathBuf {
        self.run.get().join(CELLS).join(self.cell.to_string())
    }

    /// There is something that the run can go on from.
    pub(super) fn settle(&self) -> Result<(), FolderError> {
        self.run.settle()
    }
}

/// The folder `cells` of a run.
pub struct CellsFolder {
    run: RunPath,
    file: Option<File>,
    waiting: Vec<u8>,
    /// Cells whose checkpoints are of no use once what waits is on the disk.
    over: Vec<usize>,
    finished: usize,
    synced: Instant,
}

impl CellsFolder {
    /// Of the run in `run`.
    pub fn of(run: RunPath) -> Self {
        CellsFolder {
            run,
            file: None,
            waiting: vec![],
            over: vec![],
            finished: 0,
            synced: Instant::now(),
        }
    }

    fn path(&self) -> PathBuf {
        self.run.get().join(CELLS)
    }

    fn list(&self) -> PathBuf {
        self.path().join("finished.jsonl")
    }

    fn wrong(&self, source: io::Error) -> FileError {
        FileError { path: self.list(), source }
    }

    /// The folder of a cell.
    pub fn folder(&self, cell: usize) -> CellPath {
        CellPath { run: self.run.clone(), cell }
    }

    /// The cells that are over, from the first on. A line that was not written to its end does not count.
    pub fn finished(&mut self) -> Result<Vec<FinishedCell>, CheckpointError> {
        let mut cells = Vec::new();
        let mut length = 0;
        let Ok(file) = File::open(self.list()) else {
            return Ok(cells);
        };
        let mut lines = BufReader::new(file);
        let mut line = String::new();
        while lines.read_line(&mut line).is_ok_and(|read| read > 0) && line.ends_with('\n') {
            let Ok(FinishedLine { format, cell }) =
                serde_json::from_str::<FinishedLine<FinishedCell>>(&line)
            else {
                break;
            };
            if format != FORMAT {
                return Err(CheckpointError::Format { found: format, expected: FORMAT });
            }
            cells.push(cell);
            length += line.len() as u64;
            line.clear();
        }
        let file = File::options().append(true).open(self.list());
        let file = file.and_then(|file| file.set_len(length).map(|()| file));
        self.file = Some(file.map_err(|source| self.wrong(source))?);
        self.finished = cells.len();
        Ok(cells)
    }

    /// A cell is over. `lengths` makes sure that its rows are on the disk before it is told of.
    pub fn finish(
        &mut self,
        number: usize,
        summary: &VariantSummary,
        findings: Option<&RunFindings>,
        lengths: impl FnOnce() -> Result<FileLengths, FileError>,
    ) -> Result<(), FileError> {
        let cell = FinishedCell {
            summary: VariantSummary { histograms: None, ..summary.clone() },
            findings: findings.cloned(),
            lengths: lengths()?,
        };
        serde_json::to_writer(&mut self.waiting, &FinishedLine { format: FORMAT, cell })
            .map_err(|error| self.wrong(error.into()))?;
        self.waiting.push(b'\n');
        self.finished += 1;
        self.over.push(number);
        match self.finished <= AT_ONCE || self.synced.elapsed() > TOGETHER {
            true => self.flush(),
            false => Ok(()),
        }
    }

    /// What was told is on the disk when this returns.
    pub fn flush(&mut self) -> Result<(), FileError> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        let written = (|| {
            if self.file.is_none() {
                fs::create_dir_all(self.path())?;
                self.file = Some(File::create(self.list())?);
            }
            let Some(file) = &mut self.file else { return Ok(()) };
            file.write_all(&self.waiting)?;
            file.sync_data()
        })();
        written.map_err(|source| self.wrong(source))?;
        self.waiting.clear();
        self.synced = Instant::now();
        for cell in std::mem::take(&mut self.over) {
            self.forget(cell);
        }
        Ok(())
    }

    /// From where a cell goes on; `None` if it has no checkpoint, and begins.
    pub fn resume(&self, cell: usize) -> Result<Option<Resume>, CheckpointError> {
        codec::load(&self.folder(cell).get())
    }

    /// A cell is over: its checkpoint is of no use any more. It goes before what it needs.
    fn forget(&self, cell: usize) {
        let folder = self.folder(cell).get();
        let _ = fs::remove_file(folder.join(codec::FILE));
        let _ = fs::remove_dir_all(folder);
    }

    /// The run is complete.
    pub fn remove(self) {
        let _ = fs::remove_dir_all(self.path());
    }
}
