//! What `theory` says and what runs measure follow from the same definitions.

use crate::simulated::Simulated;
use crate::support::{Workshop, rows, stderr, stdout};
use gruppetto::solver::Solver;
use serde_json::Value;

fn predict(workshop: &Workshop, arguments: &[&str]) -> Value {
    let output = workshop.call(&[&["theory", "s.toml", "--json"], arguments].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let all: Value = serde_json::from_str(&stdout(&output)).unwrap();
    all["variants"][0].clone()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value}"))
}

/// Two clients in turn, the second at a thousandth of the rate: it moves the model by a thousandth.
#[test]
fn a_clients_part_of_the_movement_counts_its_learning_rate() {
    let text = "name = \"turns\"\nstop.rounds = 2\ntask = { kind = \"quadratic\", clients = 2 }\n\
                [client]\nlr_schedule = [{ after = 1, times = 0.001 }]\nwork = { steps = 2 }\n\
                [server]\nclose = \"all\"\nscheme = \"round-robin\"\nsample = { clients = 1 }\n";
    let workshop = Workshop::new(text);
    let w = [1.0 / 1.001, 0.001 / 1.001];
    let expected: f64 = w.iter().map(|w| (0.5 - w) * (0.5 - w) / w).sum();
    assert!((expected - 249.5).abs() < 0.01);
    let measured = rows(&workshop.run("out", &[]).join("rounds.csv"));
    let predicted = number(&predict(&workshop, &[])["chi2"]);
    for chi2 in [measured[1].float("chi2"), predicted] {
        assert!((chi2 / expected - 1.0).abs() < 1e-12, "{chi2} {expected}");
    }
}

/// Where updates are late, each counts at the rate at which it was trained, in both.
#[test]
fn stale_updates_count_at_the_rate_they_were_trained_at() {
    let text = "name = \"stale\"\nstop.rounds = 12\ntask = { kind = \"quadratic\", clients = 3, dim = 2 }\n\
                [client]\nlr = 0.1\nlr_schedule = [{ after = 3, times = 0.1 }]\nwork = { steps = [1, 2, 7] }\n\
                [server]\nclose = { buffer = 2 }\n";
    let workshop = Workshop::new(text);
    let folder = workshop.run("out", &[]);
    let (clients, rounds) = (rows(&folder.join("clients.csv")), rows(&folder.join("rounds.csv")));
    let mut c = [0.0; 3];
    for row in clients.iter().filter(|row| row.text("outcome") == "used") {
        let heard = row.int("round") + row.int("staleness");
        let tau_eff = rounds[heard as usize - 1].float("tau_eff");
        let rate = if row.int("round") <= 3 { 0.1 } else { 0.01 };
        c[row.int("client") as usize] += rate * tau_eff * row.float("weight");
    }
    let total: f64 = c.iter().sum();
    let expected: f64 = c.iter().map(|c| (1.0 / 3.0 - c / total).powi(2) / (c / total)).sum();
    let predicted = number(&predict(&workshop, &[])["chi2"]);
    for chi2 in [rounds[11].float("chi2"), predicted] {
        assert!((chi2 / expected - 1.0).abs() < 1e-9, "{chi2} {expected}");
    }
}

/// FedNova hears everybody alike: rounding must not show in one file and not in the other.
#[test]
fn no_distance_is_no_distance_everywhere() {
    let text = "name = \"alike\"\nstop.rounds = 30\ntask = { kind = \"quadratic\", clients = 7 }\n\
                client.work = { steps = [3, 1, 4, 1, 5, 9, 2] }\nserver.close = \"all\"\n";
    let run = Simulated::run(text, 1);
    assert_eq!(run.summary.variants[0].chi2, 0.0);
    for [chi2] in run.columns("rounds.csv", ["chi2"]) {
        assert_eq!(chi2, "0.0");
    }
}

