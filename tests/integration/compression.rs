//! Compressed updates through the whole simulator: the time they take, where they lead, what is
//! remembered.

use crate::simulated::{Simulated, difference, options, scenario};
use crate::support::{Workshop, stdout};
use gruppetto::metric::Metric;

/// Ten parameters over 320 bit/s up and no limit down, with a deadline of 10 s.
fn slow_link(compression: &str) -> String {
    format!(
        r#"
name = "slow-link"
stop.rounds = 3
task = {{ kind = "quadratic", clients = 1, dim = 10 }}
client.compression = {compression}
server.close = {{ deadline = "10s" }}
[[fleet.class]]
name = "phone"
step_time = "100ms"
uplink = "320bps"
latency = "50ms"
"#
    )
}

/// What is not sent leaves time for steps: 9.9 s less the bits over 320 bit/s, in steps of 0.1 s.
#[test]
fn fewer_bits_are_more_steps() {
    for (compression, bits, tau) in [
        ("\"none\"", 320u64, 89),
        ("\"fp16\"", 160, 94),
        ("{ quantize = 8 }", 112, 95),
        ("{ quantize = 2, error_feedback = true }", 52, 97),
        // Places among ten take four bits.
        ("{ top_k = 0.1 }", 36, 97),
        ("{ top_k = 0.5 }", 180, 93),
        ("{ top_k = 1.0 }", 320, 89),
    ] {
        let text = slow_link(compression);
        let trained = Simulated::run(&text, 1);
        for row in trained.columns("clients.csv", ["tau", "download_ns", "upload_ns", "outcome"]) {
            let upload = 50_000_000 + bits * 1_000_000_000 / 320;
            let expected = [tau.to_string(), "50000000".into(), upload.to_string(), "used".into()];
            assert_eq!(row, expected, "{compression}");
        }
        // Bits count without training too.
        let folder = tempfile::tempdir().unwrap();
        let timing_only =
            gruppetto::run::Options { timing_only: true, ..options(folder.path(), 1) };
        gruppetto::run::run(&scenario(&text), &timing_only, &gruppetto::plugins::Plugins::new())
            .unwrap();
        let timed = std::fs::read_to_string(folder.path().join("run/clients.csv")).unwrap();
        assert_eq!(timed, trained.file("clients.csv"), "{compression}");
    }
}

/// Two clients pull hard in opposite directions and a little in the same one. Of two numbers each
/// sends the larger, which is never the one that would move the model (x* = (0, 1)): it does not
/// move at all. What was not sent adds up with error feedback until it is the larger.
#[test]
fn error_feedback_finds_what_the_largest_alone_do_not() {
    let text = r#"
name = "stalled"
stop.rounds = 4000
[task]
kind = "quadratic"
clients = 2
centers = [[10.0, 1.0], [-10.0, 1.0]]
[client]
lr = 0.1
lr_schedule = [{ after = "40%", times = 0.1 }, { after = "60%", times = 0.1 }, { after = "80%", times = 0.1 }]
work = { steps = 3 }
compression = { top_k = 0.5 }
[server]
close = "all"
[[variant]]
name = "forgets"
[[variant]]
name = "remembers"
set = { client.compression.error_feedback = true }
[[variant]]
name = "everything"
set = { client.compression = "none" }
"#;
    let run = Simulated::run(text, 2);
    assert_eq!(run.x("forgets"), [0.0, 0.0]);
    let distance = |i: usize| run.summary.variants[i].metrics.get(Metric::Distance).unwrap();
    assert_eq!(distance(0), 1.0);
    assert!(distance(2) < 1e-12, "{}", distance(2));
    // Left over are chunks of about ten steps' pull in units of the last learning rate.
    assert!(distance(1) < 0.01, "{}", distance(1));
}

/// Clients that differ keep the noise of quantising alive, for their updates never become small.
/// Variance reduction takes their differences away and with them the noise: the optimum is reached
/// to the last digits, with few bits.
#[test]
fn variance_reduction_silences_the_noise_of_quantising() {
    let text = r#"
name = "noise"
stop.rounds = 3000
[task]
kind = "quadratic"
clients = 3
centers = [[1.0, 0.2], [-2.0, 1.0], [0.5, 3.0]]
curvature = [[1.0, 2.0], [0.5, 1.0], [1.5, 1.0]]
[client]
lr = 0.02
work = { steps = [2, 5, 9] }
compression = { quantize = 5 }
[server]
close = "all"
[[variant]]
name = "noisy"
[[variant]]
name = "fednova"
set = { client.variance_reduction = "fednova" }
[[variant]]
name = "scaffold"
set = { client.variance_reduction = "scaffold" }
[[variant]]
name = "half"
set = { client.variance_reduction = "fednova", client.compression = "fp16" }
"#;
    let run = Simulated::run(text, 2);
    let distance = |i: usize| run.summary.variants[i].metrics.get(Metric::Distance).unwrap();
    assert!(distance(0) > 1e-4, "{}", distance(0));
    assert!(distance(1) < 1e-9 && distance(2) < 1e-9, "{} {}", distance(1), distance(2));
    // Half precision has nothing smaller than 2⁻²⁴ = 6e-8: an update below half of that is not
    // heard, which two steps at η = 0.02 fall below where gradients are 7e-7.
    assert!(distance(3) < 7e-7 && distance(3) > 1e-9, "{}", distance(3));
}

