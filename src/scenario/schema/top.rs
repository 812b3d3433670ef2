//! The file itself, and `[stop]`.

use super::entry::Preset::{Nothing, Required, Toml, Words};
use super::entry::{Choice, Key, Table, choice, key};

pub(super) const TABLES: &[Table] = &[
    Table::file("the whole scenario", FILE),
    Table::header("stop", "when a run ends; the first limit that is reached ends it", STOP),
    Table::braces("stop.target", "the value of a metric that ends the run", TARGET)
        .exactly_one(&[&[&["at_least"], &["at_most"]]]),
];

const FILE: &[Key] = &[
    key("name", "letters, digits, `-`, `_`; up to 64", Required, "names the run's folder"),
    key("description", "text", Toml("\"\""), "shown in reports"),
    key("seed", "whole number", Toml("1"), "every random choice derives from it"),
    key(
        "repeats",
        "1 to 1000",
        Toml("1"),
        "each variant is run with seed, seed+1, …; the table shows mean ± standard deviation",
    ),
    key("stop", "`[stop]`", Required, "when a run ends"),
    key("task", "`[task]`", Words("all defaults"), "what is learned"),
    key("client", "`[client]`", Words("all defaults"), "how a client works"),
    key("server", "`[server]`", Words("all defaults"), "when and how the server aggregates"),
    key(
        "fleet",
        "`[fleet]`",
        Words("the same device for every client"),
        "the devices that clients compute on",
    ),
    key("event", "`[[event]]`", Toml("[]"), "what happens during the run"),
    key("variant", "`[[variant]]`", Words("one, named after its weighting"), "what is compared"),
    key(
        "sweep",
        "`[sweep]`: keys with lists of values, such as `client.lr = [0.01, 0.02]`",
        Words("nothing is swept"),
        "every combination of the values is run, with every variant and seed",
    ),
    key("record", "`[record]`", Words("all defaults"), "what is written down"),
    key("expect", "`[[expect]]`", Toml("[]"), "what must come out"),
];

const STOP: &[Key] = &[
    key("rounds", "whole number", Words("no limit"), "ends the run after so many aggregations"),
    key("time", "duration above 0", Words("no limit"), "ends the run at this simulated time"),
    key(
        "target",
        "`{ metric = \"…\", at_least = x }`, `{ metric = \"…\", at_most = x }`",
        Words("no limit"),
        "ends the run when a metric reaches a value",
    ),
    key(
        "divergence",
        "number above 1",
        Toml("10000"),
        "a training loss above this many times its value at the start ends the variant as diverged",
    )
    .choices(&[choice("\"off\"", "no loss is too large")]),
];

const TARGET: &[Key] = &[
    key("metric", "", Required, "what is measured").choices(METRICS),
    key("at_least", "number", Nothing, "this value or more"),
    key("at_most", "number", Nothing, "this value or less"),
];

/// What a task measures, in the order in which files list it.
const METRICS: &[Choice] = &[TRAIN_LOSS, GRAD_NORM, TEST_ACCURACY, TEST_LOSS, DISTANCE];

pub(super) const TRAIN_LOSS: Choice =
    choice("\"train_loss\"", "the loss F(x) over all clients' training data");
pub(super) const GRAD_NORM: Choice =
    choice("\"grad_norm\"", "‖∇F(x)‖; not for models that libtorch computes");
pub(super) const TEST_ACCURACY: Choice =
    choice("\"test_accuracy\"", "the part of the test samples that is classified rightly");
pub(super) const TEST_LOSS: Choice = choice("\"test_loss\"", "the mean loss on test samples");
pub(super) const DISTANCE: Choice = choice("\"distance\"", "‖x − x*‖, for quadratics");
