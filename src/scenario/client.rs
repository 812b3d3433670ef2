//! `[client]`: how a client works.

use super::compression;
use super::dist;
use super::error::ScenarioError;
use super::foresight;
use super::section::Section;
use super::solver::{self, Terms};
use super::tree::{Node, Raw};
use super::value::Unit;
use crate::compress::Packing;
use crate::data::TaskConfig;
use crate::device::Foresight;
use crate::policy::{Amount, Batch, ClientConfig, LastBatch, Redraw, WorkConfig};
use crate::random::Shape;
use crate::solver::{Recipe, Schedule, Solver};

/// Reads `[client]`, for the clients of a task.
pub(super) fn read(
    root: &mut Section<'_>,
    task: &TaskConfig,
) -> Result<ClientConfig, ScenarioError> {
    let mut section = root.open_in("client")?;
    let batch = read_batch(section.get("batch"), task)?;
    let common = Terms::read(&mut section)?.over(Solver::sgd(0.02));
    if let Some(node) = root.get("client") {
        solver::check(&common, node)?;
    }
    let schedule = section
        .get("lr_schedule")
        .map_or(Ok(Vec::new()), |node| solver::read_schedule(node, rounds(root)))?;
    let variance_reduction =
        section.get("variance_reduction").map_or(Ok(None), solver::read_variance)?;
    let packing = section.get("compression").map_or(Ok(Packing::default()), compression::read)?;
    let work =
        section.get("work").map_or(Ok(WorkConfig::UntilDeadline), |node| read_work(node, task))?;
    let foresight = section.get("foresight").map_or(Ok(Foresight::Exact), foresight::read)?;
    section.finish("here")?;
    // What classes have of their own is known only when the fleet has been read.
    let recipe = Recipe::new(common, Schedule::new(&schedule));
    Ok(ClientConfig { batch, recipe, variance_reduction, packing, work, foresight })
}

/// The rounds that `[stop]` asks for; whether it may is for `[stop]` to say.
fn rounds(root: &mut Section<'_>) -> Option<u64> {
    let Raw::Integer(rounds) = root.get("stop")?.get("rounds")?.value else {
        return None;
    };
    u64::try_from(rounds).ok()
}

fn read_batch(node: Option<&Node>, task: &TaskConfig) -> Result<Batch, ScenarioError> {
    match (node, task.problem.without_samples()) {
        (None, Some(_)) => Ok(Batch::Full),
        (None, None) => Ok(Batch::Size(20)),
        (Some(Node { value: Raw::String(text), .. }), _) if text == "full" => Ok(Batch::Full),
        (Some(node), Some(instead)) => Err(node
            .at
            .error(format!("a {} task has no samples to batch", task.kind))
            .expected("no `batch`, or \"full\"")
            .help(instead)),
        (Some(node), None) => node
            .whole("batch", 1..=1_000_000_000)
            .map(|size| Batch::Size(size as usize))
            .map_err(|error| error.note("or \"full\": all samples of a client in every step")),
    }
}

fn read_work(node: &Node, task: &TaskConfig) -> Result<WorkConfig, ScenarioError> {
    let mut section = Section::open("client.work", node)?;
    let (how, amount) = section.exactly_one(&["until", "epochs", "steps"])?;
    let work = match how {
        "until" => {
            amount.one_of("client.work.until", "end of work", &[("deadline", ())])?;
            WorkConfig::UntilDeadline
        }
        "epochs" if task.problem.without_samples().is_some() => {
            return Err(amount
                .at
                .error(format!("a {} task has no samples to pass over", task.kind))
                .expected("{ steps = … } or { until = \"deadline\" }"));
        }
        "epochs" => {
            let amount = read_amount(amount, &mut section, task, &EPOCHS)?;
            let known = [("fills-up", LastBatch::FillsUp), ("counts", LastBatch::Counts)];
            let last = section.get("last_batch");
            let last = last.map_or(Ok(LastBatch::FillsUp), |node| {
                node.one_of("client.work.last_batch", "last_batch", &known)
            });
            WorkConfig::Epochs(amount, last?)
        }
        _ => WorkConfig::Steps(read_amount(amount, &mut section, task, &STEPS)?),
    };
    section.finish("with this work")?;
    Ok(work)
}

/// What a fixed amount of work must be.
struct Rule {
    name: &'static str,
    wanted: &'static str,
    /// The most that it may be, however it is written.
    most: f64,
    most_spelled: &'static str,
    holds: fn(f64) -> bool,
}

const EPOCHS: Rule = Rule {
    name: "epochs",
    wanted: "a number above 0, up to 1 million",
    most: 1e6,
    most_spelled: "1 million",
    holds: |epochs| epochs > 0.0 && epochs <= 1e6,
};
const STEPS: Rule = Rule {
    name: "steps",
    wanted: "a whole number from 1 to 1 billion",
    most: 1e9,
    most_spelled: "1 billion",
    holds: |steps| (1.0..=1e9).contains(&steps) && steps.fract() == 0.0,
};

fn read_amount(
    node: &Node,
    section: &mut Section<'_>,
    task: &TaskConfig,
    rule: &Rule,
) -> Result<Amount, ScenarioError> {
    let fixed = |node: &Node| node.number_that(rule.name, rule.wanted, rule.holds);
    if let Raw::Array(nodes) = &node.value {
        let (given, clients) = (nodes.len(), task.clients);
        if given != clients {
            let error =
                node.at.error(format!("`{}` has {given} entries for {clients} clients", rule.name));
            return Err(error.expected(format_args!("one number per client: {clients}")));
        }
        return nodes.iter().map(fixed).collect::<Result<_, _>>().map(Amount::Each);
    }
    let dist = dist::read(node, Unit::Plain)?;
    match dist.shape {
        Shape::Fixed(_) if !matches!(node.value, Raw::Table(_)) => drop(fixed(node)?),
        _ if dist.typical() <= 0.0 => {
            let error = node.at.error(format!("the usual draw of `{}` is not above 0", rule.name));
            return Err(error.expected("work to be done"));
        }
        _ => {}
    }
    let dist = dist::never_above(dist, rule.most, rule.most_spelled, rule.name, node)?;
    let redraws = [("round", Redraw::Round), ("once", Redraw::Once)];
    let redraw = section
        .get("redraw")
        .map_or(Ok(Redraw::Round), |node| node.one_of("client.work.redraw", "redraw", &redraws))?;
    Ok(Amount::Drawn(dist, redraw))
}
