//! `[[expect]]` and `[record]`: what must come out, and what is written down.

use super::error::ScenarioError;
use super::plan::{Expect, ExpectBound, Quantity, RecordClients, Reference, Side, Variant};
use super::render::short;
use super::section::Section;
use super::stop::metrics_of;
use super::suggest::nearest;
use super::tree::{Node, Raw};

/// Reads `[record]`: whose rows are in `clients.csv`, and who is in `timeline.json.gz`.
pub(super) fn read_record(
    root: &mut Section<'_>,
) -> Result<(RecordClients, RecordClients), ScenarioError> {
    let mut section = root.open_in("record")?;
    let clients = read_clients(&mut section, "clients", RecordClients::All)?;
    let timeline = read_clients(&mut section, "timeline", RecordClients::Sample(200))?;
    Ok((clients, timeline))
}

fn read_clients(
    section: &mut Section<'_>,
    key: &'static str,
    default: RecordClients,
) -> Result<RecordClients, ScenarioError> {
    let Some(node) = section.get(key) else {
        return Ok(default);
    };
    let Raw::Table(_) = &node.value else {
        let names = [("all", RecordClients::All), ("off", RecordClients::Off)];
        return node
            .one_of("choice of clients", &names)
            .map_err(|error| error.note("or { clients = 1000 }: a fixed random set"));
    };
    let name = if key == "clients" { "record.clients" } else { "record.timeline" };
    let mut section = Section::open(name, node)?;
    let clients = section.require("clients", "how many clients are told of")?;
    clients
        .whole("clients", 1..=i64::MAX as u64)
        .map(|clients| RecordClients::Sample(clients as usize))
}

/// Reads every `[[expect]]`, for the variants it may speak of.
pub(super) fn read(
    root: &mut Section<'_>,
    variants: &[Variant],
) -> Result<Vec<Expect>, ScenarioError> {
    match root.get("expect") {
        Some(list) => {
            list.array("[[expect]]")?.iter().map(|node| read_one(node, variants)).collect()
        }
        None => Ok(Vec::new()),
    }
}

fn read_one(node: &Node, variants: &[Variant]) -> Result<Expect, ScenarioError> {
    let mut section = Section::open("expect", node)?;
    let that = section.require("that", "what is compared, such as \"train_loss\"")?;
    let of = match section.get("of") {
        Some(node) => find(node, variants)?,
        None if variants.len() == 1 => 0,
        None => {
            let error = section.at.error("missing key `of` in [[expect]]");
            return Err(error.expected(format_args!("one of the variants: {}", names(variants))));
        }
    };
    let reference = |node: &Node| match &node.value {
        Raw::String(_) => match find(node, variants)? {
            other if other == of => Err(node
                .at
                .error("a variant is compared with itself")
                .expected("another variant, or a number")),
            other => Ok(Reference::Variant(other)),
        },
        _ => node.number().map(Reference::Number),
    };
    let (side, node) = match section.exactly_one(&["at_least", "at_most", "equals"])? {
        ("at_least", node) => (Side::AtLeast, node),
        ("at_most", node) => (Side::AtMost, node),
        (_, node) => (Side::Equals, node),
    };
    let within = match side {
        Side::Equals => Some(section.require("within", "how far from `equals` is near enough")?),
        _ => section.get("within"),
    };
    let tolerance =
        |node: &Node| node.number_that("within", "a number, 0 or more", |within| within >= 0.0);
    let within = within.map_or(Ok(0.0), tolerance)?;
    let bound = ExpectBound { side, of: reference(node)?, within };
    section.finish("in this [[expect]]")?;
    let quantity = read_quantity(that, &variants[of])?;
    // A comparison needs the same quantity on both sides.
    if let Reference::Variant(other) = bound.of {
        read_quantity(that, &variants[other])?;
    }
    Ok(Expect { that: quantity, of, bound })
}

fn read_quantity(node: &Node, variant: &Variant) -> Result<Quantity, ScenarioError> {
    let metrics = metrics_of(&variant.plan.task.kind);
    let mut known: Vec<_> =
        metrics.into_iter().map(|(name, metric)| (name, Quantity::Metric(metric))).collect();
    known.extend([
        ("rounds", Quantity::Rounds),
        ("virtual_seconds", Quantity::VirtualSeconds),
        ("chi2", Quantity::Chi2),
        ("missing_mass", Quantity::MissingMass),
        ("waste", Quantity::Waste),
        ("diverged", Quantity::Diverged),
    ]);
    node.one_of("quantity", &known).map_err(|error| {
        error.note(format_args!("these are measured for variant `{}`", variant.name))
    })
}

fn find(node: &Node, variants: &[Variant]) -> Result<usize, ScenarioError> {
    let name = node.text()?;
    variants.iter().position(|variant| variant.name == name).ok_or_else(|| {
        let error = node.at.error(format!("there is no variant `{}`", short(name)));
        let error = error.expected(format_args!("one of: {}", names(variants)));
        error.meant(nearest(name, variants.iter().map(|variant| variant.name.as_str())))
    })
}

fn names(variants: &[Variant]) -> String {
    variants.iter().map(|variant| variant.name.as_str()).collect::<Vec<_>>().join(", ")
}
