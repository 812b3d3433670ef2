//! What an earlier run left, read again.

use std::path::{Path, PathBuf};
use std::{fs, io};

/// What a run left cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// There is no such folder, or it is not that of a run.
    #[error("{}: there is no {missing}\n  = help: give the folder of a run, such as runs/demo", folder.display())]
    #[allow(missing_docs)]
    NoRun { folder: PathBuf, missing: &'static str },
    /// A file of the folder cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    #[allow(missing_docs)]
    Read { path: PathBuf, source: io::Error },
    /// A file of the folder is not what it was.
    #[error("{}: {what}\n  = help: run the scenario again", path.display())]
    #[allow(missing_docs)]
    Broken { path: PathBuf, what: String },
}

impl ReadError {
    /// A file cannot be read; if it is not there, `folder` is none of a run.
    pub fn of(folder: &Path, file: &'static str) -> impl FnOnce(io::Error) -> ReadError {
        move |source| match source.kind() {
            io::ErrorKind::NotFound => ReadError::NoRun { folder: folder.into(), missing: file },
            _ => ReadError::Read { path: folder.join(file), source },
        }
    }

    /// What is in a file makes no sense.
    pub fn broken(path: impl Into<PathBuf>, what: impl ToString) -> ReadError {
        ReadError::Broken { path: path.into(), what: what.to_string() }
    }
}

/// A file of a run's folder.
pub fn read_file(folder: &Path, file: &'static str) -> Result<String, ReadError> {
    fs::read_to_string(folder.join(file)).map_err(ReadError::of(folder, file))
}
