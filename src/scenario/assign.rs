//! Changing the tree: assignments from `--set` and from a variant's `set`.

use super::error::ScenarioError;
use super::render::short;
use super::schema::{self, Table};
use super::source::Where;
use super::suggest;
use super::tree::{KeyValue, Node, ParsedTable, Raw, TableSyntax};

/// A value and the path it goes to.
#[derive(Clone, Debug)]
pub(super) struct Assignment {
    pub path: Vec<Segment>,
    pub value: Node,
}

/// One name of a path.
#[derive(Clone, Debug)]
pub(super) struct Segment {
    pub name: String,
    pub at: Where,
}

/// The assignments that a variant's `set` makes: a dotted key descends, anything else (a table in
/// braces too) is assigned as it stands.
pub(super) fn of_set(set: &Node) -> Vec<Assignment> {
    fn walk(table: &ParsedTable, path: &[Segment], out: &mut Vec<Assignment>) {
        for entry in &table.entries {
            let segment = Segment { name: entry.key.clone(), at: entry.key_at.clone() };
            let path = [path, &[segment]].concat();
            match &entry.node.value {
                Raw::Table(inner) if inner.syntax == TableSyntax::Open => walk(inner, &path, out),
                _ => out.push(Assignment { path, value: entry.node.clone() }),
            }
        }
    }
    let mut out = Vec::new();
    if let Raw::Table(table) = &set.value {
        walk(table, &[], &mut out);
    }
    out
}

/// Carries out assignments that belong together, in order.
///
/// `client.work.steps = 5` takes the place of `epochs` in the same table, since the two exclude
/// each other, but not when this very batch assigned `epochs`: that is a contradiction, which
/// the reader of the table reports.
pub(super) fn apply(root: &mut Node, batch: &[Assignment]) -> Result<(), ScenarioError> {
    for (index, assignment) in batch.iter().enumerate() {
        let earlier: Vec<String> = batch[..index].iter().map(|done| spell(&done.path)).collect();
        let spot = locate(root, &assignment.path)?;
        let Raw::Table(table) = &mut spot.node.value else {
            continue;
        };
        let rivals = schema::rivals(spot.table, &spot.key.name);
        let prefix = &assignment.path[..assignment.path.len() - 1];
        table.entries.retain(|entry| {
            let path = schema::join(&spell(prefix), &entry.key);
            !rivals.contains(&entry.key.as_str()) || earlier.contains(&path)
        });
        put(table, spot.key, assignment.value.clone());
    }
    Ok(())
}

/// The table an assignment ends in.
struct Spot<'a> {
    node: &'a mut Node,
    table: &'static Table,
    key: &'a Segment,
}

/// Walks down a path, making the tables that are not there yet.
fn locate<'a>(root: &'a mut Node, path: &'a [Segment]) -> Result<Spot<'a>, ScenarioError> {
    let mut node = root;
    let mut table = schema::table("").expect("the file itself");
    let mut rest = path;
    loop {
        let [key, tail @ ..] = rest else { unreachable!("a path has a last name, handled below") };
        let is_result =
            table.path.is_empty() && matches!(&*key.name, "variant" | "expect" | "sweep");
        if table.key(&key.name).is_none() || is_result {
            return Err(nowhere(path, key));
        }
        if tail.is_empty() {
            become_table(node, &key.at);
            return Ok(Spot { node, table, key });
        }
        if schema::join(table.path, &key.name) == "event" {
            let error = key.at.error("events have no names that a path could go by");
            return Err(error.expected("all of them: event = [{ at = \"10m\", slow = 4.0 }]"));
        }
        let Some(next) = schema::child(table, &key.name) else {
            return Err(nowhere(path, &tail[0]));
        };
        node = step(node, key);
        (table, rest) = (next, tail);
        if table.path == "fleet.class" {
            let [class, tail @ ..] = rest else { unreachable!("the tail is not empty") };
            if tail.is_empty() {
                let error =
                    class.at.error(format!("nothing of class `{}` is named", short(&class.name)));
                return Err(error
                    .expected(format_args!("a key after it: fleet.class.{}.jitter", class.name)));
            }
            node = pick_class(node, class)?;
            rest = tail;
        }
    }
}

/// The value of a key, made an empty table where there is none.
fn step<'a>(node: &'a mut Node, key: &Segment) -> &'a mut Node {
    become_table(node, &key.at);
    let Raw::Table(table) = &mut node.value else { unreachable!("just made a table") };
    let index = match table.entries.iter().position(|entry| entry.key == key.name) {
        Some(index) => index,
        None => put(table, key, Node::empty_table(key.at.clone())),
    };
    &mut table.entries[index].node
}

/// What stood here as a single value (`close = "all"`) gives way to a table.
fn become_table(node: &mut Node, at: &Where) {
    if !matches!(node.value, Raw::Table(_)) {
        *node = Node::empty_table(at.clone());
    }
}

/// Assigns a key and says where it ended up.
fn put(table: &mut ParsedTable, key: &Segment, node: Node) -> usize {
    let entry = KeyValue { key: key.name.clone(), key_at: key.at.clone(), node };
    match table.entries.iter().position(|other| other.key == key.name) {
        Some(index) => {
            table.entries[index] = entry;
            index
        }
        None => {
            table.entries.push(entry);
            table.entries.len() - 1
        }
    }
}

/// A device class by its name, or by its number counted from 0.
fn pick_class<'a>(classes: &'a mut Node, wanted: &Segment) -> Result<&'a mut Node, ScenarioError> {
    let unknown = |names: &[String]| {
        let error = wanted.at.error(format!("there is no device class `{}`", short(&wanted.name)));
        match names {
            [] => error.expected("a [[fleet.class]] of that name in the scenario"),
            _ => error
                .expected(format_args!("one of: {}", names.join(", ")))
                .meant(suggest::nearest(&wanted.name, names.iter().map(String::as_str))),
        }
    };
    let Raw::Array(nodes) = &mut classes.value else {
        return Err(unknown(&[]));
    };
    let name = |node: &Node| node.get("name").and_then(|name| name.text().ok().map(String::from));
    let index = nodes
        .iter()
        .position(|node| name(node).as_deref() == Some(&wanted.name))
        .or_else(|| wanted.name.parse().ok().filter(|index| *index < nodes.len()));
    match index {
        Some(index) => Ok(&mut nodes[index]),
        None => Err(unknown(&nodes.iter().filter_map(name).collect::<Vec<_>>())),
    }
}

fn nowhere(path: &[Segment], wrong: &Segment) -> ScenarioError {
    let spelled = spell(path);
    let class = match path {
        [fleet, _, class, ..] if fleet.name == "fleet" => Some(class.name.as_str()),
        _ => None,
    };
    let error = wrong.at.error(format!("`{}` leads nowhere", short(&spelled)));
    match path {
        [first, ..] if first.name == "sweep" => error
            .expected("a path outside [sweep]")
            .help("--sweep KEY=V1,V2 gives a key its values"),
        [first, ..] if matches!(first.name.as_str(), "variant" | "expect") => {
            error.expected(format_args!("a path outside [[{}]]", first.name))
        }
        _ => error
            .expected("the path of a key, such as client.lr or server.close.deadline")
            .meant(suggest::path(&spelled, class)),
    }
}

pub(super) fn spell(path: &[Segment]) -> String {
    path.iter().map(|segment| segment.name.as_str()).collect::<Vec<_>>().join(".")
}
