//! A finished run for other tools: TensorBoard and Parquet.
//!
//! Both are made from the CSV files of the run's folder, so that they can be made at any time; what an
//! empty cell is there is missing here too.

#[cfg(feature = "parquet")]
mod parquet;
mod tensorboard;

#[cfg(feature = "parquet")]
pub use parquet::write_parquet;
pub use tensorboard::write_tensorboard;

use crate::report::ReadError;
use std::path::{Path, PathBuf};

/// A run cannot be exported.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// What the run left cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A file cannot be written.
    #[error("cannot write {}: {source}", path.display())]
    #[allow(missing_docs)]
    Write { path: PathBuf, source: std::io::Error },
}

impl ExportError {
    fn write(path: &Path) -> impl FnOnce(std::io::Error) -> Self + '_ {
        move |source| ExportError::Write { path: path.into(), source }
    }

    fn broken(path: &Path, what: impl ToString) -> Self {
        ReadError::broken(path, what).into()
    }
}

/// A CSV file of a run's folder.
fn open(folder: &Path, file: &'static str) -> Result<csv::Reader<std::fs::File>, ExportError> {
    let opened = std::fs::File::open(folder.join(file)).map_err(ReadError::of(folder, file))?;
    Ok(csv::Reader::from_reader(opened))
}
