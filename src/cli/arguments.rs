//! What can be said on the command line.

use super::calibrate::CalibrateArguments;
use super::compare::CompareArguments;
use super::data::DataCommand;
use super::export::{ExportArguments, Exports};
use super::merge::MergeArguments;
use super::new::NewArguments;
use super::report::ReportArguments;
use super::trace::TraceCommand;
#[cfg(feature = "watch")]
use super::watch::WatchArguments;
use crate::actors::ClockMode;
use crate::bench::BenchPart;
use crate::plugins::Plugins;
use crate::run::{Assumptions, Options, RunPart};
use crate::scenario::{Override, Scenario, ScenarioError};
use crate::train::DeviceChoice;
use crate::units::parse_duration;
use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use std::path::PathBuf;
use std::time::Duration;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// A straggler-aware federated-learning simulator: the number of local steps each device makes
/// emerges from timing, and FedNova aggregates whatever arrives.
#[derive(Parser)]
#[command(
    version,
    after_help = "Examples:
  gruppetto run scenarios/demo.toml
  gruppetto run scenarios/demo.toml --set server.close.deadline=10s --seed 7
  gruppetto check scenarios/demo.toml
  gruppetto watch runs/demo
  gruppetto theory scenarios/demo.toml
  gruppetto run scenarios/demo.toml --json | jq '.variants[].metrics'
  gruppetto compare runs/demo runs/demo-again
  gruppetto new mine && gruppetto run mine.toml"
)]
pub struct Arguments {
    /// Say less: no progress bar and no news, but warnings
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// Say more: -v for every round, -vv for everything (RUST_LOG overrides)
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    verbose: u8,
    /// Write log messages as JSON, one per line
    #[arg(long, global = true)]
    log_json: bool,
    #[command(subcommand)]
    pub(super) command: Command,
}

#[derive(Subcommand)]
pub(super) enum Command {
    /// Run a scenario: every variant, on the same devices and events
    #[command(after_help = "Examples:
  gruppetto run scenarios/demo.toml                     then open runs/demo/report.html
  gruppetto run mine.toml --set server.close.deadline=10s --seed 7 --out runs/ten
  gruppetto run mine.toml --timing-only                 the schedule, without training
  gruppetto run mine.toml --clock wall --speedup 20     steps really taken
  gruppetto run mine.toml --json | jq '.variants[].metrics'
  gruppetto run mine.toml --sweep client.lr=0.01,0.02 --repeats 5
Exit codes: 0 done, 1 failed or diverged, 2 bad usage, 3 an [[expect]] was not met,
130 interrupted")]
    Run(RunArguments),
    /// Validate a scenario and print the resolved plan
    Check(CheckArguments),
    /// Make one run of parts, or of runs with other seeds or swept values
    #[command(after_help = "Examples:
  gruppetto run sweep.toml --part 1/2 && gruppetto run sweep.toml --part 2/2
  gruppetto merge runs/sweep.parts --out runs/sweep
  gruppetto merge runs/seed-1 runs/seed-2 --out runs/both
Exit codes are those of `run`")]
    Merge(MergeArguments),
    /// Write report.html of a finished run again, or one page about several runs
    #[command(after_help = "Examples:
  gruppetto report runs/demo
  gruppetto report runs/demo runs/ten --out both.html")]
    Report(ReportArguments),
    /// Compare finished runs: a table, a page, CSV
    #[command(after_help = "Examples:
  gruppetto compare runs/demo runs/ten
  gruppetto compare runs/demo runs/ten --html both.html --csv both.csv")]
    Compare(CompareArguments),
    /// Write a finished run for other tools: TensorBoard, Parquet
    #[command(after_help = "Examples:
  gruppetto export runs/demo --tensorboard board && tensorboard --logdir board
  gruppetto export runs/demo --parquet")]
    Export(ExportArguments),
    /// Write a commented scenario to begin with
    New(NewArguments),
    /// Show what there is: scenarios, tasks, models, solvers, policies; or all of one key
    #[command(after_help = "Examples:
  gruppetto list
  gruppetto list server.close
  gruppetto list client")]
    List {
        /// A key or a table of the scenario language, such as server.close
        #[arg(value_name = "KEY")]
        key: Option<String>,
    },
    /// Print a script that completes commands in a shell
    Completions {
        /// Which shell
        shell: Shell,
    },
    /// Follow a run in the terminal while it goes on, or look at one that is over
    #[cfg(feature = "watch")]
    Watch(WatchArguments),
    /// Say what the paper's theorems predict, without training
    Theory(TheoryArguments),
    /// What is learned from: look at data and at how it is spread over clients
    #[command(subcommand)]
    Data(DataCommand),
    /// Recordings of how devices behave: look into them, import, make up, fit and record them
    #[command(subcommand)]
    Trace(TraceCommand),
    /// Measure how fast this machine takes a scenario's local steps, and print it as a device
    Calibrate(CalibrateArguments),
    /// Measure how fast this machine simulates and trains
    Bench {
        /// What to measure [default: everything]
        #[arg(value_name = "PART", value_enum)]
        parts: Vec<BenchPart>,
        /// A few seconds instead of a minute, with fewer clients
        #[arg(long)]
        quick: bool,
    },
}

