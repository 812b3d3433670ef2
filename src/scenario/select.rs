//! `select` of an `[[event]]`: whom it happens to.

use super::error::ScenarioError;
use super::render::short;
use super::section::Section;
use super::suggest::nearest;
use super::tree::{Node, Raw};
use crate::device::{Among, FleetConfig, Whom};

/// Reads `select`; without one it is everyone.
pub(super) fn read(
    event: &mut Section<'_>,
    clients: usize,
    fleet: &FleetConfig,
) -> Result<Whom, ScenarioError> {
    let Some(node) = event.get("select") else {
        return Ok(Whom::EVERYONE);
    };
    let Raw::Table(_) = &node.value else {
        return node
            .one_of_or_table("event.select", "selection", &[("all", ())])
            .map(|()| Whom::EVERYONE);
    };
    let mut section = Section::open("event.select", node)?;
    let fraction_at = section.get("fraction");
    let (among, size) = match (node.get("class").or(node.get("clients")), fraction_at) {
        (None, None) => {
            let error = node.at.error("this selects nobody in particular");
            return Err(error.expected("one or more of: class, clients, fraction; or \"all\""));
        }
        (None, Some(_)) => (Among::Everyone, clients),
        _ => match section.exactly_one(&["class", "clients"])? {
            ("class", node) => read_class(node, clients, fleet)?,
            (_, node) => {
                let list = read_clients(node, clients)?;
                let size = list.len();
                (Among::Clients(list), size)
            }
        },
    };
    let fraction = match fraction_at {
        Some(node) => node.number_that("fraction", "a number above 0, up to 1", |part| {
            part > 0.0 && part <= 1.0
        })?,
        None => 1.0,
    };
    section.finish("here")?;
    let whom = Whom { among, fraction };
    match (whom.count(size), fraction_at) {
        (0, Some(at)) => {
            let error =
                at.at.error(format!("`fraction` selects nobody: {fraction} of {size} clients"));
            Err(error.expected("a fraction that comes to one client or more"))
        }
        _ => Ok(whom),
    }
}

/// A class by its name, and how many devices it has.
fn read_class(
    node: &Node,
    clients: usize,
    fleet: &FleetConfig,
) -> Result<(Among, usize), ScenarioError> {
    let name = node.text()?;
    let names = || fleet.classes.iter().map(|class| class.name.as_str());
    let Some(index) = names().position(|known| known == name) else {
        let error = node.at.error(format!("there is no device class `{}`", short(name)));
        let list = names().collect::<Vec<_>>().join(", ");
        return Err(error.expected(format_args!("one of: {list}")).meant(nearest(name, names())));
    };
    match fleet.counts(clients)[index] {
        0 => {
            let error = node.at.error(format!("no client has a device of class `{name}`"));
            Err(error
                .expected("a class that its share gives a client or more")
                .note(format_args!("the task has {clients} clients")))
        }
        size => Ok((Among::Class(index as u16), size)),
    }
}

/// Clients by their numbers.
fn read_clients(node: &Node, clients: usize) -> Result<Vec<u32>, ScenarioError> {
    let wanted = "a list of client numbers: [1, 2]";
    let nodes = node.array(wanted)?;
    if nodes.is_empty() {
        return Err(node.at.error("the list of clients is empty").expected(wanted));
    }
    let last = clients as u64 - 1;
    let mut list = Vec::with_capacity(nodes.len());
    for node in nodes {
        let client = node.whole("clients", 0..=last).map_err(|error| {
            error.note(format_args!("the task's {clients} clients are numbered from 0 to {last}"))
        })? as u32;
        list.push((client, node));
    }
    list.sort_by_key(|(client, _)| *client);
    match list.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        Some(pair) => {
            let error = pair[1].1.at.error(format!("client {} is selected twice", pair[1].0));
            Err(error.expected("every client at most once"))
        }
        None => Ok(list.into_iter().map(|(client, _)| client).collect()),
    }
}
