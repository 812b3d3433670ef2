//! What the terminal shows, letter by letter, at eighty columns. `UPDATE_SNAPSHOTS=1 make test` writes the
//! texts in tests/snapshots again; then read what changed before it is committed.

use crate::support::{Workshop, gruppetto, stderr, stdout};
use std::fs;
use std::path::Path;

/// Compares a text with the one that was looked at.
fn looks_as_before(name: &str, text: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots").join(name);
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        fs::write(&file, text).unwrap();
    }
    let before = fs::read_to_string(&file).unwrap_or_default();
    assert!(text == before, "{name} was\n{before}\nand is\n{text}");
    for line in text.lines() {
        assert!(line.chars().count() <= 80, "{name}: {line}");
    }
}

fn scenario(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/browser/scenarios");
    folder.join(name).to_str().unwrap().to_string()
}

#[test]
fn results_look_as_they_did() {
    let workshop = Workshop::new("");
    for name in ["one", "six", "async"] {
        let file = scenario(&format!("{name}.toml"));
        let output = workshop.call(&["run", &file, "--out", name, "--quiet"]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        looks_as_before(&format!("run-{name}.txt"), &stdout(&output));
    }
    let output = workshop.call(&["compare", "one", "six", "--anyway"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    looks_as_before("compare.txt", &stdout(&output));
}

#[test]
fn a_check_and_a_prediction_look_as_they_did() {
    for (command, file) in [("check", "demo"), ("theory", "lower-bound")] {
        let file = format!("scenarios/{file}.toml");
        let output = gruppetto().args([command, &file]).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        // How much memory a run takes depends on the cores of the machine.
        let text = stdout(&output);
        let lines = text.lines().filter(|line| !line.starts_with("  memory "));
        let text: String = lines.map(|line| format!("{line}\n")).collect();
        looks_as_before(&format!("{command}.txt"), &text);
    }
}
