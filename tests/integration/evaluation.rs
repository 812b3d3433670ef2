//! How often a model is evaluated where the scenario leaves that to the program.

use crate::simulated::Simulated;
use crate::support::{Workshop, stderr, stdout};

fn scenario(rounds: u64, more: &str) -> String {
    format!(
        "name = \"often\"\nstop.rounds = {rounds}\n\
         task = {{ kind = \"synthetic\", clients = 20, size = 100 }}\n\
         client = {{ batch = 10, work.steps = 2 }}\nserver = {{ close = \"all\"{more} }}\n"
    )
}

/// Rounds that were evaluated.
fn evaluated(text: &str) -> Vec<u64> {
    let run = Simulated::run(text, 2);
    let rows = run.columns("rounds.csv", ["round", "train_loss"]);
    let measured = rows.into_iter().filter(|[_, loss]| !loss.is_empty());
    measured.map(|[round, _]| round.parse().unwrap()).collect()
}

/// Twenty clients with two steps of ten samples train on 400 samples a round. An evaluation looks at 2,000,
/// a tenth of them for testing: ten times that is 50 rounds of training.
#[test]
fn evaluations_cost_at_most_a_tenth_of_training() {
    let every = evaluated(&scenario(2000, ""));
    assert_eq!(every[..3], [50, 100, 150]);
    assert_eq!(every.last(), Some(&2000), "the last round always");
    assert_eq!(evaluated(&scenario(2000, ", evaluate_every = \"auto\"")), every);
}

#[test]
fn there_are_twenty_of_them_at_least() {
    let every = evaluated(&scenario(100, ""));
    assert_eq!((every.len(), every[0]), (20, 5));
    assert_eq!(evaluated(&scenario(10, "")).len(), 10);
}

#[test]
fn a_number_a_target_and_tasks_without_samples_keep_what_they_had() {
    assert_eq!(evaluated(&scenario(100, ", evaluate_every = 50")), [50, 100]);
    let aimed = scenario(100, "") + "stop.target = { metric = \"train_loss\", at_most = 1e-9 }\n";
    assert_eq!(evaluated(&aimed).len(), 100);
    let quadratic = scenario(100, "").replace("synthetic", "quadratic").replace(", size = 100", "");
    assert_eq!(evaluated(&quadratic.replace("batch = 10, ", "")).len(), 100);
}

#[test]
fn all_variants_are_evaluated_after_the_same_rounds_and_check_says_which() {
    let text = scenario(2000, "")
        + "[[variant]]\nname = \"two\"\n[[variant]]\nname = \"forty\"\nset = { client.work.steps = 40 }\n";
    let workshop = Workshop::new(&text);
    let output = workshop.call(&["check", "s.toml"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let said = stdout(&output);
    assert_eq!(said.matches("after every 50 rounds").count(), 2, "{said}");
}
