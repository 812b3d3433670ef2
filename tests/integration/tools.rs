//! The small commands around runs: compare, new, list, completions.

use crate::support::{Workshop, stderr, stdout};
use std::fs;

const QUADRATIC: &str = r#"
name = "q"
seed = 1
stop.rounds = 40
task = { kind = "quadratic", clients = 10, dim = 4 }
client = { lr = 0.1, work = { until = "deadline" } }
server = { close = { deadline = "1s" } }

[[fleet.class]]
name = "phone"
step_time = { lognormal = { median = "100ms", sigma = 0.8 } }

[[variant]]
name = "fednova"

[[variant]]
name = "fedavg"
set = { server.weighting = "fedavg" }
"#;

#[test]
fn runs_stand_side_by_side() {
    let workshop = Workshop::new(QUADRATIC);
    workshop.run("short", &[]);
    workshop.run("long", &["--set", "server.close.deadline=4s"]);
    let output = workshop.call(&["compare", "short", "long", "--html", "both.html"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let table = stdout(&output);
    // The same on every machine: results are.
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines.len(), 1 + 4, "{table}");
    assert!(lines.iter().all(|line| line.chars().count() <= 80), "{table}");
    let words = |line: usize| lines[line].split_whitespace().collect::<Vec<_>>();
    assert_eq!(words(0), ["loss", "distance", "time", "χ²", "waste", "never", "heard", "rounds"]);
    assert_eq!(words(1)[..2], ["short", "fednova"]);
    assert_eq!(words(4)[..2], ["long", "fedavg"]);
    assert_eq!(words(1).last(), Some(&"40"));
    let summary = crate::support::summary(&workshop.path("short"));
    let csv = stdout(&workshop.call(&["compare", "short", "long", "--csv", "-"]));
    let (head, first) = (csv.lines().next().unwrap(), csv.lines().nth(1).unwrap());
    let place = head.split(',').position(|name| name == "distance").unwrap();
    let told: f64 = first.split(',').nth(place).unwrap().parse().unwrap();
    assert_eq!(Some(told), summary["variants"][0]["metrics"]["distance"].as_f64());
    assert_eq!(csv.lines().count(), 5);
    assert!(
        fs::read_to_string(workshop.path("both.html")).unwrap().contains("\"folder\":\"long\"")
    );
}

#[test]
fn what_is_not_alike_is_not_compared() {
    let workshop = Workshop::new(QUADRATIC);
    workshop.run("one", &[]);
    workshop.run("other", &["--set", "task.clients=20", "--seed", "5", "--timing-only"]);
    let output = workshop.call(&["compare", "one", "other"]);
    assert_eq!(output.status.code(), Some(2));
    for said in [
        "one and other cannot be compared",
        "task.clients: 10 and 20",
        "seeds: 1 and 5",
        "training: trained and timing only",
        "--anyway",
    ] {
        assert!(stderr(&output).contains(said), "{said}: {}", stderr(&output));
    }
    let output = workshop.call(&["compare", "one", "other", "--anyway"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stdout(&output).contains("–"), "nothing was measured without training");
    let output = workshop.call(&["compare", "one", "nowhere"]);
    assert!(stderr(&output).contains("nowhere: there is no summary.json"), "{}", stderr(&output));
    fs::write(workshop.path("one/summary.json"), "{}").unwrap();
    let output = workshop.call(&["compare", "one"]);
    assert!(
        stderr(&output).contains("it is not the summary of a run: missing field `name`"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn a_new_scenario_runs_and_meets_what_it_expects() {
    let workshop = Workshop::new("");
    let output = workshop.call(&["new", "mine"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = fs::read_to_string(workshop.path("mine.toml")).unwrap();
    assert!(text.contains("name = \"mine\"") && !text.contains("NAME"));
    assert!(text.lines().all(|line| line.chars().count() <= 100));
    let output = workshop.call(&["run", "mine.toml", "--set", "stop.rounds=10"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let output = workshop.call(&["new", "mine"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("mine.toml is there already"), "{}", stderr(&output));
    assert_eq!(fs::read_to_string(workshop.path("mine.toml")).unwrap(), text);
    for name in ["", "../evil", "a b", "x/y"] {
        let output = workshop.call(&["new", name]);
        assert_eq!(output.status.code(), Some(2), "{name}");
        assert!(stderr(&output).contains("letters, digits"), "{}", stderr(&output));
    }
}

#[test]
fn everything_that_is_listed_is_there() {
    let workshop = Workshop::new("");
    let text = stdout(&workshop.call(&["list"]));
    let scenarios = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios");
    for entry in fs::read_dir(scenarios).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            assert!(text.contains(&format!("  {name} ")), "{name} in {text}");
        }
    }
    // Every choice is one that the language has.
    let language = include_str!("../../docs/scenario.md");
    for line in text.lines().skip_while(|line| !line.starts_with("tasks")) {
        let Some(entry) = line.strip_prefix("  ") else { continue };
        let name = entry.split("  ").next().unwrap();
        let word = name.trim_matches(|c: char| !c.is_alphanumeric()).split([' ', ',']).next();
        assert!(language.contains(word.unwrap()), "{name}");
    }
    for shell in ["bash", "zsh", "fish"] {
        assert!(stdout(&workshop.call(&["completions", shell])).contains("gruppetto"));
    }
    let output = workshop.call(&["compar"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("compare"), "a suggestion: {}", stderr(&output));
}
