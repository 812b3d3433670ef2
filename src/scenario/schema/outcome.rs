//! `[record]`, `[[variant]]` and `[[expect]]`: what is written down, compared and expected.

use super::entry::Preset::{Nothing, Required, Toml, Words};
use super::entry::{Choice, Key, Table, choice, key};
use super::top::{DISTANCE, GRAD_NORM, TEST_ACCURACY, TEST_LOSS, TRAIN_LOSS};

pub(super) const TABLES: &[Table] = &[
    Table::header("record", "what is written down", RECORD),
    Table::braces("record.clients", "a random set of clients", OF_CLIENTS),
    Table::braces("record.timeline", "a random set of clients", OF_CLIENTS),
    Table::list("variant", "what is compared", VARIANT),
    Table::list("expect", "what must come out", EXPECT).exactly_one(&[&[
        &["at_least"],
        &["at_most"],
        &["equals"],
    ]]),
    Table::braces("expect.that", "what is measured over several runs", THAT),
];

const RECORD: &[Key] = &[
    key("clients", "", Toml("\"all\""), "which clients have rows in `clients.csv`").choices(&[
        choice("\"all\"", "every client"),
        choice("\"off\"", "none"),
        choice("{ clients = 1000 }", "a fixed random set"),
    ]),
    key("timeline", "", Toml("{ clients = 200 }"), "which clients are in `timeline.json.gz`")
        .choices(&[
            choice("\"all\"", "every client, in every round"),
            choice("\"off\"", "none: there is no such file"),
            choice("{ clients = 1000 }", "a fixed random set, in its first 20,000 participations"),
        ]),
];

const OF_CLIENTS: &[Key] = &[key("clients", "whole number, 1 or more", Required, "how many")];

const VARIANT: &[Key] = &[
    key("name", "letters, digits, `-`, `_`; up to 64", Required, "shown in tables and files"),
    key(
        "set",
        "table",
        Toml("{}"),
        "what this variant changes in `stop`, `task`, `client`, `server` or `fleet`; also `event`, \
         but only all of them at once: `event = []` is a variant without",
    ),
];

const EXPECT: &[Key] = &[
    key("that", "", Required, "what is measured at the end")
        .choices(QUANTITIES)
        .listed("what can be expected"),
    key(
        "of",
        "a variant",
        Words("the only variant; with `correlation` all of them"),
        "of which variant",
    ),
    key("at_least", "number, or another variant", Nothing, "the value is this or more"),
    key("at_most", "number, or another variant", Nothing, "the value is this or less"),
    key("equals", "number, or another variant", Nothing, "the value is this; needs `within`"),
    key(
        "times",
        "number above 0",
        Words("1"),
        "beside another variant: what its value is multiplied by; `at_most = \"fedavg\"` with \
         `times = 0.5` is at most half of FedAvg's",
    ),
    key(
        "within",
        "number, 0 or more",
        Words("0; required with `equals`"),
        "how far on the other side is still good enough: the largest difference",
    ),
];

const QUANTITIES: &[Choice] = &[
    TRAIN_LOSS,
    GRAD_NORM,
    TEST_ACCURACY,
    TEST_LOSS,
    DISTANCE,
    choice("\"rounds\"", "aggregations"),
    choice("\"virtual_seconds\"", "simulated time"),
    choice("\"chi2\"", "how far the weights that were used are from p, over the clients heard"),
    choice("\"missing_mass\"", "the share of the clients that were never heard"),
    choice("\"waste\"", "the part of all computing time that was not used"),
    choice("\"diverged\"", "1 if the run diverged, else 0"),
    choice("\"tau_eff\"", "τ_eff, the mean over the rounds"),
    choice("\"slowdown\"", "τ̄/τ_eff, the mean over the rounds"),
    choice("\"A\"", "A of Theorem 1, the mean over the rounds"),
    choice(
        "\"fixed_point_gap\"",
        "how far a quadratic ended from where the theory says it comes to rest",
    ),
    choice(
        "{ correlation = [\"chi2\", \"distance\"] }",
        "how far one goes with the other from run to run",
    )
    .detail(
        "Spearman's rank correlation, −1 to 1; over the seeds of the variant, or over all runs of \
         all variants where `of` is left out",
    ),
];

const THAT: &[Key] = &[key(
    "correlation",
    "two of the quantities; needs three runs or more",
    Required,
    "the quantities whose correlation is taken",
)];
