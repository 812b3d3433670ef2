//! `gruppetto theory`, and what runs measure beside what it predicts.

use crate::support::{Workshop, rows, stderr, stdout, summary};
use serde_json::Value;

fn shipped(name: &str) -> String {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios");
    std::fs::read_to_string(folder.join(name).with_extension("toml")).unwrap()
}

fn predict(workshop: &Workshop, arguments: &[&str]) -> Vec<Value> {
    let output = workshop.call(&[&["theory", "s.toml", "--json"], arguments].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let all: Value = serde_json::from_str(&stdout(&output)).unwrap();
    all["variants"].as_array().unwrap().clone()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value}"))
}

/// Appendix D.2: the measured limit is the formula's. At the learning rate 0.001 of its end the
/// limit is (g₁ − g₂)/(g₁ + g₂) with g = 1 − 0.999^τ, which is (τ₁ − τ₂)/(τ₁ + τ₂) to a part in a
/// thousand.
#[test]
fn the_two_clients_of_the_lower_bound_attain_it() {
    let workshop = Workshop::new(&shipped("lower-bound"));
    let folder = workshop.run("out", &[]);
    let summary = summary(&folder);
    let fedavg = &summary["variants"][0];
    let gain = |tau: i32| 1.0 - 0.999f64.powi(tau);
    let limit = (gain(6) - gain(2)) / (gain(6) + gain(2));
    let theory = &fedavg["theory"];
    assert!((number(&theory["grad_norm_squared"]) - limit * limit).abs() < 1e-12);
    // κ² = 4w₁w₂a² = ¾, χ² = ⅓: the floor 2χ²κ² is ½, and half of it is attained.
    assert!((number(&theory["kappa2"]) - 0.75).abs() < 1e-12);
    assert!((number(&theory["floor"]) - 0.5).abs() < 1e-12);
    assert!((limit * limit - 0.5 * number(&theory["floor"])).abs() < 1e-3);
    // H = I: gradients are equally far apart everywhere, so β² = 1.
    assert!((number(&theory["tightest_beta2"]) - 1.0).abs() < 1e-9);
    assert!((number(&theory["tightest_kappa2"]) - 0.75).abs() < 1e-9);
    let rows = rows(&folder.join("rounds.csv"));
    let measured: Vec<_> = rows.iter().filter(|row| !row.text("kappa2").is_empty()).collect();
    assert_eq!(measured.len(), 2 * 200, "with every evaluation");
    for row in measured.iter().filter(|row| row.text("variant") == "fedavg") {
        assert!((row.float("kappa2") - 0.75).abs() < 1e-12);
        assert!((row.float("floor") - 0.5).abs() < 1e-9);
    }
}

/// The resting place that is predicted without training is where training ends, for FedAvg,
/// FedProx and FedNova with momentum, on fixed steps.
#[test]
fn quadratics_come_to_rest_where_they_are_said_to() {
    let text = shipped("drift").replace("redraw = \"round\"", "redraw = \"once\"").replace(
        "[[variant]]\nname = \"vrlsgd\"\nset = { server.weighting = \"fedavg\", \
         client.variance_reduction = \"vrlsgd\" }",
        "[[variant]]\nname = \"vrlsgd\"\nset = { client.momentum = 0.5, client.prox = 2.0, \
         client.weight_decay = 0.1, client.lr_decay = 0.98 }",
    );
    let text = text.split("[[expect]]").next().unwrap().to_string();
    let workshop = Workshop::new(&text);
    let predicted = predict(&workshop, &[]);
    let summary = summary(&workshop.run("out", &[]));
    for (predicted, run) in predicted.iter().zip(summary["variants"].as_array().unwrap()) {
        let point = &predicted["fixed_point"];
        for metric in ["distance", "grad_norm", "train_loss"] {
            let (said, measured) = (number(&point[metric]), number(&run["metrics"][metric]));
            assert!((said - measured).abs() < 1e-9, "{}: {metric} {said} {measured}", run["name"]);
        }
        for quantity in ["chi2", "missing_mass"] {
            assert_eq!(predicted[quantity], run[quantity], "{}", run["name"]);
        }
    }
}

