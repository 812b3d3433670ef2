//! `[server] close`: when a round closes.

use super::error::ScenarioError;
use super::schema::entry::Preset::{Nothing, Required, Words};
use super::schema::entry::{Choice, Key, Table, choice, key};
use super::section::Section;
use super::tree::{Node, Raw};
use crate::policy::{Adaptive, Close};

/// The ways to close a round.
pub(super) const CLOSES: &[Choice] = &[
    choice("\"all\"", "every client that was asked has answered"),
    choice("{ deadline = \"30s\" }", "the time has passed, or every client has answered"),
    choice(
        "{ deadline = { percentile = 80, of = 20 } }",
        "the deadline is the 80th percentile of how long clients took in the last 20 rounds",
    )
    .detail("The first round waits for all"),
    choice("{ first = 10, of = 13 }", "the first 10 of 13 clients asked have answered"),
    choice(
        "{ buffer = 10 }",
        "10 updates have arrived, from whichever version of the model (FedBuff)",
    ),
    choice("\"each\"", "an update has arrived (FedAsync): a buffer of 1"),
    choice("{ window = \"10s\" }", "10 s have passed, with whatever has arrived"),
];

/// The table; exactly one of these groups of keys is given.
pub(super) const TABLE: Table = Table::braces("server.close", "when a round closes", CLOSE)
    .exactly_one(&[&[&["deadline"], &["first", "of"], &["buffer"], &["window"]]]);

/// The keys of a table that says when a round closes.
const CLOSE: &[Key] = &[
    key("deadline", "duration above 0, or a table", Nothing, "how long clients have"),
    key("first", "1 to `of`", Nothing, "answers that close the round"),
    key(
        "of",
        "1 to the number of clients",
        Words("required with `first`"),
        "clients that are asked",
    ),
    key("buffer", "whole number, 1 or more", Nothing, "updates that close the round"),
    key("window", "duration above 0", Nothing, "time from one aggregation to the next"),
];

/// The keys of a deadline that follows the clients.
pub(super) const ADAPTIVE: &[Key] = &[
    key("percentile", "above 0, up to 100", Required, "of how long clients took"),
    key("of", "whole number, 1 or more", Required, "how many rounds are looked at"),
];

/// Reads `close`, for a number of clients.
pub(super) fn read(node: &Node, clients: usize) -> Result<Close, ScenarioError> {
    let Raw::Table(_) = &node.value else {
        let names = [("all", Close::All), ("each", Close::Buffer(1))];
        return node.one_of_or_table("server.close", "close", &names);
    };
    let mut section = Section::open("server.close", node)?;
    let close = match section.exactly_one(&["deadline", "first", "buffer", "window"])? {
        ("buffer", node) => Close::Buffer(node.whole("buffer", 1..=1_000_000_000)? as usize),
        ("window", node) => {
            Close::Window(node.positive_duration("a window of zero never lets time pass")?)
        }
        ("deadline", node) if matches!(node.value, Raw::Table(_)) => read_adaptive(node)?,
        ("deadline", node) => {
            Close::Deadline(node.positive_duration("a deadline of zero lets nobody finish")?)
        }
        (_, node) => {
            let of = section.require("of", "how many clients are asked")?;
            let of = of
                .whole("of", 1..=clients as u64)
                .map_err(|error| error.note(format_args!("the task has {clients} clients")))?;
            let first = node.whole("first", 1..=of)?;
            Close::First { first: first as usize, of: of as usize }
        }
    };
    section.finish("with this close")?;
    Ok(close)
}

fn read_adaptive(node: &Node) -> Result<Close, ScenarioError> {
    let mut section = Section::open("server.close.deadline", node)?;
    let percentile = section.require("percentile", "of how long clients took")?;
    let of = section.require("of", "how many rounds are looked at")?;
    let percentile = percentile
        .number_that("percentile", "a number above 0, up to 100", |p| p > 0.0 && p <= 100.0)?;
    let of = of.whole("of", 1..=1_000_000)? as usize;
    section.finish("here")?;
    Ok(Close::Adaptive(Adaptive { percentile, of }))
}
