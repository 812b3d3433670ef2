//! `[server]` `scheme`: how clients are chosen, and what must go with it.

use super::error::ScenarioError;
use super::schema::entry::Preset::{Nothing, Toml, Words};
use super::schema::entry::{Choice, Key, Table, choice, key};
use super::section::Section;
use super::tree::{Node, Raw};
use crate::policy::{OortConfig, Scheme, ServerConfig};

/// The ways to choose clients.
pub(super) const SCHEMES: &[Choice] = &[
    choice("\"uniform\"", "at random, without replacement"),
    choice("\"by-size\"", "at random by p_i, with replacement"),
    choice("\"round-robin\"", "in turn, by number"),
    choice("\"oort\"", "by what they bring and how fast they are, with exploration")
        .or("{ oort = { alpha = 2.0 } }"),
    choice("\"tiers\"", "TiFL: from one tier of equally fast clients")
        .or("{ tiers = { count = 5 } }"),
];

/// The table; exactly one of its keys is given.
pub(super) const TABLE: Table = Table::braces("server.scheme", "how clients are chosen", SCHEME)
    .exactly_one(&[&[&["oort"], &["tiers"]]]);

/// The keys of a table that says how clients are chosen.
const SCHEME: &[Key] = &[
    key("oort", "table", Nothing, "Oort with other parameters"),
    key("tiers", "table", Nothing, "tiers with other parameters"),
];

/// The keys of Oort.
pub(super) const OORT: &[Key] = &[
    key("exploration", "0 to 1", Toml("0.9"), "ε in the first round"),
    key("decay", "above 0, up to 1", Toml("0.98"), "what ε is multiplied by from round to round"),
    key(
        "least",
        "0 to `exploration`",
        Words("0.2, or `exploration` if that is less"),
        "what ε does not fall below",
    ),
    key(
        "alpha",
        "number, 0 or more",
        Toml("2.0"),
        "α: how much slow clients are avoided; 0: not at all",
    ),
    key(
        "round_time",
        "duration above 0",
        Words("follows the clients"),
        "T, how long a round should take",
    ),
];

/// The keys of TiFL's tiers.
pub(super) const TIERS: &[Key] = &[key(
    "count",
    "1 to the number of clients",
    Toml("5"),
    "tiers; each must have as many clients as a round asks",
)];

/// Tiers, where nothing is said: as many as in TiFL's experiments.
const USUAL_TIERS: usize = 5;

/// Reads `scheme`, for a number of clients.
pub(super) fn read(node: &Node, clients: usize) -> Result<Scheme, ScenarioError> {
    let Raw::Table(_) = &node.value else {
        let schemes = [
            ("uniform", Scheme::Uniform),
            ("by-size", Scheme::BySize),
            ("round-robin", Scheme::RoundRobin),
            ("oort", Scheme::Oort(OortConfig::PUBLISHED)),
            ("tiers", Scheme::Tiers(USUAL_TIERS)),
        ];
        return node.one_of_or_table("server.scheme", "scheme", &schemes);
    };
    let mut section = Section::open("server.scheme", node)?;
    let scheme = match section.exactly_one(&["oort", "tiers"])? {
        ("oort", node) => read_oort(node)?,
        (_, node) => {
            let mut section = Section::open("server.scheme.tiers", node)?;
            let count = section.get("count").map(|node| {
                node.whole("count", 1..=clients as u64)
                    .map_err(|error| error.note(format_args!("the task has {clients} clients")))
            });
            count
                .transpose()?
                .map_or(Scheme::Tiers(USUAL_TIERS), |count| Scheme::Tiers(count as usize))
        }
    };
    section.finish("here")?;
    Ok(scheme)
}

fn read_oort(node: &Node) -> Result<Scheme, ScenarioError> {
    let published = OortConfig::PUBLISHED;
    let mut section = Section::open("server.scheme.oort", node)?;
    let exploration = section.get("exploration").map_or(Ok(published.exploration), |node| {
        node.number_that("exploration", "a number from 0 to 1", |part| (0.0..=1.0).contains(&part))
    })?;
    let decay = section.get("decay").map_or(Ok(published.decay), |node| {
        node.number_that("decay", "a number above 0, up to 1", |part| part > 0.0 && part <= 1.0)
    })?;
    let least = section.get("least").map_or(Ok(published.least.min(exploration)), |node| {
        let wanted = format!("a number from 0 to {exploration}, the `exploration` it falls from");
        node.number_that("least", &wanted, |part| (0.0..=exploration).contains(&part))
    })?;
    let alpha = section.get("alpha").map_or(Ok(published.alpha), |node| {
        node.number_that("alpha", "a number, 0 or more", |alpha| alpha >= 0.0)
    })?;
    let round_time = section
        .get("round_time")
        .map(|node| node.positive_duration("nobody is back in no time"))
        .transpose()?;
    section.finish("here")?;
    Ok(Scheme::Oort(OortConfig { exploration, decay, least, alpha, round_time }))
}

/// Checks that Oort and tiers have rounds to choose for, a number of clients to choose and enough to
/// choose from. The tree tells where things were written.
pub(super) fn check(
    tree: &Node,
    server: &ServerConfig,
    clients: usize,
) -> Result<(), ScenarioError> {
    let name = match server.scheme {
        Scheme::Oort(_) => "oort",
        Scheme::Tiers(_) => "tiers",
        Scheme::Uniform | Scheme::BySize | Scheme::RoundRobin | Scheme::Plugin(_) => return Ok(()),
    };
    let at = tree.place("server.scheme");
    if server.close.is_asynchronous() {
        let error = at.error(format!("\"{name}\" chooses the clients of a round as a whole"));
        return Err(error
            .expected("\"uniform\", \"by-size\" or \"round-robin\" with buffer, each and window")
            .note("there clients are sent off one by one"));
    }
    if server.asks_all() {
        let error = at.error(format!("\"{name}\" has nothing to choose where all are asked"));
        return Err(error
            .expected("`sample = { clients = 10 }` or `sample = { fraction = 0.3 }` beside it"));
    }
    let Scheme::Tiers(count) = server.scheme else {
        return Ok(());
    };
    let (wanted, fewest) = (server.wanted(clients), clients / count);
    if wanted > fewest {
        let error = tree
            .place("server.scheme.tiers.count")
            .error(format!("a tier has not the {wanted} clients that a round asks"));
        return Err(error
            .expected(format_args!("tiers of {wanted} clients or more, or fewer clients asked"))
            .note(format_args!("{clients} clients in {count} tiers are {fewest} in each")));
    }
    Ok(())
}
