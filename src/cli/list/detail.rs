//! `gruppetto list KEY`: all that the schema says of a key or a table.

use super::{ListEntry, Problem, WIDTH, folded, of_choice, of_form, place, table};
use crate::report::TextStyle;
use crate::scenario::schema::{self, Choice, Key, Preset, Table, TableForm};
use std::fmt::Write;

/// What is said of a path such as `server.close`, of a table such as `client`, or of every key of a
/// name, such as `lr`.
pub(super) fn text(wanted: &str, style: TextStyle) -> Result<String, Problem> {
    let path = wanted.trim_matches(['[', ']']);
    let mut out = String::new();
    match (schema::key(path), schema::table(path)) {
        (_, Some(table)) if table.form != TableForm::Braces => of_table(&mut out, style, table),
        (Some(key), _) => of_key(&mut out, style, parent(path), key),
        (None, Some(table)) => of_table(&mut out, style, table),
        (None, None) => {
            for table in schema::tables() {
                if let Some(key) = table.key(path) {
                    if !out.is_empty() {
                        out.push('\n');
                    }
                    of_key(&mut out, style, table, key);
                }
            }
        }
    }
    match out.is_empty() {
        false => Ok(out),
        true => {
            let near = schema::nearest(path);
            let near = near.map(|near| format!("\n  = help: did you mean `{near}`?"));
            Err(Problem::usage(format!(
                "error: scenarios have no key or table `{wanted}`\n  \
                 = expected a path such as server.close or client{}",
                near.unwrap_or("\n  = help: `gruppetto list` shows what there is".into())
            )))
        }
    }
}

fn parent(path: &str) -> &'static Table {
    let above = path.rsplit_once('.').map_or("", |(above, _)| above);
    schema::table(above).expect("a key has a table")
}

fn of_table(out: &mut String, style: TextStyle, section: &'static Table) {
    let _ = writeln!(out, "{}", style.bold(&place(section, "")));
    let mut lines = vec![section.meaning.to_string()];
    lines.extend(schema::key(section.path).and_then(only_with));
    indented(out, &lines);
    choices(out, section.choices.iter().map(of_form).zip(section.choices.iter().copied()));
    out.push('\n');
    let is_braces = section.form == TableForm::Braces;
    let keys = section.keys.iter();
    let rows = keys.flat_map(|key| rows(section, key, "", is_braces)).collect();
    table(out, &merged(rows));
    let has_more = section.keys.iter().any(|key| schema::child(section, key.name).is_some());
    if has_more && !is_braces {
        let _ = writeln!(out, "\ngruppetto list {}.KEY tells all of a key", section.path);
    }
}

fn of_key(out: &mut String, style: TextStyle, parent: &'static Table, key: &'static Key) {
    let _ = writeln!(out, "{}", style.bold(&place(parent, key.name)));
    let mut lines = vec![key.meaning.to_string()];
    if !key.kind.is_empty() {
        lines.push(format!("value: {}", kind(key)));
    }
    lines.extend(default(key));
    lines.extend(only_with(key));
    indented(out, &lines);
    choices(out, key.alternatives().map(|choice| (of_choice(&choice), choice)));
    if key.is_dist {
        out.push_str("\n  gruppetto list dist tells how a DIST is written\n");
    } else if let Some(nested) = schema::child(parent, key.name) {
        out.push('\n');
        let rows = nested.keys.iter().flat_map(|key| rows(nested, key, "", true)).collect();
        table(out, &merged(rows));
    }
}

fn indented(out: &mut String, lines: &[String]) {
    for line in lines.iter().flat_map(|line| folded(line, WIDTH - 2)) {
        let _ = writeln!(out, "  {line}");
    }
}

/// What there is to choose from, each with all that is known of it.
fn choices(out: &mut String, choices: impl Iterator<Item = (ListEntry, Choice)>) {
    let entries: Vec<ListEntry> = choices
        .map(|((name, what), choice)| match choice.detail {
            "" => (name, what),
            detail => (name, format!("{what}\n{detail}")),
        })
        .collect();
    if !entries.is_empty() {
        out.push('\n');
        table(out, &entries);
    }
}

/// A key with meaning, kind and default, and after it, if so wanted, the keys of its table in braces.
fn rows(section: &'static Table, key: &'static Key, prefix: &str, nested: bool) -> Vec<ListEntry> {
    let name = schema::join(prefix, key.name);
    let notes: Vec<String> = std::iter::once(kind(key)).chain(default(key)).collect();
    let mut what = format!("{}\n  {}", key.meaning, notes.join("; "));
    if let Some(only) = only_with(key) {
        let _ = write!(what, "\n  {only}");
    }
    let mut entries = vec![(name.clone(), what)];
    if let Some(inner) = schema::child(section, key.name).filter(|_| nested && !key.is_dist) {
        entries.extend(inner.keys.iter().flat_map(|key| rows(inner, key, &name, true)));
    }
    entries
}

/// Neighbours of which the same is said stand together.
fn merged(rows: Vec<ListEntry>) -> Vec<ListEntry> {
    let mut merged: Vec<ListEntry> = Vec::new();
    for (name, what) in rows {
        match merged.last_mut() {
            Some((names, same)) if *same == what => {
                let _ = write!(names, ", {name}");
            }
            _ => merged.push((name, what)),
        }
    }
    merged
}

fn only_with(key: &Key) -> Option<String> {
    let kinds: Vec<String> = key.with.iter().map(|kind| format!("\"{kind}\"")).collect();
    (!kinds.is_empty()).then(|| format!("only with kind = {}", kinds.join(", ")))
}

/// The kind of value, with what there is to choose from.
fn kind(key: &Key) -> String {
    let forms: Vec<&str> = key.alternatives().map(|choice| choice.form).collect();
    match (key.kind, forms.is_empty()) {
        (kind, true) => kind.into(),
        ("", false) => forms.join(", "),
        (kind, false) => format!("{kind}, or {}", forms.join(", ")),
    }
}

fn default(key: &Key) -> Option<String> {
    match key.default {
        Preset::Required => Some("required".into()),
        Preset::Toml(value) => Some(format!("default: {value}")),
        Preset::Words(words) if words.starts_with("required") => Some(words.into()),
        Preset::Words(words) => Some(format!("default: {words}")),
        Preset::Nothing => None,
    }
}
