//! Where the rows of each cell are in a table: they are in the order of the cells, so one range each.

use super::MergeError;
use super::source::MergedRun;
use crate::report::RowRange;
use crate::run_files::{CellColumns, ReadError, RunTable, TableHeader};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;

/// Bytes of the longest line.
const LONGEST: usize = 1 << 20;

/// The rows of a table, by cell.
pub(super) struct RowRanges(BTreeMap<(String, u64), RowRange>);

impl RowRanges {
    /// Reads the table of a run.
    pub(super) fn of<T: RunTable>(source: &MergedRun) -> Result<Self, MergeError> {
        let path = source.folder.join(T::FILE);
        let failed = |error| ReadError::Read { path: path.clone(), source: error };
        let mut lines = BufReader::with_capacity(1 << 18, File::open(&path).map_err(failed)?);
        let mut line = Vec::new();
        let mut offset = read(&mut lines, &mut line, &path)?;
        let text = String::from_utf8_lossy(&line).trim_end().to_string();
        if text != T::header(&source.summary.swept) {
            let what = "its columns are not those of this version";
            return Err(ReadError::broken(&path, what).at(Some(1)).into());
        }
        let mut header = TableHeader::<T>::new(&path, &text);
        let columns = CellColumns::find(&header)?;
        let first = columns.indices().len();
        let (mut ranges, mut rows) = (BTreeMap::new(), 0);
        let (mut key, mut before): (Option<(String, u64)>, Vec<u8>) = (None, Vec::new());
        loop {
            let length = read(&mut lines, &mut line, &path)?;
            if length == 0 {
                break;
            }
            rows += 1;
            // The first cells say whose it is; they are the same for many rows.
            let end = line.iter().enumerate().filter(|(_, byte)| **byte == b',').nth(first - 1);
            let own = &line[..end.map_or(line.len(), |(at, _)| at)];
            if key.is_none() || own != before {
                let text = str::from_utf8(&line)
                    .map_err(|_| ReadError::broken(&path, "it is not text").at(Some(rows + 1)))?;
                let row = header.line(text.trim_end(), Some(rows + 1))?;
                let (name, seed) = columns.read(&row)?;
                let new = (name.into_owned(), seed);
                if ranges.contains_key(&new) {
                    let what = format!("rows of {} with seed {seed} are in two places", new.0);
                    return Err(ReadError::broken(&path, what).at(Some(rows + 1)).into());
                }
                before = own.to_vec();
                ranges.insert(new.clone(), RowRange { from: offset, to: offset, rows: 0 });
                key = Some(new);
            }
            offset += length;
            if let Some(range) = key.as_ref().and_then(|key| ranges.get_mut(key)) {
                (range.to, range.rows) = (offset, range.rows + 1);
            }
        }
        match source.summary.rows_of::<T>() {
            Some(expected) if expected != rows => {
                let what = format!(
                    "it has {rows} rows, and summary.json is of a run that wrote {expected}"
                );
                Err(ReadError::broken(&path, what).into())
            }
            _ => Ok(RowRanges(ranges)),
        }
    }

    /// Those of a cell; it may have none.
    pub(super) fn get(&self, (name, seed): (&str, u64)) -> RowRange {
        self.0.get(&(name.to_string(), seed)).copied().unwrap_or_default()
    }
}

/// Reads a line with its end; its length, 0 at the end of the file.
fn read(lines: &mut BufReader<File>, line: &mut Vec<u8>, path: &PathBuf) -> Result<u64, ReadError> {
    line.clear();
    let failed = |source| ReadError::Read { path: path.clone(), source };
    let length = lines.read_until(b'\n', line).map_err(failed)?;
    match length > LONGEST || (length > 0 && line.last() != Some(&b'\n')) {
        true => Err(ReadError::broken(path, "a line is cut off or far too long")),
        false => Ok(length as u64),
    }
}