/// Padding is no part of a model: softmax regression of 61 · 3 parameters sends a third of those.
#[test]
fn everything_is_everything_in_padded_models_too() {
    let text = r#"
name = "padded"
stop.rounds = 5
task = { clients = 4, classes = 3 }
client.work.steps = 6
server.close = "all"
[[variant]]
name = "none"
[[variant]]
name = "all"
set = { client.compression = { top_k = 1.0 } }
[[variant]]
name = "third"
set = { client.compression = { top_k = 0.333333 } }
[[variant]]
name = "bits"
set = { client.compression = { quantize = 12 } }
"#;
    let run = Simulated::run(text, 2);
    let variants = &run.summary.variants;
    assert_eq!(variants[0].model_digest, variants[1].model_digest);
    assert_ne!(variants[0].model_digest, variants[2].model_digest);
    let loss = |i: usize| variants[i].metrics.get(Metric::TrainLoss).unwrap();
    assert!((loss(3) - loss(0)).abs() < 1e-2 * loss(0), "{} {}", loss(3), loss(0));
}

#[test]
fn check_tells_what_is_sent_and_remembered() {
    let workshop = Workshop::new(&slow_link("{ top_k = 0.5, error_feedback = true }"));
    let check = stdout(&workshop.call(&["check", "s.toml"]));
    // 180 bits are 22.5 bytes; one client, ten numbers of eight bytes.
    assert!(check.contains("10 parameters, 40 B down, 23 B up"), "{check}");
    assert!(check.contains("up to 80 B (error feedback)"), "{check}");
    let adam = ["check", "s.toml", "--set", "server.optimizer.kind=adam"];
    let check = stdout(&workshop.call(&adam));
    assert!(check.contains("up to 240 B (error feedback and the server's optimiser)"), "{check}");
    // One way takes the place of another; what stands beside it stays.
    let quantized =
        stdout(&workshop.call(&["check", "s.toml", "--set=client.compression.quantize=4"]));
    assert!(quantized.contains("9 B up") && quantized.contains("error feedback"), "{quantized}");
    let none = stdout(&workshop.call(&["check", "s.toml", "--set", "client.compression=none"]));
    assert!(none.contains("40 B each way") && !none.contains("state kept"), "{none}");
}

/// Both clocks pack the same parcels and remember the same.
#[test]
fn the_wall_clock_remembers_too() {
    let text = r#"
name = "walls"
stop.rounds = 3
task = { kind = "quadratic", clients = 2, centers = [[10.0, 1.0, 3.0], [-8.0, 2.0, -4.0]] }
client = { lr = 0.1, work.steps = 2 }
server.close = "all"
fleet.assign = "in-order"
[[fleet.class]]
name = "a"
step_time = "1s"
[[fleet.class]]
name = "b"
step_time = "2s"
"#;
    for compression in ["{ quantize = 3, error_feedback = true }", "{ top_k = 0.4 }"] {
        let text = text.replace("lr = 0.1", &format!("lr = 0.1, compression = {compression}"));
        let jumped = Simulated::run(&text, 2);
        let folder = tempfile::tempdir().unwrap();
        let clock_mode = gruppetto::actors::ClockMode::Wall(20.0);
        let options = gruppetto::run::Options { clock_mode, ..options(folder.path(), 2) };
        let summary =
            gruppetto::run::run(&scenario(&text), &options, &gruppetto::plugins::Plugins::new())
                .unwrap();
        let walked = Simulated::new(summary, folder);
        let [jumped, walked] = [jumped, walked].map(|run| run.x("fednova"));
        assert!(difference(&jumped, &walked) < 1e-14, "{jumped:?} {walked:?}");
        assert!(difference(&jumped, &[0.0; 3]) > 0.01, "{jumped:?}");
    }
}
