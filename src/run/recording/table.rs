//! The CSV files of a run's folder, read line by line.

use gruppetto_trace::TraceError;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

/// Cells of one run in a file that holds those of all.
pub(super) struct Table {
    path: PathBuf,
    lines: BufReader<File>,
    /// How a line of the run begins.
    prefix: String,
    /// Where the columns asked for are, and how many there are in all.
    places: Vec<usize>,
    columns: usize,
    line: Vec<u8>,
    number: u64,
}

/// A line of the run.
pub(super) struct Line<'a> {
    path: &'a Path,
    names: &'a [&'static str],
    cells: Vec<&'a str>,
    number: u64,
}

impl Table {
    /// Opens a file whose lines begin with `variant` and `seed`, for the columns `names`.
    pub(super) fn open(
        path: &Path,
        (variant, seed): (&str, u64),
        names: &[&'static str],
    ) -> Result<Self, TraceError> {
        let file = File::open(path).map_err(|error| {
            TraceError::io(path, "read", &error).help("every run with rows of its clients has one")
        })?;
        let mut table = Table {
            path: path.to_owned(),
            lines: BufReader::with_capacity(1 << 16, file),
            prefix: format!("{variant},{seed},"),
            places: Vec::new(),
            columns: 0,
            line: Vec::new(),
            number: 0,
        };
        table.read()?;
        let header = String::from_utf8_lossy(&table.line).into_owned();
        let columns: Vec<&str> = header.split(',').collect();
        table.columns = columns.len();
        for name in names {
            let place = columns.iter().position(|column| column == name);
            table.places.push(place.ok_or_else(|| {
                let error = TraceError::new(path, format!("there is no column `{name}`"));
                error.at("line 1").help("was it written by this version of Gruppetto?")
            })?);
        }
        Ok(table)
    }

    /// The next line of the run, if there is one.
    pub(super) fn next<'a>(
        &'a mut self,
        names: &'a [&'static str],
    ) -> Result<Option<Line<'a>>, TraceError> {
        while self.read()? {
            if self.line.starts_with(self.prefix.as_bytes()) {
                return self.cells(names).map(Some);
            }
        }
        Ok(None)
    }

    fn cells<'a>(&'a self, names: &'a [&'static str]) -> Result<Line<'a>, TraceError> {
        let (path, number) = (&self.path, self.number);
        let wrong = |what: String| TraceError::new(path, what).at(format!("line {number}"));
        let text = std::str::from_utf8(&self.line).map_err(|_| wrong("it is not text".into()))?;
        let all: Vec<&str> = text.split(',').collect();
        if all.len() != self.columns {
            let (found, wanted) = (all.len(), self.columns);
            return Err(wrong(format!("found {found} cells, expected {wanted} as in the header")));
        }
        let cells = self.places.iter().map(|place| all[*place]).collect();
        Ok(Line { path, names, cells, number })
    }

    fn read(&mut self) -> Result<bool, TraceError> {
        self.line.clear();
        let read = self.lines.read_until(b'\n', &mut self.line);
        let read = read.map_err(|error| TraceError::io(&self.path, "read", &error))?;
        while self.line.last().is_some_and(|byte| matches!(byte, b'\n' | b'\r')) {
            self.line.pop();
        }
        self.number += 1;
        Ok(read > 0)
    }
}

impl<'a> Line<'a> {
    /// The cell of a column, by its place in the list asked for.
    pub(super) fn text(&self, column: usize) -> &'a str {
        self.cells[column]
    }

    /// A whole number.
    pub(super) fn whole(&self, column: usize) -> Result<u64, TraceError> {
        let cell = self.text(column);
        let digits = !cell.is_empty() && cell.bytes().all(|byte| byte.is_ascii_digit());
        let number = digits.then(|| cell.parse().ok()).flatten();
        number.ok_or_else(|| self.odd(column, "a whole number below 2^64"))
    }

    /// Seconds with nine decimals, as nanoseconds.
    pub(super) fn nanos(&self, column: usize) -> Result<u64, TraceError> {
        let cell = self.text(column);
        let whole = cell.split_once('.').filter(|(_, decimals)| decimals.len() == 9);
        let whole = whole.and_then(|(seconds, decimals)| {
            let whole = seconds.parse::<u64>().ok()?.checked_mul(1_000_000_000)?;
            whole.checked_add(decimals.parse().ok()?)
        });
        whole.ok_or_else(|| self.odd(column, "seconds with nine decimals"))
    }

    /// The cell of a column is not what it should be.
    pub(super) fn odd(&self, column: usize, expected: &str) -> TraceError {
        // An edited file may hold anything.
        let found: String = self.text(column).chars().take(32).map(visible).collect();
        self.wrong(format!("column `{}`: found `{found}`, expected {expected}", self.names[column]))
    }

    /// Something is wrong with the line.
    pub(super) fn wrong(&self, what: impl Into<String>) -> TraceError {
        TraceError::new(self.path, what).at(format!("line {}", self.number))
    }
}

fn visible(c: char) -> char {
    if c.is_control() { '�' } else { c }
}
