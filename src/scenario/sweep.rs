//! `[sweep]`: keys with several values, of which every combination is run.
//!
//! The table has the paths that `--set` takes, each with a list of values. A combination is an assignment of one value
//! to every key, made after those of a variant. A key that both would set is an error: one of them would have no effect.

use super::assign::{self, Assignment, Segment};
use super::error::ScenarioError;
use super::overrides::KeyValues;
use super::render::short;
use super::resolved::inline;
use super::schema;
use super::source::Where;
use super::tree::{KeyValue, Node, ParsedTable, Raw, TableSyntax};
use crate::sweep::{Swept, SweptKey, short_names, shown};
use serde_json::Value;

/// Combinations of one variant that there may be.
const MOST: usize = 10_000;

/// `[sweep]`, read.
#[derive(Default)]
pub(super) struct Sweep(Vec<SweepKey>);

/// A key with its values.
struct SweepKey {
    path: Vec<Segment>,
    values: Vec<(Node, Value)>,
}

/// One value for every key.
pub(super) struct Combination {
    pub assignments: Vec<Assignment>,
    pub swept: Swept,
}

impl SweepKey {
    fn spelled(&self) -> String {
        assign::spell(&self.path)
    }

    fn at(&self) -> &Where {
        &self.path[self.path.len() - 1].at
    }
}

