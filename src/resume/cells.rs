//! Which cells of a run are over, and where the checkpoints of the others are.

use super::FORMAT;
use super::codec::{self, CheckpointError};
use crate::memory::Bounded;
use crate::report::{
    CELLS, FileError, FileLengths, Files, FilesWanted, FolderError, RunFindings, RunPath,
    create_folder, is_of_cells, sync_folder, write_whole,
};
use crate::run_files::{MOST_TEXT, VariantSummary};
use crate::server::Resume;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tracing::warn;
use xxhash_rust::xxh3::xxh3_64;

/// Thousands of short cells need not be put on the disk one by one.
const TOGETHER: Duration = Duration::from_secs(1);
/// But the first ones are.
const AT_ONCE: usize = 16;

/// Bytes of the longest line of that list: the curves of a run are some hundred kilobytes.
const LONGEST: u64 = 64 << 20;
/// The list of cells that are over.
const FINISHED: &str = "finished.jsonl";
/// In the folder of a cell: that it came to its end before it was its turn.
const KEPT: &str = "finished.json";

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
struct FinishedLine<'a> {
    format: u32,
    /// Of the text of the cell.
    digest: String,
    #[serde(borrow)]
    cell: &'a RawValue,
}

/// The format of a line, whatever else is in it.
#[derive(Deserialize)]
struct LineFormat {
    format: u32,
}

/// The cells that are over in the run in `folder`.
pub(super) fn finished_cells(folder: &Path) -> Result<Vec<FinishedCell>, CheckpointError> {
    let found = read_finished(&folder.join(CELLS).join(FINISHED))?;
    Ok(found.map(|(cells, _)| cells).unwrap_or_default())
}

/// The cell in a folder of its own, if it came to its end before it was its turn.
pub(super) fn kept_cell(folder: &Path) -> Result<Option<FinishedCell>, CheckpointError> {
    let read = read_finished(&folder.join(KEPT))?;
    Ok(read.and_then(|(cells, _)| cells.into_iter().next()))
}

/// The cells of a list, and how many bytes of it are whole lines: one that was not written to its end does not count.
fn read_finished(path: &Path) -> Result<Option<(Vec<FinishedCell>, u64)>, CheckpointError> {
    let mut cells = Vec::new();
    let mut length = 0;
    let Ok(file) = File::open(path) else {
        return Ok(None);
    };
    let mut lines = BufReader::new(Bounded::new(file, MOST_TEXT, LONGEST));
    let mut line = String::new();
    while lines.read_line(&mut line).is_ok_and(|read| read > 0) && line.ends_with('\n') {
        match serde_json::from_str::<LineFormat>(&line) {
            Ok(LineFormat { format }) if format != FORMAT => {
                return Err(CheckpointError::Format { found: format, expected: FORMAT });
            }
            _ => {}
        }
        let Ok(FinishedLine { cell, digest, .. }) = serde_json::from_str(&line) else {
            break;
        };
        let read = serde_json::from_str(cell.get()).ok();
        let Some(cell) = read.filter(|_| digest == digest_of(cell)) else {
            let what = "it has changed since it was written".to_string();
            return Err(CheckpointError::Broken { path: path.to_owned(), what });
        };
        cells.push(cell);
        length += line.len() as u64;
        line.clear();
    }
    Ok(Some((cells, length)))
}

/// The line of a cell.
fn line_of(cell: &FinishedCell) -> serde_json::Result<Vec<u8>> {
    let cell = serde_json::value::to_raw_value(cell)?;
    let line = FinishedLine { format: FORMAT, digest: digest_of(&cell), cell: &cell };
    let mut text = serde_json::to_vec(&line)?;
    text.push(b'\n');
    Ok(text)
}

