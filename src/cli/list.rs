//! `gruppetto list`: what there is to choose from, printed from the schema of scenarios.

mod detail;

use super::{Problem, print, style};
use crate::cli::ExitCode;
use crate::report::{TextStyle, wrapped};
use crate::scenario::schema::{self, Choice, Key, Table, TableForm};
use std::fmt::Write;

/// The scenarios in the repository: name and description, put here when the program is built.
const SCENARIOS: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/scenarios.rs"));

/// As wide as terminals are.
const WIDTH: usize = 80;
/// Longer names stand on a line of their own.
const LONGEST_NAME: usize = 29;

/// A line of the list: a name and what it means.
type ListEntry = (String, String);

/// Does what `gruppetto list [KEY]` says.
pub(super) fn list(key: Option<&str>) -> Result<ExitCode, Problem> {
    let text = match key {
        Some(key) => detail::text(key, style())?,
        None => overview(style()),
    };
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// Everything that the schema gives a title, after the scenarios.
fn overview(style: TextStyle) -> String {
    let mut out = String::new();
    let scenarios = SCENARIOS.iter().map(|(name, what)| (name.to_string(), what.to_string()));
    section(&mut out, style, "scenarios (scenarios/NAME.toml)", &scenarios.collect::<Vec<_>>());
    for table in schema::tables() {
        if let Some(title) = table.title {
            let entries = match table.choices {
                [] => keys(table.keys.iter().filter(|key| key.title.is_none())),
                choices => choices.iter().map(of_form).collect(),
            };
            let title = match table.path {
                "dist" => format!("{title} (wherever a value is drawn)"),
                _ => format!("{title} ({})", place(table, "")),
            };
            out.push('\n');
            section(&mut out, style, &title, &entries);
        }
        for key in table.keys {
            let Some(title) = key.title else { continue };
            let entries: Vec<ListEntry> =
                key.alternatives().map(|choice| of_choice(&choice)).collect();
            out.push('\n');
            section(&mut out, style, &format!("{title} ({})", place(table, key.name)), &entries);
        }
    }
    out.push_str(
        "\ngruppetto list KEY tells all of a key or a table: server.close, client …\n\
         docs/scenario.md has every key; gruppetto new NAME writes a first scenario\n",
    );
    out
}

/// Where a key stands in a scenario: `[server] close`.
fn place(table: &Table, key: &str) -> String {
    let mut header = table;
    while let (TableForm::Braces, Some((above, _))) = (header.form, header.path.rsplit_once('.')) {
        header = schema::table(above).unwrap_or(header);
    }
    let below = table.path[header.path.len()..].trim_start_matches('.');
    let rest = schema::join(below, key);
    let rest = rest.trim_end_matches('.');
    match header.form {
        TableForm::List => format!("[[{}]] {rest}", header.path).trim_end().into(),
        TableForm::Header => format!("[{}] {rest}", header.path).trim_end().into(),
        // A DIST has no place of its own.
        TableForm::File | TableForm::Braces => {
            schema::join(table.path, key).trim_end_matches('.').into()
        }
    }
}

/// Keys with what they mean; those that mean the same stand together.
fn keys<'a>(keys: impl Iterator<Item = &'a Key>) -> Vec<ListEntry> {
    let mut entries: Vec<ListEntry> = Vec::new();
    for key in keys {
        match entries.last_mut() {
            Some((names, what)) if *what == key.meaning => {
                let _ = write!(names, ", {}", key.name);
            }
            _ => entries.push((key.name.into(), key.meaning.into())),
        }
    }
    entries
}

/// A choice by its name, or as it is written.
fn of_choice(choice: &Choice) -> ListEntry {
    let (form, what) = of_form(choice);
    (choice.name().map_or(form, String::from), what)
}

fn of_form(choice: &Choice) -> ListEntry {
    let what = choice.meaning;
    let what = choice.or.map_or(what.into(), |form| format!("{what}\nor {form}"));
    (choice.form.into(), what)
}

fn section(out: &mut String, style: TextStyle, title: &str, entries: &[ListEntry]) {
    let _ = writeln!(out, "{}", style.bold(title));
    table(out, entries);
}

