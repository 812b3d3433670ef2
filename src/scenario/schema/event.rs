//! `[[event]]`: what happens during the run.

use super::entry::Preset::{Nothing, Required, Toml, Words};
use super::entry::{Key, Table, choice, key};

pub(super) const TABLES: &[Table] = &[
    Table::list("event", "what happens during the run", EVENT).listed("events").exactly_one(&[
        &[&["at"], &["round"]],
        &[&["slow"], &["offline"], &["leave"], &["join"], &["network"], &["deadline"], &["lr"]],
    ]),
    Table::braces("event.select", "the clients that an event happens to", SELECT)
        .exactly_one(&[&[&["class"], &["clients"]]]),
    Table::braces("event.network", "what is left of each way of a link", NETWORK),
    Table::braces("event.lr", "a change of all learning rates", LR),
];

const EVENT: &[Key] = &[
    key("at", "duration", Words("required, or `round`"), "happens at this simulated time"),
    key(
        "round",
        "whole number, from 1",
        Words("required, or `at`"),
        "happens when this round opens",
    ),
    key(
        "select",
        "",
        Toml("\"all\""),
        "the clients that it happens to; not with `deadline` and `lr`",
    )
    .choices(&[
        choice("\"all\"", "every client"),
        choice("{ class = \"phone\" }", "the devices of a class"),
        choice("{ clients = [1, 2] }", "these clients"),
        choice(
            "{ fraction = 0.2 }",
            "a random part of all clients, or of those of a class or list",
        ),
    ]),
    key(
        "lasting",
        "duration above 0",
        Words("for good"),
        "for how long; not with `leave` and `join`",
    ),
    key(
        "slow",
        "above 0, up to 1 billion",
        Nothing,
        "steps take this many times as long; below 1 they are faster",
    ),
    key("offline", "`true`", Nothing, "the clients are not there"),
    key("leave", "`true`", Nothing, "the clients leave for good"),
    key("join", "`true`", Nothing, "the clients come: before this they were not there"),
    key(
        "network",
        "number, 0 or more; or `{ up = 0.5, down = 0.1 }`",
        Nothing,
        "links keep this part of their rate, both ways or each; 0 is no connection. A link without \
         a limit has none with half of it either",
    ),
    key(
        "deadline",
        "duration above 0",
        Nothing,
        "rounds opened from then on have this deadline; needs a `close` with a deadline",
    ),
    key(
        "lr",
        "number above 0, or `{ times = 0.5 }`",
        Nothing,
        "rounds opened from then on have this as the `lr` of `[client]`, and a class with a rate of \
         its own keeps its ratio to it; or all rates are multiplied",
    ),
];

const SELECT: &[Key] = &[
    key("class", "a name", Nothing, "the devices of a class"),
    key("clients", "list of client numbers, from 0", Nothing, "these clients, and no `class`"),
    key(
        "fraction",
        "above 0, up to 1",
        Words("1"),
        "of those, or of all clients, a random part, rounded to whole clients; every event draws \
         for itself",
    ),
];

const NETWORK: &[Key] = &[
    key("up", "number, 0 or more", Words("1"), "the part of the uplink's rate that is left"),
    key("down", "number, 0 or more", Words("1"), "the part of the downlink's rate that is left"),
];

const LR: &[Key] = &[key("times", "number above 0", Required, "what all rates are multiplied by")];
