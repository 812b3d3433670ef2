//! The scenario written out again, with `--set` and `--seed` applied: enough to repeat the run.

use super::tree::{Node, ParsedTable, Raw, TableSyntax};
use std::path::{Path, PathBuf};
use toml_edit::{Key, Value};

/// Makes file names absolute, so that the resolved scenario can be loaded from anywhere.
pub(super) fn anchor(node: &mut Node, folder: &Path) {
    each_file(node, "", &mut |path| *path = absolute(folder, path));
}

/// The files and folders that a scenario names, and the scenario with their last names alone: wherever they are, it
/// is the same one.
pub(super) fn inputs(root: &Node, seed: u64) -> (Vec<PathBuf>, String) {
    let (mut root, mut paths) = (root.clone(), Vec::new());
    each_file(&mut root, "", &mut |text| {
        let path = PathBuf::from(&text);
        *text = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        paths.push(path);
    });
    (paths, write(&root, seed))
}

fn each_file(node: &mut Node, parent: &str, visit: &mut dyn FnMut(&mut String)) {
    match &mut node.value {
        Raw::Array(nodes) => nodes.iter_mut().for_each(|node| each_file(node, parent, visit)),
        Raw::Table(table) => {
            for entry in &mut table.entries {
                // In a sweep, a key in quotes may be a path.
                let (before, key) = entry.key.rsplit_once('.').unwrap_or((parent, &entry.key));
                let is_file = names_file(before.rsplit('.').next().unwrap_or(before), key);
                match &mut entry.node.value {
                    Raw::String(path) if is_file => visit(path),
                    // Several of them, in a sweep.
                    Raw::Array(nodes) if is_file => {
                        for node in nodes {
                            match &mut node.value {
                                Raw::String(path) => visit(path),
                                _ => each_file(node, key, visit),
                            }
                        }
                    }
                    _ => each_file(&mut entry.node, key, visit),
                }
            }
        }
        _ => {}
    }
}

/// Whether the value of a key names a file or a folder.
fn names_file(parent: &str, key: &str) -> bool {
    matches!(
        (parent, key),
        (_, "empirical" | "trace")
            | ("init" | "trace" | "task" | "scheme", "file")
            | ("task", "path")
            | ("model", "torchscript")
    )
}

fn absolute(folder: &Path, path: &str) -> String {
    let joined = folder.join(path);
    // Fails only for an empty path or without a current folder: then the name stays as it is.
    std::path::absolute(&joined).unwrap_or(joined).to_string_lossy().into_owned()
}

/// Writes a tree as TOML: single values first, then a table per section. The seed is always there,
/// whether it was written down or not.
pub(super) fn write(root: &Node, seed: u64) -> String {
    let mut out = String::new();
    let Raw::Table(table) = &root.value else {
        return out;
    };
    for entry in &table.entries {
        if !is_section(&entry.node) {
            pair(&mut out, &entry.key, &entry.node);
        }
    }
    if root.get("seed").is_none() {
        out.push_str(&format!("seed = {seed}\n"));
    }
    for entry in &table.entries {
        match &entry.node.value {
            // Its lists are values, also where they are lists of tables.
            Raw::Table(swept) if entry.key == "sweep" => {
                out.push_str("\n[sweep]\n");
                swept.entries.iter().for_each(|own| pair(&mut out, &key(&own.key), &own.node));
            }
            _ => section(&mut out, &key(&entry.key), &entry.node),
        }
    }
    out
}

/// A table, or an array of nothing but tables.
fn is_section(node: &Node) -> bool {
    match &node.value {
        Raw::Table(_) => true,
        Raw::Array(nodes) => {
            !nodes.is_empty() && nodes.iter().all(|node| matches!(node.value, Raw::Table(_)))
        }
        _ => false,
    }
}

fn section(out: &mut String, path: &str, node: &Node) {
    match &node.value {
        Raw::Table(table) => {
            out.push_str(&format!("\n[{path}]\n"));
            // Device classes are the one list of tables inside a section.
            let is_list = |node: &Node| is_section(node) && matches!(node.value, Raw::Array(_));
            for entry in table.entries.iter().filter(|entry| !is_list(&entry.node)) {
                pair(out, &key(&entry.key), &entry.node);
            }
            for entry in table.entries.iter().filter(|entry| is_list(&entry.node)) {
                section(out, &format!("{path}.{}", key(&entry.key)), &entry.node);
            }
        }
        Raw::Array(nodes) if is_section(node) => {
            for node in nodes {
                let Raw::Table(table) = &node.value else {
                    continue;
                };
                out.push_str(&format!("\n[[{path}]]\n"));
                table.entries.iter().for_each(|entry| pair(out, &key(&entry.key), &entry.node));
            }
        }
        _ => {}
    }
}

/// One or more `key = value` lines: an open table becomes dotted keys, because braces mean
/// something else in a variant's `set`.
fn pair(out: &mut String, path: &str, node: &Node) {
    match &node.value {
        Raw::Table(table) if table.syntax == TableSyntax::Open => {
            for entry in &table.entries {
                pair(out, &format!("{path}.{}", key(&entry.key)), &entry.node);
            }
        }
        _ => out.push_str(&format!("{path} = {}\n", inline(node))),
    }
}

pub(super) fn inline(node: &Node) -> String {
    match &node.value {
        Raw::String(text) => Value::from(text.as_str()).to_string(),
        Raw::Integer(number) => number.to_string(),
        Raw::Float(number) => format!("{number:?}"),
        Raw::Bool(truth) => truth.to_string(),
        // No key takes a date: a scenario with one is never written.
        Raw::Date => "\"\"".into(),
        Raw::Array(nodes) => {
            format!("[{}]", nodes.iter().map(inline).collect::<Vec<_>>().join(", "))
        }
        Raw::Table(table) => format!("{{ {} }}", inline_pairs(table, "").join(", ")),
    }
}

fn inline_pairs(table: &ParsedTable, prefix: &str) -> Vec<String> {
    let pairs = table.entries.iter().flat_map(|entry| {
        let path = format!("{prefix}{}", key(&entry.key));
        match &entry.node.value {
            Raw::Table(inner) if inner.syntax == TableSyntax::Open => {
                inline_pairs(inner, &format!("{path}."))
            }
            _ => vec![format!("{path} = {}", inline(&entry.node))],
        }
    });
    pairs.collect()
}

fn key(name: &str) -> String {
    Key::new(name).display_repr().into_owned()
}
