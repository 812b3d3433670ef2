//! `gruppetto export`, and the same for a run that has just ended.

use super::{Problem, print};
use crate::export::{write_parquet, write_tensorboard};
use clap::Args;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// What a run is exported to.
#[derive(Args)]
pub(super) struct Exports {
    /// Write TensorBoard event files below this folder: the step is the round, the time simulated
    #[arg(long, value_name = "DIR")]
    tensorboard: Option<PathBuf>,
    /// Write rounds.parquet and clients.parquet beside the CSV files
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
    if exports.tensorboard.is_none() && !exports.parquet {
        let text = "error: export to what?\n  = expected --tensorboard DIR, --parquet or both";
        return Err(Problem::usage(text));
    }
    print(&exports.write(run)?)?;
    Ok(ExitCode::SUCCESS)
}
