//! The same scenario and seed give the same bytes, whoever computes them.

use crate::simulated::Simulated;

const FLEET: &str = r#"
[[fleet.class]]
name = "fast"
share = 0.3
step_time = { lognormal = { median = "20ms", sigma = 0.3 } }
jitter = 0.3
lr = 0.05
[[fleet.class]]
name = "slow"
share = 0.7
step_time = { lognormal = { median = "150ms", sigma = 0.8 } }
jitter = 0.5
dropout = 0.1
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

const SYNTHETIC: &str = "features = 9\nclasses = 4\nsize = { uniform = [20, 90] }";
const QUADRATIC: &str = "kind = \"quadratic\"\ngradient_noise = 0.1\ninit = { normal = 1.0 }";

/// Every way to close a round, to draw work and to choose clients.
fn policies() -> Vec<String> {
    let (synthetic, quadratic) = (SYNTHETIC, QUADRATIC);
    vec![
        scenario(synthetic, "", "close = { deadline = \"2s\" }"),
        scenario(
            synthetic,
            "foresight = \"expected\"",
            "close = { deadline = \"2s\" }\nlate = \"stale\"\nsample = { clients = 9 }",
        ),
        scenario(synthetic, "foresight = { margin = \"500ms\" }", "close = { deadline = \"2s\" }"),
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
        scenario(
            synthetic,
            "work = { steps = { uniform = [1, 20] } }",
            "close = { buffer = 3 }\nconcurrency = 6\nstaleness = { polynomial = 0.5 }\n\
             participation = \"inverse-probability\"",
        ),
        scenario(
            quadratic,
            "work = { steps = 10 }\nvariance_reduction = \"fednova\"",
            "close = \"each\"\nconcurrency = 5\nstaleness = { hinge = { a = 1, b = 2 } }\n\
             max_staleness = 6\nscheme = \"by-size\"",
        ),
        scenario(synthetic, "work = { steps = 9 }", "close = { window = \"700ms\" }"),
        scenario(
            synthetic,
            "work = { steps = 30 }",
            "close = { deadline = { percentile = 60, of = 3 } }\npartial = \"discard\"\n\
             late = \"stale\"\nstaleness = { polynomial = 1.0 }",
        ),
        scenario(
            synthetic,
            "work = { steps = 5 }",
            "close = \"all\"\nscheme = \"round-robin\"\nsample = { clients = 4 }",
        ),
        scenario(
            synthetic,
            "work = { epochs = { uniform = [1, 5] } }",
            "close = \"all\"\nsample = { clients = 3 }\nscheme = { tiers = { count = 4 } }",
        ),
        scenario(
            quadratic,
            "work = { steps = 30 }",
            "close = { first = 4, of = 7 }\nlate = \"next\"\nmax_staleness = 3",
        ),
    ]
}

/// Every local solver, variance reduction, server optimiser and weighting.
fn algorithms() -> Vec<String> {
    let mix = "momentum = 0.9\nprox = 0.1\nlr_decay = 0.99\nweight_decay = 1e-3\n\
               lr_schedule = [{ after = \"50%\", times = 0.5 }]";
    let reduced = |method| format!("variance_reduction = \"{method}\"");
    let laws = [
        "momentum = 0.5".to_string(),
        "prox = 1.0".into(),
        "lr_decay = 0.9".into(),
        "weight_decay = 0.1".into(),
        mix.into(),
        format!("{mix}\n{}", reduced("fednova")),
        format!("{mix}\n{}", reduced("fednova-as-printed")),
        reduced("scaffold"),
        reduced("vrlsgd"),
    ];
    let servers = [
        "optimizer = { kind = \"sgd\", lr = 0.5 }",
        "optimizer = { kind = \"momentum\" }",
        "optimizer = { kind = \"adam\" }\nweighting = \"uniform\"",
        "optimizer = { kind = \"yogi\" }\nparticipation = \"inverse-probability\"",
        "optimizer = { kind = \"adagrad\" }\nparticipation = \"unbiased\"",
    ];
    let mut texts = Vec::new();
    for (i, law) in laws.iter().enumerate() {
        let task = if i % 2 == 0 { SYNTHETIC } else { QUADRATIC };
        let server = servers[i % servers.len()];
        texts.push(scenario(
            task,
            law,
            &format!("close = {{ deadline = \"2s\" }}\nsample = {{ clients = 8 }}\n{server}"),
        ));
    }
    texts
}

