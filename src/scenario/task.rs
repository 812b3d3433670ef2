//! `[task]`: what is learned.
//!
//! A kind of task is a file of this folder: what it reads, and its [`Task`]. [`KINDS`] has them by name.

mod files;
mod files_task;
mod quadratic;
mod synthetic;

pub(super) use files::{Desk, Shelf, told};
pub(super) use quadratic::normalized;

use super::error::ScenarioError;
use super::section::Section;
use super::tree::{Node, Raw};
use crate::data::{Init, Task, TaskConfig};
use std::sync::Arc;

/// The most clients a scenario may have.
const MOST_CLIENTS: u64 = 100_000_000;
/// The most parameters a model may have.
const MOST_PARAMETERS: u64 = 1_000_000_000;

/// What `[task] kind` may be.
const KINDS: &[(&str, TaskKind)] = &[
    ("quadratic", TaskKind { name: "quadratic", read: quadratic::read }),
    ("synthetic", TaskKind { name: "synthetic", read: synthetic::read }),
    ("images", TaskKind { name: "images", read: files::read_images }),
    ("table", TaskKind { name: "table", read: files::read_table }),
];

/// A kind of task, and how its keys are read.
#[derive(Clone, Copy)]
struct TaskKind {
    name: &'static str,
    read: fn(&mut Section<'_>, &Given<'_>) -> Result<Found, ScenarioError>,
}

/// What a kind's reader gets besides its section.
struct Given<'a> {
    /// `clients`, where it is set.
    clients: Option<(&'a Node, usize)>,
    desk: &'a Desk<'a>,
}

impl Given<'_> {
    /// How many clients there are, unless the data says so.
    fn clients(&self) -> usize {
        self.clients.map_or(30, |(_, clients)| clients)
    }
}

/// What a kind's reader gives.
struct Found {
    clients: usize,
    /// Where the model starts, unless the scenario says so.
    init: Init,
    problem: Arc<dyn Task>,
}

/// Reads `[task]`, and the data it names.
///
/// Where a plug-in is the task, only what every task has is read, and the problem stands for nothing.
pub(super) fn read(
    root: &mut Section<'_>,
    desk: &Desk<'_>,
    is_plugin: bool,
) -> Result<TaskConfig, ScenarioError> {
    let mut section = root.open_in("task")?;
    let kind = match section.get("kind") {
        Some(node) => node.one_of("task.kind", "kind", KINDS)?,
        None => TaskKind { name: "synthetic", read: synthetic::read },
    };
    let clients = match section.get("clients") {
        Some(node) => Some((node, node.whole("clients", 1..=MOST_CLIENTS)? as usize)),
        None => None,
    };
    let given = Given { clients, desk };
    let init = section.get("init").map(read_init).transpose()?;
    if is_plugin {
        section.finish("with a plug-in as kind")?;
        let (kind, clients, init) = ("plugin", given.clients(), init.unwrap_or(Init::Default));
        return Ok(TaskConfig { kind, clients, init, problem: Arc::new(synthetic::smallest()) });
    }
    let found = (kind.read)(&mut section, &given)?;
    section.finish(&format!("with kind = \"{}\"", kind.name))?;
    let Found { clients, problem, .. } = found;
    Ok(TaskConfig { kind: kind.name, clients, init: init.unwrap_or(found.init), problem })
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
