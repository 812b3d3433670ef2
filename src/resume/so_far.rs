//! A run as far as it came. One that was killed, or still goes on, has a summary of the cells that were over when it
//! was written last; of the cell that was under way there are rows, and what can be known of it is made of them.

use super::cells::{finished_cells, kept_cell};
use super::codec::CheckpointError;
use crate::clock::SimTime;
use crate::device::Payload;
use crate::observer::{Observer, ObserverError};
use crate::record::{ClientRow, RoundRow};
use crate::report::{
    CELLS, Detail, FileLengths, Findings, Gathering, Ledger, PageRun, TableLength, holder,
};
use crate::run_files::{
    CellColumns, CellId, ClientColumns, ClientsCsv, OverSeeds, ReadError, RoundColumns, RoundsCsv,
    RunTable, Status, Summary, TableRows, VariantSummary, read_file,
};
use crate::scenario::RecordClients;
use crate::sweep::SweptKey;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A run that is over, was killed or goes on.
pub struct RunSoFar {
    /// Where it is.
    pub folder: PathBuf,
    /// Its summary, with an entry for the cell that was under way.
    pub summary: Summary,
    /// Who runs it now, if it goes on.
    pub holder: Option<String>,
    /// Its summary as it was written, if nothing was added.
    written: Option<String>,
    findings: Map<String, Value>,
}

impl RunSoFar {
    /// Reads the folder of a run, and sees that its files belong together.
    pub fn read(folder: &Path) -> Result<RunSoFar, ReadError> {
        let text = read_file(folder, Summary::FILE)?;
        let summary = Summary::parse(&folder.join(Summary::FILE), text.as_bytes())?;
        let findings = read_findings(folder)?;
        let (folder, written) = (folder.to_owned(), Some(text));
        let mut run = RunSoFar { folder, summary, holder: None, written, findings };
        if run.summary.status == Status::Incomplete {
            run.holder = holder(&run.folder);
        }
        let drawn = run.findings.get("runs").and_then(Value::as_array).map_or(0, Vec::len);
        match drawn {
            0 => run.add_cells()?,
            _ => run.compare_findings()?,
        }
        Ok(run)
    }

    /// The run for a page.
    pub fn page_run(&self) -> Result<PageRun, ReadError> {
        let text = self.written.clone().unwrap_or_else(|| self.summary.to_json());
        let scenario = self.summary.read_scenario(&self.folder)?;
        Ok(PageRun::new(
            &self.folder,
            &self.summary,
            text,
            (self.findings.clone(), scenario, self.holder.as_deref()),
        ))
    }

    /// Which cells did not come to their end, each in words.
    pub fn unfinished(&self) -> Vec<String> {
        let unfinished = self.summary.variants.iter().filter(|cell| !cell.is_over());
        let words = |cell: &VariantSummary| {
            let plural = if cell.rounds == 1 { "" } else { "s" };
            format!("{} with seed {} has {} round{plural}", cell.name, cell.seed, cell.rounds)
        };
        unfinished.map(words).collect()
    }

    /// Adds the cells that are not in the summary, and findings, which are written at the end.
    fn add_cells(&mut self) -> Result<(), ReadError> {
        let list = self.folder.join(CELLS);
        let broken =
            |error: CheckpointError| ReadError::broken(&list, error.to_string().replace('\n', " "));
        let finished = finished_cells(&self.folder).map_err(broken)?;
        let (known, lengths) =
            (finished.len(), finished.last().map(|cell| cell.lengths).unwrap_or_default());
        let mut drawn = Vec::new();
        for (index, cell) in finished.into_iter().enumerate() {
            drawn.extend(cell.findings.and_then(|findings| serde_json::to_value(findings).ok()));
            if index >= self.summary.variants.len() {
                self.summary.variants.push(cell.summary);
                self.written = None;
            }
        }
        // The one at the top, then those that ran beside it.
        let mut folders = vec![(self.folder.clone(), lengths)];
        folders.extend(cell_folders(&list).into_iter().map(|path| (path, FileLengths::default())));
        for (folder, lengths) in folders {
            let kept = match folder == self.folder {
                true => None,
                false => kept_cell(&folder).map_err(broken)?,
            };
            let (told, findings) = match kept {
                Some(cell) => {
                    let drawn = cell.findings.and_then(|one| serde_json::to_value(one).ok());
                    (cell.summary, drawn)
                }
                None => match UnfinishedCell::find(&folder, &self.summary.swept, lengths)? {
                    Some(cell) => cell.tell()?,
                    None => continue,
                },
            };
            // A summary may tell of cells that are not in the list yet.
            let mut others = self.summary.variants.iter().skip(known);
            if !others.any(|other| other.name == told.name && other.seed == told.seed) {
                self.summary.variants.push(told);
                drawn.extend(findings);
                self.written = None;
            }
        }
        if self.written.is_none() || self.summary.over_seeds.is_empty() {
            self.summary.over_seeds = OverSeeds::of(&self.summary.variants);
        }
        self.findings.insert("runs".into(), drawn.into());
        Ok(())
    }

