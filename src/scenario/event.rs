//! `[[event]]`: what happens on the way.

use super::error::ScenarioError;
use super::habits::read_factor;
use super::section::Section;
use super::select;
use super::tree::{Node, Raw};
use crate::device::{DeviceEffect, Effect, EventConfig, FleetConfig, LrEffect, When};
use crate::policy::{Close, Stop};

const EFFECTS: &[&str] = &["slow", "offline", "leave", "join", "network", "deadline", "lr"];

/// What events happen to.
pub(super) struct Stage<'a> {
    pub clients: usize,
    pub fleet: &'a FleetConfig,
    pub close: Close,
    pub stop: &'a Stop,
}

/// The events, and warnings about them.
type EventsAndWarnings = (Vec<EventConfig>, Vec<ScenarioError>);

/// Reads every `[[event]]`.
pub(super) fn read(
    root: &mut Section<'_>,
    stage: &Stage<'_>,
) -> Result<EventsAndWarnings, ScenarioError> {
    let nodes = match root.get("event") {
        Some(list) => list.array("[[event]]")?,
        None => &[],
    };
    let (mut events, mut warnings) = (Vec::with_capacity(nodes.len()), Vec::new());
    for node in nodes {
        let (event, warning) = read_one(node, stage)?;
        events.push(event);
        warnings.extend(warning);
    }
    Ok((events, warnings))
}

fn read_one(
    node: &Node,
    stage: &Stage<'_>,
) -> Result<(EventConfig, Option<ScenarioError>), ScenarioError> {
    let mut section = Section::open("event", node)?;
    let (when, warning) = match section.exactly_one(&["at", "round"])? {
        ("at", node) => {
            let at = node.duration()?;
            let never = stage.stop.time.filter(|end| at >= *end).map(|end| {
                let error = node.at.error("this event never happens: the run is over by then");
                error.note(format_args!("[stop] ends it after {end}, if nothing ends it before"))
            });
            (When::At(at), never)
        }
        (_, node) => {
            let round = node.whole("round", 1..=i64::MAX as u64)?;
            let never = stage.stop.rounds.filter(|last| round > *last).map(|last| {
                let error = node.at.error("this event never happens: there is no such round");
                error.note(format_args!("[stop] ends the run after round {last}"))
            });
            (When::Round(round), never)
        }
    };
    let (name, node) = section.exactly_one(EFFECTS)?;
    let effect = read_effect(&mut section, (name, node), stage)?;
    let lasting = match name {
        // Not read: these are for good.
        "leave" | "join" => None,
        _ => section
            .get("lasting")
            .map(|node| node.positive_duration("an event that lasts no time changes nothing"))
            .transpose()?,
    };
    section.finish(&format!("with `{name}`")).map_err(|error| match name {
        "leave" => error.help("who is away for a while is `offline = true`"),
        "join" => error.help("who joins stays; a later event can say `leave = true`"),
        _ => error.note(format_args!("`{name}` concerns the server, and with it everyone")),
    })?;
    Ok((EventConfig { when, lasting, effect }, warning))
}

fn read_effect(
    section: &mut Section<'_>,
    (name, node): (&str, &Node),
    stage: &Stage<'_>,
) -> Result<Effect, ScenarioError> {
    let effect = match name {
        "deadline" => {
            if !stage.close.has_deadline() {
                let error = node.at.error("there is no deadline that could change");
                return Err(error.expected("`close = { deadline = \"30s\" }` in [server]"));
            }
            let span = node.positive_duration("a deadline of zero lets nobody finish")?;
            return Ok(Effect::Deadline(span));
        }
        "lr" => return read_lr(node).map(Effect::Lr),
        "slow" => DeviceEffect::Slow(read_factor(node, "slow")?),
        "network" => read_network(node)?,
        "offline" => is_true(node, name, DeviceEffect::Offline)?,
        "leave" => is_true(node, name, DeviceEffect::Leave)?,
        _ => is_true(node, name, DeviceEffect::Join)?,
    };
    let whom = select::read(section, stage.clients, stage.fleet)?;
    Ok(Effect::Devices(whom, effect))
}

/// An effect that needs no number.
fn is_true(node: &Node, name: &str, effect: DeviceEffect) -> Result<DeviceEffect, ScenarioError> {
    match node.value {
        Raw::Bool(true) => Ok(effect),
        Raw::Bool(false) => {
            let error = node.at.error(format!("`{name} = false` would change nothing"));
            Err(error.expected(format_args!("`{name} = true`, or another effect")))
        }
        _ => Err(node.wrong_type("`true`").expected(format_args!("`{name} = true`"))),
    }
}

fn read_network(node: &Node) -> Result<DeviceEffect, ScenarioError> {
    let part = |node: &Node, name| {
        let wanted = "the part of the rate that links keep: 0 (no connection) or more";
        node.number_that(name, wanted, |part| part >= 0.0)
    };
    let Raw::Table(_) = &node.value else {
        let both = part(node, "network")
            .map_err(|error| error.note("or for each way: { up = 0.5, down = 1.0 }"))?;
        return Ok(DeviceEffect::Network { up: both, down: both });
    };
    let mut section = Section::open("event.network", node)?;
    let (up, down) = (section.get("up"), section.get("down"));
    if up.or(down).is_none() {
        let error = node.at.error("nothing is said of the network");
        return Err(error.expected("at least one of: up, down"));
    }
    Ok(DeviceEffect::Network {
        up: up.map_or(Ok(1.0), |node| part(node, "up"))?,
        down: down.map_or(Ok(1.0), |node| part(node, "down"))?,
    })
}

fn read_lr(node: &Node) -> Result<LrEffect, ScenarioError> {
    let positive =
        |node: &Node, name| node.number_that(name, "a number above 0", |number| number > 0.0);
    let Raw::Table(_) = &node.value else {
        return positive(node, "lr")
            .map(LrEffect::To)
            .map_err(|error| error.note("or { times = 0.5 }: what it is multiplied by"));
    };
    let mut section = Section::open("event.lr", node)?;
    let times = section.require("times", "what the learning rate is multiplied by")?;
    positive(times, "times").map(LrEffect::Times)
}
