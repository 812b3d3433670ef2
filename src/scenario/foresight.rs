//! `[client] foresight`: what a client knows when it decides whether another step fits.

use super::error::ScenarioError;
use super::schema::entry::Preset::Nothing;
use super::schema::entry::{Choice, Key, Table, choice, key};
use super::section::Section;
use super::tree::{Node, Raw};
use crate::clock::Span;
use crate::device::Foresight;
use crate::policy::{Partial, ServerConfig};

/// What a client may know.
pub(super) const FORESIGHTS: &[Choice] = &[
    choice("\"exact\"", "how long the next step takes, and the upload as things are now")
        .detail("It is late only if things get worse on the way"),
    choice("\"expected\"", "how long a step and an upload usually take on its device").detail(
        "It plans with the step time and the link of its device, or with the means of its recording. Jitter, \
         slow episodes, heat and events come unforeseen, and so it may be late",
    ),
    choice("\"none\"", "nothing: it works until the deadline less a margin").or("{ margin = \"2s\" }").detail(
        "It leaves the step that it is in then, and sends the steps that it has made. `\"none\"` has a \
         margin of 0",
    ),
];

/// The table.
pub(super) const TABLE: Table =
    Table::braces("client.foresight", "what a client knows when it plans its steps", FORESIGHT);

const FORESIGHT: &[Key] = &[key(
    "margin",
    "duration",
    Nothing,
    "so long before the deadline a client that knows nothing stops and sends what it has",
)];

/// Reads `foresight`.
pub(super) fn read(node: &Node) -> Result<Foresight, ScenarioError> {
    let Raw::Table(_) = &node.value else {
        let names = [
            ("exact", Foresight::Exact),
            ("expected", Foresight::Expected),
            ("none", Foresight::None { margin: Span::ZERO }),
        ];
        return node.one_of_or_table("client.foresight", "foresight", &names);
    };
    let mut section = Section::open("client.foresight", node)?;
    let margin = section.require("margin", "how long before the deadline a client stops")?;
    let margin = margin.duration()?;
    section.finish("here")?;
    Ok(Foresight::None { margin })
}

/// Checks that there is something to foresee, and time left to work.
pub(super) fn check(
    tree: &Node,
    foresight: Foresight,
    server: &ServerConfig,
) -> Result<(), ScenarioError> {
    let at = tree.place("client.foresight");
    if foresight == Foresight::Exact {
        return Ok(());
    }
    if !server.close.has_deadline() {
        let error = at.error("`foresight` has no effect without a deadline");
        return Err(error.expected("`close = { deadline = \"30s\" }` in [server], or \"exact\""));
    }
    if server.partial == Partial::Discard {
        let error = at.error("`foresight` has no effect with partial = \"discard\"");
        return Err(error
            .expected("`partial = \"keep\"` in [server], or \"exact\"")
            .note("with \"discard\" a client does all of its work however long it takes"));
    }
    match (foresight, server.close.fixed_deadline()) {
        (Foresight::None { margin }, Some(deadline)) if margin >= deadline => {
            let error = at.error("the margin leaves no time to work");
            Err(error.expected(format_args!("a margin below the deadline of {deadline}")))
        }
        _ => Ok(()),
    }
}
