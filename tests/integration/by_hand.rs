//! Whole runs against a loop that is written out by hand: classes with laws of their own, a schedule
//! of learning rates, variance reduction, momentum of the server, all at once.

use crate::simulated::{Simulated, difference};
use gruppetto::solver::{Descent, Solver};

const CENTERS: [[f64; 2]; 4] = [[1.0, -2.0], [3.0, 0.5], [-1.0, 1.5], [0.5, 4.0]];
const CURVATURE: [[f64; 2]; 4] = [[1.0, 2.0], [0.5, 1.0], [1.5, 0.7], [2.0, 1.2]];
const P: [f64; 4] = [0.4, 0.3, 0.2, 0.1];
const TAUS: [u64; 4] = [7, 3, 5, 2];

/// The first two clients are fast, the others slow, each class with a law of its own.
const CLASSES: [Solver; 2] = [
    Solver { lr: 0.05, momentum: 0.5, prox: 1.0, lr_decay: 0.95, weight_decay: 0.02 },
    Solver { lr: 0.02, momentum: 0.8, prox: 1.0, lr_decay: 1.0, weight_decay: 0.1 },
];

fn scenario(client: &str, server: &str) -> String {
    format!(
        r#"
name = "by-hand"
stop.rounds = 6
[task]
kind = "quadratic"
clients = 4
centers = {CENTERS:?}
curvature = {CURVATURE:?}
weights = {P:?}
[client]
lr = 0.05
momentum = 0.5
prox = 1.0
lr_schedule = [{{ after = 2, times = 0.5 }}, {{ after = 4, times = 0.2 }}]
work = {{ steps = {TAUS:?} }}
{client}
[server]
close = "all"
{server}
[fleet]
assign = "in-order"
[[fleet.class]]
name = "fast"
step_time = "1ms"
lr_decay = 0.95
weight_decay = 0.02
[[fleet.class]]
name = "slow"
step_time = "9ms"
lr = 0.02
momentum = 0.8
weight_decay = 0.1
"#
    )
}

#[derive(Clone, Copy, PartialEq)]
enum Reduction {
    None,
    FedNova,
    AsPrinted,
}

/// Six rounds, with the paper's formulas and nothing else.
fn by_hand(reduction: Reduction, server_momentum: f64, fedavg: bool) -> Vec<f64> {
    let mut x = vec![0.0; 2];
    let mut buffer = [0.0; 2];
    let (mut own, mut shared) = ([[0.0; 2]; 4], [0.0; 2]);
    for round in 1..=6u64 {
        let factor = [1.0, 1.0, 0.5, 0.5, 0.1, 0.1][round as usize - 1];
        let lr = 0.05 * factor;
        let (mut direction, mut tau_eff) = ([0.0; 2], 0.0);
        let (mut next_own, mut next_shared) = (own, shared);
        for i in 0..4 {
            let law = CLASSES[i / 2];
            let law = Solver { lr: law.lr * factor, ..law };
            let correction = [0, 1].map(|j| match reduction {
                Reduction::None => 0.0,
                _ => shared[j] - own[i][j],
            });
            let mut local = x.clone();
            let mut descent = Descent::new(law, &x, &correction);
            // ‖a‖₁ by running the law on the constant gradient 1, in units of the common rate.
            let (mut one, zero) = ([0.0], [0.0]);
            let mut constant = Descent::new(Solver { weight_decay: 0.0, ..law }, &zero, &[]);
            for _ in 0..TAUS[i] {
                let g: Vec<f64> =
                    (0..2).map(|j| CURVATURE[i][j] * local[j] - CENTERS[i][j]).collect();
                descent.step(&mut local, &g);
                constant.step(&mut one, &[1.0]);
            }
            let accumulation = -one[0] / lr;
            tau_eff += P[i] * accumulation;
            for j in 0..2 {
                let delta = local[j] - x[j];
                direction[j] += P[i] * delta * if fedavg { 1.0 } else { 1.0 / accumulation };
                let normalized = -delta / (lr * accumulation);
                let kept = match reduction {
                    Reduction::AsPrinted => normalized,
                    _ => normalized - correction[j],
                };
                next_shared[j] += P[i] * (kept - own[i][j]);
                next_own[i][j] = kept;
            }
        }
        (own, shared) = (next_own, next_shared);
        for j in 0..2 {
            let update = if fedavg { direction[j] } else { tau_eff * direction[j] };
            // SlowMo as its paper writes it.
            buffer[j] = server_momentum * buffer[j] - update / lr;
            x[j] -= lr * buffer[j];
        }
    }
    x
}

#[test]
fn runs_are_what_the_formulas_give() {
    let reduce = |name: &str| format!("variance_reduction = \"{name}\"");
    let momentum = "optimizer = { kind = \"momentum\", momentum = 0.6 }";
    for (client, server, expected) in [
        (String::new(), "", by_hand(Reduction::None, 0.0, false)),
        (String::new(), "weighting = \"fedavg\"", by_hand(Reduction::None, 0.0, true)),
        (String::new(), momentum, by_hand(Reduction::None, 0.6, false)),
        (reduce("fednova"), "", by_hand(Reduction::FedNova, 0.0, false)),
        (reduce("fednova"), momentum, by_hand(Reduction::FedNova, 0.6, false)),
        (reduce("fednova-as-printed"), "", by_hand(Reduction::AsPrinted, 0.0, false)),
    ] {
        let run = Simulated::run(&scenario(&client, server), 2);
        let variant = if server.contains("fedavg") { "fedavg" } else { "fednova" };
        let apart = difference(&run.x(variant), &expected);
        assert!(apart < 1e-13, "{client} {server}: {apart}");
    }
}

/// The same models on the wall clock, where clients really walk and carry their state themselves.
#[test]
fn the_wall_clock_trains_by_the_same_laws() {
    let folder = tempfile::tempdir().unwrap();
    let text = scenario("variance_reduction = \"fednova\"", "");
    let options = gruppetto::run::Options {
        clock_mode: gruppetto::actors::ClockMode::Wall(2.0),
        ..crate::simulated::options(folder.path(), 2)
    };
    let summary = gruppetto::run::run(
        &crate::simulated::scenario(&text),
        &options,
        &gruppetto::plugins::Plugins::new(),
    )
    .unwrap();
    let run = Simulated::new(summary, folder);
    // Arrivals may come in another order, and sums then differ in their last digits.
    let apart = difference(&run.x("fednova"), &by_hand(Reduction::FedNova, 0.0, false));
    assert!(apart < 1e-12, "{apart}");
}
