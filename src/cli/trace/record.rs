//! `gruppetto trace record`: a run as a trace.

use crate::cli::{Problem, print};
use crate::run::{RecordError, Recorded, RunSelector, record};
use clap::Args;
use std::io::Write;
use std::path::{Path, PathBuf};

#[derive(Args)]
#[command(
    after_help = "Prints the [[fleet.class]] that takes the place of the scenario's own. Replayed, \
                  every client makes the same steps and is back at the same nanosecond."
)]
pub(in crate::cli) struct RecordArguments {
    /// The folder of the run
    #[arg(value_name = "RUN")]
    run: PathBuf,
    /// The trace to write; gzipped if its name ends in .gz, - for stdout
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Which variant of the run [default: the only one]
    #[arg(long, value_name = "NAME", allow_hyphen_values = true)]
    variant: Option<String>,
    /// Which seed of the run [default: the only one]
    #[arg(long, value_name = "S")]
    seed: Option<u64>,
}

/// Writes the trace.
pub(super) fn record_run(arguments: &RecordArguments, quiet: bool) -> Result<(), Problem> {
    let RecordArguments { run, out, variant, seed } = arguments;
    let selector = RunSelector { variant: variant.clone(), seed: *seed };
    let recorded = match record(run, &selector, out) {
        Ok(recorded) => recorded,
        Err(RecordError::File(error)) if error.is_broken_pipe() => return Ok(()),
        Err(RecordError::Choice(what)) => return Err(Problem::usage(format!("error: {what}"))),
        Err(error) => return Err(Problem::failed(error)),
    };
    if !quiet {
        // Nobody may be there to read it.
        let _ = writeln!(std::io::stderr(), "{}", told(&recorded));
    }
    match out == Path::new("-") {
        // Stdout has the trace.
        true => Ok(()),
        false => print(&class(&recorded, out)),
    }
}

fn told(recorded: &Recorded) -> String {
    let Recorded { name, devices, parts, changes, complete, .. } = recorded;
    let mut text =
        format!("{name}: {devices} devices, {parts} participations, {changes} changes recorded");
    if !complete {
        text.push_str("\nnote: the run did not come to its end; it is recorded as far as it got");
    }
    text
}

/// What to put into the scenario.
fn class(recorded: &Recorded, out: &Path) -> String {
    let mut text =
        "# In place of every [[fleet.class]]; the file is looked for in the folder of the \
                    scenario.\n"
            .to_string();
    for what in &recorded.leave_out {
        text.push_str(&format!("# Leave out {what}: the trace tells it.\n"));
    }
    let file = toml_edit::Value::from(out.to_string_lossy().into_owned());
    text.push_str(&format!("[[fleet.class]]\nname = \"recorded\"\ntrace = {{ file = {file} }}\n"));
    text
}
