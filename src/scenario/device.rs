//! `[[fleet.class]]`: what the devices of a class are like.

use super::dist;
use super::error::ScenarioError;
use super::habits;
use super::replay::{self, TraceStores};
use super::section::Section;
use super::solver::Terms;
use super::tree::Node;
use super::value::Unit;
use crate::device::{ClassConfig, ComputeConfig, Replay, TraceStore};
use crate::random::Dist;

/// Reads one class and what it says of the law; its share is settled with those of the others.
pub(super) fn read(
    node: &Node,
    traces: &TraceStores,
) -> Result<(ClassConfig, Terms), ScenarioError> {
    let mut section = Section::open("fleet.class", node)?;
    let name = section.require("name", "shown in tables and files")?.identifier("class")?;
    section.get("share");
    let trace = section.get("trace").map(|node| replay::read(node, traces)).transpose()?;
    let compute = read_compute(&mut section, trace.as_ref())?;
    let jitter = match section.get("jitter") {
        Some(node) => node.number_that("jitter", "a number from 0 to 2", |jitter| {
            (0.0..=2.0).contains(&jitter)
        })?,
        None => 0.0,
    };
    let links_at = section.get("links");
    let links = links_at.map(|node| replay::read_links(node, traces)).transpose()?;
    let linked = links.as_ref().or(trace.as_ref()).map(|replay| &*replay.trace);
    let uplink = read_link(&mut section, "uplink", linked.is_some_and(TraceStore::tells_up))?;
    let downlink = read_link(&mut section, "downlink", linked.is_some_and(TraceStore::tells_down))?;
    let latency = match section.get("latency") {
        Some(node) => bounded(node, "latency", Unit::Time, (0.0, "0s"))?,
        None => Dist::fixed(0.0),
    };
    let dropout = match section.get("dropout") {
        Some(node) => {
            let chance = |chance| (0.0..=1.0).contains(&chance);
            node.number_that("dropout", "a chance, from 0 to 1", chance)?
        }
        None => 0.0,
    };
    let availability_at = section.get("availability");
    let availability =
        availability_at.map(|node| habits::read_availability(node, traces)).transpose()?;
    if let Some(replay) = &trace {
        let left = Overruled { links: links_at, availability: availability_at };
        left.check(&replay.trace)?;
    }
    let slowdown = section.get("slowdown").map(habits::read_slowdown).transpose()?;
    let thermal = section.get("thermal").map(habits::read_thermal).transpose()?;
    let terms = Terms::read(&mut section)?;
    section.finish("in a class")?;
    let class = ClassConfig {
        name,
        share: 0.0,
        compute,
        jitter,
        uplink,
        downlink,
        latency,
        dropout,
        trace,
        links,
        availability,
        slowdown,
        thermal,
    };
    Ok((class, terms))
}

/// What overrules a part of what the `trace` of a class tells.
struct Overruled<'a> {
    links: Option<&'a Node>,
    availability: Option<&'a Node>,
}

impl Overruled<'_> {
    /// Something of the trace must be left.
    fn check(&self, trace: &TraceStore) -> Result<(), ScenarioError> {
        let tells = [
            (trace.tells_some_compute(), None),
            (trace.tells_some_link(), self.links),
            (trace.tells_availability(), self.availability),
        ];
        if tells.iter().any(|(tells, overruled)| *tells && overruled.is_none()) {
            return Ok(());
        }
        let Some(node) = tells.iter().rev().find_map(|(tells, by)| by.filter(|_| *tells)) else {
            return Ok(());
        };
        let error =
            node.at.error("nothing is left of the trace: all that it tells is told here, too");
        Err(error.expected("a `trace` that tells more, or no `trace` in this class"))
    }
}

/// `step_time` or `speed`; neither if the trace tells it of every device.
fn read_compute(
    section: &mut Section<'_>,
    trace: Option<&Replay>,
) -> Result<Option<ComputeConfig>, ScenarioError> {
    let given = ["step_time", "speed"].map(|key| (key, section.get(key)));
    if trace.is_some_and(|replay| replay.trace.tells_compute()) {
        return match given.iter().find_map(|(key, node)| Some((key, (*node)?))) {
            Some((key, node)) => Err(already_told(node, key, "how fast every device computes")),
            None => Ok(None),
        };
    }
    if given.iter().all(|(_, node)| node.is_none()) {
        let what = "the time of one local step, such as \"25ms\"; or `speed`, such as \"4 GFLOPS\"";
        return section.require("step_time", what).map(|_| None).map_err(|error| match trace {
            Some(_) => error.note("the trace does not tell how fast every device computes"),
            None => error,
        });
    }
    let compute = match section.exactly_one(&["step_time", "speed"])? {
        ("speed", node) => {
            ComputeConfig::Speed(bounded(node, "speed", Unit::Speed, (1.0, "1 FLOPS"))?)
        }
        (_, node) => ComputeConfig::StepTime(bounded(node, "step_time", Unit::Time, (1.0, "1ns"))?),
    };
    Ok(Some(compute))
}

/// `uplink` or `downlink`; `told`: the trace tells it of every device.
fn read_link(
    section: &mut Section<'_>,
    key: &'static str,
    told: bool,
) -> Result<Option<Dist>, ScenarioError> {
    match section.get(key) {
        Some(node) if told => Err(already_told(node, key, &format!("the {key} of every device"))),
        Some(node) => bounded(node, key, Unit::Rate, (1.0, "1bps")).map(Some),
        None => Ok(None),
    }
}

fn already_told(node: &Node, key: &str, what: &str) -> ScenarioError {
    let error = node.at.error(format!("the trace already tells {what}"));
    error.expected(format_args!("no `{key}` beside this `trace`"))
}

/// A DIST that never falls below a limit.
pub(super) fn bounded(
    node: &Node,
    name: &str,
    unit: Unit,
    (limit, spelled): (f64, &str),
) -> Result<Dist, ScenarioError> {
    let dist = dist::floored(dist::read(node, unit)?, limit);
    dist::never_below(&dist, limit, spelled, name, node)?;
    Ok(dist)
}
