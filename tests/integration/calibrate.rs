//! `gruppetto calibrate`: what it prints is a class that a scenario takes.

use crate::support::{Workshop, stderr, stdout};
use std::fs;

const SOFTMAX: &str = r#"
name = "mine"
stop.rounds = 2
task = { kind = "synthetic", clients = 3, features = 20, classes = 4 }
client = { batch = 10, work = { steps = 3 } }
server.close = "all"
"#;

/// The value behind `name = `, without its quotes.
fn value<'a>(text: &'a str, name: &str) -> &'a str {
    let line = text.lines().find_map(|line| line.strip_prefix(&format!("{name} = ")));
    line.unwrap_or_else(|| panic!("no {name} in {text}")).trim_matches('"')
}

#[test]
fn this_machine_is_a_class_of_a_scenario() {
    let workshop = Workshop::new(SOFTMAX);
    let output = workshop.call(&["calibrate", "s.toml", "--seconds", "0.1"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let class = stdout(&output);
    let micros: f64 = value(&class, "step_time").strip_suffix("us").unwrap().parse().unwrap();
    // Three passes over ten samples, 20 features and 4 classes are 1600 multiplications and as many
    // additions each: not in a nanosecond, and not in a second.
    assert!(micros > 0.05 && micros < 1e6, "{class}");
    assert!(class.contains("jitter = ") != class.contains("too short to tell"), "{class}");
    assert!(class.starts_with("# softmax, batches of 10, one thread"), "{class}");
    let (_, speed) = class.split_once("speed = \"").unwrap();
    let (speed, _) = speed.split_once('"').unwrap();
    for class in [class.clone(), format!("[[fleet.class]]\nname = \"m\"\nspeed = \"{speed}\"\n")] {
        fs::write(workshop.path("s.toml"), format!("{SOFTMAX}{class}")).unwrap();
        let run = workshop.run("out", &["--force"]);
        let rows = fs::read_to_string(run.join("clients.csv")).unwrap();
        assert_eq!(rows.lines().count(), 1 + 2 * 3);
    }
}

#[test]
fn larger_batches_take_longer_and_are_told_one_by_one() {
    let workshop = Workshop::new(&SOFTMAX.replace("classes = 4", "classes = 4, size = 4000"));
    let output =
        workshop.call(&["calibrate", "s.toml", "--seconds", "0.1", "--batch", "4,4000,100000"]);
    let text = stdout(&output);
    let steps: Vec<f64> = text
        .split("[[fleet.class]]")
        .skip(1)
        .map(|class| value(class, "step_time").strip_suffix("us").unwrap().parse().unwrap())
        .collect();
    assert_eq!(steps.len(), 3, "{text}");
    assert!(steps[1] > 20.0 * steps[0], "a thousand times the samples: {steps:?}");
    // A client has no more than that: nine tenths of 4000 are to learn from.
    assert!(text.contains("batches of 3600"), "{text}");
}

#[test]
fn what_cannot_be_measured_is_refused() {
    let workshop = Workshop::new(SOFTMAX);
    for (arguments, said) in [
        (&["--seconds", "0"][..], "--seconds: expected a number from 0.01 to 3600"),
        (&["--seconds", "NaN"], "--seconds: expected a number"),
        (&["--batch", "0"], "0 is not in 1.."),
        (&["--batch", "8,many"], "invalid digit"),
        (&["--set", "client.batch=-3"], "expected"),
    ] {
        let output = workshop.call(&[&["calibrate", "s.toml"], arguments].concat());
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert_eq!(stdout(&output), "");
        assert!(stderr(&output).contains(said), "{said}: {}", stderr(&output));
    }
}
