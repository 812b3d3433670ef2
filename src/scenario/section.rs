//! A table of the scenario that is being read: it knows its keys and remembers which were read.

use super::error::ScenarioError;
use super::render::short;
use super::schema::{self, Keys};
use super::source::Where;
use super::suggest;
use super::tree::{Entry, Node, Raw};

/// A table on its way to a validated type.
///
/// Opening it rejects every key the language does not have; finishing it
/// rejects every key that nobody read, so that no key is ever ignored.
pub(super) struct Section<'a> {
    keys: &'static Keys,
    entries: &'a [Entry],
    read: Vec<&'static str>,
    /// Where the table begins, for what is missing from it.
    pub at: Where,
}

impl<'a> Section<'a> {
    /// Opens a table that is there.
    pub fn open(table: &'static str, node: &'a Node) -> Result<Self, ScenarioError> {
        let keys = schema::table(table).expect("every table that is read stands in the schema");
        let Raw::Table(raw) = &node.value else {
            return Err(node.wrong_type("a table").expected(shape(table)));
        };
        for entry in &raw.entries {
            check(keys, entry)?;
        }
        Ok(Section { keys, entries: &raw.entries, read: Vec::new(), at: node.at.clone() })
    }

    /// Opens a table that may have been left out; it is then empty.
    pub fn open_in(&mut self, key: &'static str) -> Result<Section<'a>, ScenarioError> {
        let table = schema::child(self.keys.table, key).expect("a key whose value is a table");
        match self.get(key) {
            Some(node) => Section::open(table, node),
            None => {
                let keys =
                    schema::table(table).expect("every table that is read stands in the schema");
                Ok(Section { keys, entries: &[], read: Vec::new(), at: self.at.clone() })
            }
        }
    }

    /// The value of a key, if it was given.
    pub fn get(&mut self, key: &'static str) -> Option<&'a Node> {
        debug_assert!(self.keys.now.contains(&key), "`{key}` is not in the schema");
        self.read.push(key);
        self.entries.iter().find(|entry| entry.key == key).map(|entry| &entry.node)
    }

    /// The value of a key that must be given.
    pub fn require(&mut self, key: &'static str, what: &str) -> Result<&'a Node, ScenarioError> {
        let missing = |at: &Where| {
            let title = schema::title(self.keys.table);
            at.error(format!("missing key `{key}` {title}"))
                .expected(format_args!("`{key} = …`: {what}"))
        };
        let at = self.at.clone();
        self.get(key).ok_or_else(|| missing(&at))
    }

    /// The one key given of several that exclude each other.
    pub fn exactly_one(
        &mut self,
        of: &[&'static str],
    ) -> Result<(&'static str, &'a Node), ScenarioError> {
        let mut given = self.entries.iter().filter_map(|entry| {
            let key = of.iter().find(|key| **key == entry.key)?;
            Some((*key, entry))
        });
        let title = schema::title(self.keys.table);
        let list = of.join(", ");
        match (given.next(), given.next()) {
            (Some((key, entry)), None) => {
                self.read.push(key);
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
    pub fn finish(self, why: &str) -> Result<(), ScenarioError> {
        match self.entries.iter().find(|entry| !self.read.contains(&entry.key.as_str())) {
            None => Ok(()),
            Some(entry) => {
                let read: Vec<_> =
                    self.keys.now.iter().filter(|key| self.read.contains(key)).copied().collect();
                let message = format!("`{}` has no meaning {why}", short(&entry.key));
                Err(entry.key_at.error(message).expected(format_args!("only: {}", read.join(", "))))
            }
        }
    }
}

fn check(keys: &'static Keys, entry: &Entry) -> Result<(), ScenarioError> {
    let key = entry.key.as_str();
    let title = schema::title(keys.table);
    let now = keys.now.join(", ");
    if keys.now.contains(&key) {
        Ok(())
    } else {
        let message = format!("unknown key `{}` {title}", short(key));
        let error = entry.key_at.error(message).expected(format_args!("one of: {now}"));
        Err(error.meant(suggest::key(keys.table, key)))
    }
}

/// How a table is written.
fn shape(table: &str) -> String {
    match table {
        "variant" | "expect" | "event" | "fleet.class" => {
            format!("a table that begins with [[{table}]]")
        }
        "" | "stop" | "task" | "task.partition" | "client" | "server" | "fleet" | "record" => {
            format!("a table that begins with [{table}]")
        }
        _ => "a table: { … }".into(),
    }
}
