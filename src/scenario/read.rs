//! The second stage: from the tree to validated plans, one per variant.

use super::assign::{self, Assignment};
use super::error::ScenarioError;
use super::event::{self, Stage};
use super::plan::{Plan, Scenario, Variant};
use super::replay::TraceStores;
use super::section::Section;
use super::sweep::{Combination, Sweep};
use super::task::{Desk, Shelf};
use super::tree::{Node, Raw};
use super::{client, expect, fleet, plugin, resolved, rules, scheme, server, stop, task};
use crate::aggregate::WeightingConfig;
use crate::data::{PluginTask, TaskConfig};
use crate::plugins::{ChosenPlugins, Plugins};
use std::ops::Range;
use std::sync::Arc;

/// What all variants of a scenario share while they are read.
struct ReadContext<'a> {
    plugins: &'a Plugins,
    traces: TraceStores,
    shelf: Shelf,
    /// With which seeds the scenario is run.
    seeds: Range<u64>,
    /// What is odd, in words without and with the variant in which it was found.
    warnings: Vec<(String, ScenarioError)>,
}

/// Reads a whole scenario.
pub(super) fn read(tree: &Node, plugins: &Plugins) -> Result<Scenario, ScenarioError> {
    let mut root = Section::open("", tree)?;
    let name = root.require("name", "the name of the scenario")?.identifier("scenario")?;
    let description = root.get("description").map_or(Ok(String::new()), read_description)?;
    let seed = root.get("seed").map_or(Ok(1), |node| node.whole("seed", 0..=i64::MAX as u64))?;
    let repeats = root.get("repeats").map_or(Ok(1), |node| node.whole("repeats", 1..=1000))?;
    let seeds = seed..seed + repeats;
    let mut context = ReadContext {
        plugins,
        traces: TraceStores::default(),
        shelf: Shelf::default(),
        seeds,
        warnings: Vec::new(),
    };
    root.get("sweep");
    let sweep = Sweep::read(tree)?;
    let variants = read_variants(&mut root, tree, &sweep, &mut context)?;
    let (record_clients, record_timeline) = expect::read_record(&mut root)?;
    let expects = expect::read(&mut root, &variants, repeats)?;
    let resolved = resolved::write(tree, seed);
    let (inputs, portable) = resolved::inputs(tree, seed);
    Ok(Scenario {
        name,
        description,
        seed,
        repeats,
        sweep: sweep.keys(),
        variants,
        record_clients,
        record_timeline,
        expects,
        resolved,
        portable,
        inputs,
        warnings: context.warnings.iter().map(|(_, warning)| warning.as_warning()).collect(),
    })
}

fn read_description(node: &Node) -> Result<String, ScenarioError> {
    let text = node.text()?;
    match text.chars().any(|c| c.is_control() && c != '\n') {
        true => Err(node.at.error("`description` has control characters").expected("plain text")),
        false => Ok(text.into()),
    }
}

fn read_variants(
    root: &mut Section<'_>,
    tree: &Node,
    sweep: &Sweep,
    context: &mut ReadContext<'_>,
) -> Result<Vec<Variant>, ScenarioError> {
    let Some(list) = root.get("variant") else {
        return read_combinations(None, tree, sweep, context);
    };
    let nodes = list.array("[[variant]]")?;
    if nodes.is_empty() {
        return Err(list.at.error("there are no variants").expected("one [[variant]] or more"));
    }
    let mut variants = Vec::<Variant>::new();
    for node in nodes {
        let combinations = read_variant(node, tree, sweep, context)?;
        let name = &combinations[0].variant;
        if variants.iter().any(|other| other.variant == *name) {
            let error =
                node.place("name").error(format!("there are two variants named \"{name}\""));
            return Err(error.expected("a different name for every variant"));
        }
        variants.extend(combinations);
    }
    Ok(variants)
}

/// A variant with every combination of swept values.
fn read_variant(
    node: &Node,
    tree: &Node,
    sweep: &Sweep,
    context: &mut ReadContext<'_>,
) -> Result<Vec<Variant>, ScenarioError> {
    let mut section = Section::open("variant", node)?;
    let name = section.require("name", "shown in tables and files")?.identifier("variant")?;
    let set = match section.get("set") {
        Some(Node { value: Raw::Table(_), .. }) => assign::of_set(node.get("set").unwrap_or(node)),
        Some(other) => {
            let error = other.wrong_type("a table");
            return Err(error.expected("paths and values: { server.weighting = \"fedavg\" }"));
        }
        None => Vec::new(),
    };
    section.finish("here")?;
    set.iter().try_for_each(may_vary)?;
    sweep.leaves_alone(&set, &format!("variant `{name}`"))?;
    let in_variant = |error: ScenarioError| match set.is_empty() {
        true => error,
        false => error.note(format_args!("in variant `{name}`")),
    };
    let mut own = tree.clone();
    assign::apply(&mut own, &set)?;
    let known = context.warnings.len();
    let variants = read_combinations(Some(&name), &own, sweep, context).map_err(in_variant)?;
    for (_, warning) in &mut context.warnings[known..] {
        *warning = in_variant(warning.clone());
    }
    Ok(variants)
}

