//! Holds the schema and the reader together.
//!
//! Every key of the schema is planted into host scenarios, at its place and with a value that no key
//! accepts: a date. A key that is read complains about the date. A key that is in the schema and
//! not read is accepted or called meaningless, and a key that is read and not in the schema ends
//! the reader by an assertion. In the same way every alternative must be accepted by some host, and
//! writing a default down must change nothing.

mod hosts;

use super::super::tree::{Node, Raw};
use super::super::{Scenario, ScenarioError, model};
use super::{Choice, DIST, Key, Preset, Table, TableForm, join, key, table, tables};
use hosts::{Hosts, changed, date, forms, is_for_want_of_files, nowhere, place, planted, value};

fn every_key() -> impl Iterator<Item = (&'static Table, &'static Key, String)> {
    tables().flat_map(|table| {
        table.keys.iter().map(move |key| (table, key, join(&place(table), key.name)))
    })
}

fn complains_about_the_date(said: &Result<Scenario, ScenarioError>) -> bool {
    said.as_ref().is_err_and(|error| error.message().contains("found a date or time of day"))
}

#[test]
fn every_key_of_the_schema_is_read() {
    let hosts = Hosts::new();
    for (_, key, path) in every_key() {
        let answers: Vec<_> = hosts
            .around(&path)
            .iter()
            .map(|host| hosts.read(&planted(host, &path, date())))
            .collect();
        let accepted = answers.iter().find(|answer| answer.is_ok());
        assert!(accepted.is_none(), "`{path}` takes a date");
        assert!(
            answers.iter().any(complains_about_the_date),
            "`{path}` ({}) is not read; for example:\n{}",
            key.meaning,
            answers[0].as_ref().unwrap_err()
        );
    }
}

/// What the schema says of kinds: keys have a meaning with those, and with no other.
#[test]
fn keys_belong_to_the_kinds_that_the_schema_names() {
    let hosts = Hosts::new();
    for (table, key, path) in every_key().filter(|(_, key, _)| !key.with.is_empty()) {
        let kind = table.key("kind").expect("a table with kinds");
        for name in kind.choices.iter().filter_map(Choice::name) {
            let with = join(&place(table), "kind");
            let of_kind = |host: &Node| match host.get("task").and_then(|task| task.get("kind")) {
                _ if table.path != "task" => planted(host, &with, value(&format!("{name:?}"))),
                Some(Node { value: Raw::String(own), .. }) if own == name => host.clone(),
                None if name == "synthetic" => host.clone(),
                _ => Node::empty_table(nowhere("")),
            };
            let is_read =
                hosts.trees.iter().map(of_kind).any(|host| {
                    complains_about_the_date(&hosts.read(&planted(&host, &path, date())))
                });
            assert_eq!(is_read, key.with.contains(&name), "`{path}` with kind \"{name}\"");
        }
    }
}

#[test]
fn every_alternative_of_the_schema_is_accepted() {
    let hosts = Hosts::new();
    for (_, key, path) in every_key() {
        // Which models can be computed depends on how the program was built, and data sets may not
        // be at hand.
        let is_known = |error: &ScenarioError| match path.as_str() {
            "task.model" | "task.model.loss" | "task.backend" | "task.augment" => {
                ["libtorch", "does not exist", "the native softmax", "halves images until"]
                    .iter()
                    .any(|reason| error.message().contains(reason))
            }
            "task.dataset" => is_for_want_of_files(error),
            _ => false,
        };
        // One key that takes a DIST stands for all of them.
        for form in forms(key).filter(|_| !key.is_dist || path == "fleet.class.step_time") {
            let mut hosts_of_key = hosts.around(&path).into_iter();
            let accepts = |host| match hosts.read(&planted(&host, &path, value(form))) {
                Ok(_) => true,
                Err(error) => is_known(&error),
            };
            assert!(hosts_of_key.any(accepts), "`{path} = {form}` is not accepted");
        }
    }
}

#[test]
fn every_default_of_the_schema_is_the_readers() {
    let hosts = Hosts::new();
    for (_, key, path) in every_key() {
        let Preset::Toml(default) = key.default else { continue };
        let mut compared = 0;
        for host in hosts.around(&path) {
            let without = hosts.read(&changed(&host, &path, None));
            let with = hosts.read(&planted(&host, &path, value(default)));
            if let (Ok(without), Ok(with)) = (without, with) {
                assert!(without == with, "`{path} = {default}` is not the default");
                compared += 1;
            }
        }
        // Whether such models are accepted depends on how the program was built: see below.
        let is_deep = path.starts_with("task.model.");
        assert!(compared > 0 || is_deep, "`{path} = {default}` was never accepted");
    }
}

#[test]
fn parameters_of_models_default_to_what_the_schema_says() {
    let read = |form: &str| model::read(&value(form)).unwrap_or_else(|error| panic!("{error}"));
    let file = format!("{:?}", concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"));
    let loss = key("task.model.loss").unwrap();
    let of = |name: &str| table(&join("task.model", name)).unwrap().keys.iter();
    let parameters = of("cnn").map(|key| ("cnn", key)).chain(of("vgg11").map(|key| ("vgg11", key)));
    for (name, key) in parameters {
        let Preset::Toml(default) = key.default else { panic!("{} has no default", key.name) };
        let with = read(&format!("{{ {name} = {{ {} = {default} }} }}", key.name));
        assert_eq!(with, read(&format!("{{ {name} = {{}} }}")), "{}", key.name);
    }
    let Preset::Toml(default) = loss.default else { panic!("`loss` has no default") };
    let with = read(&format!("{{ torchscript = {file}, loss = {default} }}"));
    assert_eq!(with, read(&format!("{{ torchscript = {file} }}")));
}

/// Lists have no header of their own that `--set` could go by, and braces belong to a key.
#[test]
fn tables_are_written_as_they_hang_together() {
    for table in tables() {
        let is_nested = key(table.path).is_some();
        assert_eq!(is_nested, !matches!(table.path, "" | DIST), "{}", table.path);
        assert_eq!(table.form == TableForm::File, table.path.is_empty());
    }
}
