//! DIST: a fixed value or a distribution, in the unit of its key.

use super::empirical::{self, Cells};
use super::error::ScenarioError;
use super::section::Section;
use super::tree::{Node, Raw};
use super::value::Unit;
use crate::random::{Dist, Shape};

const SHAPES: &[&str] =
    &["uniform", "normal", "lognormal", "pareto", "exponential", "choice", "empirical"];

/// Reads a DIST.
pub(super) fn read(node: &Node, unit: Unit) -> Result<Dist, ScenarioError> {
    let Raw::Table(_) = &node.value else {
        return node.quantity(unit).map(Dist::fixed);
    };
    let mut section = Section::open("dist", node)?;
    let (name, parameters) = section.exactly_one(SHAPES)?;
    let shape = match name {
        "empirical" => {
            let column = section.require("column", "the column of the file to draw from")?;
            let cells = Cells { given: section.get("unit"), missing: section.get("missing") };
            Shape::Choice(empirical::read(parameters, column, cells, unit)?)
        }
        _ => read_shape(name, parameters, unit)?,
    };
    let mut bound = |key| section.get(key).map(|node| node.quantity(unit)).transpose();
    let (plus, min, max) = (bound("plus")?.unwrap_or(0.0), bound("min")?, bound("max")?);
    if let (Some(low), Some(high)) = (min, max)
        && low > high
    {
        let at = node.place("max");
        return Err(at.error("`max` is below `min`").expected("`min` to be at most `max`"));
    }
    section.finish("beside this distribution")?;
    Ok(Dist { shape, plus, min, max })
}

fn read_shape(name: &str, node: &Node, unit: Unit) -> Result<Shape, ScenarioError> {
    match name {
        "uniform" => uniform(node, unit),
        "choice" => choice(node, unit),
        "normal" => {
            let mut section = Section::open("dist.normal", node)?;
            let mean = section.require("mean", "the middle of the distribution")?.quantity(unit)?;
            let std = section.require("std", "its standard deviation")?;
            Ok(Shape::Normal { mean, std: at_least_zero(std, "std", unit)? })
        }
        "lognormal" => {
            let mut section = Section::open("dist.lognormal", node)?;
            let median = section.require("median", "half of all draws lie below it")?;
            let sigma = section.require("sigma", "the standard deviation of the logarithm")?;
            let median = positive(median, "median", unit)?;
            Ok(Shape::Lognormal { median, sigma: at_least_zero(sigma, "sigma", Unit::Plain)? })
        }
        "pareto" => {
            let mut section = Section::open("dist.pareto", node)?;
            let scale = section.require("scale", "the smallest value")?;
            let shape = section.require("shape", "the exponent of the tail")?;
            let scale = positive(scale, "scale", unit)?;
            Ok(Shape::Pareto { scale, shape: positive(shape, "shape", Unit::Plain)? })
        }
        _ => {
            let mut section = Section::open("dist.exponential", node)?;
            let mean = section.require("mean", "the mean of all draws")?;
            Ok(Shape::Exponential(positive(mean, "mean", unit)?))
        }
    }
}

fn uniform(node: &Node, unit: Unit) -> Result<Shape, ScenarioError> {
    let wanted = "two values: [lowest, highest]";
    let [low, high] = node.array(wanted)? else {
        return Err(node.at.error("`uniform` lies between two values").expected(wanted));
    };
    let (from, to) = (low.quantity(unit)?, high.quantity(unit)?);
    if from > to {
        return Err(high.at.error("the second end lies below the first").expected(wanted));
    }
    match (to - from).is_finite() {
        true => Ok(Shape::Uniform(from, to)),
        false => Err(node.at.error("the ends are too far apart").expected("a finite distance")),
    }
}

fn choice(node: &Node, unit: Unit) -> Result<Shape, ScenarioError> {
    let wanted = "an array of one or more values";
    let values: Vec<f64> =
        node.array(wanted)?.iter().map(|value| value.quantity(unit)).collect::<Result<_, _>>()?;
    match values.is_empty() {
        true => Err(node.at.error("there is nothing to choose from").expected(wanted)),
        false => Ok(Shape::Choice(values)),
    }
}

fn positive(node: &Node, name: &str, unit: Unit) -> Result<f64, ScenarioError> {
    let value = node.quantity(unit)?;
    match value > 0.0 {
        true => Ok(value),
        false => Err(node.at.error(format!("`{name}` must be above 0")).expected("more than 0")),
    }
}

fn at_least_zero(node: &Node, name: &str, unit: Unit) -> Result<f64, ScenarioError> {
    let value = node.quantity(unit)?;
    match value >= 0.0 {
        true => Ok(value),
        false => Err(node.at.error(format!("`{name}` cannot be negative")).expected("0 or more")),
    }
}