/// Every compression, with and without error feedback, where clients come late, vanish and are sent
/// off one by one.
fn compressions() -> Vec<String> {
    let squeezed = |work: &str, how: &str| format!("{work}\ncompression = {how}");
    vec![
        scenario(SYNTHETIC, &squeezed("", "\"fp16\""), "close = { deadline = \"2s\" }"),
        scenario(
            QUADRATIC,
            &squeezed("work = { steps = 30 }", "{ top_k = 0.3, error_feedback = true }"),
            "close = { first = 4, of = 7 }",
        ),
        scenario(
            SYNTHETIC,
            &squeezed("work = { steps = 30 }", "{ top_k = 0.1, error_feedback = true }"),
            "close = { deadline = \"2s\" }\npartial = \"discard\"\nsample = { clients = 9 }",
        ),
        scenario(
            QUADRATIC,
            "variance_reduction = \"scaffold\"\ncompression = { quantize = 4 }",
            "close = { deadline = \"2s\" }",
        ),
        scenario(
            SYNTHETIC,
            &squeezed("work = { steps = 9 }", "{ quantize = 2, error_feedback = true }"),
            "close = { buffer = 3 }\nconcurrency = 6\nmax_staleness = 1",
        ),
        scenario(
            QUADRATIC,
            &squeezed("work = { steps = 9 }", "{ fp16 = true, error_feedback = true }"),
            "close = { window = \"700ms\" }",
        ),
    ]
}

/// Every policy on devices that change, come and go, share the server's links and have things
/// happen to them.
fn lively() -> Vec<String> {
    const LIVELY: &str = r#"
[fleet]
server_uplink = "3Mbps"
server_downlink = "2Mbps"
[[fleet.class]]
name = "recorded"
share = 0.3
trace = { file = "traces/six-phones.csv", repeat = true, shift = "random", assign = "random" }
[[fleet.class]]
name = "visitor"
share = 0.4
step_time = { lognormal = { median = "90ms", sigma = 0.5 } }
jitter = 0.3
uplink = { lognormal = { median = "1Mbps", sigma = 1.0 } }
latency = "20ms"
availability = { on = { exponential = { mean = "9s" } }, off = { exponential = { mean = "4s" } } }
slowdown = { factor = 4.0, every = { exponential = { mean = "3s" } }, lasting = "1s" }
[[fleet.class]]
name = "warm"
share = 0.3
speed = { lognormal = { median = "0.3 MFLOPS", sigma = 0.2 } }
thermal = { curve = [["1s", 0.5]], cooling = 0.3 }
dropout = 0.1
[[event]]
at = "5s"
select = { fraction = 0.4 }
slow = 3.0
lasting = "4s"
[[event]]
round = 4
select = { fraction = 0.5 }
offline = true
lasting = "2s"
[[event]]
round = 6
network = 0.3
lasting = "3s"
[[variant]]"#;
    let lively =
        |text: &str| text.replacen(&FLEET[..FLEET.find("[[variant]]").unwrap() + 11], LIVELY, 1);
    let alone = |text: &str| {
        text.replace("server_uplink = \"3Mbps\"\n", "").replace("server_downlink = \"2Mbps\"\n", "")
    };
    let shared: Vec<String> = policies().iter().map(|text| lively(text)).collect();
    let own = shared.iter().map(|text| alone(text)).collect();
    [shared, own].concat()
}

/// Where what was trained decides who is asked, so that variants do not share their schedule.
fn guided() -> Vec<String> {
    let (synthetic, quadratic) = (SYNTHETIC, QUADRATIC);
    vec![
        scenario(
            synthetic,
            "work = { epochs = 2 }",
            "close = \"all\"\nsample = { clients = 4 }\nscheme = \"oort\"",
        ),
        scenario(
            quadratic,
            "work = { steps = 30 }",
            "close = { first = 4, of = 7 }\nscheme = { oort = { exploration = 0.5, alpha = 1 } }\n\
             participation = \"inverse-probability\"",
        ),
        scenario(
            synthetic,
            "work = { steps = 30 }\ncompression = { top_k = 0.3, error_feedback = true }",
            "close = { deadline = \"2s\" }\npartial = \"discard\"\nlate = \"stale\"\n\
             sample = { fraction = 0.4 }\nscheme = { oort = { round_time = \"1s\" } }",
        ),
        scenario(
            quadratic,
            "",
            "close = { deadline = \"300ms\" }\nsample = { clients = 5 }\nscheme = \"oort\"",
        ),
    ]
}

/// Data from files, spread by every scheme that draws.
fn from_files() -> Vec<String> {
    let task = |scheme: &str| {
        format!(
            "kind = \"table\"\nfile = \"tests/data/points.csv\"\nclient = \"user\"\n\
             partition = {{ scheme = {scheme}, min_size = 1 }}"
        )
    };
    let closes = "close = { deadline = \"2s\" }";
    vec![
        scenario(&task("{ dirichlet = 1.0 }"), "batch = 3", closes),
        scenario(&task("{ shards = 2 }"), "batch = 2", closes),
        scenario(&task("\"iid\""), "batch = 2", closes),
    ]
}

fn scenarios() -> Vec<String> {
    [policies(), algorithms(), compressions(), lively(), from_files()].concat()
}

#[test]
fn one_two_and_seven_threads_give_the_same_bytes() {
    for text in [scenarios(), guided()].concat() {
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
    gruppetto::run::run(
        &crate::simulated::scenario(text),
        &options,
        &gruppetto::plugins::Plugins::new(),
    )
    .unwrap();
    let timed = std::fs::read_to_string(folder.path().join("run/clients.csv")).unwrap();
    assert_eq!(timed, trained.file("clients.csv"));
}
