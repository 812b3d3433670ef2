//! `gruppetto compare`: several runs side by side.

use super::report::note_unfinished;
use super::{Problem, print, spare_records, style};
use crate::cli::ExitCode;
use crate::compare::{ComparedRun, ComparedVariant, csv, text};
use crate::report::write_page;
use clap::Args;
use std::path::{Path, PathBuf};

#[derive(Args)]
pub(super) struct CompareArguments {
    /// Folders of runs, such as runs/demo runs/demo-again
    #[arg(value_name = "RUN", required = true)]
    runs: Vec<PathBuf>,
    /// Write a page with all charts side by side
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Write every figure as CSV; - for the standard output
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Compare runs of different tasks, data or seeds all the same
    #[arg(long)]
    anyway: bool,
}

/// Does what `gruppetto compare` says.
pub(super) fn compare(arguments: &CompareArguments) -> Result<ExitCode, Problem> {
    let CompareArguments { runs, html, csv: table, anyway } = arguments;
    [html, table].into_iter().flatten().try_for_each(|path| spare_records(path))?;
    let compared: Result<Vec<ComparedRun>, _> =
        runs.iter().map(|run| ComparedRun::read(run)).collect();
    let compared = compared.map_err(Problem::failed)?;
    for (index, other) in compared.iter().enumerate().skip(1) {
        let differences = compared[0].differences(other);
        if !differences.is_empty() && !anyway {
            let shown = |path: &Path| path.display().to_string();
            let (one, other) = (shown(&runs[0]), shown(&runs[index]));
            let mut text = format!("error: {one} and {other} cannot be compared");
            for difference in differences.iter().take(5) {
                text.push_str(&format!("\n  {difference}"));
            }
            if differences.len() > 5 {
                text.push_str(&format!("\n  and {} more", differences.len() - 5));
            }
            text.push_str("\n  = help: --anyway compares them all the same");
            return Err(Problem::usage(text));
        }
    }
    let names = names(runs);
    let entries: Vec<ComparedVariant> =
        compared.iter().zip(&names).flat_map(|(run, name)| run.entries(name)).collect();
    compared.iter().for_each(|run| note_unfinished(&run.so_far));
    if let Some(path) = html {
        let pages: Result<Vec<_>, _> = compared.iter().map(|run| run.so_far.page_run()).collect();
        write_page(&pages.map_err(Problem::failed)?, path).map_err(Problem::failed)?;
    }
    match table {
        Some(path) if path == Path::new("-") => {
            print(&csv(&entries))?;
            return Ok(ExitCode::SUCCESS);
        }
        Some(path) => std::fs::write(path, csv(&entries)).map_err(|error| {
            Problem::failed(format!("cannot write {}: {error}", path.display()))
        })?,
        None => {}
    }
    print(&text(&entries, style()))?;
    Ok(ExitCode::SUCCESS)
}

/// What runs are called beside each other: the last parts of their paths, unless these are the same.
fn names(runs: &[PathBuf]) -> Vec<String> {
    if runs.len() == 1 {
        return vec![String::new()];
    }
    let whole = |run: &PathBuf| run.display().to_string();
    let short = |run: &PathBuf| {
        run.file_name().map_or_else(|| whole(run), |name| name.to_string_lossy().into_owned())
    };
    let names: Vec<String> = runs.iter().map(short).collect();
    let mut distinct = names.clone();
    distinct.sort();
    distinct.dedup();
    if distinct.len() == names.len() { names } else { runs.iter().map(whole).collect() }
}