/// FedAvg's special case in closed form: p = 1/m, so A = 1, B = τ̄ − 1 + var/τ̄, C = τ_max(τ_max − 1),
/// w_i = τ_i/Στ; and the bound's terms with the flags given.
#[test]
fn fedavg_is_the_papers_special_case() {
    let text = r#"
name = "special"
stop.rounds = 50
task = { kind = "quadratic", clients = 4, dim = 1, centers = [[1.0], [2.0], [3.0], [6.0]] }
client = { lr = 0.01, work = { steps = [2, 4, 6, 12] } }
server = { close = "all", weighting = "fedavg" }
"#;
    let workshop = Workshop::new(text);
    let flags =
        ["--lipschitz", "2", "--sigma2", "0.5", "--kappa2", "3", "--beta2", "4", "--gap", "7"];
    let predicted = &predict(&workshop, &flags)[0];
    let expect = |value: &Value, want: f64| {
        assert!((number(value) - want).abs() <= 1e-12 * want.abs().max(1.0), "{value} {want}");
    };
    let (tau, var) = (6.0, (16.0 + 4.0 + 0.0 + 36.0) / 4.0);
    for (key, want) in [
        ("tau", tau),
        ("tau_eff", tau),
        ("slowdown", 1.0),
        ("A", 1.0),
        ("B", tau - 1.0 + var / tau),
        ("C", 132.0),
        ("participants", 4.0),
        ("theorem_lr", (4.0f64 / (6.0 * 50.0)).sqrt()),
    ] {
        expect(&predicted[key], want);
    }
    for (i, tau) in [2.0, 4.0, 6.0, 12.0].into_iter().enumerate() {
        expect(&predicted["weights"][i]["w"], tau / 24.0);
        expect(&predicted["weights"][i]["p"], 0.25);
    }
    let chi2: f64 =
        [2.0, 4.0, 6.0, 12.0].map(|t: f64| (0.25 - t / 24.0).powi(2) / (t / 24.0)).iter().sum();
    expect(&predicted["chi2"], chi2);
    // ½ min{1/(12·3), 1/6}
    expect(&predicted["lr_limit"]["largest_lr_times_lipschitz"], 0.5 / 36.0);
    assert_eq!(predicted["lr_limit"]["holds"], false);
    let terms = [
        ("distance", 4.0 * 7.0 / (0.01 * 6.0 * 50.0)),
        ("noise", 4.0 * 0.01 * 2.0 * 0.5 * 1.0 / 4.0),
        ("noise_drift", 6.0 * 1e-4 * 4.0 * 0.5 * (tau - 1.0 + var / tau)),
        ("dissimilarity_drift", 12.0 * 1e-4 * 4.0 * 3.0 * 132.0),
    ];
    terms.iter().for_each(|(key, want)| expect(&predicted["bound"][*key], *want));
    let total: f64 = terms.iter().map(|(_, value)| value).sum();
    expect(&predicted["true_bound"]["vanishing"], 2.0 * (3.0 * chi2 + 1.0) * total);
    expect(&predicted["true_bound"]["floor"], 2.0 * chi2 * 3.0);
    // m½/(τ̄½T^⅙)
    expect(&predicted["prox"]["corollary_alpha"], 2.0 / 6.0f64.sqrt() / 50.0f64.powf(1.0 / 6.0));
}

/// Rates of classes count in units of the common one, and the constants of a quadratic are worked
/// out: σ² = d·noise², κ² around the mean of the weights that FedAvg really has, L = 1.
#[test]
fn classes_and_constants_are_worked_out() {
    let text = r#"
name = "classes"
stop.rounds = 4
task = { kind = "quadratic", clients = 2, centers = [[0.0, 0.0], [4.0, 0.0]], gradient_noise = 0.5 }
client = { lr = 0.01, work = { steps = 3 } }
server = { close = "all", weighting = "fedavg" }
fleet = { assign = "in-order", class = [
    { name = "slow", step_time = "2ms" },
    { name = "fast", step_time = "1ms", lr = 0.03 },
] }
"#;
    let workshop = Workshop::new(text);
    let predicted = &predict(&workshop, &[])[0];
    // ‖a‖₁ = 3 and 9: τ_eff = 6, w = ¼ and ¾; A = 2·6·(w²/3 + w²/3), with ‖a‖₂² = 3 and 27.
    let close = |value: &Value, want: f64| {
        assert!((number(value) - want).abs() < 1e-12, "{value} {want}");
    };
    close(&predicted["tau_eff"], 6.0);
    close(&predicted["weights"][1]["w"], 0.75);
    close(&predicted["A"], 2.0 * 6.0 * (0.0625 + 0.5625) / 3.0);
    close(&predicted["B"], 0.25 * 2.0 + 0.75 * 18.0);
    close(&predicted["constants"]["sigma2"], 0.5);
    close(&predicted["constants"]["kappa2"], 0.25 * 9.0 + 0.75 * 1.0);
    close(&predicted["constants"]["lipschitz"], 1.0);
    // F̃ = ¼·½x² + ¾·½(x − 4)² from x = 0, with its minimum at 3.
    close(&predicted["constants"]["gap"], 6.0 - (0.25 * 4.5 + 0.75 * 0.5));
    let check =
        stdout(&workshop.call(&["check", "s.toml", "--set", "client.variance_reduction=scaffold"]));
    // Two clients and one for all, two numbers of eight bytes each.
    assert!(check.contains("up to 48 B (variance reduction)"), "{check}");
    assert!(check.contains("2 parameters, 16 B each way"), "{check}");
}

