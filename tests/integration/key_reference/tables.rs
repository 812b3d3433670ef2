//! Rows of the schema as tables of Markdown.

use gruppetto::scenario::schema::{self, Choice, Key, Preset, Table, TableForm};

/// A row of a table of keys.
pub struct Row {
    pub name: String,
    pub kind: String,
    pub default: String,
    pub meaning: String,
}

/// Neighbours that say the same become one row.
pub fn merged(rows: Vec<Row>) -> Vec<(Vec<String>, Row)> {
    let mut merged: Vec<(Vec<String>, Row)> = Vec::new();
    for row in rows {
        match merged.last_mut() {
            Some((names, last))
                if (&last.kind, &last.default, &last.meaning)
                    == (&row.kind, &row.default, &row.meaning) =>
            {
                names.push(row.name);
            }
            _ => merged.push((vec![row.name.clone()], row)),
        }
    }
    merged
}

pub fn drawn(table: &Table, rows: &[(Vec<String>, Row)]) -> String {
    let head = match (table.form, table.path) {
        (TableForm::File | TableForm::Header, _) => "key".to_string(),
        (TableForm::List, path) => format!("key of `[[{path}]]`"),
        (_, "dist") => "key of a DIST".into(),
        (_, path) => format!("key of `{}`", path.rsplit('.').next().unwrap_or(path)),
    };
    let has_defaults = rows.iter().any(|(_, row)| !row.default.is_empty());
    let line = |cells: [&str; 4]| {
        let cells: Vec<&str> = match has_defaults {
            true => cells.to_vec(),
            false => vec![cells[0], cells[1], cells[3]],
        };
        format!("| {} |\n", cells.join(" | ")).replace("|  |", "| |")
    };
    let rule = if has_defaults { "|---|---|---|---|\n" } else { "|---|---|---|\n" };
    let mut out = line([&head, "type", "default", "meaning"]) + rule;
    for (names, row) in rows {
        let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        out += &line([&names.join(", "), &row.kind, &row.default, &row.meaning]);
    }
    out
}

pub fn choices(path: &str) -> String {
    let (name, choices): (&str, Vec<Choice>) = match (schema::key(path), schema::table(path)) {
        (Some(key), _) => (key.name, key.alternatives().collect()),
        (None, Some(table)) => ("DIST", table.choices.to_vec()),
        (None, None) => panic!("no key `{path}`"),
    };
    let head = if name == "DIST" { name.to_string() } else { format!("`{name}`") };
    let mut out = format!("| {head} | meaning |\n|---|---|\n");
    for choice in choices {
        let forms: Vec<String> =
            std::iter::once(choice.form).chain(choice.or).map(|form| format!("`{form}`")).collect();
        let detail = match choice.detail {
            "" => String::new(),
            detail => format!(". {detail}"),
        };
        out += &format!("| {} | {}{detail} |\n", forms.join(", "), choice.meaning);
    }
    out
}

pub fn inline(choice: &Choice) -> String {
    assert_eq!(choice.detail, "", "`{}` needs a table of choices", choice.form);
    format!("`{}`: {}", choice.form, choice.meaning)
}

pub fn kind(key: &Key) -> String {
    let forms: Vec<String> =
        key.alternatives().map(|choice| format!("`{}`", choice.form)).collect();
    match (key.kind, forms.is_empty()) {
        (kind, true) => kind.into(),
        ("", false) => forms.join(", "),
        (kind, false) => format!("{kind}, or {}", forms.join(", ")),
    }
}

pub fn default(key: &Key) -> String {
    match key.default {
        Preset::Required => "required".into(),
        Preset::Toml(value) if value.parse::<f64>().is_ok() => value.into(),
        Preset::Toml(value) => format!("`{value}`"),
        Preset::Words(words) => words.into(),
        _ => String::new(),
    }
}

/// What a heading is about, without what it says of it.
pub fn title(heading: &str) -> &str {
    heading.split(": ").next().unwrap_or(heading)
}

/// A heading as the end of a link.
pub fn slug(heading: &str) -> String {
    let kept = |c: &char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
    heading.to_lowercase().chars().filter(kept).map(|c| if c == ' ' { '-' } else { c }).collect()
}
