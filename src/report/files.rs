//! The files that the rows of a run go to.
//!
//! Those of the whole run are at the top of its folder. A cell that runs beside others has such files of its own, in
//! its own folder; they are added to those at the top when it is its turn.

use super::latency_hlog::LatencyLog;
use super::row_file::{FileError, TableFile, TableLength};
use super::timeline::Timeline;
use crate::run_files::{ClientsCsv, RoundsCsv, RunTable};
use crate::sweep::SweptKey;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::path::Path;

/// The names of the files that are no tables.
pub(crate) const LATENCIES: &str = "latency.hlog";
pub(crate) const TIMELINE: &str = "timeline.json.gz";
/// The timeline of a cell that runs beside others.
const PART_OF_TIMELINE: &str = "timeline.json";

/// The files, open.
pub struct Files {
    /// `rounds.csv`.
    pub rounds: TableFile<RoundsCsv>,
    /// `clients.csv`, unless it is switched off.
    pub clients: Option<TableFile<ClientsCsv>>,
    /// `timeline.json.gz`, unless it is switched off.
    pub timeline: Option<Timeline>,
    /// `latency.hlog`.
    pub latencies: LatencyLog,
}

/// What is written.
#[derive(Clone, Debug, Default)]
pub struct FilesWanted {
    /// Keys that are swept, which have a column each.
    pub swept: Vec<SweptKey>,
    /// Whether there is `clients.csv`.
    pub clients: bool,
    /// Whether there is a timeline; who is in it, or `None` for all.
    pub timeline: Option<Option<Vec<bool>>>,
}

/// How much of each file belongs to the runs that are over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct FileLengths {
    pub rounds: TableLength,
    pub clients: TableLength,
    pub latencies: u64,
    /// Bytes of text.
    pub timeline: u64,
}

impl Files {
    /// Creates those of a run in its folder.
    pub fn create(folder: &Path, wanted: &FilesWanted) -> Result<Files, FileError> {
        let timeline = folder.join(TIMELINE);
        let timeline = wanted.timeline.clone().map(|shown| Timeline::create(&timeline, shown));
        Files::with_timeline(folder, wanted, timeline.transpose()?)
    }

    /// Creates those of a cell in its folder.
    pub fn create_part(folder: &Path, wanted: &FilesWanted) -> Result<Files, FileError> {
        let timeline = folder.join(PART_OF_TIMELINE);
        let timeline = wanted.timeline.clone().map(|shown| Timeline::create_part(&timeline, shown));
        Files::with_timeline(folder, wanted, timeline.transpose()?)
    }

    fn with_timeline(
        folder: &Path,
        wanted: &FilesWanted,
        timeline: Option<Timeline>,
    ) -> Result<Files, FileError> {
        let clients = wanted.clients.then(|| TableFile::create(folder, &wanted.swept));
        Ok(Files {
            clients: clients.transpose()?,
            rounds: TableFile::create(folder, &wanted.swept)?,
            timeline,
            latencies: LatencyLog::create(&folder.join(LATENCIES))?,
        })
    }

    /// Goes on with those of a run, of which so much is kept.
    pub fn resume(
        folder: &Path,
        wanted: &FilesWanted,
        kept: FileLengths,
    ) -> Result<Files, FileError> {
        let path = folder.join(TIMELINE);
        let timeline = wanted.timeline.clone();
        let timeline = timeline.map(|shown| Timeline::resume(&path, shown, kept.timeline));
        let clients =
            wanted.clients.then(|| TableFile::resume(folder, &wanted.swept, kept.clients));
        Ok(Files {
            rounds: TableFile::resume(folder, &wanted.swept, kept.rounds)?,
            clients: clients.transpose()?,
            timeline: timeline.transpose()?,
            latencies: LatencyLog::resume(&folder.join(LATENCIES), kept.latencies)?,
        })
    }

    /// Adds what a cell has in its own folder, of which so much was written.
    pub fn append(&mut self, cell: &Path, written: FileLengths) -> Result<(), FileError> {
        self.rounds.append(cell, written.rounds)?;
        if let Some(clients) = &mut self.clients {
            clients.append(cell, written.clients)?;
        }
        if let Some(timeline) = &mut self.timeline {
            timeline.append(&cell.join(PART_OF_TIMELINE), written.timeline)?;
        }
        self.latencies.append(&cell.join(LATENCIES), written.latencies)
    }

    /// What a cell wrote into its own folder is on the disk when this returns.
    pub fn sync_part(folder: &Path) -> Result<(), FileError> {
        for name in [RoundsCsv::FILE, ClientsCsv::FILE, LATENCIES, PART_OF_TIMELINE] {
            let path = folder.join(name);
            if path.exists() {
                let synced = File::open(&path).and_then(|file| file.sync_data());
                synced.map_err(FileError::at(&path))?;
            }
        }
        Ok(())
    }

    /// Takes over from the files of a cell in its own folder, in the middle of its run.
    pub fn take_over(&mut self, cell: &Path, mut own: Files) -> Result<(), FileError> {
        let written = own.lengths()?;
        self.append(cell, written)?;
        if let (Some(timeline), Some(part)) = (&mut self.timeline, &mut own.timeline) {
            timeline.take_over(part);
        }
        Ok(())
    }

    /// Writes everything that was told: how much that is.
    pub fn lengths(&mut self) -> Result<FileLengths, FileError> {
        self.rounds.flush()?;
        self.clients.as_mut().map_or(Ok(()), TableFile::flush)?;
        Ok(FileLengths {
            rounds: self.rounds.length(),
            clients: self.clients.as_ref().map(TableFile::length).unwrap_or_default(),
            latencies: self.latencies.flush()?,
            timeline: self.timeline.as_mut().map_or(Ok(0), Timeline::checkpoint)?,
        })
    }

    /// What was written is on the disk when this returns.
    pub fn sync(&self) -> Result<(), FileError> {
        self.rounds.sync()?;
        self.clients.as_ref().map_or(Ok(()), TableFile::sync)?;
        self.latencies.sync()?;
        self.timeline.as_ref().map_or(Ok(()), Timeline::sync)
    }

    /// No more rows will come.
    pub fn finish(self) -> Result<(), FileError> {
        self.sync()?;
        self.timeline.map_or(Ok(()), Timeline::finish)
    }
}