/// What the theorems do not cover is said, and not bounded; a schedule of rates is covered.
#[test]
fn bounds_are_given_where_the_theorems_hold() {
    let text = r#"
name = "one"
stop.rounds = 100
task = { kind = "quadratic", clients = 1, centers = [[1.0]] }
client = { lr = 0.1, work = { steps = 1 }, lr_schedule = [{ after = 1, times = 1e-6 }] }
server.close = "all"
"#;
    let workshop = Workshop::new(text);
    let predicted = &predict(&workshop, &[])[0];
    // Σ η_tτ_t = 0.1 + 99·1e-7: twice 4·½/that.
    let bound = number(&predicted["true_bound"]["vanishing"]);
    assert!((bound - 4.0 / (0.1 + 99e-7)).abs() < 1e-9, "{bound}");
    for (set, reason) in [
        ("server.optimizer={ kind = \"sgd\", lr = 0.1 }", "the server's optimiser"),
        ("client.weight_decay=1", "weight decay"),
        ("client.variance_reduction=fednova", "variance reduction"),
        ("client.compression=fp16", "compression"),
    ] {
        let predicted = &predict(&workshop, &["--set", set])[0];
        assert_eq!(predicted["not_covered"][0], reason);
        assert!(predicted["bound"].is_null() && predicted["true_bound"].is_null());
    }
    // F + ½x² has its minimum halfway, with variance reduction too.
    for method in ["none", "fednova", "scaffold"] {
        let method = format!("client.variance_reduction={method}");
        let sets = ["--set", &method, "--set", "client.weight_decay=1"];
        let point = &predict(&workshop, &sets)[0]["fixed_point"];
        assert!((number(&point["x"][0]) - 0.5).abs() < 1e-12, "{method}: {point}");
    }
}

/// A variant of which nothing can be said does not hide the others.
#[test]
fn a_silent_variant_is_said_to_be() {
    let text = r#"
name = "silent"
stop.rounds = 2
task = { kind = "quadratic", clients = 2, dim = 1 }
[[fleet.class]]
name = "slow"
step_time = "1s"
[[variant]]
name = "silent"
set = { server.close.deadline = "10ms" }
[[variant]]
name = "heard"
set = { server.close.deadline = "20s" }
"#;
    let predicted = predict(&Workshop::new(text), &[]);
    assert!(predicted[0]["error"].as_str().unwrap().contains("nobody is ever heard"));
    assert_eq!((&predicted[1]["variant"], &predicted[1]["tau"]), (&"heard".into(), &20.0.into()));
}

