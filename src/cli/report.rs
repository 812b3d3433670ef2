//! `gruppetto report`: the page about runs that are over.

use super::{Problem, print};
use crate::report::write_page;
use clap::Args;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Args)]
pub(super) struct ReportArguments {
    /// Folders of runs, such as runs/demo
    #[arg(value_name = "RUN", required = true)]
    runs: Vec<PathBuf>,
    /// Where the page goes [default: report.html in the run's folder]; needed for several runs
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Does what `gruppetto report` says.
pub(super) fn report(ReportArguments { runs, out }: &ReportArguments) -> Result<ExitCode, Problem> {
    let out = match (out, &runs[..]) {
        (Some(out), _) => out.clone(),
        (None, [run]) => run.join("report.html"),
        (None, _) => {
            let text =
                "error: a page about several runs needs a place\n  = help: --out report.html";
            return Err(Problem::usage(text));
        }
    };
    write_page(runs, &out).map_err(Problem::failed)?;
    print(&format!("written to {}\n", out.display()))?;
    Ok(ExitCode::SUCCESS)
}
