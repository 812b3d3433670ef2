//! The golden vectors of `tests/golden`: everything that trains and aggregates, against examples
//! worked in exact rational arithmetic by a script that knows nothing of this code.

use gruppetto::aggregate::{
    Aggregator, Contribution, Draw, Moment, OptimizerConfig, Participation, RuleConfig,
    ServerOptimizer, Sgd, TauEff, WeightingConfig,
};
use gruppetto::data::{Centers, Curvature, QuadraticConfig};
use gruppetto::solver::{Controls, Correction, Heard, Solver, VarianceReduction};
use gruppetto::theory::{Participant, ScheduledRound, chi_square};
use gruppetto::train::{Job, Model, QuadraticTrainer, Trainer};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

fn load(name: &str) -> Value {
    let path = folder().join(name).with_extension("json");
    serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

fn vector(value: &Value) -> Vec<f64> {
    list(value).iter().map(number).collect()
}

fn list(value: &Value) -> &Vec<Value> {
    value.as_array().unwrap_or_else(|| panic!("{value} is no list"))
}

#[track_caller]
fn same(got: f64, want: f64, what: &str) {
    assert!((got - want).abs() <= 1e-13 * want.abs().max(1.0), "{what}: {got}, not {want}");
}

#[track_caller]
fn all_same(got: &[f64], want: &Value, what: &str) {
    let want = vector(want);
    assert_eq!(got.len(), want.len(), "{what}");
    got.iter().zip(want).for_each(|(got, want)| same(*got, want, what));
}

/// The clients of a file, trained by the same trainer as those of a run.
struct Clients {
    trainer: QuadraticTrainer,
    p: Vec<f64>,
    solvers: Vec<Solver>,
    taus: Vec<u64>,
    lr: f64,
}

impl Clients {
    fn of(file: &Value) -> Self {
        let clients = list(&file["clients"]);
        let each = |key: &str| clients.iter().map(|client| &client[key]).collect::<Vec<_>>();
        let p: Vec<f64> = each("p").into_iter().map(number).collect();
        let matrix = |rows: &Value| list(rows).iter().map(vector).collect();
        let problem = QuadraticConfig {
            dim: list(&file["x0"]).len(),
            centers: Centers::Explicit(each("center").into_iter().map(vector).collect()),
            curvature: Curvature::Full(each("curvature").into_iter().map(matrix).collect()),
            weights: Some(p.clone()),
            gradient_noise: 0.0,
        };
        let solver = |law: &Value| Solver {
            lr: number(&law["lr"]),
            momentum: number(&law["momentum"]),
            prox: number(&law["prox"]),
            lr_decay: number(&law["lr_decay"]),
            weight_decay: number(&law["weight_decay"]),
        };
        Clients {
            trainer: QuadraticTrainer::new(problem.init(1, &p), 1),
            solvers: each("solver").into_iter().map(solver).collect(),
            taus: each("tau").into_iter().map(|tau| tau.as_u64().unwrap()).collect(),
            lr: number(&file["lr"]),
            p,
        }
    }

    fn accumulation(&self, i: usize) -> f64 {
        self.solvers[i].norms(self.taus[i], self.lr).l1
    }

    fn delta(&self, i: usize, x: &[f64], correction: Correction) -> Vec<f64> {
        let model = Arc::new(Model::new(x.to_vec()));
        let (client, solver) = (i as u32, self.solvers[i]);
        let mut run = self.trainer.begin(Job { model, client, round: 1, solver, correction });
        run.steps(self.taus[i]);
        run.change()
    }
}

fn aggregator(inputs: &Value, len: usize) -> Aggregator {
    let sampling = &inputs["sampling"];
    let [clients, asked] = ["clients", "asked"].map(|key| sampling[key].as_u64().unwrap() as usize);
    let draw = match sampling["scheme"].as_str().unwrap() {
        "by-size" => Draw::BySize { clients, asked },
        _ => Draw::Uniform { clients, asked },
    };
    let rule = RuleConfig {
        weighting: match inputs["weighting"].as_str().unwrap() {
            "fednova" => WeightingConfig::FedNova,
            "fedavg" => WeightingConfig::FedAvg,
            _ => WeightingConfig::Uniform,
        },
        tau_eff: match inputs["tau_eff"].as_str() {
            Some("accumulation") => TauEff::Accumulation,
            Some(_) => TauEff::Steps,
            None => TauEff::Fixed(number(&inputs["tau_eff"])),
        },
        participation: match inputs["participation"].as_str().unwrap() {
            "renormalize" => Participation::Renormalize,
            _ => Participation::Unbiased,
        },
    };
    Aggregator::new(rule.init(draw).unwrap(), rule.tau_eff, len, false)
}

/// Those who arrived, and how often each was drawn.
fn arrivals(inputs: &Value) -> Vec<(usize, u32)> {
    let times = list(&inputs["times_drawn"]).iter().map(|times| times.as_u64().unwrap() as u32);
    let arrived = list(&inputs["arrived"]).iter().map(|arrived| arrived.as_bool().unwrap());
    let all = times.zip(arrived).enumerate();
    all.filter(|(_, (times, arrived))| *arrived && *times > 0).map(|(i, (t, _))| (i, t)).collect()
}

/// Aggregates those who arrived and checks weights, τ_eff and where the model goes.
fn aggregate(
    clients: &Clients,
    aggregator: &mut Aggregator,
    arrivals: &[(usize, u32)],
    x: &mut Vec<f64>,
    delta: impl Fn(usize) -> Vec<f64>,
    optimizer: &mut dyn ServerOptimizer,
    outputs: &Value,
) -> Vec<f64> {
    aggregator.restart();
    let mut weights = vec![0.0; clients.p.len()];
    for &(i, times_drawn) in arrivals {
        let (client, p, tau) = (i as u32, clients.p[i], clients.taus[i]);
        let accumulation = clients.accumulation(i);
        let contribution =
            Contribution { client, p, times_drawn, tau, accumulation, discount: 1.0 };
        weights[i] = aggregator.add(&contribution, delta(i));
    }
    let applied = aggregator.apply(x, optimizer, clients.lr);
    weights.iter_mut().for_each(|weight| *weight *= applied.scale);
    if outputs.get("weight").is_some() {
        all_same(&weights, &outputs["weight"], "weight");
        same(applied.tau_eff, number(&outputs["tau_eff"]), "tau_eff");
    }
    all_same(x, &outputs["x_new"], "x_new");
    weights
}

#[test]
fn every_solver_and_weighting_is_what_exact_arithmetic_gives() {
    let mut cases = 0;
    for solver in [
        "sgd",
        "momentum",
        "proximal",
        "decay",
        "weight-decay",
        "momentum-proximal",
        "momentum-decay",
        "proximal-decay",
        "all",
        "mixed",
        "proximal-overshoot",
    ] {
        let file = load(solver);
        let clients = Clients::of(&file);
        let x0 = vector(&file["x0"]);
        for (i, local) in list(&file["local"]).iter().enumerate() {
            let (law, tau) = (clients.solvers[i], clients.taus[i]);
            let norms = law.norms(tau, clients.lr);
            let own = law.lr / clients.lr;
            let a: Vec<f64> = law.accumulation_vector(tau).iter().map(|a| own * a).collect();
            all_same(&a, &local["a"], solver);
            same(norms.l1, number(&local["l1"]), "l1");
            same(norms.l2_squared, number(&local["l2_squared"]), "l2_squared");
            same(norms.last, number(&local["last"]), "last");
            all_same(&clients.delta(i, &x0, Correction::default()), &local["delta"], solver);
        }
        for case in list(&file["cases"]) {
            let (inputs, outputs) = (&case["inputs"], &case["outputs"]);
            let mut x = x0.clone();
            let weights = aggregate(
                &clients,
                &mut aggregator(inputs, x0.len()),
                &arrivals(inputs),
                &mut x,
                |i| vector(&file["local"][i]["delta"]),
                &mut Sgd { lr: 1.0 },
                outputs,
            );
            if let Some(chi2) = outputs.get("chi2") {
                same(chi_square(&clients.p, &weights), number(chi2), "chi2");
                let participants = (0..weights.len()).map(|i| Participant {
                    p: clients.p[i],
                    weight: weights[i],
                    tau: clients.taus[i],
                    norms: clients.solvers[i].norms(clients.taus[i], clients.lr),
                });
                let round = ScheduledRound::new(number(&outputs["tau_eff"]), participants).unwrap();
                for (got, key) in [(round.a, "A"), (round.b, "B"), (round.c, "C")] {
                    same(got, number(&outputs[key]), key);
                }
            }
            cases += 1;
        }
    }
    assert_eq!(cases, 11 * 63);
}

#[test]
fn variance_reduction_keeps_the_state_that_exact_arithmetic_gives() {
    for name in ["fednova-vr", "fednova-vr-momentum", "fednova-vr-mixed", "scaffold", "vrlsgd"] {
        let file = load(name);
        for case in list(&file["cases"]) {
            let mut clients = Clients::of(&file);
            let method = match case["inputs"]["method"].as_str().unwrap() {
                "fednova" => VarianceReduction::FedNova,
                "fednova-as-printed" => VarianceReduction::FedNovaAsPrinted,
                "scaffold" => VarianceReduction::Scaffold,
                _ => VarianceReduction::Vrlsgd,
            };
            let mut controls = Controls::new(method, clients.p.clone().into());
            let mut x = vector(&file["x0"]);
            let mut aggregator = aggregator(&case["inputs"], x.len());
            for round in list(&case["rounds"]) {
                let (inputs, outputs) = (&round["inputs"], &round["outputs"]);
                clients.taus = list(&inputs["tau"]).iter().map(|t| t.as_u64().unwrap()).collect();
                let corrections: Vec<Correction> = (0..clients.p.len() as u32)
                    .map(|i| Correction { shared: controls.shared(), own: controls.own(i) })
                    .collect();
                let before = x.clone();
                let deltas: Vec<Vec<f64>> = corrections
                    .iter()
                    .enumerate()
                    .map(|(i, correction)| clients.delta(i, &before, correction.clone()))
                    .collect();
                for (i, delta) in deltas.iter().enumerate() {
                    all_same(&corrections[i].vector(x.len()), &outputs["correction"][i], name);
                    all_same(delta, &outputs["delta"][i], name);
                }
                let arrived = arrivals(inputs);
                for &(i, _) in &arrived {
                    let (client, delta) = (i as u32, &deltas[i]);
                    let gain = clients.lr * clients.accumulation(i);
                    controls.hear(&Heard { client, delta, gain, correction: &corrections[i] });
                }
                aggregate(
                    &clients,
                    &mut aggregator,
                    &arrived,
                    &mut x,
                    |i| deltas[i].clone(),
                    &mut Sgd { lr: 1.0 },
                    outputs,
                );
                controls.close();
                let state = |state: Option<Arc<Vec<f64>>>| {
                    state.map_or_else(|| vec![0.0; x.len()], |state| state.to_vec())
                };
                all_same(&state(controls.shared()), &outputs["shared"], name);
                for (i, own) in list(&outputs["own"]).iter().enumerate() {
                    all_same(&state(controls.own(i as u32)), own, name);
                }
            }
        }
    }
}

#[test]
fn server_optimisers_go_where_exact_arithmetic_goes() {
    let file = load("server");
    for case in list(&file["cases"]) {
        let server = &case["inputs"]["server"];
        let of = |key: &str| number(&server[key]);
        let adaptive = |moment| OptimizerConfig::Adaptive {
            moment,
            lr: of("lr"),
            beta1: of("beta1"),
            epsilon: of("epsilon"),
        };
        let config = match server["name"].as_str().unwrap() {
            "sgd" => OptimizerConfig::Sgd { lr: of("lr") },
            "momentum" => OptimizerConfig::Momentum { lr: of("lr"), momentum: of("beta") },
            "adagrad" => adaptive(Moment::Adagrad),
            "adam" => adaptive(Moment::Adam { beta2: of("beta2") }),
            "yogi" => adaptive(Moment::Yogi { beta2: of("beta2") }),
            other => panic!("{other}"),
        };
        let mut clients = Clients::of(&file);
        let mut x = vector(&file["x0"]);
        let mut optimizer = config.init(x.len()).unwrap();
        for round in list(&case["rounds"]) {
            clients.lr = number(&round["inputs"]["lr"]);
            clients.solvers.iter_mut().for_each(|solver| solver.lr = clients.lr);
            let before = x.clone();
            aggregate(
                &clients,
                &mut aggregator(&case["inputs"], before.len()),
                &arrivals(&case["inputs"]),
                &mut x,
                |i| clients.delta(i, &before, Correction::default()),
                &mut *optimizer,
                &round["outputs"],
            );
        }
    }
}

/// The files are what the script writes: nobody changed a number by hand.
#[test]
fn the_script_still_gives_these_vectors() {
    let python = std::env::var("PYTHON").unwrap_or_else(|_| "python3".into());
    let output = Command::new(python).arg(folder().join("make.py")).arg("--check").output();
    let output = output.expect("the golden vectors need Python 3");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
