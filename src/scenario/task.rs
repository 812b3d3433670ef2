//! `[task]`: what is learned.

use super::dist;
use super::error::ScenarioError;
use super::files::{self, Desk};
use super::model;
use super::quadratic;
use super::section::Section;
use super::tree::{Node, Raw};
use super::value::Unit;
use crate::data::{Init, ModelConfig, SyntheticConfig, TaskConfig, TaskKind};
use crate::random::{Dist, Shape};

/// The most clients a scenario may have.
const MOST_CLIENTS: u64 = 100_000_000;
/// The most parameters a model may have.
pub(super) const MOST_PARAMETERS: u64 = 1_000_000_000;

#[derive(Clone, Copy)]
enum Kind {
    Quadratic,
    Synthetic,
    Files(files::FileTaskKind),
}

/// Reads `[task]`, and the data it names.
///
/// Where a plug-in is the task, only what every task has is read, and the kind stands for nothing.
pub(super) fn read(
    root: &mut Section<'_>,
    desk: &Desk<'_>,
    is_plugin: bool,
) -> Result<TaskConfig, ScenarioError> {
    let mut section = root.open_in("task")?;
    let kinds = [
        ("quadratic", Kind::Quadratic),
        ("synthetic", Kind::Synthetic),
        ("images", Kind::Files(files::FileTaskKind::Images)),
        ("table", Kind::Files(files::FileTaskKind::Table)),
    ];
    let kind = match section.get("kind") {
        Some(node) => node.one_of("task.kind", "kind", &kinds)?,
        None => Kind::Synthetic,
    };
    let given = match section.get("clients") {
        Some(node) => Some((node, node.whole("clients", 1..=MOST_CLIENTS)? as usize)),
        None => None,
    };
    let mut clients = given.map_or(30, |(_, clients)| clients);
    let init = section.get("init").map(read_init).transpose()?;
    if is_plugin {
        section.finish("with a plug-in as kind")?;
        let kind = TaskKind::Synthetic(SyntheticConfig {
            alpha: 0.0,
            beta: 0.0,
            features: 1,
            classes: 2,
            size: usual_size(),
        });
        return Ok(TaskConfig { clients, init: init.unwrap_or(Init::Default), kind });
    }
    let mut usual_init = Init::Zeros;
    let (kind, why) = match kind {
        Kind::Quadratic => {
            let config = quadratic::read(&mut section, clients)?;
            (TaskKind::Quadratic(config), "with kind = \"quadratic\"")
        }
        Kind::Synthetic => {
            (TaskKind::Synthetic(read_synthetic(&mut section)?), "with kind = \"synthetic\"")
        }
        Kind::Files(kind) => {
            let (config, found) = files::read(&mut section, kind, given, desk)?;
            clients = found;
            if config.model.is_deep() {
                usual_init = Init::Default;
            }
            let why = match kind {
                files::FileTaskKind::Images => "with kind = \"images\"",
                files::FileTaskKind::Table => "with kind = \"table\"",
            };
            (TaskKind::Files(config), why)
        }
    };
    section.finish(why)?;
    Ok(TaskConfig { clients, init: init.unwrap_or(usual_init), kind })
}

fn read_synthetic(section: &mut Section<'_>) -> Result<SyntheticConfig, ScenarioError> {
    if let Some(node) = section.get("model")
        && model::read(node)? != ModelConfig::Softmax
    {
        let error = node.at.error("a synthetic task is learned by softmax regression");
        return Err(error
            .expected("\"softmax\"")
            .help("other models learn from kind = \"images\" or kind = \"table\""));
    }
    let mut spread = |key| match section.get(key) {
        Some(node) => node.number_that(key, "a number, 0 or more", |number| number >= 0.0),
        None => Ok(1.0),
    };
    let (alpha, beta) = (spread("alpha")?, spread("beta")?);
    let features = match section.get("features") {
        Some(node) => node.whole("features", 1..=10_000_000)?,
        None => 60,
    };
    let classes = match section.get("classes") {
        Some(node) => {
            let classes = node.whole("classes", 2..=1_000_000)?;
            if (features + 1) * classes > MOST_PARAMETERS {
                let error = node.at.error("the model has too many parameters");
                return Err(error
                    .expected(format_args!("(features + 1) × classes up to {MOST_PARAMETERS}")));
            }
            classes
        }
        None => 10,
    };
    let size = section.get("size").map_or_else(|| Ok(usual_size()), read_size)?;
    let (features, classes) = (features as usize, classes as usize);
    Ok(SyntheticConfig { alpha, beta, features, classes, size })
}

/// The sizes of Li et al.: heavy-tailed, and never below 50.
fn usual_size() -> Dist {
    let shape = Shape::Lognormal { median: 54.6, sigma: 2.0 };
    Dist { shape, plus: 50.0, min: None, max: Some(2000.0) }
}

fn read_size(node: &Node) -> Result<Dist, ScenarioError> {
    let size = dist::read(node, Unit::Plain)?;
    // One sample to learn from and one to test with.
    dist::never_below(&size, 2.0, "2 samples", "size", node)?;
    match size.typical() <= 1e8 {
        true => Ok(size),
        false => Err(node
            .at
            .error("`size` is too large")
            .expected("up to 100 million samples per client")),
    }
}

fn read_init(node: &Node) -> Result<Init, ScenarioError> {
    let Raw::Table(_) = &node.value else {
        let names = [("zeros", false), ("default", true)];
        let init = node.one_of_or_table("task.init", "starting point", &names);
        return init.map(|own| if own { Init::Default } else { Init::Zeros });
    };
    let mut section = Section::open("task.init", node)?;
    let (how, value) = section.exactly_one(&["normal", "file"])?;
    if how == "normal" {
        let std = value.number_that("normal", "a standard deviation above 0", |std| std > 0.0)?;
        return Ok(Init::Normal(std));
    }
    let path = std::path::PathBuf::from(value.text()?);
    match path.is_file() {
        true => Ok(Init::File(path)),
        false => Err(value
            .at
            .error("the file does not exist")
            .expected("a .safetensors file, relative to the folder of the scenario")),
    }
}
