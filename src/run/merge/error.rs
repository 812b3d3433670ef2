//! Why runs cannot be merged.

use crate::report::{FileError, FolderError};
use crate::run_files::ReadError;
use std::io;
use std::path::PathBuf;

/// Runs cannot be merged.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)]
pub enum MergeError {
    /// A folder cannot be read, or is no run.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The place for the result.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// A file of the result.
    #[error(transparent)]
    File(#[from] FileError),
    /// What one of the last files took.
    #[error(transparent)]
    Last(#[from] super::super::Error),
    /// There is nothing to merge.
    #[error(
        "{} has no runs in it\n  = help: give the folders of runs, or one that holds them, such as runs/NAME.parts",
        folder.display()
    )]
    Empty { folder: PathBuf },
    /// The result would take the place of what it is made of.
    #[error("{} is one of the runs that are to be merged\n  = help: choose another --out", folder.display())]
    Itself { folder: PathBuf },
    /// A run did not come to its end.
    #[error(
        "{} is not finished: {what}\n  = help: gruppetto run {}/scenario.toml --out {}{part} --resume goes on with it",
        folder.display(), folder.display(), folder.display()
    )]
    Unfinished { folder: PathBuf, what: String, part: String },
    /// A run is of another scenario, or of another version.
    #[error("{} and {} are not of one run: {what}", one.display(), other.display())]
    Foreign { one: PathBuf, other: PathBuf, what: String },
    /// The same cell is in two runs.
    #[error("{} and {} both have {cell}", one.display(), other.display())]
    Twice { one: PathBuf, other: PathBuf, cell: String },
    /// Parts are missing.
    #[error("{missing} of {of} {}\n  = help: run {}", if *several { "are missing" } else { "is missing" }, calls)]
    Missing { missing: String, of: u64, several: bool, calls: String },
    /// A file could not be copied.
    #[error("cannot copy {}: {source}", from.display())]
    Copy { from: PathBuf, source: io::Error },
}
