//! The rows of a table in a run's folder, read from the first to the last.

use super::cell_columns::CellColumns;
use super::columns::RunTable;
use super::header::{TableHeader, TableLine};
use super::read_error::{ReadError, expect_file};
use super::summary_json::Summary;
use crate::sweep::SweptKey;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

/// Bytes of the longest line: a run writes some hundred.
const LONGEST: u64 = 1 << 20;

/// A file with the table `T`, read line by line.
pub struct TableRows<T> {
    header: TableHeader<T>,
    lines: BufReader<File>,
    line: Vec<u8>,
    number: u64,
    /// Rows that the run has written, if it has written them all.
    expected: Option<u64>,
}

impl<T: RunTable> TableRows<T> {
    /// Opens the table in a run's folder and reads its header. Reading it to its end is an error if it has not the
    /// rows that `summary.json` says.
    pub fn open(folder: &Path) -> Result<Self, ReadError> {
        let summary = Summary::read(folder)?;
        TableRows::open_as_part(folder, &summary.swept, summary.rows_of::<T>())
    }

    /// The same in a folder that has no summary of its own, of a run in which these keys are swept.
    pub fn open_as_part(
        folder: &Path,
        swept: &[SweptKey],
        expected: Option<u64>,
    ) -> Result<Self, ReadError> {
        expect_file(&folder.join(T::FILE))?;
        let file = File::open(folder.join(T::FILE)).map_err(ReadError::of(folder, T::FILE))?;
        let path = folder.join(T::FILE);
        let lines = BufReader::with_capacity(1 << 16, file);
        let header = TableHeader::new(&path, "");
        let mut rows = TableRows { header, lines, line: Vec::new(), number: 0, expected };
        rows.read()?;
        let header = TableHeader::new(&path, &String::from_utf8_lossy(&rows.line));
        rows.header = header.with_swept(swept);
        Ok(rows)
    }

    /// Whether there is not even a header: the run was killed before it wrote one.
    pub fn is_empty(&self) -> bool {
        self.line.is_empty()
    }

    /// Leaves out what is before this many bytes of the file, so many rows.
    pub fn skip(&mut self, (bytes, rows): (u64, u64)) -> Result<(), ReadError> {
        if bytes > 0 {
            let place = self.lines.seek(SeekFrom::Start(bytes));
            place.map_err(|source| ReadError::Read { path: self.header.path().into(), source })?;
            self.number = rows + 1;
        }
        Ok(())
    }

    /// The columns of the file.
    pub fn header(&self) -> &TableHeader<T> {
        &self.header
    }

    /// The next row, if there is one.
    pub fn next_row(&mut self) -> Result<Option<TableLine<'_, '_, T>>, ReadError> {
        if !self.read()? {
            return self.check_count().map(|()| None);
        }
        let number = Some(self.number);
        let text = str::from_utf8(&self.line)
            .map_err(|_| ReadError::broken(self.header.path(), "it is not text").at(number))?;
        self.header.line(text, number).map(Some)
    }

    fn check_count(&self) -> Result<(), ReadError> {
        // The header is a line, and so is the end.
        let rows = self.number.saturating_sub(2);
        match self.expected {
            Some(expected) if expected != rows => {
                let what = format!(
                    "it has {rows} rows, and summary.json is of a run that wrote {expected}"
                );
                let error = ReadError::broken(self.header.path(), what);
                Err(error
                    .help("was the file changed, or is it of another run? Run the scenario again"))
            }
            _ => Ok(()),
        }
    }

    /// Reads a line, without its end. The last one of a run that was killed may be cut off: it does not count.
    fn read(&mut self) -> Result<bool, ReadError> {
        self.line.clear();
        let read =
            self.lines.by_ref().take(LONGEST).read_until(b'\n', &mut self.line).map_err(
                |source| ReadError::Read { path: self.header.path().to_owned(), source },
            )?;
        if read as u64 == LONGEST {
            let what = format!("a line of {LONGEST} bytes or more");
            return Err(ReadError::broken(self.header.path(), what).at(Some(self.number + 1)));
        }
        let is_whole = self.line.last() == Some(&b'\n');
        while self.line.last().is_some_and(|byte| matches!(byte, b'\n' | b'\r')) {
            self.line.pop();
        }
        self.number += 1;
        Ok(is_whole)
    }
}

/// The rows of one run, in a file that has those of all runs.
pub struct RowsOfRun<'a, T> {
    rows: TableRows<T>,
    run: (&'a str, u64),
    cell: CellColumns,
}

impl<'a, T: RunTable> RowsOfRun<'a, T> {
    /// Opens the table in a run's folder for the rows of a combination, by its label, with a seed.
    pub fn open(folder: &Path, run: (&'a str, u64)) -> Result<Self, ReadError> {
        let rows = TableRows::open(folder)?;
        let cell = CellColumns::find(rows.header())?;
        Ok(RowsOfRun { rows, run, cell })
    }

    /// The columns of the table.
    pub fn header(&self) -> &TableHeader<T> {
        self.rows.header()
    }

    /// Calls `take` with every row of the run, until one is refused.
    pub fn each(
        &mut self,
        mut take: impl FnMut(&TableLine<'_, '_, T>) -> Result<(), ReadError>,
    ) -> Result<(), ReadError> {
        while let Some(line) = self.rows.next_row()? {
            let (name, seed) = self.cell.read(&line)?;
            if (&*name, seed) == self.run {
                take(&line)?;
            }
        }
        Ok(())
    }
}
