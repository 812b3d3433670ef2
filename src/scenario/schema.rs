//! The scenario language, described once: every table, every key, every alternative.
//!
//! Everything that speaks about the language reads this description:
//!
//! ```text
//!                 ┌──► the reader: unknown keys, names in messages, keys that exclude each other
//!   tables() ─────┼──► `--set` and a variant's `set`: which paths exist
//!                 ├──► `gruppetto list`
//!                 └──► the tables of docs/scenario.md, which a test compares and rewrites
//! ```
//!
//! So a new key is one row in the file of its section, and the code that reads it; policies, optimisers,
//! models and compressions have both in one file (`scenario/close.rs` and others). The tests in
//! `schema/walk.rs` hold the two together: every key must be read, every alternative accepted,
//! and every default must be the one that the reader uses.
//!
//! ```
//! use gruppetto::scenario::schema::{self, Preset};
//!
//! let close = schema::key("server.close").unwrap();
//! assert_eq!(close.default, Preset::Toml("{ deadline = \"30s\" }"));
//! assert!(close.alternatives().any(|choice| choice.name() == Some("each")));
//! ```

mod client;
mod dist;
pub(super) mod entry;
mod event;
mod fleet;
mod outcome;
mod server;
mod task;
mod top;
#[cfg(test)]
mod walk;

use super::suggest;
pub use entry::{Choice, Key, Preset, Table, TableForm};

/// Whether scenarios can name plug-ins. While this is off, `{ plugin = "…" }` is in no list, table
/// or message.
const PLUGINS: bool = true;

/// The table that stands for every DIST.
pub(super) const DIST: &str = "dist";

/// Every table, in the order in which the reference describes them.
pub fn tables() -> impl Iterator<Item = &'static Table> {
    [
        top::TABLES,
        task::TABLES,
        client::TABLES,
        server::TABLES,
        fleet::TABLES,
        event::TABLES,
        outcome::TABLES,
        dist::TABLES,
    ]
    .into_iter()
    .flatten()
}

/// The table at a path such as `server.close`; the empty path is the file itself.
pub fn table(path: &str) -> Option<&'static Table> {
    tables().find(|table| table.path == path)
}

/// The key at a path such as `client.lr`.
pub fn key(path: &str) -> Option<&'static Key> {
    let (parent, name) = path.rsplit_once('.').unwrap_or(("", path));
    table(parent)?.key(name)
}

/// The table that the value of `name` in `parent` is, where it can be one.
pub fn child(parent: &Table, name: &str) -> Option<&'static Table> {
    match parent.key(name)?.is_dist {
        true => table(DIST),
        false => table(&join(parent.path, name)),
    }
}

/// The key or table whose path is most like a wrong one, if one is like it at all.
pub fn nearest(wrong: &str) -> Option<String> {
    suggest::entry(wrong)
}

/// The keys that `key` takes the place of when it is assigned in a table.
pub(super) fn rivals(table: &Table, key: &str) -> Vec<&'static str> {
    let of = |set: &&&[&[&str]]| set.iter().any(|group| group.contains(&key));
    let Some(set) = table.exclusive.iter().find(of) else {
        return Vec::new();
    };
    set.iter().filter(|group| !group.contains(&key)).flat_map(|group| *group).copied().collect()
}

/// A dotted path.
pub fn join(table: &str, key: &str) -> String {
    match table {
        "" => key.into(),
        _ => format!("{table}.{key}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_nested_table_belongs_to_a_key() {
        for nested in tables().filter(|table| table.path.contains('.')) {
            let (parent, key) = nested.path.rsplit_once('.').unwrap();
            let parent = table(parent).unwrap_or_else(|| panic!("{}", nested.path));
            assert!(parent.key(key).is_some_and(|key| !key.is_dist), "{}", nested.path);
        }
    }

    #[test]
    fn no_name_stands_twice() {
        let paths: Vec<&str> = tables().map(|table| table.path).collect();
        for (index, path) in paths.iter().enumerate() {
            assert!(!paths[..index].contains(path), "{path}");
        }
        for table in tables() {
            for (index, key) in table.keys.iter().enumerate() {
                assert!(table.keys[..index].iter().all(|other| other.name != key.name));
                let names: Vec<&str> = key.choices.iter().filter_map(Choice::name).collect();
                let twice = (1..names.len()).find(|&at| names[..at].contains(&names[at]));
                assert_eq!(twice, None, "{} in {}", key.name, table.path);
            }
        }
    }

    #[test]
    fn every_entry_says_what_it_means() {
        for table in tables() {
            assert!(!table.meaning.is_empty(), "{}", table.path);
            for key in table.keys {
                let path = join(table.path, key.name);
                assert!(!key.meaning.is_empty(), "{path}");
                assert!(!key.kind.is_empty() || !key.choices.is_empty(), "{path}: of which kind?");
                assert!(key.choices.iter().all(|choice| !choice.meaning.is_empty()), "{path}");
            }
        }
    }

    #[test]
    fn keys_that_exclude_each_other_are_keys_of_their_table() {
        for table in tables() {
            let names = table.exclusive.iter().copied().flatten().copied().flatten();
            for name in names {
                assert!(table.key(name).is_some(), "{name} in {}", table.path);
            }
        }
    }
}
