//! The examples run, and those that re-create a built-in policy give its results to the bit.

#[path = "../../examples/like_fedbuff.rs"]
mod like_fedbuff;
#[path = "../../examples/like_oort.rs"]
mod like_oort;
#[path = "../../examples/like_round_robin.rs"]
mod like_round_robin;
#[path = "../../examples/own_closing.rs"]
mod own_closing;
#[path = "../../examples/own_observer.rs"]
mod own_observer;
#[path = "../../examples/own_optimizer.rs"]
mod own_optimizer;
#[path = "../../examples/own_selector.rs"]
mod own_selector;
#[path = "../../examples/own_trainer.rs"]
mod own_trainer;
#[path = "../../examples/own_weighting.rs"]
mod own_weighting;
#[path = "../../examples/own_work.rs"]
mod own_work;

use crate::simulated::{Simulated, options};
use gruppetto::Plugins;
use gruppetto::scenario::Scenario;
use std::path::Path;

#[test]
fn every_example_runs_and_holds_what_it_asserts() {
    own_selector::main();
    own_closing::main();
    own_weighting::main();
    own_work::main();
    own_optimizer::main();
    own_trainer::main();
    own_observer::main();
}

#[test]
fn twins_of_built_in_policies_have_their_digests() {
    like_round_robin::main();
    like_fedbuff::main();
    like_oort::main();
}

/// Every example has a test above.
#[test]
fn no_example_is_left_out() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let mut found: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    found.sort();
    let here = include_str!("examples.rs");
    assert!(found.len() >= 10);
    for file in found {
        assert!(here.contains(&format!("../../examples/{file}")), "{file} is not run");
    }
}

/// A twin on other scenarios than its own, on several numbers of threads: rows byte for byte.
fn same_rows(plugins: &Plugins, built_in: &str, own: &str, rest: &str) {
    let rows = |server: &str, threads: usize| {
        let text = format!(
            "name = \"twins\"\nstop.rounds = 25\ntask.clients = 30\n{rest}\n{server}\n\
             [[fleet.class]]\nname = \"phone\"\njitter = 0.3\ndropout = 0.1\n\
             step_time = {{ lognormal = {{ median = \"90ms\", sigma = 0.8 }} }}\n"
        );
        let folder = tempfile::tempdir().unwrap();
        let scenario = Scenario::parse_with("twins.toml", &text, &[], None, plugins);
        let scenario = scenario.unwrap_or_else(|error| panic!("{error}"));
        let summary = gruppetto::run(&scenario, &options(folder.path(), threads), plugins);
        let run = Simulated::new(summary.unwrap_or_else(|error| panic!("{error}")), folder);
        [run.file("rounds.csv"), run.file("clients.csv")]
    };
    let expected = rows(built_in, 1);
    for threads in [1, 2, 7] {
        assert!(rows(own, threads) == expected, "{own} on {threads} threads");
    }
}

#[test]
fn twins_give_the_same_rows_on_any_number_of_threads() {
    same_rows(
        &like_fedbuff::plugins(),
        "server.close = { buffer = 4 }",
        "server.close = { plugin = \"fedbuff\", size = 4 }",
        "client.work = { steps = { uniform = [1, 20] } }\nserver.concurrency = 9",
    );
    same_rows(
        &like_round_robin::plugins(),
        "server.scheme = \"round-robin\"",
        "server.scheme = { plugin = \"in-turn\" }",
        "client.work = { epochs = 1 }\nserver.close = { first = 3, of = 5 }",
    );
    same_rows(
        &like_oort::plugins(),
        "server.scheme = { oort = { round_time = \"2s\" } }",
        "server.scheme = { plugin = \"oort\", round_time = \"2s\" }",
        "client.work = { epochs = 1 }\nserver.close = \"all\"\nserver.sample.clients = 5",
    );
}
