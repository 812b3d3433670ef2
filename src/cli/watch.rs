//! `gruppetto watch`: a run folder as a dashboard.

use super::{Problem, print, style};
use crate::cli::ExitCode;
use crate::run_files::ReadError;
use crate::watch::{Missing, WatchError, snapshot, watch};
use clap::Args;
use std::io::IsTerminal;
use std::path::PathBuf;

#[derive(Args)]
#[command(after_help = "Keys:
  v, Tab  next run      m  next measure      l  logarithmic scale
  space   pause         ?  help              q, Esc, Ctrl-C  quit")]
pub(super) struct WatchArguments {
    /// Folder of a run that goes on or is over, such as runs/demo
    #[arg(value_name = "RUN")]
    run: PathBuf,
    /// Wait up to 10 seconds for a run that is about to begin
    #[arg(long)]
    wait: bool,
}

/// Does what `gruppetto watch` says: on a terminal a dashboard, else its state as text.
pub(super) fn show(WatchArguments { run, wait }: &WatchArguments) -> Result<ExitCode, Problem> {
    let missing = if *wait { Missing::Wait } else { Missing::Refuse };
    let failed = |error: WatchError| match (&error, missing) {
        (WatchError::Read(ReadError::NoRun(_)), Missing::Refuse) => Problem::failed(format!(
            "{error}\n  = help: --wait waits for a run that is about to begin"
        )),
        _ => Problem::failed(error),
    };
    if std::io::stdout().is_terminal() {
        watch(run, missing, style()).map_err(failed)?;
    } else {
        print(&snapshot(run, missing).map_err(failed)?)?;
    }
    Ok(ExitCode::SUCCESS)
}
