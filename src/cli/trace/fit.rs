//! `gruppetto trace fit`: a trace as classes of a scenario.

use crate::cli::{Problem, print};
use clap::Args;
use gruppetto_trace::{FitOptions, Input, fit};
use std::path::PathBuf;

#[derive(Args)]
pub(in crate::cli) struct FitArguments {
    /// The trace: CSV, gzipped or not
    #[arg(value_name = "TRACE")]
    file: PathBuf,
    /// How many classes [default: 1 to 4, as many as the devices make likely]
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u8).range(1..=20))]
    classes: Option<u8>,
    /// Samples in a step: what a trace of sample times needs to give step times
    #[arg(long, value_name = "B", value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    batch: Option<u64>,
    /// Print everything as JSON
    #[arg(long)]
    json: bool,
}

/// Prints the classes.
pub(super) fn fit_trace(arguments: &FitArguments) -> Result<(), Problem> {
    let classes = arguments.classes.map(usize::from);
    let options = FitOptions { classes, batch: arguments.batch };
    let fitted = fit(&Input::file(&arguments.file), &options).map_err(Problem::failed)?;
    let text = match arguments.json {
        true => format!("{}\n", serde_json::to_string_pretty(&fitted).expect("plain data")),
        false => fitted.to_string(),
    };
    print(&text)
}