impl Arguments {
    /// The Python files that are to be registered, and how many threads are to train, if that is said.
    pub fn python(&self) -> (&[PathBuf], Option<usize>) {
        match &self.command {
            Command::Run(run) => (&run.scenario.plugin, run.threads.map(usize::from)),
            Command::Merge(merge) => (&merge.plugin, None),
            Command::Check(check) => (&check.scenario.plugin, None),
            Command::Theory(theory) => (&theory.scenario.plugin, None),
            _ => (&[], None),
        }
    }
}

/// Which scenario, with which changes.
#[derive(Args)]
pub(super) struct ScenarioArguments {
    /// The scenario file
    #[arg(value_name = "FILE")]
    pub(super) file: PathBuf,
    /// Change a key of the scenario, e.g. server.close.deadline=10s (may be repeated)
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(super) set: Vec<String>,
    /// Use another seed than the scenario's
    #[arg(long, allow_negative_numbers = true)]
    pub(super) seed: Option<u64>,
    /// Register what a Python file brings; in the command that pip installs (may be repeated)
    #[arg(long, value_name = "FILE")]
    pub(super) plugin: Vec<PathBuf>,
}

/// How many runs are made of it.
#[derive(Args, Default)]
pub(super) struct SweepArguments {
    /// Give a key several values, e.g. client.lr=0.01,0.02: every combination is run (may be repeated)
    #[arg(long = "sweep", value_name = "KEY=V1,V2,…")]
    sweep: Vec<String>,
    /// Run every variant with so many seeds
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    repeats: Option<u32>,
}

impl ScenarioArguments {
    pub(super) fn load(
        &self,
        runs: &SweepArguments,
        plugins: &Plugins,
    ) -> Result<Scenario, ScenarioError> {
        self.load_with(None, runs, plugins)
    }

    /// With one change more.
    pub(super) fn load_with(
        &self,
        more: Option<String>,
        SweepArguments { sweep, repeats }: &SweepArguments,
        plugins: &Plugins,
    ) -> Result<Scenario, ScenarioError> {
        let texts = self.set.iter().chain(&more);
        let mut overrides =
            texts.map(|text| Override::parse(text)).collect::<Result<Vec<_>, _>>()?;
        for text in sweep {
            overrides.push(Override::sweep(text)?);
        }
        overrides.extend(repeats.map(Override::repeats));
        Scenario::load_with(&self.file, &overrides, self.seed, plugins)
    }
}

