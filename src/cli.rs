//! The command line.

mod arguments;
mod bars;
mod calibrate;
mod compare;
mod data;
mod export;
mod list;
mod merge;
mod new;
mod ranks;
mod report;
mod trace;
#[cfg(feature = "watch")]
mod watch;

pub use arguments::Arguments;

use crate::actors::Interrupt;
use crate::bench::{Extent, bench};
use crate::plugins::Plugins;
use crate::report::{TextStyle, is_record_of_run, number, results};
use crate::run::{self, Error, Outlook, check_device, estimate, preflight, with_evaluations};
use crate::run_files::{RoundsCsv, RunTable};
use crate::scenario::Scenario;
use arguments::{
    CheckArguments, Command, ProxRange, RunArguments, SweepArguments, TheoryArguments,
};
use clap::CommandFactory;
use std::io::{ErrorKind, IsTerminal, Write};

/// Something went wrong while running.
const FAILED: u8 = 1;
/// The command line or the scenario is wrong; nothing was run.
const BAD_USAGE: u8 = 2;
/// An `[[expect]]` was not met.
const NOT_MET: u8 = 3;

/// The user ended it: as shells say it of a program that Ctrl-C ends.
const INTERRUPTED: u8 = 130;

/// How a command ended, as shells are told. The standard library's own cannot be looked into, and Python has to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExitCode(pub u8);

impl ExitCode {
    /// It did what it was asked.
    pub const SUCCESS: ExitCode = ExitCode(0);
}

impl From<u8> for ExitCode {
    fn from(code: u8) -> Self {
        ExitCode(code)
    }
}

/// Does what the command line says.
pub fn main(arguments: Arguments) -> ExitCode {
    if let ([file, ..], _) = arguments.python() {
        let _ = writeln!(
            std::io::stderr(),
            "error: --plugin {}: this command has no Python\n  = help: `pip install .` in a clone installs one that \
             has; plug-ins in Rust are programs of their own, see docs/plugins.md",
            file.display()
        );
        return ExitCode::from(BAD_USAGE);
    }
    main_with(arguments, &Plugins::new())
}

/// The same, with what users bring.
pub fn main_with(arguments: Arguments, plugins: &Plugins) -> ExitCode {
    arguments.start_logging();
    let done = match &arguments.command {
        Command::Run(run) => run_scenario(run, arguments.quiet, plugins),
        Command::Check(check) => check_scenario(check, plugins),
        Command::Theory(theory) => predict(theory, plugins),
        Command::Merge(arguments) => merge::merge_runs(arguments, plugins),
        Command::Report(arguments) => report::report(arguments),
        Command::Compare(arguments) => compare::compare(arguments),
        Command::Export(arguments) => export::export(arguments),
        Command::New(arguments) => new::new(arguments),
        Command::List { key } => list::list(key.as_deref()),
        Command::Completions { shell } => {
            let (mut command, mut script) = (Arguments::command(), Vec::new());
            clap_complete::generate(*shell, &mut command, "gruppetto", &mut script);
            print(&String::from_utf8_lossy(&script)).map(|()| ExitCode::SUCCESS)
        }
        #[cfg(feature = "watch")]
        Command::Watch(arguments) => watch::show(arguments),
        Command::Data(command) => data::data(command),
        Command::Calibrate(arguments) => calibrate::calibrate_machine(arguments),
        Command::Trace(command) => trace::trace(command, arguments.quiet),
        Command::Bench { quick, parts } => {
            let extent = if *quick { Extent::Quick } else { Extent::Full };
            let mut printed = Ok(());
            let done = bench(extent, parts, &mut |text| {
                if printed.is_ok() {
                    printed = print(text);
                }
            });
            done.map_err(Problem::failed).and(printed).map(|()| ExitCode::SUCCESS)
        }
    };
    done.unwrap_or_else(|problem| {
        // Nobody may be there to read it; the exit code still tells.
        let _ = writeln!(std::io::stderr(), "{}", problem.text.trim_end());
        ExitCode::from(problem.code)
    })
}

/// A message for the user and the exit code that goes with it.
struct Problem {
    text: String,
    code: u8,
}

impl Problem {
    fn usage(text: impl ToString) -> Self {
        Problem { text: text.to_string(), code: BAD_USAGE }
    }

    fn failed(text: impl std::fmt::Display) -> Self {
        Problem { text: format!("error: {text}"), code: FAILED }
    }
}

