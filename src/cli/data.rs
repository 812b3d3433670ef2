//! `gruppetto data`: what is learned from, and who has it.

use super::arguments::{ScenarioArguments, SweepArguments};
use super::{Problem, print};
use crate::cli::ExitCode;
use crate::data::Glyphs;
use crate::plugins::Plugins;
use crate::scenario::{Override, Scenario, Variant};
use clap::{Args, Subcommand};

/// Terminals are at least as wide as this.
const WIDTH: usize = 80;

#[derive(Subcommand)]
pub(super) enum DataCommand {
    /// Show sizes, who has which labels, and how different clients are
    #[command(after_help = "Examples:
  gruppetto data inspect scenario.toml
  gruppetto data inspect scenario.toml --set task.partition.scheme.dirichlet=0.1
  gruppetto data inspect --dataset cifar10 --set task.clients=16")]
    Inspect(InspectDataArguments),
}

#[derive(Args)]
pub(super) struct InspectDataArguments {
    #[command(flatten)]
    source: DataSource,
    /// Change a key of the scenario, e.g. task.clients=100 (may be repeated)
    #[arg(long = "set", value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Use another seed than the scenario's
    #[arg(long, allow_negative_numbers = true)]
    seed: Option<u64>,
    /// Which variant's data, where variants differ in it [default: the first]
    #[arg(long, value_name = "NAME", allow_hyphen_values = true)]
    variant: Option<String>,
    /// Print everything as JSON
    #[arg(long)]
    json: bool,
    /// Use no characters beyond ASCII [default: as the locale says]
    #[arg(long)]
    ascii: bool,
}

#[derive(Args)]
#[group(required = true, multiple = false)]
struct DataSource {
    /// The scenario file
    #[arg(value_name = "FILE")]
    file: Option<std::path::PathBuf>,
    /// A data set by its name, without a scenario
    #[arg(long, value_name = "NAME")]
    dataset: Option<String>,
}

/// Does what `gruppetto data` says.
pub(super) fn data(command: &DataCommand) -> Result<ExitCode, Problem> {
    let DataCommand::Inspect(arguments) = command;
    let scenario = arguments.load()?;
    let variant = arguments.choose(&scenario)?;
    let inspection = variant
        .plan
        .task
        .problem
        .inspect(variant.plan.task.clients, scenario.seed)
        .map_err(|error| Problem::usage(format!("error: {error}")))?;
    let Some(inspection) = inspection else {
        return Err(Problem::usage(
            "error: a quadratic task has no data to look at\n  = help: kinds with samples are \
             \"synthetic\", \"images\" and \"table\"",
        ));
    };
    let text = if arguments.json {
        let json = serde_json::to_string_pretty(&inspection).expect("plain data");
        format!("{json}\n")
    } else {
        inspection.report(WIDTH, arguments.glyphs())
    };
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}

impl InspectDataArguments {
    fn load(&self) -> Result<Scenario, Problem> {
        let InspectDataArguments { source, set, seed, .. } = self;
        match (&source.file, &source.dataset) {
            (Some(file), _) => {
                let file = file.clone();
                let set = set.clone();
                ScenarioArguments { file, set, seed: *seed, plugin: Vec::new() }
                    .load(&SweepArguments::default(), &Plugins::new())
                    .map_err(Problem::usage)
            }
            (None, name) => {
                let name = name.as_deref().unwrap_or_default();
                let name = toml_edit::Value::from(name);
                let text = format!(
                    "name = \"inspect\"\nstop.rounds = 1\nclient.work.steps = 1\n\
                     server.close = \"all\"\n\n[task]\nkind = \"images\"\ndataset = {name}\n"
                );
                let overrides: Result<Vec<_>, _> =
                    set.iter().map(|one| Override::parse(one)).collect();
                overrides
                    .and_then(|overrides| Scenario::parse("--dataset", &text, &overrides, *seed))
                    .map_err(Problem::usage)
            }
        }
    }

    fn choose<'a>(&self, scenario: &'a Scenario) -> Result<&'a Variant, Problem> {
        let Some(name) = &self.variant else {
            return Ok(&scenario.variants[0]);
        };
        scenario.variants.iter().find(|variant| variant.name == *name).ok_or_else(|| {
            let names: Vec<&str> = scenario.variants.iter().map(|v| v.name.as_str()).collect();
            Problem::usage(format!(
                "error: --variant: there is no variant `{name}`\n  = expected one of: {}",
                names.join(", ")
            ))
        })
    }

    /// What the locale says; without one, what everything else here is written in.
    fn glyphs(&self) -> Glyphs {
        let set = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(set);
        let narrow = locale.is_some_and(|locale| {
            let locale = locale.to_lowercase();
            !locale.contains("utf-8") && !locale.contains("utf8")
        });
        if self.ascii || narrow { Glyphs::Ascii } else { Glyphs::Unicode }
    }
}