#[derive(Args)]
pub(super) struct RunArguments {
    #[command(flatten)]
    pub(super) scenario: ScenarioArguments,
    #[command(flatten)]
    pub(super) runs: SweepArguments,
    /// Folder for the results [default: runs/NAME]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Replace an earlier run in that folder
    #[arg(long)]
    force: bool,
    /// Go on with the run in that folder, if it is not finished
    #[arg(long, conflicts_with = "force")]
    resume: bool,
    /// How much training may be lost at most, in real time; or off [default: 60s]
    #[arg(long, value_name = "TIME", value_parser = checkpoint, default_value = "60s", hide_default_value = true)]
    checkpoint: CheckpointArgument,
    /// Threads that compute [default: one per core; for a rank of an MPI job, 1]; results do not depend on it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(super) threads: Option<u16>,
    /// Runs side by side, each with its share of the threads [default: what suits them]; results do not
    /// depend on it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
    /// Run the second of eight parts of the scenario's runs, for `gruppetto merge`; into
    /// runs/NAME.parts/2-of-8 unless --out is given
    #[arg(long, value_name = "2/8", conflicts_with = "clock")]
    part: Option<RunPart>,
    /// Print summary.json instead of the table
    #[arg(long)]
    pub(super) json: bool,
    #[command(flatten)]
    pub(super) exports: Exports,
    /// Run the schedule without training
    #[arg(long)]
    timing_only: bool,
    /// Where deep models are computed: cpu, cuda, cuda:N or auto (GPUs if there are any)
    #[arg(long, value_name = "WHERE", default_value = "auto", hide_default_value = true)]
    pub(super) device: DeviceChoice,
    /// Virtual time jumps from event to event; on the wall clock steps are really taken one by one
    #[arg(long, value_enum, default_value_t = ClockArgument::Virtual)]
    clock: ClockArgument,
    /// With --clock wall: how many simulated seconds pass in a real one
    #[arg(long, value_name = "X")]
    speedup: Option<f64>,
}

/// How often checkpoints are kept, if they are.
#[derive(Clone, Copy)]
struct CheckpointArgument(Option<Duration>);

fn checkpoint(text: &str) -> Result<CheckpointArgument, String> {
    if text == "off" {
        return Ok(CheckpointArgument(None));
    }
    let span = parse_duration(text).map_err(|error| format!("{error}; or off"))?;
    Ok(CheckpointArgument(Some(Duration::from_nanos(span.nanos()))))
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ClockArgument {
    Virtual,
    Wall,
}

impl RunArguments {
    /// How the scenario is to be run.
    pub(super) fn options(&self, name: &str) -> Result<Options, String> {
        let clock_mode = match (self.clock, self.speedup) {
            (ClockArgument::Virtual, None) => ClockMode::Virtual,
            (ClockArgument::Virtual, Some(_)) => {
                return Err(
                    "error: --speedup needs --clock wall: virtual time does not pass".into()
                );
            }
            (ClockArgument::Wall, speedup) => ClockMode::Wall(speedup.unwrap_or(1.0)),
        };
        if let ClockMode::Wall(speedup) = clock_mode
            && !(speedup.is_finite() && (1e-6..=1e9).contains(&speedup))
        {
            return Err(format!(
                "error: --speedup {speedup}: expected a number between 0.000001 and 1000000000"
            ));
        }
        let runs = PathBuf::from("runs");
        let own = match self.part {
            Some(RunPart { number, of }) => {
                runs.join(format!("{name}.parts")).join(format!("{number}-of-{of}"))
            }
            None => runs.join(name),
        };
        let out = self.out.clone().unwrap_or(own);
        Ok(Options {
            out: Some(out),
            force: self.force,
            resume: self.resume,
            checkpoint: self.checkpoint.0,
            threads: threads(self.threads),
            jobs: self.jobs.map(usize::from),
            part: self.part,
            clock_mode,
            timing_only: self.timing_only,
            device: self.device,
            ..Options::default()
        })
    }
}

#[derive(Args)]
pub(super) struct CheckArguments {
    #[command(flatten)]
    pub(super) scenario: ScenarioArguments,
    #[command(flatten)]
    pub(super) runs: SweepArguments,
}

impl CheckArguments {
    pub(super) fn threads(&self) -> usize {
        threads(None)
    }
}

#[derive(Args)]
pub(super) struct TheoryArguments {
    #[command(flatten)]
    pub(super) scenario: ScenarioArguments,
    /// Print everything as JSON, with the weight of every client
    #[arg(long, conflicts_with = "sweep")]
    pub(super) json: bool,
    /// L: how fast the clients' gradients change (known for quadratics)
    #[arg(long, value_name = "L", value_parser = positive, allow_negative_numbers = true)]
    lipschitz: Option<f64>,
    /// σ²: variance of the stochastic gradients (known for quadratics)
    #[arg(long, value_name = "X", value_parser = not_negative, allow_negative_numbers = true)]
    sigma2: Option<f64>,
    /// κ² of Assumption 3: how far the clients' gradients are apart
    #[arg(long, value_name = "X", value_parser = not_negative, allow_negative_numbers = true)]
    kappa2: Option<f64>,
    /// β² of Assumption 3, 1 or more [default: 1]
    #[arg(long, value_name = "X", value_parser = at_least_one, allow_negative_numbers = true)]
    beta2: Option<f64>,
    /// F̃(x₀) − F̃_inf: how far there is to go (known for quadratics)
    #[arg(long, value_name = "X", value_parser = not_negative, allow_negative_numbers = true)]
    gap: Option<f64>,
    /// Print as CSV what FedProx trades over a range, e.g. prox=0..50:50 for 50 steps from 0 to 50
    #[arg(long, value_name = "prox=LOW..HIGH:STEPS", value_parser = ProxRange::parse)]
    pub(super) sweep: Option<ProxRange>,
}

impl TheoryArguments {
    pub(super) fn assumptions(&self) -> Assumptions {
        let TheoryArguments { lipschitz, sigma2, kappa2, beta2, gap, .. } = *self;
        Assumptions { lipschitz, sigma2, kappa2, beta2, gap }
    }
}

/// Values of `prox` to go through.
#[derive(Clone, Debug)]
pub(super) struct ProxRange {
    low: f64,
    high: f64,
    steps: u32,
}

impl ProxRange {
    fn parse(text: &str) -> Result<ProxRange, String> {
        let wrong = || "expected prox=LOW..HIGH:STEPS, such as prox=0..50:50".to_string();
        let range = text.strip_prefix("prox=").ok_or_else(wrong)?;
        let (range, steps) = range.split_once(':').ok_or_else(wrong)?;
        let (low, high) = range.split_once("..").ok_or_else(wrong)?;
        let number = |text: &str| text.trim().parse::<f64>().ok().filter(|v| v.is_finite());
        let (low, high) = number(low).zip(number(high)).ok_or_else(wrong)?;
        let steps: u32 = steps.trim().parse().map_err(|_| wrong())?;
        match low >= 0.0 && high > low && (1..=1_000_000).contains(&steps) {
            true => Ok(ProxRange { low, high, steps }),
            false => Err("expected 0 ≤ LOW < HIGH and 1 to 1000000 steps".into()),
        }
    }

    /// From the lowest to the highest, both included.
    pub(super) fn values(&self) -> impl Iterator<Item = f64> + '_ {
        let at = |step| self.low + (self.high - self.low) * f64::from(step) / f64::from(self.steps);
        (0..=self.steps).map(at)
    }
}

