//! What `[[expect]]` may speak of beyond the results: the schedule in the words of the theory, where a
//! quadratic comes to rest, and what goes with what.

use crate::support::{Workshop, stderr, stdout, summary};
use serde_json::Value;

const THREE: &str = r#"
name = "three"
repeats = 6
stop.rounds = 400
task = { kind = "quadratic", clients = 3, dim = 2 }
client = { lr = 0.02, work.steps = { uniform = [1, 60] }, work.redraw = "once" }
server.close = "all"

[[variant]]
name = "fednova"

[[variant]]
name = "fedavg"
set = { server.weighting = "fedavg" }

[[variant]]
name = "fedprox"
set = { server.weighting = "fedavg", client.prox = 10.0 }
"#;

fn with(expects: &str) -> Workshop {
    Workshop::new(&format!("{THREE}\n{expects}"))
}

fn runs<'a>(summary: &'a Value, name: &str) -> Vec<&'a Value> {
    let all = summary["variants"].as_array().unwrap().iter();
    all.filter(|run| run["name"] == name).collect()
}

#[test]
fn a_run_rests_where_the_theory_says_and_the_schedule_is_measured() {
    let workshop = with(
        r#"
[[expect]]
that = "fixed_point_gap"
of = "fedavg"
at_most = 1e-3

[[expect]]
that = "slowdown"
of = "fedprox"
at_least = "fedavg"
times = 1.5

[[expect]]
that = "A"
of = "fedavg"
at_least = 0.9
"#,
    );
    let folder = workshop.run("out", &[]);
    let told = summary(&folder);
    let theory = stdout(&workshop.call(&["theory", "s.toml", "--json"]));
    let theory: Value = serde_json::from_str(&theory).unwrap();
    for predicted in theory["variants"].as_array().unwrap() {
        let name = predicted["variant"].as_str().unwrap();
        let schedule = &runs(&told, name)[0]["schedule"];
        for key in ["tau_eff", "slowdown", "A", "B", "C"] {
            assert_eq!(schedule[key], predicted[key], "{name} {key}");
        }
        let rest = &schedule["fixed_point"];
        assert_eq!(rest["distance"], predicted["fixed_point"]["distance"]);
        let gap = rest["gap"].as_f64().unwrap();
        assert!(gap < 1e-3, "{name}: {gap}");
    }
    // The distance measured is that of the prediction, give or take the gap.
    for run in runs(&told, "fedavg") {
        let rest = &run["schedule"]["fixed_point"];
        let [distance, gap] = ["distance", "gap"].map(|key| rest[key].as_f64().unwrap());
        let measured = run["metrics"]["distance"].as_f64().unwrap();
        assert!((measured - distance).abs() <= gap + 1e-12, "{run}");
    }
    // Nothing is trained without time passing: then there is a schedule and no resting.
    let folder = workshop.run("timing", &["--timing-only"]);
    let told = summary(&folder);
    assert!(runs(&told, "fedavg")[0]["schedule"]["fixed_point"]["gap"].is_null());
    let skipped: Vec<bool> =
        told["expect"].as_array().unwrap().iter().map(|e| e["skipped"] == true).collect();
    assert_eq!(skipped, [true, false, false]);
}

#[test]
fn nothing_is_surveyed_that_nobody_asks_for() {
    let workshop = with("");
    let told = summary(&workshop.run("out", &["--set", "repeats=1"]));
    assert!(told["variants"][0].get("schedule").is_none());
}

#[test]
fn correlations_are_over_the_seeds() {
    let workshop = with(
        r#"
[[expect]]
that = { correlation = ["chi2", "distance"] }
of = "fedavg"
at_least = -1

[[expect]]
that = { correlation = ["rounds", "distance"] }
of = "fedavg"
at_least = -1

[[expect]]
that = { correlation = ["chi2", "distance"] }
at_least = -1
"#,
    );
    let output = workshop.call(&["run", "s.toml", "--out", "out"]);
    // Every run has 400 rounds: nothing can go with that.
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    let told = summary(&workshop.path("out"));
    let value =
        |run: &Value| (run["chi2"].as_f64().unwrap(), run["metrics"]["distance"].as_f64().unwrap());
    let pairs: Vec<(f64, f64)> = runs(&told, "fedavg").into_iter().map(value).collect();
    // By hand: 1 − 6Σd²/(n(n² − 1)) of the ranks, for there are no ties.
    let rank = |of: &dyn Fn(&(f64, f64)) -> f64, one: f64| {
        pairs.iter().filter(|pair| of(pair) < one).count() as f64
    };
    let squares: f64 =
        pairs.iter().map(|(x, y)| (rank(&|p| p.0, *x) - rank(&|p| p.1, *y)).powi(2)).sum();
    let expected = 1.0 - 6.0 * squares / (6.0 * 35.0);
    let [found, none] = [0, 1].map(|i| &told["expect"][i]);
    assert!((found["measured"].as_f64().unwrap() - expected).abs() < 1e-12);
    assert_eq!(found["that"], "correlation of chi2 and distance of fedavg at least -1");
    assert!(none["measured"].is_null() && none["ok"] == false);
    // Over the runs of all variants it is another.
    let all = &told["expect"][2];
    assert_eq!(all["that"], "correlation of chi2 and distance of all runs at least -1");
    assert!(all["ok"] == true && all["measured"] != found["measured"], "{all}");
}