impl Sweep {
    /// Reads the table of a scenario, which need not have one.
    pub(super) fn read(tree: &Node) -> Result<Sweep, ScenarioError> {
        let Some(node) = tree.get("sweep") else { return Ok(Sweep::default()) };
        let Raw::Table(table) = &node.value else {
            let error = node.wrong_type("a table");
            return Err(error.expected("keys with lists of values: client.lr = [0.01, 0.02]"));
        };
        let mut keys = Vec::new();
        read_table(table, &[], &mut keys)?;
        for (index, key) in keys.iter().enumerate() {
            may_be_swept(key)?;
            if let Some(other) = keys[..index].iter().find(|other| clash(&other.path, &key.path)) {
                let [own, other] = [key, other].map(SweepKey::spelled);
                let what = match own == other {
                    true => format!("`{own}` is swept twice"),
                    false => format!("`{own}` and `{other}` set the same thing"),
                };
                return Err(key.at().error(what).expected("every key once"));
            }
        }
        let count = keys.iter().try_fold(1usize, |all, key| all.checked_mul(key.values.len()));
        if count.is_none_or(|count| count > MOST) {
            let lists: Vec<String> = keys.iter().map(|key| key.values.len().to_string()).collect();
            let error = node.at.error(format!("{} combinations are too many", lists.join(" × ")));
            return Err(error.expected(format_args!("at most {MOST}")));
        }
        Ok(Sweep(keys))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether the sweep decides a key, or something in it.
    pub(super) fn decides(&self, path: &str) -> bool {
        self.0.iter().any(|key| is_within(path, &key.spelled()) || is_within(&key.spelled(), path))
    }

    /// What is swept, for people and files.
    pub(super) fn keys(&self) -> Vec<SweptKey> {
        let keys: Vec<String> = self.0.iter().map(SweepKey::spelled).collect();
        let labels = short_names(&keys.iter().map(String::as_str).collect::<Vec<_>>())
            .into_iter()
            .map(String::from)
            .collect::<Vec<_>>();
        let values = |key: &SweepKey| key.values.iter().map(|(_, value)| value.clone()).collect();
        let all = keys.into_iter().zip(labels).zip(&self.0);
        all.map(|((key, label), swept)| SweptKey { key, label, values: values(swept) }).collect()
    }

    /// A variant, or `--set`, must leave alone what the sweep sets.
    pub(super) fn leaves_alone(
        &self,
        assignments: &[Assignment],
        who: &str,
    ) -> Result<(), ScenarioError> {
        for assignment in assignments {
            let Some(key) = self.0.iter().find(|key| clash(&key.path, &assignment.path)) else {
                continue;
            };
            let (own, swept) = (assign::spell(&assignment.path), key.spelled());
            let what = match own == swept {
                true => format!("`{own}` is set by {who} and by the sweep"),
                false => format!("`{own}` is set by {who}, and `{swept}` by the sweep"),
            };
            let at = &assignment.path[assignment.path.len() - 1].at;
            let error = at.error(what).expected("one of the two");
            return Err(match who {
                "--set" => error.help(format_args!("--sweep {swept}=… gives it other values")),
                _ => error,
            });
        }
        Ok(())
    }

    /// Every combination, the first key changing most slowly.
    pub(super) fn combinations(&self) -> Vec<Combination> {
        let count: usize = self.0.iter().map(|key| key.values.len()).product();
        let combination = |number: usize| {
            let mut rest = number;
            let mut chosen: Vec<(&SweepKey, usize)> = Vec::new();
            for key in self.0.iter().rev() {
                chosen.push((key, rest % key.values.len()));
                rest /= key.values.len();
            }
            chosen.reverse();
            let assign = |(key, at): &(&SweepKey, usize)| Assignment {
                path: key.path.clone(),
                value: key.values[*at].0.clone(),
            };
            let swept = |(key, at): &(&SweepKey, usize)| (key.spelled(), key.values[*at].1.clone());
            Combination {
                assignments: chosen.iter().map(assign).collect(),
                swept: Swept::new(chosen.iter().map(swept).collect()),
            }
        };
        (0..count).map(combination).collect()
    }
}

fn read_table(
    table: &ParsedTable,
    parents: &[Segment],
    keys: &mut Vec<SweepKey>,
) -> Result<(), ScenarioError> {
    for entry in &table.entries {
        // A key in quotes may have dots in it.
        let own = entry
            .key
            .split('.')
            .map(|name| Segment { name: name.trim().into(), at: entry.key_at.clone() });
        let path: Vec<Segment> = parents.iter().cloned().chain(own).collect();
        match &entry.node.value {
            Raw::Table(inner) if inner.syntax == TableSyntax::Open => {
                read_table(inner, &path, keys)?;
            }
            Raw::Array(nodes) => keys.push(read_values(path, nodes, &entry.node)?),
            _ => {
                let spelled = assign::spell(&path);
                let error = entry.node.wrong_type("a list of values");
                return Err(error.expected(format_args!("{spelled} = [first, second, …]")));
            }
        }
    }
    Ok(())
}

fn read_values(path: Vec<Segment>, nodes: &[Node], list: &Node) -> Result<SweepKey, ScenarioError> {
    let spelled = assign::spell(&path);
    if nodes.is_empty() {
        let error = list.at.error(format!("`{}` has no values", short(&spelled)));
        return Err(error.expected(format_args!("{spelled} = [first, second, …]")));
    }
    let mut values: Vec<(Node, Value)> = Vec::new();
    for node in nodes {
        let (node, value) = (whole(node), value_of(node));
        let text = shown(&value);
        if values.iter().any(|(_, other)| shown(other) == text) {
            let error = node.at.error(format!("`{}` is there twice", short(&text)));
            return Err(error.expected("every value once"));
        }
        values.push((node, value));
    }
    Ok(SweepKey { path, values })
}

/// A value that is a table is meant as a whole, however it was written.
fn whole(node: &Node) -> Node {
    let mut node = node.clone();
    if let Raw::Table(table) = &mut node.value {
        table.syntax = TableSyntax::Braces;
    }
    node
}

/// Tables and lists as they are written.
fn value_of(node: &Node) -> Value {
    match &node.value {
        Raw::String(text) => text.as_str().into(),
        Raw::Integer(number) => (*number).into(),
        Raw::Float(number) if number.is_finite() => (*number).into(),
        Raw::Bool(truth) => (*truth).into(),
        _ => inline(node).into(),
    }
}

/// All cells are compared in one run, on the same seeds, and written to the same files.
fn may_be_swept(key: &SweepKey) -> Result<(), ScenarioError> {
    let first = &key.path[0];
    match first.name.as_str() {
        name @ ("name" | "description" | "seed" | "repeats" | "record" | "expect" | "variant"
        | "sweep") => {
            let error = first.at.error(format!("`{name}` cannot be swept"));
            let error = error.expected("keys of: stop, task, client, server, fleet; or `event`");
            Err(match name {
                "seed" => error.help("`repeats = N`, or --repeats N, runs N seeds"),
                _ => error,
            })
        }
        _ => Ok(()),
    }
}

/// Whether both set the same key, one sets a part of the other, or they take each other's place.
fn clash(one: &[Segment], other: &[Segment]) -> bool {
    let (a, b) = (assign::spell(one), assign::spell(other));
    if is_within(&a, &b) || is_within(&b, &a) {
        return true;
    }
    let parent =
        |path: &str| path.rsplit_once('.').map_or(String::new(), |(parent, _)| parent.into());
    let (own, last) = (&one[one.len() - 1].name, &other[other.len() - 1].name);
    parent(&a) == parent(&b)
        && schema::table(&parent(&a))
            .is_some_and(|table| schema::rivals(table, own).contains(&last.as_str()))
}

/// Whether the first path is the second, or leads into it.
fn is_within(path: &str, of: &str) -> bool {
    path == of || path.strip_prefix(of).is_some_and(|rest| rest.starts_with('.'))
}

/// `--sweep KEY=V1,V2`: the values take the place of those that the file has for the key.
pub(super) fn add(root: &mut Node, given: &KeyValues) {
    let at = given.at.clone();
    let values = Node { value: Raw::Array(given.values.clone()), at: at.clone() };
    let Raw::Table(table) = &mut root.value else { return };
    let index = match table.entries.iter().position(|entry| entry.key == "sweep") {
        Some(index) => index,
        None => {
            let node = Node::empty_table(at.clone());
            table.entries.push(KeyValue { key: "sweep".into(), key_at: at, node });
            table.entries.len() - 1
        }
    };
    remove(&mut table.entries[index].node, &assign::spell(&given.path));
    put(&mut table.entries[index].node, &given.path, values);
}

/// Removes a key, however its path is written.
fn remove(node: &mut Node, path: &str) {
    let Raw::Table(table) = &mut node.value else { return };
    table.entries.retain_mut(|entry| {
        if entry.key == path {
            return false;
        }
        if let Some(rest) = path.strip_prefix(&entry.key).and_then(|rest| rest.strip_prefix('.')) {
            remove(&mut entry.node, rest);
        }
        true
    });
}

fn put(node: &mut Node, path: &[Segment], values: Node) {
    let [key, rest @ ..] = path else { return };
    let Raw::Table(table) = &mut node.value else { return };
    let index = table.entries.iter().position(|entry| entry.key == key.name);
    let index = index.unwrap_or_else(|| {
        let node = Node::empty_table(key.at.clone());
        table.entries.push(KeyValue { key: key.name.clone(), key_at: key.at.clone(), node });
        table.entries.len() - 1
    });
    match rest {
        [] => table.entries[index].node = values,
        _ => put(&mut table.entries[index].node, rest, values),
    }
}