fn positive(text: &str) -> Result<f64, String> {
    parse_number(text, "a number above 0", |value| value > 0.0)
}

fn not_negative(text: &str) -> Result<f64, String> {
    parse_number(text, "a number, 0 or more", |value| value >= 0.0)
}

fn at_least_one(text: &str) -> Result<f64, String> {
    parse_number(text, "a number, 1 or more", |value| value >= 1.0)
}

fn parse_number(text: &str, wanted: &str, holds: fn(f64) -> bool) -> Result<f64, String> {
    let value = text.parse::<f64>().ok().filter(|value| value.is_finite() && holds(*value));
    value.ok_or_else(|| format!("expected {wanted}"))
}

/// As many as asked for, or one per core.
fn threads(asked: Option<u16>) -> usize {
    let cores = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    asked.map_or_else(cores, usize::from)
}

impl Arguments {
    /// Sends log messages to stderr: warnings, or what -v or RUST_LOG ask for.
    pub(super) fn start_logging(&self) {
        let level = match self.verbose {
            0 => "warn",
            1 => "gruppetto=debug",
            _ => "trace",
        };
        let wanted = std::env::var("RUST_LOG").ok().filter(|wanted| !wanted.is_empty());
        let wanted: Option<Targets> = wanted.and_then(|wanted| wanted.parse().ok());
        let filter = wanted.unwrap_or_else(|| level.parse().expect("levels are written down here"));
        let builder = tracing_subscriber::fmt()
            .with_max_level(LevelFilter::TRACE)
            .with_ansi(super::is_coloured(&std::io::stderr()))
            // A message that nobody can read must not end the run.
            .log_internal_errors(false)
            .with_writer(std::io::stderr);
        // Set up once per process; tests that call the command line twice keep the first.
        let _ = match self.log_json {
            true => builder.json().finish().with(filter).try_init(),
            false => builder.finish().with(filter).try_init(),
        };
    }
}