    /// Findings are of the cells of the summary, from the first on.
    fn compare_findings(&self) -> Result<(), ReadError> {
        let drawn = self.findings.get("runs").and_then(Value::as_array);
        let told = self.summary.variants.iter();
        let differ = drawn.into_iter().flatten().zip(told).any(|(drawn, told)| {
            drawn["variant"] != *told.name || drawn["seed"].as_u64() != Some(told.seed)
        });
        let digest = self.findings.get("scenario_digest").and_then(Value::as_str);
        match differ || digest.is_some_and(|digest| digest != self.summary.scenario_digest) {
            true => {
                let what = "it is not of the run that summary.json is of";
                let error = ReadError::broken(self.folder.join(Findings::FILE), what);
                Err(error
                    .help("are there files of two runs in this folder? Run the scenario again"))
            }
            false => Ok(()),
        }
    }
}

fn read_findings(folder: &Path) -> Result<Map<String, Value>, ReadError> {
    match read_file(folder, Findings::FILE) {
        Ok(text) => serde_json::from_str(&text)
            .map_err(|error| ReadError::broken(folder.join(Findings::FILE), error)),
        Err(error) if error.is_missing_file() => Ok(Map::new()),
        Err(error) => Err(error),
    }
}

/// The folders of cells that ran side by side, in order.
fn cell_folders(cells: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(cells).into_iter().flatten().flatten();
    let number = |path: &PathBuf| path.file_name()?.to_str()?.parse::<u64>().ok();
    let paths = entries.map(|entry| entry.path());
    let mut found: Vec<(u64, PathBuf)> =
        paths.filter_map(|path| Some((number(&path)?, path))).collect();
    found.sort();
    found.into_iter().map(|(_, path)| path).collect()
}

/// A cell that was under way: the rows in a folder after those of the cells that are over.
struct UnfinishedCell<'a> {
    folder: &'a Path,
    swept: &'a [SweptKey],
    lengths: FileLengths,
    id: CellId,
    /// When each of its rounds closed.
    closed: BTreeMap<u64, SimTime>,
}

impl<'a> UnfinishedCell<'a> {
    /// The cell of the last row of a round; `None` if there is none.
    fn find(
        folder: &'a Path,
        swept: &'a [SweptKey],
        lengths: FileLengths,
    ) -> Result<Option<Self>, ReadError> {
        let mut found: Option<UnfinishedCell<'_>> = None;
        let Some(mut rounds) = RoundRows::open(folder, swept, lengths)? else { return Ok(None) };
        while let Some((id, row)) = rounds.next()? {
            let cell = match found {
                Some(ref mut cell) if cell.id == id => cell,
                _ => found.insert(UnfinishedCell {
                    folder,
                    swept,
                    lengths,
                    id,
                    closed: BTreeMap::new(),
                }),
            };
            cell.closed.insert(row.round, row.closed);
        }
        Ok(found)
    }

    /// What can be known of it.
    fn tell(&self) -> Result<(VariantSummary, Option<Value>), ReadError> {
        let mut classes: BTreeMap<String, BTreeSet<u32>> = BTreeMap::new();
        self.each_client(|row, class| {
            match classes.get_mut(class) {
                Some(clients) => drop(clients.insert(row.client)),
                None => drop(classes.insert(class.into(), BTreeSet::from([row.client]))),
            }
            Ok(())
        })?;
        if classes.is_empty() {
            classes.insert("clients".into(), BTreeSet::new());
        }
        let names: Vec<String> = classes.keys().cloned().collect();
        let sizes: Vec<u64> = classes.values().map(|clients| clients.len() as u64).collect();
        let clients = sizes.iter().sum::<u64>() as usize;
        let cell = self.id.clone();
        // How much travels is not in the rows.
        let (payload, record) = (Payload { down: 0, up: 0 }, (RecordClients::Off, 0));
        let mut ledger = Ledger::new(cell, payload, (names.clone(), &sizes), None, record, None);
        ledger.gather(Gathering::new(Detail::of(1, true), clients, Vec::new()));
        self.replay(&mut ledger, &names)?;
        let findings = ledger.findings().and_then(|findings| serde_json::to_value(findings).ok());
        let (told, _) =
            ledger.summary(None, Duration::ZERO, ([Duration::ZERO; 2], 0), String::new());
        Ok((VariantSummary { digest: String::new(), time: Vec::new(), ..told }, findings))
    }

