//! `[server]`: when and how the server aggregates.

use super::entry::Preset::{Nothing, Required, Toml, Words};
use super::entry::{Choice, Key, Table, choice, key};

pub(super) const TABLES: &[Table] = &[
    Table::header("server", "when and how the server aggregates", SERVER),
    Table::braces("server.close", "when a round closes", CLOSE).exactly_one(&[&[
        &["deadline"],
        &["first", "of"],
        &["buffer"],
        &["window"],
    ]]),
    Table::braces("server.close.deadline", "a deadline that follows the clients", ADAPTIVE),
    Table::braces("server.staleness", "what a late update is worth", STALENESS)
        .exactly_one(&[&[&["polynomial"], &["hinge"]]]),
    Table::braces("server.staleness.hinge", "full worth for a while, then less and less", HINGE),
    Table::braces("server.optimizer", "what the server does with the update", OPTIMIZER),
    Table::braces("server.sample", "how many clients are asked", SAMPLE)
        .exactly_one(&[&[&["clients"], &["fraction"]]]),
    Table::braces("server.scheme", "how clients are chosen", SCHEME)
        .exactly_one(&[&[&["oort"], &["tiers"]]]),
    Table::braces("server.scheme.oort", "the parameters of Oort", OORT),
    Table::braces("server.scheme.tiers", "the parameters of TiFL's tiers", TIERS),
];

const SERVER: &[Key] = &[
    key("close", "", Toml("{ deadline = \"30s\" }"), "when a round closes")
        .choices(CLOSES)
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
        .choices(&[
            choice("\"uniform\"", "at random, without replacement"),
            choice("\"by-size\"", "at random by p_i, with replacement"),
            choice("\"round-robin\"", "in turn, by number"),
            choice("\"oort\"", "by what they bring and how fast they are, with exploration")
                .or("{ oort = { alpha = 2.0 } }"),
            choice("\"tiers\"", "TiFL: from one tier of equally fast clients")
                .or("{ tiers = { count = 5 } }"),
        ])
        .listed("who is asked")
        .plugin("Selector"),
    key("evaluate_every", "whole number", Toml("1"), "aggregations between evaluations"),
];

const CLOSES: &[Choice] = &[
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

const ADAPTIVE: &[Key] = &[
    key("percentile", "above 0, up to 100", Required, "of how long clients took"),
    key("of", "whole number, 1 or more", Required, "how many rounds are looked at"),
];

const STALENESS: &[Key] = &[
    key("polynomial", "number above 0", Nothing, "the exponent a"),
    key("hinge", "table", Nothing, "full worth up to b, then less and less"),
];

const HINGE: &[Key] = &[
    key("a", "number above 0", Required, "how fast an update loses its worth"),
    key("b", "number, 0 or more", Required, "up to which staleness it keeps it"),
];

const OPTIMIZER: &[Key] = &[
    key("kind", "", Required, "the method; δ = −τ_eff Σ w_i η d_i is the aggregated update")
        .choices(OPTIMIZERS)
        .listed("server optimisers"),
    key(
        "lr",
        "number above 0",
        Words("1.0 with `\"sgd\"` and `\"momentum\"`, else 0.01"),
        "the server's learning rate",
    ),
    key("momentum", "0 to below 1", Toml("0.9"), "β").with(&["momentum"]),
    key(
        "beta1",
        "0 to below 1",
        Words("0.9; 0.0 with `\"adagrad\"`"),
        "β₁, how much of the mean of δ is kept",
    )
    .with(&["adam", "yogi", "adagrad"]),
    key("beta2", "0 to below 1", Toml("0.99"), "β₂, how much of the mean of δ² is kept")
        .with(&["adam", "yogi"]),
    key("epsilon", "number above 0", Toml("0.001"), "ε; v begins at ε²")
        .with(&["adam", "yogi", "adagrad"]),
];

const OPTIMIZERS: &[Choice] = &[
    choice("\"sgd\"", "x ← x + lr·δ"),
    choice("\"momentum\"", "u ← βu − δ/η, x ← x − lr·η·u (SlowMo)").detail(
        "The buffer is in units of a gradient, so it keeps its meaning when the clients' η changes",
    ),
    choice("\"adam\"", "m ← β₁m + (1−β₁)δ, v ← β₂v + (1−β₂)δ², x ← x + lr·m/(√v + ε)"),
    choice("\"yogi\"", "as \"adam\" with v ← v − (1−β₂)δ²·sign(v − δ²)"),
    choice("\"adagrad\"", "as \"adam\" with v ← v + δ²"),
];

const SAMPLE: &[Key] = &[
    key("clients", "1 to the number of clients", Nothing, "how many"),
    key("fraction", "above 0, up to 1", Nothing, "which part of all clients"),
];

const SCHEME: &[Key] = &[
    key("oort", "table", Nothing, "Oort with other parameters"),
    key("tiers", "table", Nothing, "tiers with other parameters"),
];

const OORT: &[Key] = &[
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

const TIERS: &[Key] = &[key(
    "count",
    "1 to the number of clients",
    Toml("5"),
    "tiers; each must have as many clients as a round asks",
)];
