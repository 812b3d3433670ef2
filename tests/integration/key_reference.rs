//! The tables of keys in `docs/scenario.md` are made from the schema of the language.
//!
//! A table stands between two comments:
//!
//! ```text
//! <!-- keys of server -->                          every key of a table
//! <!-- keys of task with kind = "quadratic" -->    those that need a kind
//! <!-- keys of event from slow -->                 from one on, or `up to` one
//! <!-- choices of server.close -->                 what a key can be
//! <!-- end -->
//! ```
//!
//! Keys of a table in braces follow their own key, as `target.metric`, unless the page has a table for
//! them; what a key can be stands in its row, unless the page has a table for that.
//!
//! `GRUPPETTO_WRITE_DOCS=1 cargo test --test integration key_reference` writes them anew.

mod tables;

use gruppetto::scenario::schema::{self, Key, Table, TableForm};
use std::collections::BTreeSet;
use std::fs;
use std::sync::OnceLock;
use tables::{Row, choices, default, drawn, inline, kind, merged, slug, title};

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/scenario.md");
const END: &str = "<!-- end -->";

/// What a comment asks for.
#[derive(Clone, PartialEq)]
enum Block {
    Keys { table: String, part: Part },
    Choices { path: String },
}

/// Which keys of a table.
#[derive(Clone, PartialEq)]
enum Part {
    All,
    /// Those that every kind has.
    EveryKind,
    Kind(String),
    From(String),
    UpTo(String),
}

impl Block {
    fn parse(line: &str) -> Option<Block> {
        let text = line.strip_prefix("<!-- ")?.strip_suffix(" -->")?;
        if let Some(path) = text.strip_prefix("choices of ") {
            return Some(Block::Choices { path: path.into() });
        }
        let text = text.strip_prefix("keys of ")?;
        let part = |text: &str, separator: &str| {
            text.split_once(separator).map(|(table, rest)| (table.to_string(), rest.to_string()))
        };
        let (table, part) = if let Some((table, kind)) = part(text, " with kind = ") {
            (table, Part::Kind(kind.trim_matches('"').into()))
        } else if let Some((table, _)) = part(text, " with every kind") {
            (table, Part::EveryKind)
        } else if let Some((table, key)) = part(text, " from ") {
            (table, Part::From(key))
        } else if let Some((table, key)) = part(text, " up to ") {
            (table, Part::UpTo(key))
        } else {
            (text.to_string(), Part::All)
        };
        let table = if table == "the file" { String::new() } else { table };
        Some(Block::Keys { table, part })
    }
}

/// A page: its blocks with the headings they stand under.
struct Page<'a> {
    text: &'a str,
    blocks: Vec<(Block, &'a str)>,
}

impl<'a> Page<'a> {
    fn new(text: &'a str) -> Page<'a> {
        let (mut heading, mut is_code, mut blocks) = ("", false, Vec::new());
        for line in text.lines() {
            is_code ^= line.starts_with("```");
            if line.starts_with('#') && !is_code {
                heading = line.trim_start_matches('#').trim();
            }
            blocks.extend(Block::parse(line).map(|block| (block, heading)));
        }
        Page { text, blocks }
    }

    /// The page with every block made anew.
    fn renewed(&self) -> String {
        let (mut out, mut blocks, mut is_skipping) = (String::new(), self.blocks.iter(), false);
        for line in self.text.lines() {
            if Block::parse(line).is_some() {
                assert!(!is_skipping, "`{line}` before {END}");
                let (block, heading) = blocks.next().expect("the same blocks");
                out += &format!("{line}\n\n{}\n", self.rendered(block, heading));
                is_skipping = true;
            }
            if line == END {
                assert!(is_skipping, "{END} without a beginning");
                is_skipping = false;
            }
            if !is_skipping {
                out += &format!("{line}\n");
            }
        }
        assert!(!is_skipping, "no {END} after the last table");
        out
    }

    /// The heading of the first block of a sort.
    fn heading_of(&self, wanted: impl Fn(&Block) -> bool) -> Option<&'a str> {
        self.blocks.iter().find(|(block, _)| wanted(block)).map(|(_, heading)| *heading)
    }

    fn rendered(&self, block: &Block, heading: &str) -> String {
        match block {
            Block::Choices { path } => choices(path),
            Block::Keys { table: path, part } => {
                let table = schema::table(path).unwrap_or_else(|| panic!("no table `{path}`"));
                let place = |name: &str| {
                    let found = table.keys.iter().position(|key| key.name == name);
                    found.unwrap_or_else(|| panic!("no key `{name}` in `{path}`"))
                };
                let rows = table.keys.iter().enumerate().filter(|(index, key)| match part {
                    Part::All => true,
                    Part::EveryKind => key.with.is_empty(),
                    Part::Kind(kind) => key.with.contains(&kind.as_str()),
                    Part::From(name) => *index >= place(name),
                    Part::UpTo(name) => *index <= place(name),
                });
                let kinds = matches!(part, Part::Kind(_));
                let rows = rows.flat_map(|(_, key)| self.rows(table, key, "", heading, kinds));
                drawn(table, &merged(rows.collect()))
            }
        }
    }