    /// Tells a ledger of its rows, in the order in which they happened.
    fn replay(&self, ledger: &mut Ledger, names: &[String]) -> Result<(), ReadError> {
        let Some(mut rounds) = RoundRows::open(self.folder, self.swept, self.lengths)? else {
            return Ok(());
        };
        let mut next = rounds.next_of(&self.id)?;
        let told = |error: ObserverError| ReadError::broken(self.folder, error);
        let mut arrivals = Vec::new();
        self.each_client(|mut row, class| {
            while let Some(round) = next.take_if(|round| round.closed < row.arrived) {
                ledger.arrived(&arrivals).and_then(|()| ledger.closed(&round)).map_err(told)?;
                arrivals.clear();
                next = rounds.next_of(&self.id)?;
            }
            row.class = names.iter().position(|name| name == class).unwrap_or(0) as u16;
            if let Some(closed) = self.closed.get(&row.round).filter(|_| row.staleness > 0) {
                row.superseded = row.arrived.since(*closed);
            }
            arrivals.push(row);
            Ok(())
        })?;
        ledger.arrived(&arrivals).map_err(told)?;
        while let Some(round) = next {
            ledger.closed(&round).map_err(told)?;
            next = rounds.next_of(&self.id)?;
        }
        Ok(())
    }

    /// Its participations, each with the name of the client's class.
    fn each_client(
        &self,
        mut take: impl FnMut(ClientRow, &str) -> Result<(), ReadError>,
    ) -> Result<(), ReadError> {
        let Some(mut rows) = open::<ClientsCsv>(self.folder, self.swept, self.lengths.clients)?
        else {
            return Ok(());
        };
        let columns = ClientColumns::find(rows.header())?;
        while let Some(line) = rows.next_row()? {
            let line = columns.read(&line, u32::MAX)?;
            if (&*line.variant, line.seed) == (&*self.id.name, self.id.seed) {
                take(line.row, line.class)?;
            }
        }
        Ok(())
    }
}

/// The rounds after those of the cells that are over.
struct RoundRows {
    rows: TableRows<RoundsCsv>,
    columns: RoundColumns,
    cell: CellColumns,
    swept: Vec<SweptKey>,
}

impl RoundRows {
    fn open(
        folder: &Path,
        swept: &[SweptKey],
        lengths: FileLengths,
    ) -> Result<Option<Self>, ReadError> {
        let Some(rows) = open::<RoundsCsv>(folder, swept, lengths.rounds)? else {
            return Ok(None);
        };
        let header = rows.header();
        let (cell, swept) = (CellColumns::find(header)?, swept.to_vec());
        Ok(Some(RoundRows { columns: RoundColumns::find(header)?, cell, swept, rows }))
    }

    fn next(&mut self) -> Result<Option<(CellId, RoundRow)>, ReadError> {
        let Some(line) = self.rows.next_row()? else { return Ok(None) };
        Ok(Some((self.cell.id(&line, &self.swept)?, self.columns.read(&line)?)))
    }

    /// The next one of a cell.
    fn next_of(&mut self, cell: &CellId) -> Result<Option<RoundRow>, ReadError> {
        while let Some((id, row)) = self.next()? {
            if id == *cell {
                return Ok(Some(row));
            }
        }
        Ok(None)
    }
}

/// A table after the part that belongs to the cells that are over; `None` if there is none.
fn open<T: RunTable>(
    folder: &Path,
    swept: &[SweptKey],
    over: TableLength,
) -> Result<Option<TableRows<T>>, ReadError> {
    if !folder.join(T::FILE).exists() {
        return Ok(None);
    }
    match TableRows::open_as_part(folder, swept, None) {
        // Killed before it had a header.
        Ok(rows) if rows.is_empty() => Ok(None),
        Ok(mut rows) => rows.skip((over.bytes, over.rows)).map(|()| Some(rows)),
        Err(error) if error.is_missing_file() => Ok(None),
        Err(error) => Err(error),
    }
}
