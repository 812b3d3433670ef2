//! `gruppetto merge`: one run of several that were made apart.

use super::{FAILED, NOT_MET, Problem, heading, print, style};
use crate::cli::ExitCode;
use crate::plugins::Plugins;
use crate::report::results;
use crate::run::{MergeError, has_failed, merge};
use clap::Args;
use std::path::PathBuf;

#[derive(Args)]
pub(super) struct MergeArguments {
    /// Folders of runs, or folders that hold them, such as runs/sweep.parts
    #[arg(value_name = "DIR", required = true)]
    runs: Vec<PathBuf>,
    /// Where the merged run goes
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Replace an earlier run in that folder
    #[arg(long)]
    force: bool,
    /// Print summary.json instead of the table
    #[arg(long)]
    json: bool,
    /// Register what a Python file brings; in the command that pip installs (may be repeated)
    #[arg(long, value_name = "FILE")]
    pub(super) plugin: Vec<PathBuf>,
}

/// Does what `gruppetto merge` says.
pub(super) fn merge_runs(
    arguments: &MergeArguments,
    plugins: &Plugins,
) -> Result<ExitCode, Problem> {
    let MergeArguments { runs, out, force, json, .. } = arguments;
    let merged = merge(runs, out, *force, plugins);
    let (run, scenario) = merged.map_err(|error| match error {
        MergeError::File(_)
        | MergeError::Folder(_)
        | MergeError::Copy { .. }
        | MergeError::Last(_) => Problem::failed(error),
        _ => Problem::usage(format!("error: {error}")),
    })?;
    let text = match json {
        true => run.to_json(),
        false => {
            let heading = scenario.as_ref().map_or(String::new(), heading);
            let place = out.display();
            format!(
                "{heading}{}{} runs merged into {place}; see {place}/report.html\n",
                results(&run, style()),
                run.variants.len()
            )
        }
    };
    print(&text)?;
    let has_failed = scenario.is_some_and(|scenario| has_failed(&scenario, &run));
    let met = run.expect.iter().all(|expect| expect.ok || expect.skipped);
    Ok(match (has_failed, met) {
        (true, _) => ExitCode::from(FAILED),
        (false, false) => ExitCode::from(NOT_MET),
        (false, true) => ExitCode::SUCCESS,
    })
}