/// Figure 4: over α the weight bias and the relative variance fall, the slowdown rises from 1 to
/// τ̄, and at α = 1 the bias is gone.
#[test]
fn a_sweep_gives_the_curves_of_figure_four() {
    let text = r#"
name = "figure-four"
stop.rounds = 5
task = { kind = "quadratic", clients = 30, dim = 1 }
server = { close = "all", weighting = "fedavg" }
[client]
lr = 0.02
work = { steps = { normal = { mean = 20, std = 20 }, min = 1 }, redraw = "once" }
"#;
    let workshop = Workshop::new(text);
    let output = workshop.call(&["theory", "s.toml", "--sweep", "prox=0..50:50"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    std::fs::write(workshop.path("curves.csv"), &output.stdout).unwrap();
    let rows = rows(&workshop.path("curves.csv"));
    assert_eq!(rows.len(), 51);
    let curve = |name: &str| rows.iter().map(|row| row.float(name)).collect::<Vec<_>>();
    let (bias, slowdown, variance) =
        (curve("weight_bias"), curve("slowdown"), curve("relative_variance"));
    assert!(bias.is_sorted_by(|a, b| a >= b) && bias[0] > 0.3 && bias[50] < 1e-12);
    let tau = number(&predict(&workshop, &[])[0]["tau"]);
    assert!(slowdown.is_sorted() && slowdown[0] == 1.0 && (slowdown[50] - tau).abs() < 1e-9);
    assert!(
        variance[0] == 1.0
            && (variance[50] - 1.0).abs() < 1e-12
            && variance.iter().all(|v| *v <= 1.0 + 1e-12)
    );
    assert!(variance[10] < 0.9, "{variance:?}");
    assert_eq!((rows[1].float("prox"), rows[1].float("alpha")), (1.0, 0.02));
}

/// Two clients that reach their minimum in every round, in 1 step and in 20: FedNova goes
/// S = 10.5·½(1 + 1/20) = 5.51 times the way, and further off every round. FedAvg does not, and neither
/// does FedNova where the server's rate makes up for it.
#[test]
fn a_stretch_that_is_said_to_be_too_far_diverges() {
    let text = "name = \"t\"\nstop.rounds = 60\n[task]\nkind = \"quadratic\"\nclients = 2\n\
                centers = [[1.0], [-1.0]]\n[client]\nlr = 1.0\nwork = { steps = [1, 20] }\n\
                [server]\nclose = \"all\"\n\
                [[variant]]\nname = \"fedavg\"\nset = { server.weighting = \"fedavg\" }\n\
                [[variant]]\nname = \"slower\"\n\
                set = { server.optimizer = { kind = \"sgd\", lr = 0.36 } }\n\
                [[variant]]\nname = \"momentum\"\n\
                set = { server.optimizer = { kind = \"momentum\", lr = 0.5, momentum = 0.5 } }\n\
                [[variant]]\nname = \"fednova\"\n";
    let workshop = Workshop::new(text);
    let predicted = predict(&workshop, &[]);
    workshop.call(&["run", "s.toml", "--out", "out"]);
    let summary = summary(&workshop.path("out"));
    let runs = summary["variants"].as_array().unwrap();
    let stretch = 10.5 * 0.5 * (1.0 + 1.0 / 20.0);
    for (i, (stretch, limit)) in
        [(1.0, 2.0), (stretch, 2.0 / 0.36), (stretch, 6.0), (stretch, 2.0)].into_iter().enumerate()
    {
        let said = &predicted[i];
        assert!((number(&said["stretch"]) - stretch).abs() < 1e-12, "{said}");
        assert!((number(&said["max_stretch"]) - stretch).abs() < 1e-12, "{said}");
        assert!((number(&said["largest_stretch"]) - limit).abs() < 1e-12, "{said}");
        let expected = if stretch < limit { "complete" } else { "diverged" };
        assert_eq!(runs[i]["status"], expected, "{}", runs[i]["name"]);
    }
    let shown = stdout(&workshop.call(&["theory", "s.toml"]));
    assert_eq!(shown.matches("5.512; too far").count(), 1, "{shown}");
}

#[test]
fn what_cannot_be_predicted_is_said() {
    let workshop = Workshop::new(
        "name = \"t\"\nstop.rounds = 3\nclient.work.steps = 2\nserver.close = \"all\"\n",
    );
    let says = |arguments: &[&str], words: &str| {
        let output = workshop.call(&[&["theory", "s.toml"], arguments].concat());
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        assert!(stderr(&output).contains(words), "{}", stderr(&output));
    };
    says(&["--sweep", "prox=0..51:10"], "with lr = 0.02 go up to prox = 50");
    says(&["--sweep", "lr=0..1:10"], "prox=LOW..HIGH:STEPS");
    says(&["--sweep", "prox=5..1:10"], "LOW < HIGH");
    says(&["--sweep", "prox=0..1:0"], "steps");
    says(&["--lipschitz", "-1"], "a number above 0");
    says(&["--beta2", "0.5"], "1 or more");
    says(&["--kappa2", "nan"], "0 or more");
    let output = workshop.call(&["theory", "s.toml"]);
    let shown = stdout(&output);
    assert!(shown.contains("needs --lipschitz --sigma2 --kappa2 --gap"), "{shown}");
    assert!(shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
}
