//! `gruppetto export`, and the same for a run that has just ended.

use super::{Problem, print};
use crate::cli::ExitCode;
#[cfg(feature = "parquet")]
use crate::export::write_parquet;
use crate::export::write_tensorboard;
use crate::run_files::{Status, Summary};
use clap::Args;
use std::io::Write;
use std::path::{Path, PathBuf};

/// What a run is exported to.
#[derive(Args)]
pub(super) struct Exports {
    /// Write TensorBoard event files below this folder: the step is the round, the time simulated
    #[arg(long, value_name = "DIR")]
    tensorboard: Option<PathBuf>,
    /// Write rounds.parquet and clients.parquet beside the CSV files
    #[cfg(feature = "parquet")]
    #[arg(long)]
    parquet: bool,
}

#[derive(Args)]
pub(super) struct ExportArguments {
    /// Folder of a run, such as runs/demo
    #[arg(value_name = "RUN")]
    run: PathBuf,
    #[command(flatten)]
    exports: Exports,
}

impl Exports {
    /// Writes what is wanted of the run in `folder`; what there is now, in words.
    pub(super) fn write(&self, folder: &Path) -> Result<String, Problem> {
        let mut text = String::new();
        if let Some(to) = &self.tensorboard {
            let runs = write_tensorboard(folder, to).map_err(Problem::failed)?;
            let plural = if runs == 1 { "" } else { "s" };
            text.push_str(&format!("{runs} run{plural} for TensorBoard in {}\n", to.display()));
        }
        #[cfg(feature = "parquet")]
        if self.parquet {
            for file in write_parquet(folder).map_err(Problem::failed)? {
                text.push_str(&format!("written to {}\n", file.display()));
            }
        }
        Ok(text)
    }
}

/// Does what `gruppetto export` says.
pub(super) fn export(
    ExportArguments { run, exports }: &ExportArguments,
) -> Result<ExitCode, Problem> {
    #[cfg(feature = "parquet")]
    let (parquet, expected) = (exports.parquet, "--tensorboard DIR, --parquet or both");
    #[cfg(not(feature = "parquet"))]
    let (parquet, expected) = (false, "--tensorboard DIR");
    if exports.tensorboard.is_none() && !parquet {
        let text = format!("error: export to what?\n  = expected {expected}");
        return Err(Problem::usage(text));
    }
    let summary = Summary::read(run).map_err(Problem::failed)?;
    let text = exports.write(run)?;
    if summary.status != Status::Complete {
        let folder = run.display();
        let note = format!("note: {folder} is not complete: this is what there is of it");
        let _ = writeln!(std::io::stderr(), "{note}");
    }
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}
