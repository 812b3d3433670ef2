//! What a run is put together from: its cells, one after the other in their order, however they were run.

use super::cells::Cell;
use super::latencies::{LatenciesOverSeeds, recall};
use super::one::{CellOutcome, LiveCell, Told};
use super::{Error, Options};
use crate::report::{
    FileError, FileLengths, Files, FilesWanted, Findings, LATENCIES, RunFolder, recorded,
    sync_folder,
};
use crate::resume::{CellPath, CellsFolder, FinishedCell};
use crate::run_files::Summary;
use crate::scenario::{RecordClients, Scenario};
use std::time::{Duration, Instant};

/// A run that is put together.
pub(super) struct Assembly<'a> {
    folder: Option<&'a RunFolder>,
    cells: Option<CellsFolder>,
    wanted: FilesWanted,
    files: Option<Files>,
    latencies: LatenciesOverSeeds,
    summary: &'a mut Summary,
    findings: &'a mut Findings,
    /// When the summary was written last.
    told: Instant,
    /// Whether a cell before did not come to its end.
    has_gap: bool,
}

/// The files of a cell that ran beside others.
pub(super) struct OwnFiles {
    pub(super) folder: CellPath,
    pub(super) written: FileLengths,
}

impl<'a> Assembly<'a> {
    /// Begins, or goes on after the cells that are over; how many that are.
    pub(super) fn begin(
        scenario: &Scenario,
        options: &Options,
        folder: Option<&'a RunFolder>,
        (summary, findings): (&'a mut Summary, &'a mut Findings),
    ) -> Result<(Self, usize), Error> {
        let mut cells = folder.map(|folder| CellsFolder::of(folder.run_path()));
        let finished = match &mut cells {
            Some(cells) if options.resume => cells.finished()?,
            _ => Vec::new(),
        };
        let wanted = wanted(scenario);
        let files = match folder {
            Some(folder) => {
                let files = open_files(scenario, folder, &wanted, summary, &finished)?;
                // Without runs, until they are over: killed before that, the run still tells what it is about.
                folder.write_findings(findings)?;
                Some(files)
            }
            None => None,
        };
        let over = finished.len();
        for FinishedCell { summary: told, findings: drawn, .. } in finished {
            summary.variants.push(told);
            findings.runs.extend(drawn);
        }
        let mut latencies = LatenciesOverSeeds::default();
        if let Some(folder) = folder.filter(|_| over > 0) {
            latencies.recall(&folder.file(LATENCIES), summary, scenario.repeats > 1)?;
        }
        let told = Instant::now();
        let assembly = Assembly {
            folder,
            cells,
            wanted,
            files,
            latencies,
            summary,
            findings,
            told,
            has_gap: false,
        };
        Ok((assembly, over))
    }

    /// The cells' folder, if there is one.
    pub(super) fn cells(&self) -> Option<&CellsFolder> {
        self.cells.as_ref()
    }

    /// What a cell that runs beside others writes.
    pub(super) fn wanted(&self) -> &FilesWanted {
        &self.wanted
    }

    /// The cell whose turn it is goes on with the files at the top, where people look for its rows.
    pub(super) fn let_in(&mut self, cell: &Cell<'_>, live: &LiveCell) -> Result<(), Error> {
        if let (Some(cells), Some(files)) = (&self.cells, self.files.take()) {
            self.files = live.move_to(files, &cells.folder(cell.number))?;
        }
        Ok(())
    }

    /// The files at the top, for the cell whose turn it is.
    pub(super) fn take_files(&mut self) -> Option<Files> {
        self.files.take()
    }

