//! A finished run for other tools: TensorBoard and Parquet.
//!
//! Both are made from the tables of the run's folder, so that they can be made at any time; an empty cell
//! there is missing here too. The description of the tables, [`crate::run_files`], says which type a
//! column has.

#[cfg(feature = "parquet")]
mod parquet;
mod tensorboard;

#[cfg(feature = "parquet")]
pub use parquet::write_parquet;
pub use tensorboard::write_tensorboard;

use crate::run_files::ReadError;
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
}
