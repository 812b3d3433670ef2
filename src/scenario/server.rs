//! `[server]`: when and how the server aggregates.

use super::error::ScenarioError;
use super::section::Section;
use super::tree::{Node, Raw};
use crate::aggregate::{Participation, RuleConfig, TauEff, Weighting};
use crate::clock::Span;
use crate::policy::{Close, Late, Partial, Sample, Scheme, ServerConfig};

/// Reads `[server]`, for a number of clients.
pub(super) fn read(root: &mut Section<'_>, clients: usize) -> Result<ServerConfig, ScenarioError> {
    let mut section = root.open_in("server")?;
    let thirty_seconds = Close::Deadline(Span::from_nanos(30_000_000_000));
    let close =
        section.get("close").map_or(Ok(thirty_seconds), |node| read_close(node, clients))?;
    let late =
        choose(&mut section, "late", Late::Drop, &[("drop", Late::Drop)], &["next", "stale"])?;
    let partials = [("keep", Partial::Keep), ("discard", Partial::Discard)];
    let partial = choose(&mut section, "partial", Partial::Keep, &partials, &[])?;
    let rule = read_rule(&mut section)?;
    let sample =
        section.get("sample").map_or(Ok(Sample::All), |node| read_sample(node, clients))?;
    let schemes = [("uniform", Scheme::Uniform), ("by-size", Scheme::BySize)];
    let later = ["round-robin", "oort", "tiers"];
    let scheme = choose(&mut section, "scheme", Scheme::Uniform, &schemes, &later)?;
    let evaluate_every = match section.get("evaluate_every") {
        Some(node) => node.whole("evaluate_every", 1..=i64::MAX as u64)?,
        None => 1,
    };
    section.finish("here")?;
    Ok(ServerConfig { close, late, partial, rule, sample, scheme, evaluate_every })
}

fn read_rule(section: &mut Section<'_>) -> Result<RuleConfig, ScenarioError> {
    let weightings = [("fednova", Weighting::FedNova), ("fedavg", Weighting::FedAvg)];
    let weighting = choose(section, "weighting", Weighting::FedNova, &weightings, &["uniform"])?;
    let tau_eff = section.get("tau_eff").map_or(Ok(TauEff::Accumulation), read_tau_eff)?;
    let schemes =
        [("renormalize", Participation::Renormalize), ("unbiased", Participation::Unbiased)];
    let later = ["inverse-probability"];
    let participation =
        choose(section, "participation", Participation::Renormalize, &schemes, &later)?;
    Ok(RuleConfig { weighting, tau_eff, participation })
}

/// A key whose value is one of several names.
fn choose<T: Copy>(
    section: &mut Section<'_>,
    key: &'static str,
    default: T,
    now: &[(&'static str, T)],
    later: &[&'static str],
) -> Result<T, ScenarioError> {
    section.get(key).map_or(Ok(default), |node| node.one_of(key, now, later))
}

fn read_tau_eff(node: &Node) -> Result<TauEff, ScenarioError> {
    let names = [("accumulation", TauEff::Accumulation), ("steps", TauEff::Steps)];
    match &node.value {
        Raw::Integer(_) | Raw::Float(_) => {
            node.number_that("tau_eff", "a number above 0", |tau| tau > 0.0).map(TauEff::Fixed)
        }
        _ => node.one_of("tau_eff", &names, &[]).map_err(|error| error.note("or a number above 0")),
    }
}

fn read_close(node: &Node, clients: usize) -> Result<Close, ScenarioError> {
    let Raw::Table(_) = &node.value else {
        return node
            .one_of("close", &[("all", Close::All)], &["each"])
            .map_err(|error| error.note("or { deadline = \"30s\" }, or { first = 10, of = 13 }"));
    };
    let mut section = Section::open("server.close", node)?;
    let close = match section.exactly_one(&["deadline", "first"])? {
        ("deadline", node) => match node.duration()? {
            Span::ZERO => {
                return Err(node
                    .at
                    .error("a deadline of zero lets nobody finish")
                    .expected("more than 0s"));
            }
            span => Close::Deadline(span),
        },
        (_, node) => {
            let of = section.require("of", "how many clients are asked")?;
            let of = of
                .whole("of", 1..=clients as u64)
                .map_err(|error| error.note(format_args!("the task has {clients} clients")))?;
            let first = node.whole("first", 1..=of)?;
            Close::First { first: first as usize, of: of as usize }
        }
    };
    section.finish("with this close")?;
    Ok(close)
}

fn read_sample(node: &Node, clients: usize) -> Result<Sample, ScenarioError> {
    let Raw::Table(_) = &node.value else {
        return node
            .one_of("sample", &[("all", Sample::All)], &[])
            .map_err(|error| error.note("or { clients = 10 }, or { fraction = 0.3 }"));
    };
    let mut section = Section::open("server.sample", node)?;
    match section.exactly_one(&["clients", "fraction"])? {
        ("clients", node) => node
            .whole("clients", 1..=clients as u64)
            .map(|asked| Sample::Clients(asked as usize))
            .map_err(|error| error.note(format_args!("the task has {clients} clients"))),
        (_, node) => node
            .number_that("fraction", "a number above 0, up to 1", |part| part > 0.0 && part <= 1.0)
            .map(Sample::Fraction),
    }
}