/// Moves the rare tiny draws of families that reach down to 0 without touching it up to `limit`,
/// so that nobody needs to write a `min` for a lognormal step time.
pub(super) fn floored(dist: Dist, limit: f64) -> Dist {
    let grazes = matches!(dist.shape, Shape::Lognormal { .. } | Shape::Exponential(_));
    match (grazes && dist.plus >= 0.0, dist.min) {
        (true, None) if dist.max.is_none_or(|max| max >= limit) => {
            Dist { min: Some(limit), ..dist }
        }
        _ => dist,
    }
}

/// Checks that no draw rises above `limit`, which `spelled` writes as a user would. Of families without an
/// upper end the usual draw must not, and the rare ones that do are moved down to it, so that nobody
/// needs to write a `max`.
pub(super) fn never_above(
    dist: Dist,
    limit: f64,
    spelled: &str,
    name: &str,
    node: &Node,
) -> Result<Dist, ScenarioError> {
    let highest = highest(&dist);
    if highest <= limit {
        return Ok(dist);
    }
    let is_open = highest == f64::INFINITY;
    // The mean says nothing of tails that have none.
    let usual = match dist.shape {
        Shape::Pareto { scale, shape } => dist.bounded(scale * shape.recip().exp2()),
        _ => 0.0,
    };
    if is_open && dist.typical().max(usual) <= limit && dist.min.is_none_or(|min| min <= limit) {
        return Ok(Dist { max: Some(limit), ..dist });
    }
    let what = match is_open {
        true => format!("the usual draw of `{name}` is above {spelled}"),
        false => format!("`{name}` can rise above {spelled}"),
    };
    let error = node.at.error(what);
    let error = error.expected(format_args!("every value to be {spelled} or less"));
    Err(error
        .help(format_args!("is the unit right? `max` bounds a distribution, at most {spelled}")))
}

/// The upper end of what can be drawn.
fn highest(dist: &Dist) -> f64 {
    let shape = match &dist.shape {
        Shape::Fixed(value) | Shape::Uniform(_, value) => *value,
        Shape::Normal { mean, std } if *std == 0.0 => *mean,
        Shape::Lognormal { median, sigma } if *sigma == 0.0 => *median,
        Shape::Normal { .. } | Shape::Lognormal { .. } => f64::INFINITY,
        Shape::Pareto { .. } | Shape::Exponential(_) => f64::INFINITY,
        Shape::Choice(values) => values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
    };
    dist.bounded(shape)
}

/// Checks that no draw falls below `limit`, which `spelled` writes as a user would.
pub(super) fn never_below(
    dist: &Dist,
    limit: f64,
    spelled: &str,
    name: &str,
    node: &Node,
) -> Result<(), ScenarioError> {
    if lowest(dist) >= limit {
        return Ok(());
    }
    let error = node.at.error(format!("`{name}` can fall below {spelled}"));
    let error = error.expected(format_args!("every value to be {spelled} or more"));
    match &node.value {
        // A measurement of 0 is one that failed: to move it up to some limit would make it a device.
        Raw::Table(_) if node.get("empirical").is_some() && zeros(dist) > 0 => Err(error
            .note(format_args!(
                "{} rows of the column are 0: measurements that are missing",
                zeros(dist)
            ))
            .help("skip them with `missing = 0`")),
        Raw::Table(_) => {
            Err(error.help(format_args!("add `min` to the distribution, at least {spelled}")))
        }
        _ => Err(error),
    }
}

/// How many of the values that are drawn from are 0.
fn zeros(dist: &Dist) -> usize {
    match &dist.shape {
        Shape::Choice(values) => values.iter().filter(|value| **value == 0.0).count(),
        _ => 0,
    }
}

/// The lower end of what can be drawn.
fn lowest(dist: &Dist) -> f64 {
    let shape = match &dist.shape {
        Shape::Fixed(value) | Shape::Uniform(value, _) => *value,
        Shape::Normal { mean, std } if *std == 0.0 => *mean,
        Shape::Normal { .. } => f64::NEG_INFINITY,
        Shape::Lognormal { median, sigma } if *sigma == 0.0 => *median,
        Shape::Lognormal { .. } | Shape::Exponential(_) => 0.0,
        Shape::Pareto { scale, .. } => *scale,
        Shape::Choice(values) => values.iter().copied().fold(f64::INFINITY, f64::min),
    };
    let low = dist.min.map_or(shape + dist.plus, |min| min.max(shape + dist.plus));
    dist.max.map_or(low, |max| low.min(max))
}
