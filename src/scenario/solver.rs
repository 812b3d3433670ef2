//! The local update law: in `[client]` for everyone, in a `[[fleet.class]]` for its devices.

use super::error::ScenarioError;
use super::section::Section;
use super::tree::{Node, Raw};
use crate::solver::{LrChange, Solver, VarianceReduction};

/// The terms of the law that a table gives.
#[derive(Default)]
pub(super) struct Terms {
    lr: Option<f64>,
    momentum: Option<f64>,
    prox: Option<f64>,
    lr_decay: Option<f64>,
    weight_decay: Option<f64>,
}

impl Terms {
    pub(super) fn read(section: &mut Section<'_>) -> Result<Terms, ScenarioError> {
        let mut number = |key, wanted: &str, holds: fn(f64) -> bool| {
            section.get(key).map(|node| node.number_that(key, wanted, holds)).transpose()
        };
        Ok(Terms {
            lr: number("lr", "a number above 0", |lr| lr > 0.0)?,
            momentum: number("momentum", "a number from 0 to below 1", |rho| {
                (0.0..1.0).contains(&rho)
            })?,
            prox: number("prox", "a number, 0 or more", |mu| mu >= 0.0)?,
            lr_decay: number("lr_decay", "a number above 0, up to 1", |gamma| {
                gamma > 0.0 && gamma <= 1.0
            })?,
            weight_decay: number("weight_decay", "a number, 0 or more", |lambda| lambda >= 0.0)?,
        })
    }

    /// These terms, and `base`'s where nothing is said.
    pub(super) fn over(&self, base: Solver) -> Solver {
        Solver {
            lr: self.lr.unwrap_or(base.lr),
            momentum: self.momentum.unwrap_or(base.momentum),
            prox: self.prox.unwrap_or(base.prox),
            lr_decay: self.lr_decay.unwrap_or(base.lr_decay),
            weight_decay: self.weight_decay.unwrap_or(base.weight_decay),
        }
    }
}

/// Checks that a law makes sense; `node` is the table that gives it, or a part of it.
pub(super) fn check(solver: &Solver, node: &Node) -> Result<(), ScenarioError> {
    let alpha = solver.lr * solver.prox;
    // A little over 1 by rounding is 1.
    if alpha > 1.0 + 1e-12 {
        // A class may have one of the two of its own.
        let key = if node.get("prox").is_some() { "prox" } else { "lr" };
        let error = node.place(key).error(format!(
            "lr · prox is {}: the proximal term would throw a client back beyond its start",
            short_number(alpha)
        ));
        return Err(error
            .expected(format_args!(
                "lr · prox up to 1: with lr = {}, prox up to {}",
                short_number(solver.lr),
                short_number(1.0 / solver.lr)
            ))
            .note("the paper's α = ημ; at α = 1 a client keeps only its last step"));
    }
    Ok(())
}

/// A number with at most six digits: rounding errors say nothing to people.
pub(super) fn short_number(value: f64) -> String {
    match value.abs() {
        v if (1e-4..1e6).contains(&v) => {
            let digits = (5 - v.log10().floor() as i32).max(0) as usize;
            let text = format!("{value:.digits$}");
            let text = if text.contains('.') {
                text.trim_end_matches('0').trim_end_matches('.')
            } else {
                &text
            };
            text.to_string()
        }
        _ => format!("{value:.3e}"),
    }
}

/// Reads `lr_schedule`, for a run of so many rounds if that is known.
pub(super) fn read_schedule(
    node: &Node,
    rounds: Option<u64>,
) -> Result<Vec<LrChange>, ScenarioError> {
    let nodes = node.array("a list such as [{ after = \"50%\", times = 0.1 }]")?;
    let mut changes = Vec::<LrChange>::new();
    for node in nodes {
        let mut section = Section::open("client.lr_schedule", node)?;
        let after =
            section.require("after", "the last round before the change, or a part of them")?;
        let times = section.require("times", "what the learning rate is multiplied by")?;
        let times = times.number_that("times", "a number above 0", |times| times > 0.0)?;
        let at = after;
        let after = read_after(after, rounds)?;
        section.finish("here")?;
        if changes.last().is_some_and(|last| last.after >= after) {
            let error = at.at.error("`after` is not later than the one before it");
            return Err(error.expected("the changes in the order in which they come"));
        }
        changes.push(LrChange { after, times });
    }
    Ok(changes)
}

fn read_after(node: &Node, rounds: Option<u64>) -> Result<u64, ScenarioError> {
    let Raw::String(text) = &node.value else {
        return node
            .whole("after", 1..=i64::MAX as u64)
            .map_err(|error| error.note("or a part of the rounds, such as \"50%\""));
    };
    let part = text.strip_suffix('%').and_then(|number| number.trim().parse::<f64>().ok());
    let Some(part) = part.filter(|part| *part > 0.0 && *part < 100.0) else {
        let error = node.wrong_type("a round or a part of the rounds");
        return Err(error.expected("a round number, or a part above 0% and below 100%"));
    };
    let Some(rounds) = rounds else {
        let error = node.at.error("a part of the rounds needs to know how many there are");
        return Err(error.expected("a round number, or `rounds` in [stop]"));
    };
    match (part / 100.0 * rounds as f64).round() as u64 {
        0 => {
            let error = node.at.error(format!("{text} of {rounds} rounds is less than one"));
            Err(error.expected("a part that is at least one round"))
        }
        after => Ok(after),
    }
}

/// Reads `variance_reduction`.
pub(super) fn read_variance(node: &Node) -> Result<Option<VarianceReduction>, ScenarioError> {
    let names = [
        ("none", None),
        ("fednova", Some(VarianceReduction::FedNova)),
        ("fednova-as-printed", Some(VarianceReduction::FedNovaAsPrinted)),
        ("scaffold", Some(VarianceReduction::Scaffold)),
        ("vrlsgd", Some(VarianceReduction::Vrlsgd)),
    ];
    node.one_of("client.variance_reduction", "variance_reduction", &names)
}
