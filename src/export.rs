//! A finished run for other tools: TensorBoard and Parquet.
//!
//! Both are made from the CSV files of the run's folder, so that they can be made at any time; what an
//! empty cell is there is missing here too.

mod parquet;
mod tensorboard;

pub use parquet::write_parquet;
pub use tensorboard::write_tensorboard;

use std::path::{Path, PathBuf};

/// A run cannot be exported.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// A file cannot be read or written.
    #[error("cannot {what} {}: {source}", path.display())]
    #[allow(missing_docs)]
    File { what: &'static str, path: PathBuf, source: std::io::Error },
    /// A file is not what a run writes.
    #[error("{}: {what}\n  = help: run the scenario again", path.display())]
    #[allow(missing_docs)]
    Broken { path: PathBuf, what: String },
}

impl ExportError {
    fn write(path: &Path) -> impl FnOnce(std::io::Error) -> Self + '_ {
        move |source| ExportError::File { what: "write", path: path.into(), source }
    }

    fn broken(path: &Path, what: impl ToString) -> Self {
        ExportError::Broken { path: path.into(), what: what.to_string() }
    }
}

/// A CSV file of a run's folder.
fn open(path: &Path) -> Result<csv::Reader<std::fs::File>, ExportError> {
    let file = std::fs::File::open(path).map_err(|source| ExportError::File {
        what: "read",
        path: path.into(),
        source,
    })?;
    Ok(csv::Reader::from_reader(file))
}