/// The plan of a tree with every combination of swept values; there is one if nothing is swept.
fn read_combinations(
    name: Option<&str>,
    tree: &Node,
    sweep: &Sweep,
    context: &mut ReadContext<'_>,
) -> Result<Vec<Variant>, ScenarioError> {
    let mut variants = Vec::<Variant>::new();
    for Combination { assignments, swept } in sweep.combinations() {
        let combined;
        let own = match sweep.is_empty() {
            true => tree,
            false => {
                let mut changed = tree.clone();
                assign::apply(&mut changed, &assignments)?;
                combined = changed;
                &combined
            }
        };
        let in_sweep = |error: ScenarioError| match sweep.is_empty() {
            true => error,
            false => error.note(format_args!("in the sweep, with{}", swept.label(""))),
        };
        let known = context.warnings.len();
        let plan = read_plan(own, context).map_err(in_sweep)?;
        for (_, warning) in &mut context.warnings[known..] {
            *warning = in_sweep(warning.clone());
        }
        let variant = name.or(variants.first().map(|first| first.variant.as_str()));
        let variant = match (variant, plan.server.rule.weighting) {
            (Some(name), _) => name,
            (None, _) if sweep.decides("server.weighting") => "run",
            (None, WeightingConfig::FedNova) => "fednova",
            (None, WeightingConfig::FedAvg) => "fedavg",
            (None, WeightingConfig::Uniform) => "uniform",
            (None, WeightingConfig::Plugin) => "plugin",
        };
        let (name, variant) = (swept.label(variant), variant.to_string());
        variants.push(Variant { name, variant, swept, plan });
    }
    Ok(variants)
}

/// Variants are compared in one run, on the same seeds, and written to the same files.
fn may_vary(assignment: &Assignment) -> Result<(), ScenarioError> {
    let Some(first) = assignment.path.first() else {
        return Ok(());
    };
    match first.name.as_str() {
        name @ ("name" | "description" | "seed" | "repeats" | "record" | "expect" | "variant"
        | "sweep") => Err(first
            .at
            .error(format!("a variant cannot change `{name}`"))
            .expected("keys of: stop, task, client, server, fleet; or `event`")),
        _ => Ok(()),
    }
}

fn read_plan(tree: &Node, context: &mut ReadContext<'_>) -> Result<Plan, ScenarioError> {
    let mut own = tree.clone();
    let mut lifted = plugin::lift(&mut own, context.plugins)?;
    let mut root = Section::open("", &own)?;
    let desk = Desk { shelf: &context.shelf, seeds: context.seeds.clone() };
    let task = task::read(&mut root, &desk, lifted.task.is_some())?;
    let mut client = client::read(&mut root, &task)?;
    let (server, evaluate_every) = server::read(&mut root, task.clients)?;
    let seed = context.seeds.start;
    let task = match lifted.task.take() {
        None => task,
        Some((chosen, node)) => {
            let problem = PluginTask::new(chosen, task.clients, client.batch.size(), seed);
            let problem = problem.map_err(|error| plugin::at(&node, &error))?;
            TaskConfig { problem: Arc::new(problem), ..task }
        }
    };
    let given = fleet::read(&mut root, client.recipe.common, &context.traces)?;
    let fleet = given.map(|(fleet, solvers)| {
        client.recipe.classes = solvers;
        fleet
    });
    let stop = stop::read(&mut root, &*task.problem)?;
    let given = fleet.is_some();
    let fleet = fleet.unwrap_or_else(fleet::uniform);
    let (events, plugins) = (Vec::new(), ChosenPlugins::default());
    let mut plan = Plan { task, client, server, fleet, events, stop, evaluate_every, plugins };
    lifted.announce(&mut plan);
    lifted.try_out(&mut plan, seed)?;
    rules::check(tree, &plan.client, &plan.server, given.then_some(&plan.fleet))?;
    scheme::check(tree, &plan.server, plan.task.clients)?;
    let Plan { task, server, fleet, stop, .. } = &plan;
    let stage = Stage { clients: task.clients, fleet, close: server.close, stop };
    let (events, warnings) = event::read(&mut root, &stage)?;
    rules::check_rates(tree, &plan.client, &events)?;
    for warning in warnings.into_iter().chain(rules::overshooting(tree, &plan.client)) {
        // Variants share much: what is odd about one is said once.
        let said = warning.as_warning();
        if context.warnings.iter().all(|(other, _)| *other != said) {
            context.warnings.push((said, warning));
        }
    }
    plan.events = events;
    Ok(plan)
}
