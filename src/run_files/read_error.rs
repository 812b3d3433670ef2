//! What can be wrong with the folder of a run that is read again.

use super::summary_json::Summary;
use crate::memory::read_at_most;
use std::io;
use std::path::{Path, PathBuf};

/// Bytes that a file which is read whole may have. Thousands of runs with hundreds of classes have a
/// summary of a few hundred megabytes.
pub const MOST_TEXT: u64 = 1 << 30;

/// What a run left cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// There is no such folder, or no run wrote it.
    #[error("{}: there is no summary.json\n  = help: give the folder of a run, such as runs/demo", .0.display())]
    NoRun(PathBuf),
    /// A file of the folder cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    #[allow(missing_docs)]
    Read { path: PathBuf, source: io::Error },
    /// A file of the folder does not contain what a run writes.
    #[error("{}{}: {what}\n  = help: {help}", path.display(), place(.line))]
    #[allow(missing_docs)]
    Broken { path: PathBuf, line: Option<u64>, what: String, help: &'static str },
}

fn place(line: &Option<u64>) -> String {
    line.map_or(String::new(), |line| format!(", line {line}"))
}

impl ReadError {
    /// `file` of `folder` cannot be read. If it is missing, the folder may not be a run's at all.
    pub fn of(folder: &Path, file: &str) -> impl FnOnce(io::Error) -> ReadError {
        move |source| match source.kind() {
            io::ErrorKind::NotFound if !folder.join(Summary::FILE).exists() => {
                ReadError::NoRun(folder.into())
            }
            _ => ReadError::Read { path: folder.join(file), source },
        }
    }

    /// The content of a file makes no sense.
    pub fn broken(path: impl Into<PathBuf>, what: impl ToString) -> ReadError {
        let help = "run the scenario again";
        ReadError::Broken { path: path.into(), line: None, what: what.to_string(), help }
    }

    /// The same error, at a line of the file, from 1.
    pub fn at(self, number: Option<u64>) -> ReadError {
        match self {
            ReadError::Broken { path, what, help, .. } => {
                ReadError::Broken { path, line: number, what, help }
            }
            other => other,
        }
    }

    /// The same error, with another advice.
    pub fn help(self, advice: &'static str) -> ReadError {
        match self {
            ReadError::Broken { path, line, what, .. } => {
                ReadError::Broken { path, line, what, help: advice }
            }
            other => other,
        }
    }

    /// Whether the file that should have been read is missing.
    pub fn is_missing_file(&self) -> bool {
        matches!(self, ReadError::Read { source, .. } if source.kind() == io::ErrorKind::NotFound)
    }
}

/// A pipe in the place of a file would be waited for.
pub(super) fn expect_file(path: &Path) -> Result<(), ReadError> {
    match std::fs::metadata(path) {
        Ok(there) if !there.is_file() => Err(ReadError::broken(path, "it is not a file")),
        _ => Ok(()),
    }
}

/// A file of a run's folder, as text.
pub fn read_file(folder: &Path, file: &str) -> Result<String, ReadError> {
    expect_file(&folder.join(file))?;
    let bytes = read_at_most(&folder.join(file), MOST_TEXT).map_err(ReadError::of(folder, file))?;
    String::from_utf8(bytes).map_err(|_| ReadError::broken(folder.join(file), "it is not text"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_missing_file_is_told_from_a_folder_that_is_no_runs() {
        let folder = tempfile::tempdir().unwrap();
        let read = || read_file(folder.path(), "rounds.csv").unwrap_err();
        let error = read();
        assert!(matches!(&error, ReadError::NoRun(of) if of == folder.path()), "{error}");
        assert!(error.to_string().contains("there is no summary.json\n  = help: give the folder"));
        fs::write(folder.path().join("summary.json"), "{}").unwrap();
        let error = read();
        assert!(error.is_missing_file(), "{error}");
        assert!(error.to_string().contains("rounds.csv: "), "{error}");
    }

    #[test]
    fn errors_say_where_what_and_what_to_do() {
        let error = ReadError::broken("a.csv", "found `x`");
        assert_eq!(error.to_string(), "a.csv: found `x`\n  = help: run the scenario again");
        let error = error.at(Some(7)).help("look again");
        assert_eq!(error.to_string(), "a.csv, line 7: found `x`\n  = help: look again");
    }
}