/// Names on the left, what they mean on the right.
fn table(out: &mut String, entries: &[ListEntry]) {
    let lengths = entries.iter().map(|(name, _)| name.chars().count());
    let width = lengths.filter(|length| *length <= LONGEST_NAME).max().unwrap_or(LONGEST_NAME);
    for (name, what) in entries {
        // Names that mean the same may be more than a line together.
        let mut names = wrapped(name, WIDTH - 2);
        let name = names.pop().unwrap_or_default();
        names.iter().for_each(|line| {
            let _ = writeln!(out, "  {line}");
        });
        let length = name.chars().count();
        let mut lines = what.lines().flat_map(|line| folded(line, WIDTH - 2 - width - 2));
        let first = match length <= width {
            true => lines.next().unwrap_or_default(),
            false => String::new(),
        };
        let pad = width.saturating_sub(length);
        let _ = writeln!(out, "{}", format!("  {name}{:pad$}  {first}", "").trim_end());
        lines.for_each(|line| {
            let _ = writeln!(out, "  {:width$}  {line}", "");
        });
    }
}

/// A line in lines that are not longer than `width`. They begin where it does, and what stands in
/// braces stays together where it fits into a line.
fn folded(line: &str, width: usize) -> Vec<String> {
    let text = line.trim_start();
    let indent = line.len() - text.len();
    let mut depth = 0;
    let kept: String = text
        .chars()
        .map(|c| {
            match c {
                '{' => depth += 1,
                '}' => depth -= 1,
                _ => {}
            }
            if c == ' ' && depth > 0 { '\u{a0}' } else { c }
        })
        .collect();
    let is_long = |word: &&str| word.chars().count() > width - indent;
    let kept: Vec<String> = kept
        .split(' ')
        .map(|word| if is_long(&word) { word.replace('\u{a0}', " ") } else { word.into() })
        .collect();
    let lines = wrapped(&kept.join(" "), width - indent).into_iter();
    lines.map(|line| format!("{:indent$}{}", "", line.replace('\u{a0}', " "))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fits(text: &str) {
        for line in text.lines() {
            assert!(line.chars().count() <= WIDTH, "{line}");
        }
    }

    #[test]
    fn it_fits_into_eighty_columns_and_knows_the_scenarios() {
        let text = overview(TextStyle::Plain);
        fits(&text);
        assert!(text.contains("  demo "), "{text}");
        assert!(SCENARIOS.iter().all(|(_, what)| !what.is_empty()), "each says what it shows");
    }

    #[test]
    fn it_shows_what_there_is_to_choose_from() {
        let text = overview(TextStyle::Plain);
        for title in [
            "tasks ([task] kind)",
            "when a round closes ([server] close)",
            "server optimisers ([server] optimizer.kind)",
            "events ([[event]])",
        ] {
            assert!(text.contains(&format!("\n{title}\n")), "{title} in\n{text}");
        }
        for key in schema::tables().flat_map(|table| table.keys).filter(|key| key.title.is_some()) {
            for choice in key.choices {
                let name = choice.name().unwrap_or(choice.form);
                assert!(text.contains(&format!("\n  {name}")), "{name}");
            }
        }
    }

    #[test]
    fn every_key_and_table_can_be_asked_for() {
        for table in schema::tables() {
            if !table.path.is_empty() {
                fits(
                    &detail::text(table.path, TextStyle::Plain)
                        .unwrap_or_else(|e| panic!("{}", e.text)),
                );
            }
            for key in table.keys {
                let path = schema::join(table.path, key.name);
                let text =
                    detail::text(&path, TextStyle::Plain).unwrap_or_else(|e| panic!("{}", e.text));
                fits(&text);
                if schema::tables().any(|other| other.path == path) {
                    // A key whose value is a table of its own is shown as that table.
                    continue;
                }
                let first: Vec<&str> = key.meaning.split_whitespace().collect();
                let said: Vec<&str> = text.split_whitespace().collect();
                assert!(said.windows(first.len()).any(|words| words == first), "{path}:\n{text}");
            }
        }
    }
}
