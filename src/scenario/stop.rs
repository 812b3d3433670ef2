//! `[stop]`: when a run ends.

use super::error::ScenarioError;
use super::section::Section;
use super::tree::{Node, Raw};
use crate::data::Task;
use crate::metric::{Bound, Metric};
use crate::policy::{Stop, Target};

/// By default: far more than any run comes back from.
const DIVERGENCE: f64 = 1e4;

/// Reads `[stop]`, for a task that has only some of the metrics.
pub(super) fn read(root: &mut Section<'_>, task: &dyn Task) -> Result<Stop, ScenarioError> {
    let missing = |error: ScenarioError| {
        error
            .expected("at least one of: rounds, time, target")
            .help("say for example `[stop]` and below it `rounds = 200`")
    };
    if root.get("stop").is_none() {
        return Err(missing(root.at.error("nothing ends the run: there is no [stop]")));
    }
    let mut section = root.open_in("stop")?;
    let rounds =
        section.get("rounds").map(|node| node.whole("rounds", 1..=i64::MAX as u64)).transpose()?;
    let time = section
        .get("time")
        .map(|node| node.positive_duration("`time` cannot be zero"))
        .transpose()?;
    let target = section.get("target").map(|node| read_target(node, task)).transpose()?;
    let divergence = section.get("divergence").map_or(Ok(Some(DIVERGENCE)), read_divergence)?;
    let at = section.at.clone();
    section.finish("here")?;
    match (rounds, time, target) {
        (None, None, None) => Err(missing(at.error("nothing ends the run: [stop] is empty"))),
        _ => Ok(Stop { rounds, time, target, divergence }),
    }
}

/// A multiple of the loss at the start, or "off".
fn read_divergence(node: &Node) -> Result<Option<f64>, ScenarioError> {
    if let Raw::String(_) = &node.value {
        let error = |error: ScenarioError| error.note("or a number above 1, such as 100");
        return node.one_of("stop.divergence", "divergence", &[("off", None)]).map_err(error);
    }
    let above = node.number_that("divergence", "a number above 1, or \"off\"", |times| times > 1.0);
    above.map(Some)
}

fn read_target(node: &Node, task: &dyn Task) -> Result<Target, ScenarioError> {
    let mut section = Section::open("stop.target", node)?;
    let metric = section.require("metric", "what is measured, such as \"train_loss\"")?;
    let (side, value) = section.exactly_one(&["at_least", "at_most"])?;
    let metric = metric.one_of("stop.target.metric", "metric", &metrics_of(task))?;
    let value = value.number()?;
    let bound = if side == "at_least" { Bound::AtLeast(value) } else { Bound::AtMost(value) };
    Ok(Target { metric, bound })
}

/// The metrics a task has, by name.
pub(super) fn metrics_of(task: &dyn Task) -> Vec<(&'static str, Metric)> {
    let has = |metric: &Metric| task.measures(*metric);
    Metric::ALL.into_iter().filter(has).map(|metric| (metric.name(), metric)).collect()
}