/// Refuses to write a page or a table over what a run recorded.
fn spare_records(path: &std::path::Path) -> Result<(), Problem> {
    if !is_record_of_run(path) {
        return Ok(());
    }
    let path = path.display();
    let text = format!("error: {path} is a file of a run\n  = help: write to another file");
    Err(Problem::usage(text))
}

fn run_scenario(
    arguments: &RunArguments,
    quiet: bool,
    brought: &Plugins,
) -> Result<ExitCode, Problem> {
    let Some(role) = ranks::join(arguments, brought)? else {
        // A worker rank; rank 0 tells how the run ended.
        return Ok(ExitCode::SUCCESS);
    };
    let scenario = arguments.scenario.load(&arguments.runs, brought).map_err(Problem::usage)?;
    warn(&scenario);
    let mut options = arguments.options(&scenario.name).map_err(Problem::usage)?;
    preflight(&scenario, options.timing_only).map_err(Problem::usage)?;
    check_device(options.device).map_err(Problem::usage)?;
    let trainers = role.gather(&scenario, &options)?;
    let interrupt = listen_for_signals(quiet);
    options.interrupt = interrupt.clone();
    let (plugins, bars) = match quiet || arguments.json {
        true => (brought.clone(), None),
        false => {
            trainers.introduce();
            let all = run::cell_count(&scenario);
            // About: parts are even in what they cost, not in how many runs they have.
            let cells = options.part.map_or(all, |part| all.div_ceil(part.of as usize));
            let (plugins, bars) =
                bars::with_bars(brought.clone(), &scenario, (cells, trainers.ranks()));
            (plugins, Some(bars))
        }
    };
    let ran = trainers.run(&scenario, &options, &plugins);
    if let Some(bars) = bars {
        bars.clear();
    }
    let summary = ran.map_err(|error| match &error {
        Error::Folder(_) | Error::Resume(_) => {
            Problem { text: format!("error: {error}"), code: FAILED }
        }
        Error::OtherRun { .. } | Error::WallClock => Problem::usage(format!("error: {error}")),
        // Nothing was run: the scenario asks for something that cannot be.
        Error::Build { .. } => Problem::usage(format!("error: {error}")),
        _ => {
            let kept = options.out.as_ref().filter(|out| out.join(RoundsCsv::FILE).exists());
            let kept = kept.map_or(String::new(), |out| {
                format!("\nWhat was recorded is in {}, marked incomplete.", out.display())
            });
            Problem::failed(format!("{error}{kept}"))
        }
    })?;
    let exported = match &summary.folder {
        Some(out) => arguments.exports.write(out)?,
        None => String::new(),
    };
    let text = if arguments.json {
        summary.to_json()
    } else {
        let mut text = heading(&scenario);
        text.push_str(&results(&summary, style()));
        if interrupt.is_set() {
            let all = match &summary.part {
                Some(part) => part.cells.len(),
                None => run::cell_count(&scenario),
            };
            let over = summary.variants.iter().filter(|run| run.is_over()).count();
            let made = (over + 1).min(all);
            let goes_on = match (&summary.folder, summary.wall_clock) {
                (Some(_), false) => "; --resume goes on",
                _ => "",
            };
            text.push_str(&format!(
                "interrupted in run {made} of {all}; nothing was judged{goes_on}\n"
            ));
        }
        if let (Some(out), None) = (&options.out, &summary.folder) {
            text.push_str(&format!(
                "the earlier run in {} is kept, and nothing of this one: it had no checkpoint yet\n",
                out.display()
            ));
        }
        if let Some(out) = &summary.folder {
            text.push_str(&format!("written to {0}; see {0}/report.html\n", out.display()));
            text.push_str(&exported);
        }
        text
    };
    print(&text)?;
    if interrupt.is_set() {
        return Ok(ExitCode::from(INTERRUPTED));
    }
    if run::has_failed(&scenario, &summary) {
        return Ok(ExitCode::from(FAILED));
    }
    let met = summary.expect.iter().all(|expect| expect.ok || expect.skipped);
    Ok(if met { ExitCode::SUCCESS } else { ExitCode::from(NOT_MET) })
}

/// The first Ctrl-C, or signal to terminate, ends the run in order; the second at once.
fn listen_for_signals(quiet: bool) -> Interrupt {
    let interrupt = Interrupt::default();
    let told = interrupt.clone();
    let heard = ctrlc::set_handler(move || {
        if told.set() {
            // At once, without the clearing up of libraries that still compute.
            signal_hook::low_level::exit(INTERRUPTED.into());
        }
        if !quiet {
            let text = "\nending; once more to end at once";
            let _ = writeln!(std::io::stderr(), "{text}");
        }
    });
    if let Err(error) = heard {
        tracing::debug!(%error, "signals are not heard");
    }
    interrupt
}

