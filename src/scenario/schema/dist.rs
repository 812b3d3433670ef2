//! DIST: the distributions that may stand where a value is drawn.

use super::DIST;
use super::entry::Preset::{Nothing, Required, Words};
use super::entry::{Choice, Key, Table, choice, key};

pub(super) const TABLES: &[Table] = &[
    Table::braces(DIST, "a value that is drawn", KEYS)
        .listed("distributions")
        .choices(FORMS)
        .exactly_one(&[&[
            &["uniform"],
            &["normal"],
            &["lognormal"],
            &["pareto"],
            &["exponential"],
            &["choice"],
            &["empirical", "column", "unit", "missing"],
        ]]),
    Table::braces(
        "dist.normal",
        "a normal distribution",
        &[
            key("mean", "value", Required, "the middle of the distribution"),
            key("std", "value, 0 or more", Required, "its standard deviation"),
        ],
    ),
    Table::braces(
        "dist.lognormal",
        "a lognormal distribution",
        &[
            key("median", "value above 0", Required, "half of all draws lie below it"),
            key("sigma", "number, 0 or more", Required, "standard deviation of the logarithm"),
        ],
    ),
    Table::braces(
        "dist.pareto",
        "a Pareto distribution",
        &[
            key("scale", "value above 0", Required, "the smallest value"),
            key("shape", "number above 0", Required, "the exponent of the tail"),
        ],
    ),
    Table::braces(
        "dist.exponential",
        "an exponential distribution",
        &[key("mean", "value above 0", Required, "the mean of all draws")],
    ),
];

const FORMS: &[Choice] = &[
    choice("\"25ms\"", "always this"),
    choice("{ uniform = [\"20ms\", \"30ms\"] }", "evenly between two ends"),
    choice("{ normal = { mean = \"25ms\", std = \"5ms\" }, min = \"1ms\" }", "normal"),
    choice("{ lognormal = { median = \"25ms\", sigma = 0.2 } }", "median · exp(sigma · z)"),
    choice("{ pareto = { scale = \"20ms\", shape = 1.5 } }", "never below `scale`, heavy tail"),
    choice("{ exponential = { mean = \"25ms\" } }", "exponential"),
    choice("{ choice = [\"20ms\", \"30ms\", \"90ms\"] }", "one of these, equally likely"),
    choice(
        "{ empirical = \"phones.csv\", column = \"step\", unit = \"ms\" }",
        "a row of a CSV column, all equally likely",
    ),
];

const KEYS: &[Key] = &[
    key("uniform", "two values", Nothing, "the lowest and the highest"),
    key("normal", "table", Nothing, "a normal distribution"),
    key("lognormal", "table", Nothing, "a lognormal distribution"),
    key("pareto", "table", Nothing, "a Pareto distribution"),
    key("exponential", "table", Nothing, "an exponential distribution"),
    key("choice", "list of values", Nothing, "what is drawn from"),
    key(
        "empirical",
        "CSV file",
        Nothing,
        "measured values, drawn as they are; a `.csv.gz` is unpacked",
    ),
    key(
        "column",
        "text",
        Words("required with `empirical`"),
        "the name of the column in the file's first line",
    ),
    key(
        "unit",
        "text",
        Words("cells carry their own"),
        "with `empirical`: the unit of bare numbers in the column; cells may also carry their own",
    ),
    key(
        "missing",
        "number",
        Words("no row is missing"),
        "with `empirical`: rows with this bare number are left out",
    ),
    key("plus", "value", Words("0"), "added to every draw"),
    key("min", "value", Words("no limit"), "draws below are moved up to it, after `plus`"),
    key("max", "value", Words("no limit"), "draws above are moved down to it, after `plus`"),
];
