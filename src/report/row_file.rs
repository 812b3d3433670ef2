//! A file of lines that always ends with a whole one.

use crate::run_files::{RunKey, RunTable};
use crate::sweep::SweptKey;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A file could not be written. What is in it already stays.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {}: {source}{}", path.display(), advice(source))]
#[non_exhaustive]
pub struct FileError {
    /// Which file.
    pub path: PathBuf,
    /// Why.
    pub source: io::Error,
}

/// What to do, where that is known.
fn advice(source: &io::Error) -> &'static str {
    match source.kind() {
        // Files are created before they are written to, so this one was there.
        io::ErrorKind::NotFound => {
            "\n  = help: was a file or folder of the run deleted? --force begins anew"
        }
        _ => "",
    }
}

impl FileError {
    pub(super) fn at(path: &Path) -> impl FnOnce(io::Error) -> FileError + '_ {
        move |source| FileError { path: path.to_owned(), source }
    }
}

/// Bytes that are gathered before the file is written to.
const FULL: usize = 1 << 16;
/// How long a line may wait, so that a run that is killed leaves nearly all it had.
const PATIENCE: Duration = Duration::from_millis(200);

/// Gathers lines and writes many at once. If the disk is full, the part of a line that still
/// fitted is taken back.
pub struct RowFile {
    path: PathBuf,
    file: File,
    buffer: Vec<u8>,
    written: u64,
    flushed: Instant,
}

impl RowFile {
    /// Creates the file with `header` as its first line.
    pub fn create(path: &Path, header: &str) -> Result<Self, FileError> {
        let file = File::create(path).map_err(FileError::at(path))?;
        let buffer = Vec::with_capacity(FULL + 4096);
        let mut rows =
            RowFile { path: path.to_owned(), file, buffer, written: 0, flushed: Instant::now() };
        rows.buffer.extend_from_slice(header.as_bytes());
        rows.buffer.push(b'\n');
        rows.flush()?;
        Ok(rows)
    }

    /// Goes on with a file of which `length` bytes are kept.
    pub fn resume(path: &Path, length: u64) -> Result<Self, FileError> {
        let file = reopen(path, length).map_err(FileError::at(path))?;
        let (path, buffer) = (path.to_owned(), Vec::with_capacity(FULL + 4096));
        Ok(RowFile { path, file, buffer, written: length, flushed: Instant::now() })
    }

    /// Bytes that are written.
    pub fn length(&self) -> u64 {
        self.written
    }

    /// What is written is on the disk when this returns.
    pub fn sync(&self) -> Result<(), FileError> {
        self.file.sync_data().map_err(FileError::at(&self.path))
    }

    /// Adds a line: `write` appends it to the buffer, with its end.
    pub fn push(&mut self, write: impl FnOnce(&mut Vec<u8>)) -> Result<(), FileError> {
        write(&mut self.buffer);
        if self.buffer.len() >= FULL { self.flush() } else { Ok(()) }
    }

    /// Adds what another file has from one place to another; what is gathered comes first.
    pub fn append(&mut self, path: &Path, from: u64, to: u64) -> Result<(), FileError> {
        self.flush()?;
        let mut other = File::open(path).map_err(FileError::at(path))?;
        other.seek(SeekFrom::Start(from)).map_err(FileError::at(path))?;
        let wanted = to.saturating_sub(from);
        let copied = io::copy(&mut other.take(wanted), &mut self.file);
        let copied = copied.map_err(FileError::at(&self.path))?;
        self.written += copied;
        match copied == wanted {
            true => Ok(()),
            false => {
                let what = format!("it has {} bytes of the {to} that were written", from + copied);
                Err(FileError::at(path)(io::Error::new(io::ErrorKind::UnexpectedEof, what)))
            }
        }
    }

    /// Writes what has waited long enough.
    pub fn tick(&mut self) -> Result<(), FileError> {
        if self.flushed.elapsed() >= PATIENCE { self.flush() } else { Ok(()) }
    }