fn check_scenario(arguments: &CheckArguments, plugins: &Plugins) -> Result<ExitCode, Problem> {
    let scenario = arguments.scenario.load(&arguments.runs, plugins).map_err(Problem::usage)?;
    warn(&scenario);
    preflight(&scenario, false).map_err(Problem::usage)?;
    let threads = arguments.threads();
    let scenario = with_evaluations(&scenario).map_err(Problem::usage)?;
    let estimates = estimate(&scenario, threads).map_err(Problem::usage)?;
    let mut text = heading(&scenario);
    text.push_str(&run::overview(&scenario, &estimates, threads));
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn predict(arguments: &TheoryArguments, plugins: &Plugins) -> Result<ExitCode, Problem> {
    let scenario =
        arguments.scenario.load(&SweepArguments::default(), plugins).map_err(Problem::usage)?;
    warn(&scenario);
    preflight(&scenario, true).map_err(Problem::usage)?;
    let outlooks = run::theory(&scenario, &arguments.assumptions()).map_err(Problem::failed)?;
    let text = match &arguments.sweep {
        Some(sweep) => curves(&outlooks, sweep)?,
        None if arguments.json => {
            let (name, seed) = (&scenario.name, scenario.seed);
            let least = run::least_bound(&outlooks).map(|(variant, _)| variant);
            let json = serde_json::json!({
                "name": name, "seed": seed, "variants": outlooks, "least_bound": least
            });
            format!("{}\n", serde_json::to_string_pretty(&json).expect("plain data"))
        }
        None => {
            let mut text = heading(&scenario);
            outlooks.iter().for_each(|outlook| text.push_str(&format!("{outlook}\n")));
            if let Some((variant, bound)) = run::least_bound(&outlooks) {
                text.push_str(&format!("least bound on ‖∇F‖²: {variant}, {}\n", number(bound)));
            }
            text
        }
    };
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// Figure 4's three curves, for every variant.
fn curves(outlooks: &[Outlook], sweep: &ProxRange) -> Result<String, Problem> {
    let mut text = "variant,prox,alpha,weight_bias,slowdown,relative_variance\n".to_string();
    for outlook in outlooks {
        let Outlook::Predicted(prediction) = outlook else {
            continue;
        };
        for prox in sweep.values() {
            let alpha = prediction.lr * prox;
            // A little over 1 by rounding is 1.
            if alpha > 1.0 + 1e-9 {
                return Err(Problem::usage(format!(
                    "error: --sweep: α = lr · prox is {} at prox = {}, and must not be above 1\n  \
                     = help: with lr = {} go up to prox = {}",
                    number(alpha),
                    number(prox),
                    prediction.lr,
                    number(1.0 / prediction.lr)
                )));
            }
            let point = prediction.at_prox(prox);
            text.push_str(&format!(
                "{},{prox},{},{},{},{}\n",
                prediction.variant,
                point.alpha,
                point.weight_bias,
                point.slowdown,
                point.relative_variance
            ));
        }
    }
    Ok(text)
}

/// Tells what is odd about a scenario, in the form in which errors are told.
fn warn(scenario: &Scenario) {
    for warning in &scenario.warnings {
        // Nobody may be there to read it.
        let _ = writeln!(std::io::stderr(), "{warning}");
    }
}

fn heading(scenario: &Scenario) -> String {
    let mut text = scenario.name.clone();
    if !scenario.description.is_empty() {
        text.push_str(": ");
        text.push_str(&scenario.description);
    }
    text.push_str("\n\n");
    text
}

fn style() -> TextStyle {
    if is_coloured(&std::io::stdout()) { TextStyle::Colour } else { TextStyle::Plain }
}

/// Whether colours are seen as such there, and wanted. What mpirun gives its processes looks like a terminal even if
/// it writes to a file itself.
fn is_coloured(stream: &impl IsTerminal) -> bool {
    let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    stream.is_terminal() && !plain && std::env::var_os("OMPI_COMM_WORLD_SIZE").is_none()
}

/// Writes to stdout. A reader that has gone away (`| head`) is no error.
fn print(text: &str) -> Result<(), Problem> {
    let mut stdout = std::io::stdout().lock();
    let printed = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
    match printed {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Problem::failed(format!("cannot write to stdout: {error}")))
        }
        _ => Ok(()),
    }
}
