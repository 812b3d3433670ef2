//! `gruppetto trace`: recordings of devices.

mod fit;
mod record;
mod synth;

use super::{Problem, print};
use crate::cli::ExitCode;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand, ValueEnum};
use fit::{FitArguments, fit_trace};
use gruppetto_trace::{
    Direction, Format, ImportOptions, ImportSummary, Input, Latencies, Mapping, TraceError,
    TraceWriter, import, inspect,
};
use record::{RecordArguments, record_run};
use std::io::Write;
use std::path::PathBuf;
use synth::{SynthArguments, synth};

#[derive(Subcommand)]
pub(super) enum TraceCommand {
    /// Say what is in a trace, and what looks wrong with it
    Inspect(InspectTraceArguments),
    /// Turn what others recorded into a trace
    Import(ImportArguments),
    /// Make up a trace: devices that nobody recorded
    Synth(SynthArguments),
    /// Turn a trace into [[fleet.class]] blocks for a scenario
    Fit(FitArguments),
    /// Turn a finished run back into a trace that replays it
    Record(RecordArguments),
}

#[derive(Args)]
pub(super) struct InspectTraceArguments {
    /// The trace: CSV, gzipped or not
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Print everything as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
pub(super) struct ImportArguments {
    /// Whose format INPUT is in
    #[arg(long, value_parser = format_names())]
    format: Format,
    /// The file to import, gzipped or not; for bandwidth also a folder of logs
    #[arg(value_name = "INPUT")]
    input: PathBuf,
    /// The trace to write; gzipped if its name ends in .gz, - for stdout
    #[arg(long, value_name = "OUTPUT")]
    out: PathBuf,
    /// Leave out and count records that make no sense, instead of stopping
    #[arg(long)]
    skip_bad: bool,
    /// With --format bandwidth: which link the log is about [default: both]
    #[arg(long = "as", value_enum, value_name = "LINK")]
    direction: Option<DirectionArgument>,
    /// With --format csv: which column is what, e.g. `device=id,time=t[s],up=3*rate[kbps]`
    #[arg(long, value_name = "ASPECT=COLUMN[UNIT],…", value_parser = Mapping::parse)]
    map: Option<Mapping>,
    /// With --format latency-json: the task whose latencies are taken [default: the only one]
    #[arg(long, value_name = "NAME")]
    task: Option<String>,
    /// With --format ai-benchmark or latency-json: latencies are of training, and taken as they are
    #[arg(long, conflicts_with = "inference")]
    training: bool,
    /// With these: latencies are of inference, and training takes 3 times as long [the default]
    #[arg(long)]
    inference: bool,
}

/// The formats by name, as help shows them.
fn format_names() -> impl TypedValueParser<Value = Format> {
    let values = Format::ALL.map(|(_, name, about)| PossibleValue::new(name).help(about));
    PossibleValuesParser::new(values).map(|given| {
        let named = Format::ALL.into_iter().find(|(_, name, _)| *name == given);
        named.expect("only these names are accepted").0
    })
}

#[derive(Clone, Copy, ValueEnum)]
enum DirectionArgument {
    Up,
    Down,
    Both,
}

/// Does what `gruppetto trace` says.
pub(super) fn trace(command: &TraceCommand, quiet: bool) -> Result<ExitCode, Problem> {
    match command {
        TraceCommand::Inspect(arguments) => {
            let told = inspect(&Input::file(&arguments.file)).map_err(Problem::failed)?;
            let text = if arguments.json {
                let json = serde_json::to_string_pretty(&told).expect("plain data");
                format!("{json}\n")
            } else {
                told.to_string()
            };
            print(&text)?;
        }
        TraceCommand::Import(arguments) => import_trace(arguments, quiet)?,
        TraceCommand::Synth(arguments) => synth(arguments, quiet)?,
        TraceCommand::Fit(arguments) => fit_trace(arguments)?,
        TraceCommand::Record(arguments) => record_run(arguments, quiet)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn import_trace(arguments: &ImportArguments, quiet: bool) -> Result<(), Problem> {
    let options = arguments.options().map_err(Problem::usage)?;
    let input = Input::file(&arguments.input);
    let done = run_import(&input, &options, &arguments.out);
    match done {
        Ok(summary) if !quiet => {
            // Nobody may be there to read it.
            let guessed = !arguments.training && !arguments.inference;
            let note = match (arguments.format, guessed) {
                (Format::AiBenchmark | Format::LatencyJson, true) => {
                    "\nnote: latencies are taken to be of inference, and training on a sample to take 3 times \
                     as long;\n      --inference or --training says which"
                }
                _ => "",
            };
            let _ = writeln!(std::io::stderr(), "{}{note}", told(&summary));
            Ok(())
        }
        Ok(_) => Ok(()),
        Err(error) if error.is_broken_pipe() => Ok(()),
        Err(error) => Err(Problem::failed(error)),
    }
}

fn run_import(
    input: &Input,
    options: &ImportOptions,
    out: &PathBuf,
) -> Result<ImportSummary, TraceError> {
    let mut writer = TraceWriter::create(out, options.columns(), "")?;
    let summary = import(input, options, &mut |recording| writer.write(recording))?;
    writer.finish()?;
    Ok(summary)
}

fn told(summary: &ImportSummary) -> String {
    let ImportSummary { devices, changes, missing, skipped, first_skipped } = summary;
    let mut text = format!("{devices} devices, {changes} changes, {skipped} skipped");
    if *missing > 0 {
        text.push_str(&format!(", {missing} missing in the source"));
    }
    if let Some(first) = first_skipped {
        text.push_str(&format!("\nfirst skipped: {first}"));
    }
    text
}

impl ImportArguments {
    fn options(&self) -> Result<ImportOptions, String> {
        let format = self.format;
        let of_latencies = matches!(format, Format::AiBenchmark | Format::LatencyJson);
        if (self.training || self.inference) && !of_latencies {
            return Err("error: --training and --inference go with --format ai-benchmark and \
                        latency-json"
                .into());
        }
        if self.task.is_some() && format != Format::LatencyJson {
            return Err("error: --task goes with --format latency-json".into());
        }
        let latencies = if self.training { Latencies::Training } else { Latencies::Inference };
        match (format, &self.map, self.direction) {
            (Format::Csv, None, _) => Err("error: --format csv needs --map, such as --map \
                 device=id,time=t[s],step_time=ms[ms]"
                .into()),
            (Format::Csv | Format::AiBenchmark, _, None) | (Format::Bandwidth, None, _) => {
                let direction = match self.direction {
                    Some(DirectionArgument::Up) => Direction::Up,
                    Some(DirectionArgument::Down) => Direction::Down,
                    Some(DirectionArgument::Both) | None => Direction::Both,
                };
                Ok(ImportOptions {
                    format,
                    skip_bad: self.skip_bad,
                    direction,
                    map: self.map.clone(),
                    latencies,
                    task: None,
                })
            }
            (_, None, None) => Ok(ImportOptions {
                skip_bad: self.skip_bad,
                latencies,
                task: self.task.clone(),
                ..ImportOptions::new(format)
            }),
            (_, Some(_), _) => {
                Err("error: --map goes with --format csv or --format ai-benchmark".into())
            }
            (_, _, Some(_)) => Err("error: --as goes with --format bandwidth".into()),
        }
    }
}