fn digest_of(cell: &RawValue) -> String {
    format!("{:016x}", xxh3_64(cell.get().as_bytes()))
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
        self.using(Path::to_owned)
    }

    /// Does something with it while it stays where it is.
    pub fn using<T>(&self, work: impl FnOnce(&Path) -> T) -> T {
        self.run.using(|run| work(&run.join(CELLS).join(self.cell.to_string())))
    }

    /// Creates the files of a cell that runs beside others.
    pub fn create_files(&self, wanted: &FilesWanted) -> Result<Files, FileError> {
        self.using(|folder| {
            let at = |source| FileError { path: folder.to_owned(), source };
            create_folder(folder).map_err(at)?;
            Files::create_part(folder, wanted)
        })
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
        self.path().join(FINISHED)
    }

    fn wrong(&self, source: io::Error) -> FileError {
        FileError { path: self.list(), source }
    }

    /// The folder of a cell.
    pub fn folder(&self, cell: usize) -> CellPath {
        CellPath { run: self.run.clone(), cell }
    }

    /// The cells that are over, from the first on; the run goes on after them.
    pub fn finished(&mut self) -> Result<Vec<FinishedCell>, CheckpointError> {
        let Some((cells, length)) = read_finished(&self.list())? else {
            return Ok(Vec::new());
        };
        let file = File::options().append(true).open(self.list());
        let file = file.and_then(|file| file.set_len(length).map(|()| file));
        self.file = Some(file.map_err(|source| self.wrong(source))?);
        self.finished = cells.len();
        Ok(cells)
    }

    /// A cell has come to its end before it is its turn: with its rows in its own folder, it need not be run again.
    pub fn keep(&self, number: usize, cell: &FinishedCell) -> Result<(), FileError> {
        let folder = self.folder(number);
        folder.using(|folder| {
            Files::sync_part(folder)?;
            let path = folder.join(KEPT);
            let line = line_of(cell)
                .map_err(|error| FileError { path: path.clone(), source: error.into() })?;
            write_whole(&path, &line)
        })?;
        if let Err(error) = folder.settle() {
            warn!("the earlier run is not replaced yet: {error}");
        }
        Ok(())
    }

    /// A cell that [came to its end](CellsFolder::keep) before it was its turn, if it did.
    pub fn kept(&self, number: usize) -> Result<Option<FinishedCell>, CheckpointError> {
        self.folder(number).using(kept_cell)
    }

    /// A cell is over: its rows are in `files`.
    pub fn finish(
        &mut self,
        number: usize,
        summary: &VariantSummary,
        findings: Option<&RunFindings>,
        files: &mut Files,
    ) -> Result<(), FileError> {
        let cell = FinishedCell {
            summary: summary.clone(),
            findings: findings.cloned(),
            lengths: files.lengths()?,
        };
        let line = line_of(&cell).map_err(|error| self.wrong(error.into()))?;
        self.waiting.extend_from_slice(&line);
        self.finished += 1;
        self.over.push(number);
        match self.finished <= AT_ONCE || self.synced.elapsed() > TOGETHER {
            true => self.flush(files),
            false => Ok(()),
        }
    }

    /// What was told is on the disk when this returns, the rows of the cells first.
    pub fn flush(&mut self, files: &Files) -> Result<(), FileError> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        files.sync()?;
        let written = (|| {
            if self.file.is_none() {
                create_folder(&self.path())?;
                self.file = Some(File::create(self.list())?);
                sync_folder(&self.path())?;
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

    /// From where a cell with so many clients goes on; `None` if it has no checkpoint, and begins.
    pub fn resume(&self, cell: usize, clients: usize) -> Result<Option<Resume>, CheckpointError> {
        codec::load(&self.folder(cell).get(), clients)
    }

    /// A cell is over: its checkpoint is of no use any more. It goes before what it needs.
    fn forget(&self, cell: usize) {
        let folder = self.folder(cell).get();
        let _ = fs::remove_file(folder.join(codec::FILE));
        let _ = fs::remove_dir_all(folder);
    }

    /// The run in `folder` is complete. The list goes first: without it nothing is trained again.
    pub fn remove(folder: &Path) {
        let cells = folder.join(CELLS);
        let _ = fs::remove_file(cells.join(FINISHED));
        for entry in fs::read_dir(&cells).into_iter().flatten().flatten() {
            if is_of_cells(&entry.file_name().to_string_lossy()) {
                let _ = fs::remove_dir_all(entry.path());
            }
        }
        // With files of the user in it, it stays.
        let _ = fs::remove_dir(&cells);
    }

    /// Whether the run in `folder`, which says that it is complete, has written all its files.
    pub fn is_removed(folder: &Path) -> bool {
        !folder.join(CELLS).join(FINISHED).exists()
    }
}