    /// Writes everything gathered.
    pub fn flush(&mut self) -> Result<(), FileError> {
        self.flushed = Instant::now();
        let result = self.file.write_all(&self.buffer);
        if let Err(source) = result {
            self.take_back_part_of_a_line();
            self.buffer.clear();
            return Err(FileError { path: self.path.clone(), source });
        }
        self.written += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }

    fn take_back_part_of_a_line(&mut self) {
        let end = self.file.seek(SeekFrom::End(0)).unwrap_or(self.written);
        let fitted = (end - self.written).min(self.buffer.len() as u64) as usize;
        let whole = self.buffer[..fitted].iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1);
        // Already in trouble: if even this fails there is nothing better to do.
        let _ = self.file.set_len(self.written + whole as u64);
    }
}

/// Opens a file to go on after its first `length` bytes.
fn reopen(path: &Path, length: u64) -> io::Result<File> {
    let mut file = File::options().read(true).write(true).open(path)?;
    let there = file.metadata()?.len();
    if there < length {
        let what = format!("it has {there} bytes of the {length} that were written");
        return Err(io::Error::new(io::ErrorKind::UnexpectedEof, what));
    }
    file.set_len(length)?;
    file.seek(SeekFrom::End(0))?;
    Ok(file)
}

impl Drop for RowFile {
    fn drop(&mut self) {
        // Reached with lines left only when the run failed; its own error is the one to report.
        let _ = self.flush();
    }
}

/// A file with the table `T`, open for the whole scenario.
pub struct TableFile<T> {
    file: RowFile,
    /// Bytes of the header.
    header: u64,
    rows: u64,
    table: PhantomData<T>,
}

impl<T: RunTable> TableFile<T> {
    /// Creates the file in `folder`, with a column for every swept key.
    pub fn create(folder: &Path, swept: &[SweptKey]) -> Result<Self, FileError> {
        let header = T::header(swept);
        let file = RowFile::create(&folder.join(T::FILE), &header)?;
        let header = header.len() as u64 + 1;
        Ok(TableFile { file, header, rows: 0, table: PhantomData })
    }

    /// Goes on with the file in `folder`, of which this much is kept.
    pub fn resume(folder: &Path, swept: &[SweptKey], kept: TableLength) -> Result<Self, FileError> {
        let file = RowFile::resume(&folder.join(T::FILE), kept.bytes)?;
        let header = T::header(swept).len() as u64 + 1;
        Ok(TableFile { file, header, rows: kept.rows, table: PhantomData })
    }

    /// Adds the rows of the table in another folder, of which so much was written.
    pub fn append(&mut self, folder: &Path, written: TableLength) -> Result<(), FileError> {
        self.rows += written.rows;
        self.file.append(&folder.join(T::FILE), self.header, written.bytes)
    }

    /// How much is written, and rows that were added.
    pub fn length(&self) -> TableLength {
        TableLength { bytes: self.file.length(), rows: self.rows }
    }

    /// What is written is on the disk when this returns.
    pub fn sync(&self) -> Result<(), FileError> {
        self.file.sync()
    }

    /// Adds a row of a run.
    pub fn add(&mut self, run: &RunKey, row: &T::Row<'_>) -> Result<(), FileError> {
        self.rows += 1;
        self.file.push(|out| T::write_row(out, run, row))
    }

    /// Adds some of the rows of the table in another folder.
    pub fn append_range(&mut self, folder: &Path, range: RowRange) -> Result<(), FileError> {
        self.rows += range.rows;
        self.file.append(&folder.join(T::FILE), range.from, range.to)
    }

    /// Writes what has waited long enough.
    pub fn tick(&mut self) -> Result<(), FileError> {
        self.file.tick()
    }

    /// Writes everything gathered.
    pub fn flush(&mut self) -> Result<(), FileError> {
        self.file.flush()
    }
}

/// Rows of a table that come one after the other: between which bytes of the file, and how many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct RowRange {
    pub from: u64,
    pub to: u64,
    pub rows: u64,
}

/// How long a table is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct TableLength {
    pub bytes: u64,
    pub rows: u64,
}
