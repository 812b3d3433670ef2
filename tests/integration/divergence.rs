//! A model that blows up stops its variant, with the round and the cause; the others go on.

use crate::support::{Workshop, stdout, summary};

/// A variant with too large a step before one that is well. H = 1, so steps beyond 2 blow up.
fn scenario(lr: f64, stop: &str, more: &str) -> String {
    format!(
        r#"
name = "blows-up"
stop = {{ rounds = 60{stop} }}
task = {{ kind = "quadratic", clients = 3, dim = 2, init = {{ normal = 1.0 }} }}
client.work.steps = 4
server.close = "all"
[[variant]]
name = "wild"
set = {{ client.lr = {lr:e} }}
[[variant]]
name = "tame"
{more}
"#
    )
}

fn run(text: &str, code: i32) -> (serde_json::Value, String) {
    let workshop = Workshop::new(text);
    let output = workshop.call(&["run", "s.toml", "--out", "out"]);
    assert_eq!(output.status.code(), Some(code), "{}", stdout(&output));
    (summary(&workshop.path("out")), stdout(&output))
}

#[test]
fn a_loss_far_above_its_start_ends_the_variant_and_not_the_others() {
    let (summary, shown) = run(&scenario(2.2, "", ""), 1);
    let [wild, tame] = [0, 1].map(|i| &summary["variants"][i]);
    assert_eq!((&wild["status"], &wild["stopped_by"]), (&"diverged".into(), &"diverged".into()));
    let round = wild["diverged"]["round"].as_u64().unwrap();
    assert!(round > 1 && round < 60 && wild["rounds"] == round);
    let cause = wild["diverged"]["cause"].as_str().unwrap();
    assert!(cause.starts_with("train_loss is ") && cause.contains("times its"), "{cause}");
    let loss = wild["metrics"]["train_loss"].as_f64().unwrap();
    assert!(loss > 1e4 * wild["start"]["train_loss"].as_f64().unwrap());
    assert_eq!((&tame["status"], &tame["rounds"]), (&"complete".into(), &60.into()));
    assert!(tame["diverged"].is_null());
    assert!(shown.contains(&format!("wild diverged in round {round} (seed 1)")), "{shown}");
    assert_eq!(summary["status"], "complete", "everything that was asked for is there");
}

/// The multiple can be set, or switched off; infinity always ends a run, at the round in which it
/// appears even if nothing is measured then.
#[test]
fn the_multiple_can_be_set_and_infinity_always_counts() {
    let early = run(&scenario(2.2, ", divergence = 10.0", ""), 1).0;
    let late = run(&scenario(2.2, "", ""), 1).0;
    let round =
        |summary: &serde_json::Value| summary["variants"][0]["diverged"]["round"].as_u64().unwrap();
    assert!(round(&early) < round(&late));
    let off = run(&scenario(2.2, ", divergence = \"off\"", ""), 0).0;
    assert_eq!(off["variants"][0]["rounds"], 60);
    let text = scenario(1e100, ", divergence = \"off\"", "")
        .replace("server.close", "server.evaluate_every = 50\nserver.close");
    let infinite = run(&text, 1).0;
    assert_eq!(infinite["variants"][0]["diverged"]["round"], 1);
    let cause = infinite["variants"][0]["diverged"]["cause"].as_str().unwrap();
    assert_eq!(cause, "the model has parameters that are not finite");
    assert_eq!(infinite["variants"][0]["metrics"]["train_loss"], serde_json::Value::Null);
}

#[test]
fn a_divergence_that_is_expected_is_a_result() {
    let expect = "[[expect]]\nthat = \"diverged\"\nof = \"wild\"\nequals = 1\nwithin = 0";
    let (summary, shown) = run(&scenario(2.2, "", expect), 0);
    assert_eq!(summary["expect"][0]["ok"], true, "{shown}");
    // Expected of one that is well, it is not met.
    let expect = expect.replace("wild", "tame");
    run(&scenario(0.1, "", &expect), 3);
    // And a divergence of somebody else is a failure still.
    run(&scenario(2.2, "", &expect), 1);
}
