//! `[fleet]`: who computes, and how fast.

use super::device;
use super::error::ScenarioError;
use super::replay::TraceStores;
use super::section::Section;
use super::solver;
use super::task::normalized;
use super::tree::Node;
use super::value::Unit;
use crate::device::{Assign, ClassConfig, ComputeConfig, FleetConfig};
use crate::random::Dist;
use crate::solver::Solver;

/// More classes than this are a slip, or a fleet that is better drawn.
const MOST_CLASSES: usize = 10_000;

/// Reads `[fleet]`, and the local update law of every class. `None` if the scenario says nothing
/// of devices.
pub(super) fn read(
    root: &mut Section<'_>,
    common: Solver,
    traces: &TraceStores,
) -> Result<Option<(FleetConfig, Vec<Solver>)>, ScenarioError> {
    if root.get("fleet").is_none() {
        return Ok(None);
    }
    let mut section = root.open_in("fleet")?;
    let assigns = [("random", Assign::Random), ("in-order", Assign::InOrder)];
    let assign = section
        .get("assign")
        .map_or(Ok(Assign::Random), |node| node.one_of("fleet.assign", "assign", &assigns))?;
    let list = section.require("class", "the classes of devices, each begun by [[fleet.class]]")?;
    let server_uplink = read_server_link(&mut section, "server_uplink")?;
    let server_downlink = read_server_link(&mut section, "server_downlink")?;
    section.finish("here")?;
    let nodes = list.array("one [[fleet.class]] or more")?;
    if nodes.is_empty() {
        return Err(list
            .at
            .error("the fleet has no devices")
            .expected("one [[fleet.class]] or more"));
    }
    if nodes.len() > MOST_CLASSES {
        let error = list.at.error(format!("{} classes of devices are too many", nodes.len()));
        return Err(error
            .expected(format!("{MOST_CLASSES} or fewer"))
            .help("devices of a class may differ: draw their speeds, or replay a trace"));
    }
    let mut classes = Vec::<ClassConfig>::new();
    let mut solvers = Vec::new();
    for node in nodes {
        let (class, terms) = device::read(node, traces)?;
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
        links: None,
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

/// `server_uplink` or `server_downlink`, in whole bits per second.
fn read_server_link(
    section: &mut Section<'_>,
    key: &'static str,
) -> Result<Option<u64>, ScenarioError> {
    let Some(node) = section.get(key) else {
        return Ok(None);
    };
    match node.quantity(Unit::Rate)?.round() {
        rate if rate >= 1.0 => Ok(Some(rate as u64)),
        _ => Err(node.at.error(format!("`{key}` lets nothing through")).expected("1bps or more")),
    }
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
