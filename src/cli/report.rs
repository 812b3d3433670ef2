//! `gruppetto report`: the page about runs that are over.

use super::{Problem, print, spare_records};
use crate::cli::ExitCode;
use crate::report::write_page;
use crate::resume::RunSoFar;
use crate::run_files::Status;
use clap::Args;
use std::io::Write;
use std::path::PathBuf;

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
    spare_records(&out)?;
    let mut pages = Vec::new();
    for run in runs {
        let run = RunSoFar::read(run).map_err(Problem::failed)?;
        note_unfinished(&run);
        pages.push(run.page_run().map_err(Problem::failed)?);
    }
    write_page(&pages, &out).map_err(Problem::failed)?;
    print(&format!("written to {}\n", out.display()))?;
    Ok(ExitCode::SUCCESS)
}

/// Says on the standard error that a run is not complete, what is missing and what to do.
pub(super) fn note_unfinished(run: &RunSoFar) {
    let folder = run.folder.display();
    let mut text = match (run.summary.status, &run.summary.error, &run.holder) {
        (Status::Complete, ..) => return,
        (_, Some(error), _) => format!("note: {folder} failed: {error}"),
        (.., Some(holder)) => format!("note: {folder} goes on: {holder} runs it"),
        (Status::Interrupted, ..) => format!("note: {folder} was interrupted"),
        _ => format!("note: {folder} was killed before its end"),
    };
    for cell in run.unfinished().iter().take(5) {
        text.push_str(&format!("\n  = {cell} so far"));
    }
    if run.holder.is_none() {
        text.push_str("\n  = help: gruppetto run with --resume goes on where it stopped");
    }
    let _ = writeln!(std::io::stderr(), "{text}");
}
