//! scenario.md: how fractions are rounded, which samples a step sees, and what it costs.

use super::{near, numbers, quadratic};
use crate::simulated::Simulated;
use crate::support::Workshop;
use gruppetto::report::load_tensors;
use gruppetto::train::Values;

/// "Fractions of clients (`sample`, …) are rounded to the nearest whole number, … `sample` … to 1 at least":
/// half of 5 clients are 3, and a hundredth is one.
#[test]
fn a_sample_is_rounded_and_has_somebody_in_it() {
    for (fraction, asked) in [("0.5", 3.0), ("0.49", 2.0), ("0.01", 1.0)] {
        let server = format!("close = \"all\"\nsample.fraction = {fraction}");
        let text = quadratic("rounds = 2", "clients = 5\ndim = 1", "work.steps = 1", &server, "");
        let run = Simulated::run(&text, 1);
        assert_eq!(numbers(&run, "rounds.csv", "asked"), [asked; 2], "{fraction}");
    }
}

/// "… (…, `select`)": half of 5 clients are 3, and they are slowed down.
#[test]
fn a_part_of_the_clients_of_an_event_is_rounded() {
    for (fraction, slow) in [("0.5", 3), ("0.49", 2)] {
        let event =
            format!("[[event]]\nround = 1\nselect = {{ fraction = {fraction} }}\nslow = 2.0");
        let server = "close = \"all\"";
        let text =
            quadratic("rounds = 1", "clients = 5\ndim = 1", "work.steps = 1", server, &event);
        let took = numbers(&Simulated::run(&text, 1), "clients.csv", "compute_ns");
        assert_eq!(took.iter().filter(|took| **took == 2e6).count(), slow, "{took:?}");
    }
}

/// "of rounds (`after = "50%"`)": half of 5 rounds are 3, so that the rate is another from round 4 on. Each
/// step leaves 1 − η of the way: 0.5³ · 0.95² of it are left.
#[test]
fn a_part_of_the_rounds_is_rounded() {
    let client = "lr = 0.5\nlr_schedule = [{ after = \"50%\", times = 0.1 }]\nwork.steps = 1";
    let clients = "clients = 1\ncenters = [[1.0]]";
    let text = quadratic("rounds = 5", clients, client, "close = \"all\"", "");
    near(1.0 - Simulated::run(&text, 1).x("fednova")[0], 0.125 * 0.95 * 0.95);
}

/// "of parameters (`top_k`) …, and … to 1 at least": a quarter of 10 numbers are 3, a hundredth is one.
#[test]
fn a_part_of_the_parameters_is_rounded_and_is_one_at_least() {
    for (part, sent) in [("0.25", 3), ("0.24", 2), ("0.01", 1)] {
        let client = format!("work.steps = 1\ncompression.top_k = {part}");
        let text = quadratic("rounds = 1", "clients = 1\ndim = 10", &client, "close = \"all\"", "");
        let x = Simulated::run(&text, 1).x("fednova");
        assert_eq!(x.iter().filter(|x| **x != 0.0).count(), sent, "{part}: {x:?}");
    }
}

/// Which of four samples a client has visited in all, by seed: sample k has feature k alone, so it moves the
/// k-th column of the weights, and nothing else does.
fn visited(rounds: u64, steps: u64) -> Vec<[bool; 4]> {
    let workshop = Workshop::new(&format!(
        "name = \"order\"\nrepeats = 8\nstop.rounds = {rounds}\n\
         [task]\nkind = \"table\"\nfile = \"t.csv\"\nclients = 1\npartition.test_fraction = 0\n\
         [client]\nbatch = 1\nwork.steps = {steps}\n[server]\nclose = \"all\"\n"
    ));
    let rows = "a,b,c,d,y\n1,0,0,0,0\n0,1,0,0,1\n0,0,1,0,0\n0,0,0,1,1\n";
    std::fs::write(workshop.path("t.csv"), rows).unwrap();
    let folder = workshop.run("out", &[]);
    let of_seed = |seed: u64| {
        let path = folder.join(format!("model-fednova-{seed}.safetensors"));
        let tensors = load_tensors(&path).unwrap();
        let weight = tensors.iter().find(|tensor| tensor.shape == [2, 4]).unwrap();
        let Values::F32(values) = &weight.values else { panic!("softmax is in single precision") };
        [0, 1, 2, 3].map(|column| values[column] != 0.0)
    };
    (1..=8).map(of_seed).collect()
}

/// "Batches follow one random permutation of the local data after another, and every round begins with a
/// fresh one." Four steps of one sample visit all four. Two rounds of two steps would too if the second went
/// on with the permutation of the first; with a fresh one they do so one time in six, and in eight runs
/// hardly ever each time.
#[test]
fn every_round_begins_with_a_fresh_permutation() {
    assert_eq!(visited(1, 4), [[true; 4]; 8]);
    let count = |visited: &[bool; 4]| visited.iter().filter(|visited| **visited).count();
    assert!(visited(1, 2).iter().all(|visited| count(visited) == 2), "within a round nobody twice");
    let counts: Vec<usize> = visited(2, 2).iter().map(count).collect();
    assert!(counts.iter().any(|count| *count < 4), "it went on with the first: {counts:?}");
    assert!(counts.iter().any(|count| *count > 2), "it began with the first again: {counts:?}");
}

/// "A step of softmax regression is 4 · batch · features · classes operations; of a quadratic 2 · dim, or
/// 2 · dim² with full matrices". Networks are counted layer by layer in `data::model`.
#[test]
fn steps_cost_the_operations_of_their_model() {
    let fleet = |speed: &str| format!("[[fleet.class]]\nname = \"c\"\nspeed = \"{speed}\"");
    let took = |text: &str| numbers(&Simulated::run(text, 1), "clients.csv", "compute_ns")[0];
    let server = "close = \"all\"";
    let of = |clients: &str| {
        took(&quadratic("rounds = 1", clients, "work.steps = 1", server, &fleet("20 FLOPS")))
    };
    assert_eq!(of("clients = 1\ndim = 10"), 1e9);
    // 8 operations.
    assert_eq!(of("clients = 1\ndim = 2\ncurvature = [[[2.0, 0.5], [0.5, 1.0]]]"), 0.4e9);
    assert_eq!(of("clients = 1\ndim = 2\ncurvature = [[2.0, 1.0]]"), 0.2e9);
    let softmax = format!(
        "name = \"s\"\nstop.rounds = 1\n\
         task = {{ kind = \"synthetic\", clients = 1, size = 100, features = 6, classes = 5 }}\n\
         client = {{ batch = 10, work.steps = 1 }}\nserver.close = \"all\"\n{}",
        fleet("1200 FLOPS")
    );
    assert_eq!(took(&softmax), 1e9);
}
