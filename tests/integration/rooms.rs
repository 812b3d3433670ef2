//! The map of CONTRIBUTING.md against the source: which room imports which, and where packages appear.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A row of a table of rooms: what it may import.
type Rooms = BTreeMap<String, BTreeSet<String>>;

/// The tables of rooms, by the folder that their heading names.
fn tables() -> BTreeMap<String, Rooms> {
    let text = fs::read_to_string(root().join("CONTRIBUTING.md")).unwrap();
    let mut tables: BTreeMap<String, Rooms> = BTreeMap::new();
    let mut folder = None;
    for line in text.lines() {
        if let Some(heading) = line.strip_prefix("### ") {
            folder = code(heading).pop();
        }
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let ["", rooms, _, imports, ""] = cells[..] else { continue };
        let Some(folder) = &folder else { continue };
        for room in code(rooms) {
            let table = tables.entry(folder.clone()).or_default();
            assert!(table.insert(room.clone(), code(imports).into_iter().collect()).is_none());
        }
    }
    tables
}

/// What stands between backquotes.
fn code(text: &str) -> Vec<String> {
    text.split('`').skip(1).step_by(2).map(str::to_string).collect()
}

/// Every source file below a folder, without tests.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        if name == "tests" {
            continue;
        }
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found.sort();
}

/// The code of a file, without comments and without its tests.
fn plain(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    let tests = text.match_indices("#[cfg(test)]").find(|(at, found)| {
        let next = text[at + found.len()..].trim_start();
        next.contains("mod ") && next.lines().next().is_some_and(|line| line.ends_with('{'))
    });
    let text = tests.map_or(&text[..], |(at, _)| &text[..at]);
    let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    code.collect::<Vec<_>>().join("\n")
}

/// What follows `crate::` in a text.
fn imported(text: &str) -> impl Iterator<Item = &str> {
    text.split("crate::").skip(1).map(|rest| {
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        &rest[..end.unwrap_or(rest.len())]
    })
}

/// Rooms that a folder imports, by room.
fn imports(folder: &str) -> Rooms {
    let (base, mut files) = (root().join(folder), Vec::new());
    sources(&base, &mut files);
    let room = |path: &Path| {
        let first = path.strip_prefix(&base).unwrap().components().next().unwrap();
        first.as_os_str().to_string_lossy().trim_end_matches(".rs").to_string()
    };
    let mut rooms = Rooms::new();
    for path in files {
        let own = room(&path);
        if own == "lib" || own == "main" {
            continue;
        }
        let text = plain(&path);
        let others = imported(&text).filter(|other| *other != own).map(str::to_string);
        rooms.entry(own.clone()).or_default().extend(others);
    }
    let known: BTreeSet<String> = rooms.keys().cloned().collect();
    rooms.values_mut().for_each(|imports| imports.retain(|import| known.contains(import)));
    rooms
}

#[test]
fn rooms_import_what_the_map_says() {
    let tables = tables();
    assert_eq!(tables.len(), 2, "tables for src and crates/sim/src: {:?}", tables.keys());
    for (folder, table) in &tables {
        let found = imports(folder);
        let [on_map, on_disk] = [table, &found].map(|rooms| rooms.keys().collect::<Vec<_>>());
        assert_eq!(on_map, on_disk, "the rooms of {folder}");
        for (room, imports) in &found {
            let forbidden: Vec<&String> = imports.difference(&table[room]).collect();
            assert!(forbidden.is_empty(), "{folder}/{room} must not know {forbidden:?}");
            let unused: Vec<&String> = table[room].difference(imports).collect();
            assert!(unused.is_empty(), "the map says that {folder}/{room} knows {unused:?}");
        }
    }
}

#[test]
fn there_is_no_cycle_between_rooms() {
    for (folder, table) in tables() {
        let mut left = table;
        while !left.is_empty() {
            let free = left.iter().find(|(_, imports)| imports.is_empty());
            let Some(free) = free.map(|(room, _)| room.clone()) else {
                panic!("rooms of {folder} that know each other: {left:?}");
            };
            left.remove(&free);
            left.values_mut().for_each(|imports| {
                imports.remove(&free);
            });
        }
    }
}

/// Whether a text has a word that begins like this.
fn appears(text: &str, what: &str) -> bool {
    text.match_indices(what).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        !before.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

/// Packages that appear in one place only.
#[test]
fn packages_stay_in_their_rooms() {
    let allowed: [(&str, &[&str]); 8] = [
        ("actix::", &["crates/sim/src/actors"]),
        ("tokio::", &["crates/sim/src/actors", "crates/sim/src/clock", "crates/sim/src/train"]),
        ("tch::", &["crates/torch/src"]),
        ("ratatui::", &["src/watch"]),
        ("clap::", &["src/cli", "src/bench", "src/main.rs"]),
        ("toml_edit::", &["src/scenario", "src/compare", "src/cli"]),
        ("mpi::", &["crates/mpi/src"]),
        ("unsafe ", &["crates/kernels/src", "crates/mpi/src/transport.rs"]),
    ];
    let mut files = Vec::new();
    sources(&root().join("src"), &mut files);
    sources(&root().join("crates"), &mut files);
    for (what, places) in allowed {
        let mut seen = 0;
        for file in &files {
            let place = file.strip_prefix(root()).unwrap().to_string_lossy().into_owned();
            if appears(&plain(file), what) {
                seen += 1;
                let home = places.iter().any(|home| place.starts_with(home));
                assert!(home, "`{what}` appears in {place}, and should in {places:?} only");
            }
        }
        assert!(seen > 0, "`{what}` appears nowhere");
    }
}

/// The name of the type that a line declares, at the top level of its file.
fn declared(line: &str) -> Option<&str> {
    let line = line.strip_prefix("pub").map_or(line, |rest| match rest.strip_prefix('(') {
        Some(rest) => rest.split_once(')').map_or(rest, |(_, rest)| rest),
        None => rest,
    });
    let mut words = line.split_whitespace();
    let is_type =
        words.next().is_some_and(|word| ["struct", "enum", "trait", "type"].contains(&word));
    let name = words.next().filter(|_| is_type)?;
    name.split(|c: char| !c.is_ascii_alphanumeric()).next().filter(|name| !name.is_empty())
}

/// A name stands for one type: who reads it in a message or searches for it finds that one.
#[test]
fn no_two_types_of_a_crate_have_the_same_name() {
    let folders = [
        "src",
        "crates/sim/src",
        "crates/kernels/src",
        "crates/trace/src",
        "crates/torch/src",
        "crates/mpi/src",
    ];
    for folder in folders {
        let mut files = Vec::new();
        sources(&root().join(folder), &mut files);
        let mut types: BTreeMap<String, PathBuf> = BTreeMap::new();
        for file in files {
            let text = plain(&file);
            let declares = text.lines().filter(|line| !line.starts_with(' ')).filter_map(declared);
            // A type that differs from system to system is declared once for each.
            for name in declares.collect::<BTreeSet<_>>() {
                let other = types.insert(name.to_string(), file.clone());
                assert!(other.is_none(), "{name} is declared in {file:?} and in {other:?}");
            }
        }
        assert!(types.len() > 5, "{folder} declares {types:?}");
    }
}
