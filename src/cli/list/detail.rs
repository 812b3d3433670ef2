//! `gruppetto list KEY`: all that the schema says of a key or a table.

use super::{Entry, Problem, WIDTH, place, plain, table};
use crate::report::{Style, wrapped};
use crate::scenario::schema::{self, Choice, Key, Preset, Table};
use std::fmt::Write;

/// What is said of a path such as `server.close`, of a table such as `client`, or of every key of a
/// name, such as `lr`.
pub(super) fn text(wanted: &str, style: Style) -> Result<String, Problem> {
    let path = wanted.trim_matches(['[', ']']);
    let mut out = String::new();
    match (schema::key(path), schema::table(path)) {
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
            let near = schema::nearest(path)
                .map_or(String::new(), |near| format!("\n  = help: did you mean `{near}`?"));
            Err(Problem::usage(format!(
                "error: scenarios have no key or table `{wanted}`\n  \
                 = expected a path such as server.close or client; `gruppetto list` shows what \
                 there is{near}"
            )))
        }
    }
}

fn parent(path: &str) -> &'static Table {
    let above = path.rsplit_once('.').map_or("", |(above, _)| above);
    schema::table(above).expect("a key has a table")
}

fn of_table(out: &mut String, style: Style, language: &'static Table) {
    let _ = writeln!(out, "{}: {}", style.bold(&place(language, "")), plain(language.meaning));
    choices(out, language.choices.iter().copied());
    out.push('\n');
    table(out, &rows(language, ""));
}

fn of_key(out: &mut String, style: Style, parent: &'static Table, key: &'static Key) {
    let title = match place(parent, key.name) {
        title if title.starts_with('[') => title,
        _ => schema::join(parent.path, key.name),
    };
    let _ = writeln!(out, "{}", style.bold(&title));
    let mut lines = vec![plain(key.meaning)];
    if !key.kind.is_empty() {
        lines.push(format!("value: {}", kind(key)));
    }
    lines.extend(default(key));
    if !key.with.is_empty() {
        let kinds: Vec<String> = key.with.iter().map(|kind| format!("\"{kind}\"")).collect();
        lines.push(format!("only with kind = {}", kinds.join(", ")));
    }
    for line in lines.iter().flat_map(|line| wrapped(line, WIDTH - 2)) {
        let _ = writeln!(out, "  {line}");
    }
    choices(out, key.alternatives());
    if let Some(nested) = schema::child(parent, key.name) {
        if key.is_dist {
            out.push_str("\n  gruppetto list dist tells how a DIST is written\n");
        } else {
            out.push('\n');
            table(out, &rows(nested, ""));
        }
    }
}

/// What there is to choose from, each with all that is known of it.
fn choices(out: &mut String, choices: impl Iterator<Item = Choice>) {
    let entries: Vec<Entry> = choices
        .map(|choice| {
            let (name, mut what) = super::of_choice(&choice);
            if !choice.detail.is_empty() {
                let _ = write!(what, "\n{}", plain(choice.detail));
            }
            (name, what)
        })
        .collect();
    if !entries.is_empty() {
        out.push('\n');
        table(out, &entries);
    }
}

/// The keys of a table with meaning, kind and default. Keys of tables in braces follow their own.
fn rows(language: &'static Table, prefix: &str) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    for key in language.keys {
        let name = schema::join(prefix, key.name);
        let mut what = plain(key.meaning);
        let notes = [kind(key)].into_iter().chain(default(key)).collect::<Vec<_>>().join("; ");
        let _ = write!(what, "\n  {notes}");
        if !key.with.is_empty() {
            let _ = write!(what, "\n  only with kind = \"{}\"", key.with.join("\", \""));
        }
        match entries.last_mut() {
            Some((names, same)) if *same == what => {
                let _ = write!(names, ", {name}");
            }
            _ => entries.push((name.clone(), what)),
        }
        let nested = schema::child(language, key.name)
            .filter(|nested| nested.form == schema::TableForm::Braces && !key.is_dist);
        entries.extend(nested.into_iter().flat_map(|nested| rows(nested, &name)));
    }
    entries
}

/// The kind of value, with what there is to choose from.
fn kind(key: &Key) -> String {
    let forms: Vec<&str> = key.alternatives().map(|choice| choice.form).collect();
    match (key.kind, forms.is_empty()) {
        (kind, true) => plain(kind),
        ("", false) => forms.join(", "),
        (kind, false) => format!("{}, or {}", plain(kind), forms.join(", ")),
    }
}

fn default(key: &Key) -> Option<String> {
    match key.default {
        Preset::Required => Some("required".into()),
        Preset::Toml(value) => Some(format!("default: {value}")),
        Preset::Words(words) => Some(format!("default: {}", plain(words))),
        Preset::Nothing => None,
    }
}
