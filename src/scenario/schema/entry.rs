//! What a table, a key and an alternative of the language are made of.

use super::PLUGINS;

/// A table of the language.
#[derive(Debug)]
#[non_exhaustive]
pub struct Table {
    /// The dotted path; empty for the file itself.
    pub path: &'static str,
    /// How it is written.
    pub form: TableForm,
    /// What it is about, in one line.
    pub meaning: &'static str,
    /// The title under which `gruppetto list` shows the keys, if it does.
    pub title: Option<&'static str>,
    /// Its keys, in the order in which messages and the reference name them.
    pub keys: &'static [Key],
    /// Ways to write it that no key of another table lists: a DIST has such.
    pub choices: &'static [Choice],
    /// Sets of keys of which exactly one may be given. Keys of one group go together: with `first`
    /// stands `of`. The first of a group chooses it.
    pub(in crate::scenario) exclusive: &'static [&'static [&'static [&'static str]]],
}

/// How a table is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableForm {
    /// The file itself.
    File,
    /// `[server]`.
    Header,
    /// `[[event]]`, as often as needed.
    List,
    /// `{ … }`, as the value of a key.
    Braces,
}

/// A key of a table.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Key {
    /// Its name in the table.
    pub name: &'static str,
    /// The kind of value in words, beside the choices. Empty if there are only choices.
    pub kind: &'static str,
    /// What holds where the key is left out.
    pub default: Preset,
    /// What it means.
    pub meaning: &'static str,
    /// Names and forms to choose from.
    pub choices: &'static [Choice],
    /// The title under which `gruppetto list` shows the choices, if it does.
    pub title: Option<&'static str>,
    /// Names of the table's `kind` with which the key has a meaning; empty: with all.
    pub with: &'static [&'static str],
    /// The trait of a plug-in that can stand here, as `{ plugin = "…" }`.
    pub plugin: Option<&'static str>,
    /// Whether a distribution may stand here.
    pub is_dist: bool,
}

/// What holds where a key is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Preset {
    /// The key must be given.
    Required,
    /// The same as this value, in TOML.
    Toml(&'static str),
    /// In words: it depends on something else, or no value says the same.
    Words(&'static str),
    /// Nothing: the key is one of several that exclude each other.
    Nothing,
}

/// One of the values that a key can have.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Choice {
    /// An example of it in TOML: `"all"`, or `{ first = 10, of = 13 }`.
    pub form: &'static str,
    /// The same with parameters, where `form` is a name.
    pub or: Option<&'static str>,
    /// What it means, in one line.
    pub meaning: &'static str,
    /// Sentences that the reference adds to the meaning.
    pub detail: &'static str,
}

/// A key, as a row of the reference: name, kind of value, default, meaning.
pub(in crate::scenario) const fn key(
    name: &'static str,
    kind: &'static str,
    default: Preset,
    meaning: &'static str,
) -> Key {
    Key {
        name,
        kind,
        default,
        meaning,
        choices: &[],
        title: None,
        with: &[],
        plugin: None,
        is_dist: false,
    }
}

/// A way to write a value, and what it means.
pub(in crate::scenario) const fn choice(form: &'static str, meaning: &'static str) -> Choice {
    Choice { form, or: None, meaning, detail: "" }
}

impl Choice {
    /// The same with parameters.
    pub(in crate::scenario) const fn or(self, form: &'static str) -> Choice {
        Choice { or: Some(form), ..self }
    }

    /// What the reference says beside the meaning.
    pub(in crate::scenario) const fn detail(self, detail: &'static str) -> Choice {
        Choice { detail, ..self }
    }

    /// The name, if it is one: what stands between quotes.
    pub fn name(&self) -> Option<&'static str> {
        self.form.strip_prefix('"')?.strip_suffix('"')
    }

    /// All the ways in which it is written that are tables.
    pub fn tables(&self) -> impl Iterator<Item = &'static str> {
        std::iter::once(self.form).chain(self.or).filter(|form| form.starts_with('{'))
    }
}

impl Key {
    /// Says what there is to choose from.
    pub(in crate::scenario) const fn choices(self, choices: &'static [Choice]) -> Key {
        Key { choices, ..self }
    }

    /// Has `gruppetto list` show the choices under a title.
    pub(in crate::scenario) const fn listed(self, title: &'static str) -> Key {
        Key { title: Some(title), ..self }
    }

    /// Has a meaning with these kinds only.
    pub(in crate::scenario) const fn with(self, kinds: &'static [&'static str]) -> Key {
        Key { with: kinds, ..self }
    }

    /// May be a distribution.
    pub(in crate::scenario) const fn dist(self) -> Key {
        Key { is_dist: true, ..self }
    }

    /// May be a plug-in that implements a trait.
    pub(in crate::scenario) const fn plugin(self, what: &'static str) -> Key {
        Key { plugin: Some(what), ..self }
    }

    /// The choices, and a plug-in where the key can name one.
    pub fn alternatives(&self) -> impl Iterator<Item = Choice> + use<> {
        let own = self.plugin.filter(|_| PLUGINS);
        self.choices.iter().copied().chain(own.map(|_| PLUGIN))
    }
}

const PLUGIN: Choice = choice(
    "{ plugin = \"name\" }",
    "your own, registered under that name; its parameters stand beside it",
);

impl Table {
    const fn new(
        path: &'static str,
        form: TableForm,
        meaning: &'static str,
        keys: &'static [Key],
    ) -> Table {
        Table { path, form, meaning, title: None, keys, choices: &[], exclusive: &[] }
    }

    /// The file itself.
    pub(in crate::scenario) const fn file(meaning: &'static str, keys: &'static [Key]) -> Table {
        Table::new("", TableForm::File, meaning, keys)
    }

    /// `[path]`.
    pub(in crate::scenario) const fn header(
        path: &'static str,
        meaning: &'static str,
        keys: &'static [Key],
    ) -> Table {
        Table::new(path, TableForm::Header, meaning, keys)
    }

    /// `[[path]]`.
    pub(in crate::scenario) const fn list(
        path: &'static str,
        meaning: &'static str,
        keys: &'static [Key],
    ) -> Table {
        Table::new(path, TableForm::List, meaning, keys)
    }

    /// A table in braces.
    pub(in crate::scenario) const fn braces(
        path: &'static str,
        meaning: &'static str,
        keys: &'static [Key],
    ) -> Table {
        Table::new(path, TableForm::Braces, meaning, keys)
    }

    /// Has `gruppetto list` show the keys under a title.
    pub(in crate::scenario) const fn listed(self, title: &'static str) -> Table {
        Table { title: Some(title), ..self }
    }

    /// Ways to write it.
    pub(in crate::scenario) const fn choices(self, choices: &'static [Choice]) -> Table {
        Table { choices, ..self }
    }

    /// Keys that exclude each other.
    pub(in crate::scenario) const fn exactly_one(
        self,
        sets: &'static [&'static [&'static [&'static str]]],
    ) -> Table {
        Table { exclusive: sets, ..self }
    }

    /// A key by its name.
    pub fn key(&self, name: &str) -> Option<&'static Key> {
        self.keys.iter().find(|key| key.name == name)
    }

    /// The names of the keys.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.keys.iter().map(|key| key.name)
    }
}
