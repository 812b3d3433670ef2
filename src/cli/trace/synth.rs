//! `gruppetto trace synth`: devices that are made up.

use crate::cli::Problem;
use crate::clock::Span;
use crate::units::parse_duration;
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use gruppetto_trace::{Mixture, TraceError, TraceWriter};
use std::io::Write;
use std::path::PathBuf;

const SECOND: u64 = 1_000_000_000;
const DAY: u64 = 86_400 * SECOND;
/// The longest recording.
const MOST_DAYS: u64 = 366;

#[derive(Args)]
#[command(
    after_help = "The same command makes the same bytes; more devices are the same ones and \
                        others after them."
)]
pub(in crate::cli) struct SynthArguments {
    /// What devices are made up from
    #[arg(value_name = "MIXTURE", value_parser = mixtures())]
    mixture: Mixture,
    /// How many devices
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=100_000_000))]
    devices: u64,
    /// The trace to write; gzipped if its name ends in .gz, - for stdout
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Other devices of the same kind
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// How many days a recording lasts [default: as the mixture says]
    #[arg(long, value_name = "D", conflicts_with = "length",
          value_parser = clap::value_parser!(u64).range(1..=MOST_DAYS))]
    days: Option<u64>,
    /// How long a recording lasts, e.g. 90m; whole days for a mixture with a daily rhythm
    #[arg(long, value_name = "DURATION")]
    length: Option<String>,
}

/// The mixtures by name, each with what it shows.
fn mixtures() -> impl TypedValueParser<Value = Mixture> {
    let listed = |mixture: &Mixture| PossibleValue::new(mixture.name).help(mixture.about);
    let all: Vec<_> = Mixture::all().iter().map(listed).collect();
    PossibleValuesParser::new(all).map(|name| Mixture::named(&name).expect("one of the list"))
}

/// Writes the trace.
pub(super) fn synth(arguments: &SynthArguments, quiet: bool) -> Result<(), Problem> {
    let length = arguments.length().map_err(Problem::usage)?;
    match arguments.write(length) {
        Ok(changes) if !quiet => {
            let devices = arguments.devices;
            let s = |count: u64| if count == 1 { "" } else { "s" };
            // Nobody may be there to read it.
            let _ = writeln!(
                std::io::stderr(),
                "{devices} device{}, {changes} change{}, made up",
                s(devices),
                s(changes)
            );
            Ok(())
        }
        Ok(_) => Ok(()),
        Err(error) if error.is_broken_pipe() => Ok(()),
        Err(error) => Err(Problem::failed(error)),
    }
}

impl SynthArguments {
    fn length(&self) -> Result<Span, String> {
        let is_daily = self.mixture.is_daily();
        let name = self.mixture.name;
        let length = match (&self.length, self.days) {
            (Some(text), _) => parse_duration(text).map_err(|error| {
                format!("error: --length: {error}\n  = help: write it like 90m, 24h or 7d")
            })?,
            (None, Some(days)) => Span::from_nanos(days * DAY),
            (None, None) => self.mixture.length,
        };
        let nanos = length.nanos();
        let shown = self.length.as_deref().unwrap_or_default().trim();
        match () {
            () if is_daily && (nanos == 0 || !nanos.is_multiple_of(DAY)) => Err(format!(
                "error: --length {shown}: `{name}` has a daily rhythm, expected whole days\n  \
                 = help: a recording that repeats keeps nights at night that way; say --days 2"
            )),
            () if !(60 * SECOND..=MOST_DAYS * DAY).contains(&nanos) => Err(format!(
                "error: --length {shown}: expected a minute or more, up to {MOST_DAYS} days"
            )),
            () if !nanos.is_multiple_of(SECOND) => {
                Err(format!("error: --length {shown}: expected whole seconds"))
            }
            () => Ok(length),
        }
    }

    fn write(&self, length: Span) -> Result<u64, TraceError> {
        let mixture = &self.mixture;
        let mut writer = TraceWriter::create(&self.out, mixture.columns(), &self.note(length))?;
        let mut changes = 0;
        for device in mixture.devices(self.seed, length).take(self.devices as usize) {
            changes += device.changes.len() as u64;
            writer.write(&device)?;
        }
        writer.finish()?;
        Ok(changes)
    }

    /// Where the trace comes from. It names no file, so that a copy under another name is the same
    /// file.
    fn note(&self, length: Span) -> String {
        let seconds = length.nanos() / SECOND;
        let length = match (seconds.is_multiple_of(86_400), seconds.is_multiple_of(3600)) {
            (true, _) => format!("--days {}", seconds / 86_400),
            (_, true) => format!("--length {}h", seconds / 3600),
            _ => format!("--length {seconds}s"),
        };
        format!(
            "Synthetic: made up by Gruppetto {}, recorded nowhere. The same again:\n\
             gruppetto trace synth {} --devices {} {length} --seed {} --out -",
            env!("CARGO_PKG_VERSION"),
            self.mixture.name,
            self.devices,
            self.seed
        )
    }
}
