//! `[fleet]`: who computes, and how fast.

use super::dist;
use super::error::ScenarioError;
use super::quadratic::normalized;
use super::section::Section;
use super::solver::{self, Terms};
use super::tree::Node;
use super::value::Unit;
use crate::device::{Assign, ClassConfig, ComputeConfig, FleetConfig};
use crate::random::Dist;
use crate::solver::Solver;

/// Reads `[fleet]`, and the local update law of every class. `None` if the scenario says nothing
/// of devices.
pub(super) fn read(
    root: &mut Section<'_>,
    common: Solver,
) -> Result<Option<(FleetConfig, Vec<Solver>)>, ScenarioError> {
    if root.get("fleet").is_none() {
        return Ok(None);
    }
    let mut section = root.open_in("fleet")?;
    let assigns = [("random", Assign::Random), ("in-order", Assign::InOrder)];
    let assign = section
        .get("assign")
        .map_or(Ok(Assign::Random), |node| node.one_of("assign", &assigns, &[]))?;
    let list = section.require("class", "the classes of devices, each begun by [[fleet.class]]")?;
    section.finish("here")?;
    let nodes = list.array("one [[fleet.class]] or more")?;
    if nodes.is_empty() {
        return Err(list
            .at
            .error("the fleet has no devices")
            .expected("one [[fleet.class]] or more"));
    }
    let mut classes = Vec::<ClassConfig>::new();
    let mut solvers = Vec::new();
    for node in nodes {
        let (class, terms) = read_class(node)?;
        let solver = terms.over(common);
        solver::check(&solver, node)?;
        solvers.push(solver);
        if classes.iter().any(|other| other.name == class.name) {
            let error =
                node.place("name").error(format!("there are two classes named \"{}\"", class.name));
            return Err(error.expected("a different name for every class"));
        }
        classes.push(class);
    }
    let shares = read_shares(nodes)?;
    for (class, share) in classes.iter_mut().zip(shares) {
        class.share = share;
    }
    let (server_uplink, server_downlink) = (None, None);
    Ok(Some((FleetConfig { assign, classes, server_uplink, server_downlink }, solvers)))
}

/// The fleet of a scenario without one: devices that differ in nothing.
pub(super) fn uniform() -> FleetConfig {
    let device = ClassConfig {
        name: "device".into(),
        share: 1.0,
        compute: Some(ComputeConfig::StepTime(Dist::fixed(1e6))),
        jitter: 0.0,
        uplink: None,
        downlink: None,
        latency: Dist::fixed(0.0),
        dropout: 0.0,
        trace: None,
        availability: None,
        slowdown: None,
        thermal: None,
    };
    FleetConfig {
        assign: Assign::Random,
        classes: vec![device],
        server_uplink: None,
        server_downlink: None,
    }
}

/// Reads one class and what it says of the law; its share is settled with those of the others.
fn read_class(node: &Node) -> Result<(ClassConfig, Terms), ScenarioError> {
    let mut section = Section::open("fleet.class", node)?;
    let name = section.require("name", "shown in tables and files")?.identifier("class")?;
    section.get("share");
    let step = section.require("step_time", "the time of one local step, such as \"25ms\"")?;
    let step_time = bounded(step, "step_time", Unit::Time, (1.0, "1ns"))?;
    let jitter = match section.get("jitter") {
        Some(node) => node.number_that("jitter", "a number from 0 to 2", |jitter| {
            (0.0..=2.0).contains(&jitter)
        })?,
        None => 0.0,
    };
    let mut link = |key| {
        section.get(key).map(|node| bounded(node, key, Unit::Rate, (1.0, "1bps"))).transpose()
    };
    let (uplink, downlink) = (link("uplink")?, link("downlink")?);
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
    let terms = Terms::read(&mut section)?;
    section.finish("in a class")?;
    let class = ClassConfig {
        name,
        share: 0.0,
        compute: Some(ComputeConfig::StepTime(step_time)),
        jitter,
        uplink,
        downlink,
        latency,
        dropout,
        trace: None,
        availability: None,
        slowdown: None,
        thermal: None,
    };
    Ok((class, terms))
}

/// A DIST that never falls below a limit.
fn bounded(
    node: &Node,
    name: &str,
    unit: Unit,
    (limit, spelled): (f64, &str),
) -> Result<Dist, ScenarioError> {
    let dist = dist::floored(dist::read(node, unit)?, limit);
    dist::never_below(&dist, limit, spelled, name, node)?;
    Ok(dist)
}

fn read_shares(classes: &[Node]) -> Result<Vec<f64>, ScenarioError> {
    let given: Vec<&Node> = classes.iter().filter_map(|class| class.get("share")).collect();
    if given.is_empty() {
        return Ok(vec![1.0 / classes.len() as f64; classes.len()]);
    }
    if let Some(class) = classes.iter().find(|class| class.get("share").is_none()) {
        let error = class.at.error("this class has no `share`, but others have one");
        return Err(error.expected("a share for every class, or for none"));
    }
    let positive = |node: &&Node| {
        node.number_that("share", "a number above 0, up to 1", |share| share > 0.0 && share <= 1.0)
    };
    let shares: Vec<f64> = given.iter().map(positive).collect::<Result<_, _>>()?;
    normalized(shares, given[given.len() - 1], "share")
        .map_err(|error| error.help("the shares of all classes together make the fleet"))
}
