//! `[server]`: when and how the server aggregates.

use super::entry::Preset::{Nothing, Required, Toml, Words};
use super::entry::{Key, Table, choice, key};
use crate::scenario::{close, optimizer, scheme};

pub(super) const TABLES: &[Table] = &[
    Table::header("server", "when and how the server aggregates", SERVER),
    close::TABLE,
    Table::braces("server.close.deadline", "a deadline that follows the clients", close::ADAPTIVE),
    Table::braces("server.staleness", "what a late update is worth", STALENESS)
        .exactly_one(&[&[&["polynomial"], &["hinge"]]]),
    Table::braces("server.staleness.hinge", "full worth for a while, then less and less", HINGE),
    Table::braces("server.optimizer", "what the server does with the update", optimizer::OPTIMIZER),
    Table::braces("server.sample", "how many clients are asked", SAMPLE)
        .exactly_one(&[&[&["clients"], &["fraction"]]]),
    scheme::TABLE,
    Table::braces("server.scheme.oort", "the parameters of Oort", scheme::OORT),
    Table::braces("server.scheme.tiers", "the parameters of TiFL's tiers", scheme::TIERS),
];

const SERVER: &[Key] = &[
    key("close", "", Toml("{ deadline = \"30s\" }"), "when a round closes")
        .choices(close::CLOSES)
        .listed("when a round closes")
        .plugin("Closing"),
    key("late", "", Toml("\"drop\""), "what is done with work that arrives after its round closed")
        .choices(&[
            choice("\"drop\"", "dropped"),
            choice("\"next\"", "counted in the next aggregation"),
            choice("\"stale\"", "counted there less, by `staleness`"),
        ])
        .listed("late work"),
    key(
        "staleness",
        "",
        Toml("\"constant\""),
        "what an update is worth that missed s aggregations",
    )
    .choices(&[
        choice("\"constant\"", "1"),
        choice("{ polynomial = 0.5 }", "(1+s)^−a"),
        choice("{ hinge = { a = 10, b = 4 } }", "1 up to b, then 1/(a(s−b)+1)"),
    ])
    .listed("worth of an update that missed s aggregations"),
    key(
        "max_staleness",
        "whole number",
        Words("no limit"),
        "work that missed more aggregations is dropped",
    ),
    key(
        "concurrency",
        "1 to the number of clients",
        Words("100, or all"),
        "clients kept busy with `buffer`, `\"each\"` and `window`",
    ),
    key("partial", "", Toml("\"keep\""), "what is done with work cut short by the deadline")
        .choices(&[
            choice("\"keep\"", "the steps made are sent"),
            choice("\"discard\"", "all or nothing: a client does all of its work"),
        ])
        .listed("work cut short"),
    key("weighting", "", Toml("\"fednova\""), "what an update weighs")
        .choices(&[
            choice("\"fednova\"", "w_i = p_i, after normalising by ‖a_i‖₁: no bias"),
            choice("\"fedavg\"", "w_i ∝ p_i‖a_i‖₁: more steps weigh more"),
            choice("\"uniform\"", "w_i = 1/m, whatever data each client has"),
        ])
        .listed("weighting")
        .plugin("Weighting"),
    key("tau_eff", "number above 0", Toml("\"accumulation\""), "effective steps τ_eff")
        .choices(&[choice("\"accumulation\"", "Σ p_i‖a_i‖₁"), choice("\"steps\"", "Σ p_iτ_i")]),
    key(
        "participation",
        "",
        Toml("\"renormalize\""),
        "what p_i become when not every client takes part",
    )
    .choices(&[
        choice("\"renormalize\"", "p_i over the sum of p_i of the clients that arrived"),
        choice("\"unbiased\"", "p_i corrected by the chance of being asked: right on average"),
        choice("\"inverse-probability\"", "p_i over how often the client was used so far"),
    ])
    .listed("participation"),
    key(
        "optimizer",
        "`{ kind = \"…\", … }`",
        Toml("{ kind = \"sgd\", lr = 1.0 }"),
        "what the server does with the aggregated update",
    )
    .plugin("ServerOptimizer"),
    key(
        "sample",
        "",
        Toml("\"all\""),
        "how many clients are asked; with `first` the key `of` says it",
    )
    .choices(&[
        choice("\"all\"", "every client"),
        choice("{ clients = 10 }", "so many"),
        choice("{ fraction = 0.3 }", "a part of them"),
    ])
    .listed("how many are asked"),
    key("scheme", "", Toml("\"uniform\""), "how the clients of a round are chosen")
        .choices(scheme::SCHEMES)
        .listed("who is asked")
        .plugin("Selector"),
    key("evaluate_every", "whole number", Toml("\"auto\""), "aggregations between evaluations")
        .choices(&[choice(
            "\"auto\"",
            "so many that evaluations cost at most a tenth of training, counted in samples, but about \
             20 evaluations at least; 1 where [stop] has a target",
        )]),
];

const STALENESS: &[Key] = &[
    key("polynomial", "number above 0", Nothing, "the exponent a"),
    key("hinge", "table", Nothing, "full worth up to b, then less and less"),
];

const HINGE: &[Key] = &[
    key("a", "number above 0", Required, "how fast an update loses its worth"),
    key("b", "number, 0 or more", Required, "up to which staleness it keeps it"),
];

const SAMPLE: &[Key] = &[
    key("clients", "1 to the number of clients", Nothing, "how many"),
    key("fraction", "above 0, up to 1", Nothing, "which part of all clients"),
];
