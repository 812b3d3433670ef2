//! `[[expect]]` and `[record]`: what must come out, and what is written down.

use super::error::ScenarioError;
use super::plan::{
    Expect, ExpectBound, Over, Quantity, RecordClients, Reference, Side, Subject, Variant,
};
use super::render::short;
use super::section::Section;
use super::stop::metrics_of;
use super::suggest::nearest;
use super::tree::{Node, Raw};
use crate::compress::Compression;
use crate::solver::VarianceReduction;

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
    let path = if key == "clients" { "record.clients" } else { "record.timeline" };
    let Raw::Table(_) = &node.value else {
        let names = [("all", RecordClients::All), ("off", RecordClients::Off)];
        return node.one_of_or_table(path, "choice of clients", &names);
    };
    let mut section = Section::open(path, node)?;
    let clients = section.require("clients", "how many clients are told of")?;
    clients
        .whole("clients", 1..=i64::MAX as u64)
        .map(|clients| RecordClients::Sample(clients as usize))
}

/// Reads every `[[expect]]`, for the variants it may speak of.
pub(super) fn read(
    root: &mut Section<'_>,
    variants: &[Variant],
    repeats: u64,
) -> Result<Vec<Expect>, ScenarioError> {
    match root.get("expect") {
        Some(list) => {
            let read = |node| read_one(node, variants, repeats);
            let read = list.array("[[expect]]")?.iter().map(read).collect::<Result<Vec<_>, _>>()?;
            Ok(read.concat())
        }
        None => Ok(Vec::new()),
    }
}

/// One `[[expect]]`; with a sweep it holds for every combination of the variants that it names.
fn read_one(node: &Node, variants: &[Variant], repeats: u64) -> Result<Vec<Expect>, ScenarioError> {
    let combinations = variants.iter().filter(|v| v.variant == variants[0].variant).count();

    let mut section = Section::open("expect", node)?;
    let that = section.require("that", "what is compared, such as \"train_loss\"")?;
    let (of, over) = match section.get("of") {
        Some(node) => (find(node, variants)?, Over::Seeds),
        None if variants.len() == combinations => (0, Over::Seeds),
        None if matches!(that.value, Raw::Table(_)) => (0, Over::AllRuns),
        None => {
            let error = section.at.error("missing key `of` in [[expect]]");
            return Err(error.expected(format_args!("one of the variants: {}", names(variants))));
        }
    };
    let reference = |node: &Node| match &node.value {
        Raw::String(_) => match find(node, variants)? {
            _ if over == Over::AllRuns => Err(node
                .at
                .error("all variants are compared with one of them")
                .expected("a number, or a variant in `of`")),
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
    let of_other = reference(node)?;
    let times = match (section.get("times"), of_other) {
        (Some(node), Reference::Number(_)) => {
            let error = node.at.error("`times` multiplies what another variant has");
            return Err(error.expected("the name of a variant beside it, or no `times`"));
        }
        (Some(node), _) => node.number_that("times", "a number above 0", |times| times > 0.0)?,
        (None, _) => 1.0,
    };
    if let (Raw::Table(_), Reference::Number(value)) = (&that.value, of_other)
        && !(-1.0..=1.0).contains(&value)
    {
        let error = node.at.error(format!("no correlation is {value}"));
        return Err(error.expected("a number from -1 to 1"));
    }
    let bound = ExpectBound { side, of: of_other, times, within };
    section.finish("in this [[expect]]")?;
    let runs = match over {
        Over::Seeds => repeats,
        Over::AllRuns => repeats * variants.len() as u64,
    };
    let mut expects = Vec::new();
    for index in 0..if over == Over::AllRuns { 1 } else { combinations } {
        let subject = read_subject(that, &variants[of + index], over, runs)?;
        // A comparison needs the same quantity on both sides, of the same values.
        let (others, reference) = match (bound.of, over) {
            (Reference::Variant(other), _) => {
                let other = other + index;
                (&variants[other..=other], Reference::Variant(other))
            }
            (number, Over::AllRuns) => (variants, number),
            (number, _) => (&[][..], number),
        };
        for other in others {
            read_subject(that, other, over, runs)?;
        }
        let bound = ExpectBound { of: reference, ..bound };
        expects.push(Expect { that: subject, of: of + index, bound });
    }
    Ok(expects)
}

fn read_subject(
    node: &Node,
    variant: &Variant,
    over: Over,
    runs: u64,
) -> Result<Subject, ScenarioError> {
    let Raw::Table(_) = &node.value else {
        return read_quantity(node, variant).map(Subject::Mean);
    };
    let mut section = Section::open("expect.that", node)?;
    let pair =
        section.require("correlation", "two quantities, such as [\"chi2\", \"distance\"]")?;
    section.finish("here")?;
    let given = pair.array("two quantities, such as [\"chi2\", \"distance\"]")?;
    let [one, other] = given else {
        let error = pair.at.error(format!("`correlation` has {} entries", given.len()));
        return Err(error.expected("two quantities, such as [\"chi2\", \"distance\"]"));
    };
    if runs < 3 {
        let error = pair.at.error("there is no correlation over fewer than three runs");
        return Err(error.expected("`repeats = 3` or more at the top of the scenario"));
    }
    let (one, other) = (read_quantity(one, variant)?, read_quantity(other, variant)?);
    Ok(Subject::Correlation(one, other, over))
}

fn read_quantity(node: &Node, variant: &Variant) -> Result<Quantity, ScenarioError> {
    let metrics = metrics_of(&*variant.plan.task.problem);
    let mut known: Vec<_> =
        metrics.into_iter().map(|(name, metric)| (name, Quantity::Metric(metric))).collect();
    known.extend(Quantity::OF_EVERY_TASK.map(|quantity| (quantity.name(), quantity)));
    // The theory does not say where these rest.
    let client = &variant.plan.client;
    let rests = !matches!(
        client.variance_reduction,
        Some(VarianceReduction::Vrlsgd | VarianceReduction::FedNovaAsPrinted)
    ) && client.packing.compression == Compression::None;
    if variant.plan.task.problem.quadratic().is_some() && rests {
        known.push((Quantity::FixedPointGap.name(), Quantity::FixedPointGap));
    }
    node.one_of("expect.that", "quantity", &known).map_err(|error| {
        error.note(format_args!("these are measured for variant `{}`", variant.name))
    })
}

fn find(node: &Node, variants: &[Variant]) -> Result<usize, ScenarioError> {
    let name = node.text()?;
    variants.iter().position(|variant| variant.variant == name).ok_or_else(|| {
        let error = node.at.error(format!("there is no variant `{}`", short(name)));
        let error = error.expected(format_args!("one of: {}", names(variants)));
        error.meant(nearest(name, variants.iter().map(|variant| variant.variant.as_str())))
    })
}

fn names(variants: &[Variant]) -> String {
    let mut names: Vec<&str> = variants.iter().map(|variant| variant.variant.as_str()).collect();
    names.dedup();
    names.join(", ")
}
