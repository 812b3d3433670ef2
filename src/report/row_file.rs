//! A file of lines that always ends with a whole one.

use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A file could not be written. What is in it already stays.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {}: {source}", path.display())]
pub struct FileError {
    /// Which file.
    pub path: PathBuf,
    /// Why.
    pub source: io::Error,
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

    /// Adds a line: `write` puts it into the buffer without its end.
    pub fn push(&mut self, write: impl FnOnce(&mut Vec<u8>)) -> Result<(), FileError> {
        write(&mut self.buffer);
        self.buffer.push(b'\n');
        if self.buffer.len() >= FULL { self.flush() } else { Ok(()) }
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

impl Drop for RowFile {
    fn drop(&mut self) {
        // Reached with lines left only when the run failed; its own error is the one to report.
        let _ = self.flush();
    }
}

/// Appends a comma and a whole number.
pub(super) fn integer(out: &mut Vec<u8>, value: impl itoa::Integer) {
    out.push(b',');
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

/// Appends a comma and the shortest decimal that reads back as the same double.
pub(super) fn float(out: &mut Vec<u8>, value: f64) {
    out.push(b',');
    out.extend_from_slice(ryu::Buffer::new().format(value).as_bytes());
}

/// Appends a comma and a text. Names are validated: no comma, quote or line end in them.
pub(super) fn text(out: &mut Vec<u8>, value: &str) {
    out.push(b',');
    out.extend_from_slice(value.as_bytes());
}

/// Appends a comma and an instant in seconds, to the nanosecond.
pub(super) fn seconds(out: &mut Vec<u8>, at: crate::clock::SimTime) {
    integer(out, at.nanos() / 1_000_000_000);
    let digits = 1_000_000_000 + at.nanos() % 1_000_000_000;
    out.push(b'.');
    out.extend_from_slice(&itoa::Buffer::new().format(digits).as_bytes()[1..]);
}
