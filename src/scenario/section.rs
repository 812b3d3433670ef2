//! A table of the scenario that is being read: it knows its keys and remembers which were read.

use super::error::ScenarioError;
use super::render::short;
use super::schema::{self, DIST, Table, TableForm};
use super::source::Where;
use super::suggest;
use super::tree::{KeyValue, Node, Raw};

/// A table on its way to a validated type.
///
/// Opening it rejects every key the language does not have; finishing it rejects every key that was
/// not read, so that no key is ever ignored.
pub(super) struct Section<'a> {
    table: &'static Table,
    entries: &'a [KeyValue],
    read: Vec<&'static str>,
    /// Where the table begins, for what is missing from it.
    pub at: Where,
}

impl<'a> Section<'a> {
    /// Opens a table that is there.
    pub(super) fn open(table: &'static str, node: &'a Node) -> Result<Self, ScenarioError> {
        let table = schema::table(table).expect("every table that is read stands in the schema");
        let Raw::Table(raw) = &node.value else {
            return Err(node.wrong_type("a table").expected(shape(table)));
        };
        for entry in &raw.entries {
            check(table, entry)?;
        }
        Ok(Section { table, entries: &raw.entries, read: Vec::new(), at: node.at.clone() })
    }

    /// Opens a table that may have been left out; it is then empty.
    pub(super) fn open_in(&mut self, key: &'static str) -> Result<Section<'a>, ScenarioError> {
        let table = schema::child(self.table, key).expect("a key whose value is a table");
        match self.get(key) {
            Some(node) => Section::open(table.path, node),
            None => Ok(Section { table, entries: &[], read: Vec::new(), at: self.at.clone() }),
        }
    }

    /// The value of a key, if it was given.
    pub(super) fn get(&mut self, key: &'static str) -> Option<&'a Node> {
        self.note_read(key);
        self.entries.iter().find(|entry| entry.key == key).map(|entry| &entry.node)
    }

    fn note_read(&mut self, key: &'static str) {
        let path = self.table.path;
        debug_assert!(self.table.key(key).is_some(), "`{key}` of `{path}` is not in the schema");
        self.read.push(key);
    }

    /// The value of a key that must be given.
    pub(super) fn require(
        &mut self,
        key: &'static str,
        what: &str,
    ) -> Result<&'a Node, ScenarioError> {
        let missing = |at: &Where| {
            let title = title(self.table);
            at.error(format!("missing key `{key}` {title}"))
                .expected(format_args!("`{key} = …`: {what}"))
        };
        let at = self.at.clone();
        self.get(key).ok_or_else(|| missing(&at))
    }

    /// The one key given of several that exclude each other.
    pub(super) fn exactly_one(
        &mut self,
        of: &[&'static str],
    ) -> Result<(&'static str, &'a Node), ScenarioError> {
        debug_assert!(
            self.table.exclusive.iter().any(|set| set.iter().map(|group| &group[0]).eq(of)),
            "{of:?} are not what the schema says of `{}`",
            self.table.path
        );
        let mut given = self.entries.iter().filter_map(|entry| {
            let key = of.iter().find(|key| **key == entry.key)?;
            Some((*key, entry))
        });
        let title = title(self.table);
        let list = of.join(", ");
        match (given.next(), given.next()) {
            (Some((key, entry)), None) => {
                self.note_read(key);
                Ok((key, &entry.node))
            }
            (Some((first, _)), Some((second, entry))) => Err(entry
                .key_at
                .error(format!("`{first}` and `{second}` exclude each other {title}"))
                .expected(format_args!("exactly one of: {list}"))),
            (None, _) => Err(self
                .at
                .error(format!("nothing is chosen {title}"))
                .expected(format_args!("exactly one of: {list}"))),
        }
    }

    /// Ends the reading. `why` says why a key that is left over has no meaning.
    pub(super) fn finish(self, why: &str) -> Result<(), ScenarioError> {
        match self.entries.iter().find(|entry| !self.read.contains(&entry.key.as_str())) {
            None => Ok(()),
            Some(entry) => {
                let read: Vec<_> =
                    self.table.names().filter(|name| self.read.contains(name)).collect();
                let message = format!("`{}` has no meaning {why}", short(&entry.key));
                Err(entry.key_at.error(message).expected(format_args!("only: {}", read.join(", "))))
            }
        }
    }
}

fn check(table: &'static Table, entry: &KeyValue) -> Result<(), ScenarioError> {
    let key = entry.key.as_str();
    if table.key(key).is_some() {
        return Ok(());
    }
    let names = table.names().collect::<Vec<_>>().join(", ");
    let message = format!("unknown key `{}` {}", short(key), title(table));
    let error = entry.key_at.error(message).expected(format_args!("one of: {names}"));
    Err(error.meant(suggest::key(table, key)))
}

/// How messages speak of a table.
fn title(table: &Table) -> String {
    match (table.form, table.path) {
        (TableForm::File, _) => "at the top level".into(),
        (TableForm::List, path) => format!("in [[{path}]]"),
        (TableForm::Header, path) => format!("in [{path}]"),
        (TableForm::Braces, DIST) => "in a distribution".into(),
        (TableForm::Braces, path) => format!("in `{}`", path.trim_start_matches("dist.")),
    }
}

/// How a table is written.
fn shape(table: &Table) -> String {
    match table.form {
        TableForm::List => format!("a table that begins with [[{}]]", table.path),
        TableForm::File | TableForm::Header => {
            format!("a table that begins with [{}]", table.path)
        }
        TableForm::Braces => "a table: { … }".into(),
    }
}