    /// Adds the next cell, and its own files if it has some; it has come to its end unless it was `interrupted`.
    pub(super) fn add(
        &mut self,
        cell: &Cell<'_>,
        outcome: CellOutcome,
        own: Option<OwnFiles>,
        interrupted: bool,
    ) -> Result<(), Error> {
        let CellOutcome { told, files, trouble } = outcome;
        match (&own, &mut self.files) {
            (Some(own), Some(files)) => {
                own.folder.using(|folder| files.append(folder, own.written))?;
            }
            (Some(_), None) => {}
            (None, _) => self.files = files,
        }
        let drawn = told.as_ref().and_then(|told| told.findings.clone());
        if let Some(Told { summary: run, findings, phases }) = told {
            let name = run.name.clone();
            self.summary.variants.push(run);
            self.findings.runs.extend(findings);
            self.latencies.add(self.summary, &name, &phases);
        }
        if let Some(trouble) = trouble {
            return Err(trouble);
        }
        self.has_gap |= interrupted;
        if self.has_gap {
            // The list of cells that are over has no gaps.
            if let (Some(cells), Some(own), Some(run), false) =
                (&self.cells, own, self.summary.variants.last(), interrupted)
            {
                let (summary, lengths) = (run.clone(), own.written);
                cells.keep(cell.number, &FinishedCell { summary, findings: drawn, lengths })?;
            }
            return Ok(());
        }
        if let (Some(cells), Some(files), Some(run)) =
            (&mut self.cells, &mut self.files, self.summary.variants.last())
        {
            cells.finish(cell.number, run, drawn.as_ref(), files)?;
        }
        // Killed in a later run, the folder still tells of those that are over; thousands of short ones need not be
        // told one by one.
        if let Some(folder) = self.folder
            && (self.summary.variants.len() < 64 || self.told.elapsed() > Duration::from_secs(1))
        {
            folder.write_summary(self.summary)?;
            self.told = Instant::now();
        }
        Ok(())
    }

    /// Everything was added.
    pub(super) fn finish(mut self) -> Result<(), Error> {
        let Some(mut files) = self.files else { return Ok(()) };
        if let Some(cells) = &mut self.cells {
            cells.flush(&files)?;
        }
        let lengths = files.lengths()?;
        self.summary.files.rounds = Some(lengths.rounds.rows);
        self.summary.files.clients = files.clients.as_ref().map(|_| lengths.clients.rows);
        Ok(files.finish()?)
    }
}

/// What a run of the scenario writes.
fn wanted(scenario: &Scenario) -> FilesWanted {
    let most = scenario.variants.iter().map(|variant| variant.plan.task.clients).max();
    let shown = || recorded(scenario.record_timeline, scenario.seed, most.unwrap_or(0));
    FilesWanted {
        swept: scenario.sweep.clone(),
        clients: scenario.record_clients != RecordClients::Off,
        timeline: (scenario.record_timeline != RecordClients::Off).then(shown),
    }
}

/// Opens the files of the run, to go on after the cells that are over.
fn open_files(
    scenario: &Scenario,
    folder: &RunFolder,
    wanted: &FilesWanted,
    summary: &Summary,
    finished: &[FinishedCell],
) -> Result<Files, Error> {
    // Killed at any moment from now on, the folder says that it is incomplete.
    let mut known = summary.clone();
    known.variants.extend(finished.iter().map(|cell| cell.summary.clone()));
    folder.write_summary(&known)?;
    // A run that goes on may find its files elsewhere.
    folder.write("scenario.toml", scenario.resolved.as_bytes())?;
    // Made of a part of the run, they would stay as they are.
    for exported in ["runs.csv", "runs.parquet", "rounds.parquet", "clients.parquet"] {
        let _ = std::fs::remove_file(folder.file(exported));
    }
    let path = &*folder.path();
    if let Some(FinishedCell { lengths, .. }) = finished.last() {
        return Ok(Files::resume(path, wanted, *lengths)?);
    }
    let files = Files::create(path, wanted)?;
    // Checkpoints and cells that are over rely on these files.
    sync_folder(path).map_err(|source| FileError { path: path.to_owned(), source })?;
    Ok(files)
}

/// What a cell that had come to its end before it was its turn left in its folder.
pub(super) fn from_before(
    finished: FinishedCell,
    folder: &CellPath,
    several_seeds: bool,
) -> Result<CellOutcome, Error> {
    let FinishedCell { summary, findings, .. } = finished;
    let cells = [summary];
    let mut phases = None;
    folder.using(|folder| {
        recall(&folder.join(LATENCIES), &cells, several_seeds, |_, all| {
            phases.get_or_insert(all);
        })
    })?;
    let [summary] = cells;
    let told = Told { summary, findings, phases: phases.unwrap_or_default() };
    Ok(CellOutcome { told: Some(told), files: None, trouble: None })
}
