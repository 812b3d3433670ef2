//! What makes the devices of a class change: coming and going, being in use, getting warm.

use super::device::bounded;
use super::error::ScenarioError;
use super::replay::{self, TraceStores};
use super::section::Section;
use super::tree::{Node, Raw};
use super::value::Unit;
use crate::clock::Span;
use crate::device::{Availability, Slowdown, Thermal};
use crate::random::Dist;

/// Shorter periods are surely a slip of a unit, and take for ever to go through.
const SHORTEST: (f64, &str) = (1e6, "1ms");

/// How long something lasts.
fn period(node: &Node, name: &str) -> Result<Dist, ScenarioError> {
    bounded(node, name, Unit::Time, SHORTEST)
}

/// Reads `availability`.
pub(super) fn read_availability(
    node: &Node,
    traces: &TraceStores,
) -> Result<Availability, ScenarioError> {
    let Raw::Table(_) = &node.value else {
        // Names stand for values that can be copied; there is only one.
        return node
            .one_of_or_table("fleet.class.availability", "availability", &[("always", ())])
            .map(|()| Availability::Always);
    };
    let mut section = Section::open("fleet.class.availability", node)?;
    let availability = match section.exactly_one(&["on", "trace"])? {
        ("on", on) => {
            let off = section.require("off", "how long devices are away")?;
            Availability::OnOff { on: period(on, "on")?, off: period(off, "off")? }
        }
        (_, file) => {
            let replay = replay::read_how(&mut section, file, traces)?;
            if !replay.trace.tells_availability() {
                let error = file.at.error("the trace does not tell when devices are there");
                return Err(error.expected("a trace with a column `available`"));
            }
            Availability::Trace(replay)
        }
    };
    section.finish("with this availability")?;
    Ok(availability)
}

/// Reads `slowdown`.
pub(super) fn read_slowdown(node: &Node) -> Result<Slowdown, ScenarioError> {
    let mut section = Section::open("fleet.class.slowdown", node)?;
    let factor = section.require("factor", "how many times as long a step takes")?;
    let every = section.require("every", "the time from the end of one to the next")?;
    let lasting = section.require("lasting", "how long one lasts")?;
    let factor = read_factor(factor, "factor")?;
    let slowdown =
        Slowdown { factor, every: period(every, "every")?, lasting: period(lasting, "lasting")? };
    section.finish("here")?;
    Ok(slowdown)
}

/// How many times as long a step takes.
pub(super) fn read_factor(node: &Node, name: &str) -> Result<f64, ScenarioError> {
    let wanted = "a number above 0, up to 1 billion";
    node.number_that(name, wanted, |factor| factor > 0.0 && factor <= 1e9)
}

/// Reads `thermal`.
pub(super) fn read_thermal(node: &Node) -> Result<Thermal, ScenarioError> {
    let mut section = Section::open("fleet.class.thermal", node)?;
    let list = section.require("curve", "speeds after some continuous work")?;
    let wanted = "pairs of a time and a speed: [[\"2m\", 0.7], [\"10m\", 0.5]]";
    let mut curve = Vec::<(Span, f64)>::new();
    for node in list.array(wanted)? {
        let [after, speed] = node.array("a pair: [\"2m\", 0.7]")? else {
            return Err(node.at.error("this is not a time and a speed").expected(wanted));
        };
        let part = |speed| speed > 0.0 && speed <= 1.0;
        let speed = speed.number_that("speed", "a part of the full one: above 0, up to 1", part)?;
        let time = after.duration()?;
        if curve.last().is_some_and(|(last, _)| *last >= time) {
            let error = after.at.error("this is not later than the time before it");
            return Err(error.expected("times that grow from pair to pair"));
        }
        curve.push((time, speed));
    }
    if curve.is_empty() {
        return Err(list.at.error("the curve is empty").expected(wanted));
    }
    let cooling = match section.get("cooling") {
        Some(node) => node.number_that("cooling", "a number, 0 or more", |rate| rate >= 0.0)?,
        None => 1.0,
    };
    section.finish("here")?;
    Ok(Thermal { curve, cooling })
}
