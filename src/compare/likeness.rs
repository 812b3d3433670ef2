//! Whether runs learned the same thing from the same data with the same seeds.

use super::ComparedRun;
use crate::run_files::Status;
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::fmt;
use toml_edit::{Item, Table};

/// Something in which two runs differ and must not.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// What it is called.
    pub what: String,
    /// What the one has, and the other.
    pub values: [String; 2],
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Difference { what, values: [one, other] } = self;
        write!(f, "{what}: {one} and {other}")
    }
}

/// A scenario as plain values: how it was written does not matter.
pub(super) fn plain(text: &str) -> Result<Value, String> {
    let document: toml_edit::DocumentMut =
        text.parse().map_err(|error: toml_edit::TomlError| error.message().to_string())?;
    Ok(table(document.as_table()))
}

fn table(table: &Table) -> Value {
    let entries = table.iter().map(|(key, item)| (key.to_string(), value(item)));
    Value::Object(entries.collect())
}

fn value(item: &Item) -> Value {
    match item {
        Item::None => Value::Null,
        Item::Table(own) => table(own),
        Item::ArrayOfTables(tables) => tables.iter().map(table).collect(),
        Item::Value(own) => simple(own),
    }
}

fn simple(value: &toml_edit::Value) -> Value {
    match value {
        toml_edit::Value::String(text) => text.value().clone().into(),
        toml_edit::Value::Integer(number) => (*number.value()).into(),
        toml_edit::Value::Float(number) => (*number.value()).into(),
        toml_edit::Value::Boolean(truth) => (*truth.value()).into(),
        toml_edit::Value::Datetime(when) => when.value().to_string().into(),
        toml_edit::Value::Array(all) => all.iter().map(simple).collect(),
        toml_edit::Value::InlineTable(all) => {
            let entries = all.iter().map(|(key, value)| (key.to_string(), simple(value)));
            Value::Object(entries.collect::<Map<_, _>>())
        }
    }
}

/// Everything that two runs must have in common and have not.
pub(super) fn differences(one: &ComparedRun, other: &ComparedRun) -> Vec<Difference> {
    let mut found = Vec::new();
    compare("task", &one.scenario["task"], &other.scenario["task"], &mut found);
    let [a, b] = [one, other].map(|run| changed_tasks(&run.scenario));
    if a != b {
        let list = |all: BTreeSet<String>| all.into_iter().collect::<Vec<_>>().join(", ");
        found.push(Difference { what: "variants' tasks".into(), values: [list(a), list(b)] });
    }
    let seeds = [one, other].map(|run| {
        run.so_far.summary.variants.iter().map(|run| run.seed).collect::<BTreeSet<u64>>()
    });
    // One that is not complete may have others to come.
    let complete = [one, other].iter().all(|run| run.so_far.summary.status == Status::Complete);
    if complete && seeds[0] != seeds[1] {
        found.push(Difference { what: "seeds".into(), values: seeds.map(|seeds| range(&seeds)) });
    }
    let timing = [one, other].map(|run| run.so_far.summary.timing_only);
    if timing[0] != timing[1] {
        let word = |timing| if timing { "timing only" } else { "trained" }.to_string();
        found.push(Difference { what: "training".into(), values: timing.map(word) });
    }
    found
}

/// What variants change in the task: every task that is learned beside the scenario's own.
fn changed_tasks(scenario: &Value) -> BTreeSet<String> {
    let variants = scenario["variant"].as_array().into_iter().flatten();
    let changes = variants.map(|variant| match &variant["set"]["task"] {
        Value::Null => "as it is".into(),
        change => change.to_string().chars().take(80).collect(),
    });
    // A scenario without variants has one.
    let all: BTreeSet<String> = changes.collect();
    if all.is_empty() { BTreeSet::from(["as it is".into()]) } else { all }
}

/// What differs at `path` or below.
fn compare(path: &str, one: &Value, other: &Value, found: &mut Vec<Difference>) {
    if let (Value::Object(a), Value::Object(b)) = (one, other) {
        let keys: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
        for key in keys {
            compare(&format!("{path}.{key}"), &one[key], &other[key], found);
        }
    } else if one != other {
        let word = |value: &Value| match value {
            Value::Null => "not said".to_string(),
            value => value.to_string().chars().take(40).collect(),
        };
        found.push(Difference { what: path.into(), values: [word(one), word(other)] });
    }
}

fn range(seeds: &BTreeSet<u64>) -> String {
    match (seeds.first(), seeds.last()) {
        (Some(first), Some(last)) if first != last => format!("{first} to {last}"),
        (Some(first), _) => first.to_string(),
        _ => "none".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_a_task_is_written_does_not_matter() {
        let [one, other] =
            ["[task]\nclients = 3\nkind = \"x\"", "task = { kind = 'x', clients = 3 }"]
                .map(|text| plain(text).unwrap());
        assert_eq!(one, other);
        let third = plain("[task]\nclients = 4\nkind = \"x\"\nalpha = 1.0").unwrap();
        let mut found = Vec::new();
        compare("task", &one["task"], &third["task"], &mut found);
        let found: Vec<String> = found.iter().map(Difference::to_string).collect();
        assert_eq!(found, ["task.alpha: not said and 1.0", "task.clients: 3 and 4"]);
    }

    #[test]
    fn a_variant_may_learn_something_else() {
        let tasks = |text| changed_tasks(&plain(text).unwrap());
        let own = tasks("[task]\nclients = 3");
        assert_eq!(own, tasks("[[variant]]\nname = 'a'\nset = { server.late = 'next' }"));
        let other = tasks("[[variant]]\nname = 'a'\nset = { task.alpha = 2.0 }");
        assert_eq!(other, BTreeSet::from(["{\"alpha\":2.0}".to_string()]));
    }
}
