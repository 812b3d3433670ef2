//! `[server]`: when and how the server aggregates.

use super::error::ScenarioError;
use super::plan::EvaluateEvery;
use super::section::Section;
use super::tree::{Node, Raw};
use super::{close, optimizer, scheme};
use crate::aggregate::{OptimizerConfig, Participation, RuleConfig, TauEff, WeightingConfig};
use crate::clock::Span;
use crate::policy::{Close, Late, Partial, Sample, Scheme, ServerConfig, Staleness};

/// Reads `[server]`, for a number of clients.
pub(super) fn read(
    root: &mut Section<'_>,
    clients: usize,
) -> Result<(ServerConfig, EvaluateEvery), ScenarioError> {
    let mut section = root.open_in("server")?;
    let thirty_seconds = Close::Deadline(Span::from_nanos(30_000_000_000));
    let close =
        section.get("close").map_or(Ok(thirty_seconds), |node| close::read(node, clients))?;
    let lates = [("drop", Late::Drop), ("next", Late::Next), ("stale", Late::Stale)];
    let late = choose(&mut section, "late", Late::Drop, &lates)?;
    let staleness = section.get("staleness").map_or(Ok(Staleness::Constant), read_staleness)?;
    let max_staleness = section
        .get("max_staleness")
        .map(|node| node.whole("max_staleness", 0..=i64::MAX as u64))
        .transpose()?;
    let concurrency = match section.get("concurrency") {
        Some(node) => node
            .whole("concurrency", 1..=clients as u64)
            .map_err(|error| error.note(format_args!("the task has {clients} clients")))?
            as usize,
        None => clients.min(100),
    };
    let partials = [("keep", Partial::Keep), ("discard", Partial::Discard)];
    let partial = choose(&mut section, "partial", Partial::Keep, &partials)?;
    let rule = read_rule(&mut section)?;
    let optimizer = section.get("optimizer").map_or(Ok(OptimizerConfig::PLAIN), optimizer::read)?;
    let sample =
        section.get("sample").map_or(Ok(Sample::All), |node| read_sample(node, clients))?;
    let scheme =
        section.get("scheme").map_or(Ok(Scheme::Uniform), |node| scheme::read(node, clients))?;
    let evaluate_every =
        section.get("evaluate_every").map_or(Ok(EvaluateEvery::Auto), read_evaluate_every)?;
    section.finish("here")?;
    let config = ServerConfig {
        close,
        late,
        staleness,
        max_staleness,
        concurrency,
        partial,
        rule,
        optimizer,
        sample,
        scheme,
        evaluate_every: match evaluate_every {
            EvaluateEvery::Auto => 1,
            EvaluateEvery::Rounds(rounds) => rounds,
        },
    };
    Ok((config, evaluate_every))
}

fn read_evaluate_every(node: &Node) -> Result<EvaluateEvery, ScenarioError> {
    match &node.value {
        Raw::String(_) => {
            let names = [("auto", EvaluateEvery::Auto)];
            node.one_of("server.evaluate_every", "number of rounds", &names)
                .map_err(|error| error.note("or a whole number of aggregations"))
        }
        _ => node.whole("evaluate_every", 1..=i64::MAX as u64).map(EvaluateEvery::Rounds),
    }
}

fn read_staleness(node: &Node) -> Result<Staleness, ScenarioError> {
    let Raw::Table(_) = &node.value else {
        let names = [("constant", Staleness::Constant)];
        return node.one_of_or_table("server.staleness", "staleness", &names);
    };
    let mut section = Section::open("server.staleness", node)?;
    let staleness = match section.exactly_one(&["polynomial", "hinge"])? {
        ("polynomial", node) => node
            .number_that("polynomial", "a number above 0", |a| a > 0.0)
            .map(Staleness::Polynomial)?,
        (_, node) => {
            let mut section = Section::open("server.staleness.hinge", node)?;
            let a = section.require("a", "how fast an update loses its worth")?;
            let b = section.require("b", "up to which staleness it keeps it")?;
            Staleness::Hinge {
                a: a.number_that("a", "a number above 0", |a| a > 0.0)?,
                b: b.number_that("b", "a number, 0 or more", |b| b >= 0.0)?,
            }
        }
    };
    section.finish("here")?;
    Ok(staleness)
}

fn read_rule(section: &mut Section<'_>) -> Result<RuleConfig, ScenarioError> {
    let weightings = [
        ("fednova", WeightingConfig::FedNova),
        ("fedavg", WeightingConfig::FedAvg),
        ("uniform", WeightingConfig::Uniform),
    ];
    let weighting = choose(section, "weighting", WeightingConfig::FedNova, &weightings)?;
    let tau_eff = section.get("tau_eff").map_or(Ok(TauEff::Accumulation), read_tau_eff)?;
    let schemes = [
        ("renormalize", Participation::Renormalize),
        ("unbiased", Participation::Unbiased),
        ("inverse-probability", Participation::InverseProbability),
    ];
    let participation = choose(section, "participation", Participation::Renormalize, &schemes)?;
    Ok(RuleConfig { weighting, tau_eff, participation })
}

/// A key whose value is one of several names.
fn choose<T: Copy>(
    section: &mut Section<'_>,
    key: &'static str,
    default: T,
    now: &[(&'static str, T)],
) -> Result<T, ScenarioError> {
    section.get(key).map_or(Ok(default), |node| node.one_of(&format!("server.{key}"), key, now))
}

fn read_tau_eff(node: &Node) -> Result<TauEff, ScenarioError> {
    let names = [("accumulation", TauEff::Accumulation), ("steps", TauEff::Steps)];
    match &node.value {
        Raw::Integer(_) | Raw::Float(_) => {
            node.number_that("tau_eff", "a number above 0", |tau| tau > 0.0).map(TauEff::Fixed)
        }
        _ => node
            .one_of("server.tau_eff", "tau_eff", &names)
            .map_err(|error| error.note("or a number above 0")),
    }
}

fn read_sample(node: &Node, clients: usize) -> Result<Sample, ScenarioError> {
    let Raw::Table(_) = &node.value else {
        return node.one_of_or_table("server.sample", "sample", &[("all", Sample::All)]);
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