    /// The row of a key, and those of the keys of its table in braces.
    fn rows(
        &self,
        table: &'static Table,
        key: &'static Key,
        prefix: &str,
        heading: &str,
        kind_is_known: bool,
    ) -> Vec<Row> {
        let name = schema::join(prefix, key.name);
        let path = schema::join(table.path, key.name);
        let mut meaning = key.meaning.to_string();
        if !key.with.is_empty() && !kind_is_known {
            let kinds: Vec<String> = key.with.iter().map(|kind| format!("`\"{kind}\"`")).collect();
            meaning = format!("with {}: {meaning}", kinds.join(", "));
        }
        let nested = schema::child(table, key.name).filter(|_| !key.is_dist);
        let at = |wanted: &dyn Fn(&Block) -> bool| self.heading_of(wanted);
        let of_choices = at(&|block| *block == Block::Choices { path: path.clone() });
        let of_keys = nested.and_then(|nested| {
            at(&|block| matches!(block, Block::Keys { table, .. } if table == nested.path))
        });
        if !key.choices.is_empty() && of_choices.is_none() {
            let all: Vec<String> = key.alternatives().map(|choice| inline(&choice)).collect();
            meaning += &format!(". {}", all.join("; "));
        }
        if let Some(other) = of_choices.or(of_keys) {
            meaning += &match other == heading {
                true => "; see below".into(),
                false => format!("; see [{}](#{})", title(other), slug(other)),
            };
        }
        let mut rows = vec![Row { name, kind: kind(key), default: default(key), meaning }];
        if let (Some(nested), None) = (nested, of_keys) {
            assert_eq!(nested.form, TableForm::Braces, "the page has no table of `{path}`");
            let prefix = rows[0].name.clone();
            for key in nested.keys {
                rows.extend(self.rows(nested, key, &prefix, heading, false));
            }
        }
        rows
    }
}

/// The page, written anew first if that is wanted: tests run side by side, and all read the new one.
fn page() -> &'static str {
    static TEXT: OnceLock<String> = OnceLock::new();
    TEXT.get_or_init(|| {
        let text = fs::read_to_string(PAGE).unwrap();
        if std::env::var_os("GRUPPETTO_WRITE_DOCS").is_none() {
            return text;
        }
        let renewed = Page::new(&text).renewed();
        fs::write(PAGE, &renewed).unwrap();
        renewed
    })
}

#[test]
fn the_tables_are_those_of_the_schema() {
    let text = page();
    let renewed = Page::new(text).renewed();
    for (number, (is, should)) in text.lines().zip(renewed.lines()).enumerate() {
        assert_eq!(
            is,
            should,
            "docs/scenario.md, line {}, is not what the schema says; write it anew: \
             GRUPPETTO_WRITE_DOCS=1 cargo test --test integration key_reference",
            number + 1
        );
    }
    assert_eq!(text, renewed);
}

/// Nothing is left undocumented: each key has a row, each alternative is shown.
#[test]
fn every_key_is_documented() {
    let text = page();
    let mut documented = BTreeSet::new();
    let mut table: Option<String> = None;
    for line in text.lines() {
        match Block::parse(line) {
            Some(Block::Keys { table: path, .. }) => table = Some(path),
            Some(Block::Choices { .. }) => table = None,
            None if line == END => table = None,
            None => {}
        }
        let Some(path) = &table else { continue };
        let first = line.split(" | ").next().unwrap_or(line).trim_start_matches("| ");
        let names = first.split(", ").filter_map(|cell| cell.strip_prefix('`')?.strip_suffix('`'));
        documented.extend(names.map(|name| schema::join(path, name)));
    }
    let mut known = BTreeSet::new();
    for table in schema::tables() {
        for key in table.keys {
            let path = schema::join(table.path, key.name);
            assert!(documented.contains(&path), "`{path}` has no row in docs/scenario.md");
            known.insert(path);
            for choice in key.alternatives().chain(table.choices.iter().copied()) {
                let shown = format!("`{}`", choice.form);
                assert!(text.contains(&shown), "{shown} of `{}`", key.name);
            }
        }
    }
    let strange: Vec<&String> = documented.difference(&known).collect();
    assert!(strange.is_empty(), "rows without a key: {strange:?}");
}