#[test]
fn the_limit_on_the_rate_follows_the_largest_eigenvalue() {
    let text = "name = \"full\"\nstop.rounds = 5\n[task]\nkind = \"quadratic\"\nclients = 1\ndim = 2\n\
                curvature = [[[2.0, 1.0], [1.0, 1.0]]]\n[client]\nlr = 0.01\nwork = { steps = 2 }\n\
                [server]\nclose = \"all\"\n";
    let workshop = Workshop::new(text);
    let predicted = predict(&workshop, &[]);
    let largest = (3.0 + 5f64.sqrt()) / 2.0;
    assert!((number(&predicted["constants"]["lipschitz"]) - largest).abs() < 1e-14);
    let limit = &predicted["lr_limit"];
    let product = number(&limit["largest_lr_times_lipschitz"]);
    assert!((number(&limit["largest_lr"]) * largest / product - 1.0).abs() < 1e-12);
    // With a full matrix only κ² is not known.
    let shown = stdout(&workshop.call(&["theory", "s.toml"]));
    assert!(shown.contains("needs --kappa2\n"), "{shown}");
    let shown = stdout(&workshop.call(&["theory", "s.toml", "--kappa2", "1"]));
    assert!(!shown.contains("needs"), "{shown}");
}

/// No proximal term has a lower bound than the one that is called best: what is compared is the bound that
/// is printed when that term is set.
#[test]
fn the_best_proximal_term_has_the_least_printed_bound() {
    let text = |weighting: &str, more: &str| {
        format!(
            "name = \"prox\"\nstop.rounds = 40\n[task]\nkind = \"quadratic\"\nclients = 3\n\
             centers = [[1.0], [-1.0], [0.5]]\ngradient_noise = 0.5\n{more}\n\
             work = {{ steps = [4, 10, 25] }}\n[server]\nclose = \"all\"\nweighting = \"{weighting}\"\n"
        )
    };
    let plain = "[client]\nlr = 0.02";
    let falling = "[client]\nlr = 0.02\nlr_schedule = [{ after = 20, times = 0.5 }]";
    let curved = "curvature = [[1.0], [2.0], [0.5]]\n[client]\nlr = 0.02";
    for (weighting, more) in [
        ("fedavg", plain),
        ("fednova", plain),
        ("uniform", plain),
        ("fedavg", falling),
        ("fedavg", curved),
    ] {
        let workshop = Workshop::new(&text(weighting, more));
        let bound = |prox: f64| {
            let set = format!("client.prox={prox}");
            let said = predict(&workshop, &["--set", &set, "--kappa2", "0.7"]);
            let terms = said["bound"].as_object().unwrap_or_else(|| panic!("{said}"));
            terms.values().map(number).sum::<f64>()
        };
        let said = predict(&workshop, &["--kappa2", "0.7"]);
        let best = number(&said["prox"]["best_prox"]);
        let least = bound(best);
        for factor in [0.0, 0.25, 0.5, 0.9, 0.99, 1.01, 1.1, 2.0, 4.0] {
            let prox = (best * factor).min(50.0);
            assert!(bound(prox) >= least * (1.0 - 1e-9), "{weighting} {more}: {prox} {best}");
        }
    }
    let workshop = Workshop::new(&text("fedavg", plain));
    let best = number(&predict(&workshop, &[])["prox"]["best_prox"]);
    assert!((best - 19.2).abs() < 0.05, "{best}");
}

/// Momentum with a strong proximal term: early gradients count against the change. Σ a_k = 2.16 is what normalises
/// it, not the norm 9.70, and the run says that it is so.
#[test]
fn a_law_that_overshoots_is_normalised_by_its_sum_and_told_of() {
    let text = "name = \"overshoot\"\nstop.rounds = 1\ntask = { kind = \"quadratic\", clients = 1 }\n\
                [client]\nlr = 0.3\nmomentum = 0.9\nprox = 1.0\nwork = { steps = 9 }\n\
                [server]\nclose = \"all\"\n";
    let law = Solver { momentum: 0.9, prox: 1.0, ..Solver::sgd(0.3) };
    let entries = law.accumulation_vector(9);
    let [sum, norm] = [entries.iter().sum::<f64>(), entries.iter().map(|a| a.abs()).sum()];
    assert!((sum - 2.16).abs() < 0.005 && (norm - 9.70).abs() < 0.005, "{sum} {norm}");
    assert!(law.first_negative_entry().is_some());
    assert_eq!(Solver { prox: 0.0, ..law }.first_negative_entry(), None);
    assert_eq!(Solver { prox: 0.01, momentum: 0.5, ..law }.first_negative_entry(), None);
    let workshop = Workshop::new(text);
    let output = workshop.call(&["run", "s.toml", "--out", "out"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let said = stderr(&output);
    assert!(said.contains("warning: momentum and proximal term overshoot"), "{said}");
    assert!(said.contains("Σ a_k"), "{said}");
    let rows = rows(&workshop.path("out").join("clients.csv"));
    assert!((rows[0].float("accumulation") - sum).abs() < 1e-12);
}
