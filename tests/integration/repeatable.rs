//! The same scenario and seed give the same bytes, whoever computes them.

use crate::simulated::Simulated;

const FLEET: &str = r#"
[[fleet.class]]
name = "fast"
share = 0.3
step_time = { lognormal = { median = "20ms", sigma = 0.3 } }
jitter = 0.3
[[fleet.class]]
name = "slow"
share = 0.7
step_time = { lognormal = { median = "150ms", sigma = 0.8 } }
jitter = 0.5
uplink = { lognormal = { median = "1Mbps", sigma = 1.0 } }
downlink = "2Mbps"
latency = "20ms"
[[variant]]
name = "fedavg"
set = { server.weighting = "fedavg" }
[[variant]]
name = "fednova"
"#;

fn scenario(task: &str, work: &str, server: &str) -> String {
    format!(
        "name = \"again\"\nrepeats = 2\nstop.rounds = 12\n[task]\nclients = 13\n{task}\n\
         [client]\n{work}\n[server]\n{server}\n{FLEET}"
    )
}

fn scenarios() -> Vec<String> {
    let synthetic = "features = 9\nclasses = 4\nsize = { uniform = [20, 90] }";
    let quadratic = "kind = \"quadratic\"\ngradient_noise = 0.1\ninit = { normal = 1.0 }";
    vec![
        scenario(synthetic, "", "close = { deadline = \"2s\" }"),
        scenario(synthetic, "work = { epochs = 2 }", "close = { first = 4, of = 7 }"),
        scenario(
            synthetic,
            "work = { epochs = { uniform = [1, 5] } }",
            "close = \"all\"\nsample = { fraction = 0.4 }\nscheme = \"by-size\"\n\
             participation = \"unbiased\"",
        ),
        scenario(
            quadratic,
            "work = { steps = 30 }",
            "close = { deadline = \"2s\" }\npartial = \"discard\"\nsample = { clients = 9 }",
        ),
    ]
}

#[test]
fn one_two_and_seven_threads_give_the_same_bytes() {
    for text in scenarios() {
        let reference = Simulated::run(&text, 1);
        for threads in [1, 2, 7] {
            let run = Simulated::run(&text, threads);
            for file in ["rounds.csv", "clients.csv", "latency.hlog"] {
                assert_eq!(
                    run.file(file),
                    reference.file(file),
                    "{threads} threads, {file}:\n{text}"
                );
            }
            for (run, reference) in run.summary.variants.iter().zip(&reference.summary.variants) {
                assert_eq!(run.digest, reference.digest);
                assert_eq!(run.model_digest, reference.model_digest);
                assert!(!run.model_digest.is_empty());
            }
        }
        let seeds = &reference.summary.variants;
        assert_ne!(seeds[0].digest, seeds[1].digest, "another seed is another run");
    }
}

/// Variants differ only by the thing studied: the same devices, times and selections.
#[test]
fn variants_share_their_schedule() {
    for text in scenarios() {
        let run = Simulated::run(&text, 2);
        let schedule = |variant: &str| {
            let names = ["variant", "seed", "round", "client", "tau", "arrived_ns", "outcome"];
            let rows = run.columns("clients.csv", names);
            rows.into_iter()
                .filter(|row| row[0] == variant)
                .map(|row| row[1..].to_vec())
                .collect::<Vec<_>>()
        };
        assert!(!schedule("fedavg").is_empty());
        assert_eq!(schedule("fedavg"), schedule("fednova"));
    }
}

/// A run without training follows the same schedule as one with.
#[test]
fn timing_only_has_the_same_times() {
    let text = &scenarios()[0];
    let trained = Simulated::run(text, 2);
    let folder = tempfile::tempdir().unwrap();
    let options = gruppetto::run::Options {
        timing_only: true,
        ..crate::simulated::options(folder.path(), 2)
    };
    gruppetto::run::run(&crate::simulated::scenario(text), &options, &mut ()).unwrap();
    let timed = std::fs::read_to_string(folder.path().join("run/clients.csv")).unwrap();
    assert_eq!(timed, trained.file("clients.csv"));
}
