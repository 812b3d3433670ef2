//! The first stage: TOML as a tree in which every key and value knows where it was written.

use super::error::ScenarioError;
use super::render::short;
use super::source::{Origin, Source, Where};
use std::ops::Range;
use std::sync::Arc;
use toml_edit::{Document, InlineTable, Item, Key, Value};

/// A value and its place.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub value: Raw,
    pub at: Where,
}

/// What TOML can say.
#[derive(Clone, Debug)]
pub(super) enum Raw {
    String(String),
    Integer(i64),
    Float(f64),
    Bool(bool),
    Date,
    Array(Vec<Node>),
    Table(ParsedTable),
}

/// A table of the scenario file: keys and values in the order they were written.
#[derive(Clone, Debug, Default)]
pub(super) struct ParsedTable {
    pub entries: Vec<KeyValue>,
    pub syntax: TableSyntax,
}

/// How a table was written. Only a table in braces is meant as a whole: in a variant's `set` it
/// replaces, where a dotted key descends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum TableSyntax {
    /// `{ … }`.
    Braces,
    /// `a.b = …` or `[a]`.
    #[default]
    Open,
}

/// A key with its value.
#[derive(Clone, Debug)]
pub(super) struct KeyValue {
    pub key: String,
    pub key_at: Where,
    pub node: Node,
}

impl Node {
    /// The value of a key, if this is a table that has it.
    pub(super) fn get(&self, key: &str) -> Option<&Node> {
        match &self.value {
            Raw::Table(table) => table.entries.iter().find(|e| e.key == key).map(|e| &e.node),
            _ => None,
        }
    }

    /// The place of the last part of a dotted path that was written down.
    pub(super) fn place(&self, path: &str) -> &Where {
        let mut node = self;
        for key in path.split('.') {
            match node.get(key) {
                Some(child) => node = child,
                None => break,
            }
        }
        &node.at
    }

    /// An empty table at a place.
    pub(super) fn empty_table(at: Where) -> Node {
        Node { value: Raw::Table(ParsedTable::default()), at }
    }
}

/// Parses a whole file.
pub(super) fn parse_file(name: &str, text: &str) -> Result<Node, ScenarioError> {
    let source = Arc::new(Source { origin: Origin::File(name.into()), text: text.into() });
    let all = Where { source, span: 0..0 };
    let document = Document::parse(text).map_err(|error| syntax(&all, &error))?;
    let mut root = from_table(document.as_table(), &all);
    // What is missing from the file as a whole is reported at its first key.
    if let Raw::Table(ParsedTable { entries, .. }) = &root.value
        && let Some(first) = entries.iter().min_by_key(|entry| entry.key_at.span.start)
    {
        root.at = first.key_at.clone();
    }
    Ok(root)
}

/// Parses one value that stands at `range` of `at`'s text.
pub(super) fn parse_value(at: &Where, range: Range<usize>) -> Result<Node, ScenarioError> {
    const PREFIX: &str = "value=";
    let text = format!("{PREFIX}{}", &at.source.text[range.clone()]);
    let shift = |span: Range<usize>| {
        let back = |at: usize| (range.start + at).saturating_sub(PREFIX.len());
        back(span.start)..back(span.end)
    };
    let document = Document::parse(text.as_str()).map_err(|error| {
        let span = shift(error.span().unwrap_or(PREFIX.len()..text.len()));
        invalid(&at.with_span(span), error.message())
    })?;
    match document.iter().collect::<Vec<_>>()[..] {
        [("value", Item::Value(value))] => {
            let mut node = from_value(value, &at.with_span(0..0));
            move_spans(&mut node, &shift);
            Ok(node)
        }
        _ => Err(at.with_span(range).error("expected one value on one line")),
    }
}

fn syntax(all: &Where, error: &toml_edit::TomlError) -> ScenarioError {
    let at = all.with_span(error.span().unwrap_or(0..0));
    match error.message() {
        "duplicate key" => {
            let key = short(&all.source.text[at.span.clone()]);
            at.error(format!("duplicate key `{key}`")).expected("every key at most once")
        }
        message => invalid(&at, message),
    }
}

fn invalid(at: &Where, message: &str) -> ScenarioError {
    match message.split_once(", expected ") {
        Some((what, expected)) => at.error(format!("invalid TOML: {what}")).expected(expected),
        None => at.error(format!("invalid TOML: {message}")),
    }
}

fn from_table(table: &toml_edit::Table, at: &Where) -> Node {
    let entries = table.iter().filter_map(|(name, item)| {
        let (key, _) = table.get_key_value(name)?;
        entry(key, at, |key_at| from_item(item, key_at))
    });
    let place = at.with_span(table.span().unwrap_or(at.span.clone()));
    Node {
        value: Raw::Table(ParsedTable { entries: entries.collect(), syntax: TableSyntax::Open }),
        at: place,
    }
}

fn from_inline(table: &InlineTable, at: &Where) -> Node {
    let entries = table.iter().filter_map(|(name, value)| {
        let (key, _) = table.get_key_value(name)?;
        entry(key, at, |key_at| Some(from_value(value, key_at)))
    });
    let syntax = if table.is_dotted() { TableSyntax::Open } else { TableSyntax::Braces };
    let place = at.with_span(table.span().unwrap_or(at.span.clone()));
    Node { value: Raw::Table(ParsedTable { entries: entries.collect(), syntax }), at: place }
}

fn entry(key: &Key, at: &Where, node: impl FnOnce(&Where) -> Option<Node>) -> Option<KeyValue> {
    let key_at = at.with_span(key.span().unwrap_or(at.span.clone()));
    let node = node(&key_at)?;
    Some(KeyValue { key: key.get().into(), key_at, node })
}

fn from_item(item: &Item, at: &Where) -> Option<Node> {
    match item {
        Item::None => None,
        Item::Value(value) => Some(from_value(value, at)),
        Item::Table(table) => Some(from_table(table, at)),
        Item::ArrayOfTables(tables) => {
            let nodes = tables.iter().map(|table| from_table(table, at)).collect();
            Some(Node { value: Raw::Array(nodes), at: at.clone() })
        }
    }
}

fn from_value(value: &Value, at: &Where) -> Node {
    let place = at.with_span(value.span().unwrap_or(at.span.clone()));
    let value = match value {
        Value::String(text) => Raw::String(text.value().clone()),
        Value::Integer(number) => Raw::Integer(*number.value()),
        Value::Float(number) => Raw::Float(*number.value()),
        Value::Boolean(truth) => Raw::Bool(*truth.value()),
        Value::Datetime(_) => Raw::Date,
        Value::Array(array) => {
            Raw::Array(array.iter().map(|value| from_value(value, &place)).collect())
        }
        Value::InlineTable(table) => return from_inline(table, &place),
    };
    Node { value, at: place }
}

/// Moves every place of a tree, for text that was parsed with something put before it.
fn move_spans(node: &mut Node, shift: &impl Fn(Range<usize>) -> Range<usize>) {
    node.at.span = shift(node.at.span.clone());
    match &mut node.value {
        Raw::Array(nodes) => nodes.iter_mut().for_each(|node| move_spans(node, shift)),
        Raw::Table(table) => table.entries.iter_mut().for_each(|entry| {
            entry.key_at.span = shift(entry.key_at.span.clone());
            move_spans(&mut entry.node, shift);
        }),
        _ => {}
    }
}
