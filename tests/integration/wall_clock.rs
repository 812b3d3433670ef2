//! The wall clock: the same actors, really waiting and really taking one step after another.

use crate::support::{Row, Workshop, rows, summary};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Instant;

/// At 20 simulated seconds a second a step takes 50 ms or more, and everybody who is in time is in
/// time by 25 ms: far more than timers are off, even on a busy machine.
const DEADLINE: &str = r#"
name = "wall"
stop.rounds = 3
client.lr = 0.1
server.close = { deadline = "6s" }

# One direction for all, so that even a model that never hears the hopeless gets better for them.
[task]
kind = "quadratic"
clients = 6
dim = 4
centers = { normal = { mean = 1.0, std = 0.1 } }

[fleet]
assign = "in-order"
[[fleet.class]]
name = "fast"
step_time = "1050ms"
latency = "100ms"
[[fleet.class]]
name = "middling"
step_time = "1700ms"
latency = "100ms"
[[fleet.class]]
name = "hopeless"
step_time = "8s"
latency = "100ms"
"#;

fn by_client_and_round(rows: &[Row]) -> BTreeMap<(u64, u64), (u64, &str)> {
    rows.iter()
        .map(|row| {
            let key = (row.int("client"), row.int("round"));
            (key, (row.int("tau"), row.text("outcome")))
        })
        .collect()
}

/// Runs by both clocks, with what is expected of each class.
fn both_clocks_agree(
    workshop: &Workshop,
    foresight: &str,
    by_class: [(u64, &str); 3],
) -> (PathBuf, PathBuf) {
    let set = format!("client.foresight={foresight}");
    let name: String = foresight.chars().filter(char::is_ascii_lowercase).collect();
    let jumping = workshop.run(&format!("virtual-{name}"), &["--set", &set]);
    let began = Instant::now();
    let wall = ["--set", &set, "--clock", "wall", "--speedup", "20"];
    let walking = workshop.run(&format!("wall-{name}"), &wall);
    // The last round closes when 18 simulated seconds have passed.
    let real = began.elapsed().as_secs_f64();
    assert!(real >= 18.0 / 20.0, "time really passed: {real} s");

    let [jumped, walked] = [&jumping, &walking].map(|folder| rows(&folder.join("clients.csv")));
    let jumped = by_client_and_round(&jumped);
    let walked = by_client_and_round(&walked);
    assert_eq!(jumped.len(), 18, "six clients, three rounds");
    assert_eq!(jumped.keys().collect::<Vec<_>>(), walked.keys().collect::<Vec<_>>());
    for ((client, round), (tau, outcome)) in &jumped {
        let expected = by_class[*client as usize / 2];
        assert_eq!((*tau, *outcome), expected, "client {client}, round {round}");
        let (tau_walked, outcome_walked) = walked[&(*client, *round)];
        assert!(
            tau.abs_diff(tau_walked) <= 1,
            "client {client}, round {round}: {tau} and {tau_walked}"
        );
        assert_eq!(*outcome, outcome_walked, "client {client}, round {round}");
    }
    (jumping, walking)
}

/// Whatever clients know: 5.8 s between download and upload, or until a margin of 1.5 s before the deadline.
#[test]
fn both_clocks_agree_on_steps_and_outcomes() {
    let workshop = Workshop::new(DEADLINE);
    let by_class = [(5, "used"), (3, "used"), (0, "no_step")];
    let (jumping, walking) = both_clocks_agree(&workshop, "exact", by_class);
    for (foresight, by_class) in [
        ("expected", by_class),
        ("{ margin = \"1500ms\" }", [(4, "used"), (2, "used"), (0, "no_step")]),
    ] {
        both_clocks_agree(&workshop, foresight, by_class);
    }

    let [jumped, walked] = [summary(&jumping), summary(&walking)];
    assert_eq!(walked["variants"][0]["stopped_by"], "rounds");
    let seconds = walked["variants"][0]["virtual_seconds"].as_f64().unwrap();
    assert!((18.0..36.0).contains(&seconds), "real delays are part of the time: {seconds}");

    // What a model that never moved would lose, as a run that learns next to nothing tells.
    let still = workshop.run("still", &["--set", "client.lr=1e-12"]);
    let loss = |summary: &serde_json::Value| {
        let loss = &summary["variants"][0]["metrics"]["train_loss"];
        loss.as_f64().expect("finite")
    };
    let (start, walked, jumped) = (loss(&summary(&still)), loss(&walked), loss(&jumped));
    assert!(walked < start && jumped < start, "{walked}, {jumped}, {start}");
    // The model moves by tau_eff·lr towards its goal: a step more or less changes it a little.
    assert!((walked - jumped).abs() < 0.5 * (start - jumped));
}

#[test]
fn wall_time_needs_no_training_to_pass() {
    let workshop = Workshop::new(DEADLINE);
    let arguments = ["--timing-only", "--clock=wall", "--speedup=100", "--set=stop.rounds=1"];
    let folder = workshop.run("wall", &arguments);
    let summary = summary(&folder);
    assert!(summary["variants"][0]["metrics"]["train_loss"].is_null());
    assert_eq!(summary["variants"][0]["outcomes"]["no_step"], 2);
}
