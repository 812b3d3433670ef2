//! What the paper says is the same thing must be the same thing.

use crate::simulated::{Simulated, difference};

/// Six quadratics with different steps, weights and curvatures.
fn six(client: &str, server: &str, variants: &str) -> String {
    format!(
        r#"
name = "six"
stop.rounds = 40
[task]
kind = "quadratic"
clients = 6
centers = [[1.0, 0.2], [-2.0, 1.0], [0.5, 3.0], [4.0, -1.0], [-0.5, -0.5], [2.0, 2.0]]
curvature = [[1.0, 2.0], [0.5, 1.0], [1.5, 1.0], [2.0, 0.5], [1.0, 1.0], [0.7, 1.3]]
weights = [0.3, 0.1, 0.2, 0.1, 0.1, 0.2]
[client]
lr = 0.05
{client}
[server]
close = "all"
{server}
{variants}
"#
    )
}

const STEPS: &str = "work = { steps = [1, 5, 9, 20, 3, 2] }";

fn variants(sets: &[(&str, &str)]) -> String {
    let one =
        |(name, set): &(&str, &str)| format!("[[variant]]\nname = \"{name}\"\nset = {{ {set} }}\n");
    sets.iter().map(one).collect()
}

/// Runs two variants and checks that they are the same run to the bit.
fn same_bits(client: &str, server: &str, one: &str, other: &str) {
    let run = Simulated::run(&six(client, server, &variants(&[("a", one), ("b", other)])), 2);
    let [a, b] = &run.summary.variants[..] else { panic!("two variants") };
    assert_eq!(a.digest, b.digest, "{one} and {other}");
    assert_eq!(a.model_digest, b.model_digest, "{one} and {other}");
}

#[test]
fn terms_that_are_switched_off_change_no_bit() {
    let fedavg = "server.weighting = \"fedavg\"";
    same_bits(STEPS, "", fedavg, &format!("{fedavg}, client.prox = 0.0"));
    same_bits(STEPS, "", "", "client.momentum = 0.0, client.lr_decay = 1.0");
    same_bits(STEPS, "", "", "client.weight_decay = 0.0, client.variance_reduction = \"none\"");
    let off = "server.optimizer = { kind = \"momentum\", momentum = 0.0 }";
    same_bits(STEPS, "", "", off);
    same_bits(STEPS, "", "", "server.optimizer = { kind = \"sgd\", lr = 1.0 }");
    same_bits(STEPS, "", "", "client.lr_schedule = [{ after = 20, times = 1.0 }]");
    same_bits(STEPS, "", "", "client.compression = \"none\"");
    same_bits(STEPS, "", "", "client.compression = { top_k = 1.0 }");
    same_bits(STEPS, "", "", "client.compression = { top_k = 1.0, error_feedback = true }");
}

#[test]
fn equal_steps_make_fednova_fedavg_with_every_solver() {
    for law in ["", "momentum = 0.9", "prox = 2.0", "lr_decay = 0.9", "momentum = 0.5\nprox = 1.0"]
    {
        let client = format!("work = {{ steps = 7 }}\n{law}");
        let both = variants(&[("avg", "server.weighting = \"fedavg\""), ("nova", "")]);
        let run = Simulated::run(&six(&client, "", &both), 2);
        let apart = difference(&run.x("avg"), &run.x("nova"));
        assert!(apart < 1e-13, "{law}: {apart}");
    }
}

/// α = ημ = 1: a client keeps nothing but its last step, so τ_eff = 1 and w = p (section 4.2).
#[test]
fn the_strongest_proximal_term_leaves_one_effective_step() {
    let fedavg = "weighting = \"fedavg\"";
    let run = Simulated::run(&six(&format!("{STEPS}\nprox = 20.0"), fedavg, ""), 2);
    for row in run.columns("rounds.csv", ["tau_eff", "chi2"]) {
        let [tau_eff, chi2] = row.map(|cell| cell.parse::<f64>().unwrap());
        assert!((tau_eff - 1.0).abs() < 1e-13 && chi2 < 1e-13, "{tau_eff} {chi2}");
    }
}

/// FedNova-prox (section 6): τ_eff = Σ p_iτ_i in place of Σ p_i‖a_i‖₁, everything else as it was.
#[test]
fn effective_steps_can_be_counted_instead_of_accumulated() {
    let both = variants(&[("accumulation", ""), ("steps", "server.tau_eff = \"steps\"")]);
    let run = Simulated::run(&six(&format!("{STEPS}\nprox = 10.0"), "", &both), 2);
    let p = [0.3, 0.1, 0.2, 0.1, 0.1, 0.2];
    let taus = [1.0, 5.0, 9.0, 20.0, 3.0, 2.0f64];
    let steps: f64 = p.iter().zip(taus).map(|(p, tau)| p * tau).sum();
    let accumulated: f64 =
        p.iter().zip(taus).map(|(p, tau)| p * (1.0 - 0.5f64.powf(tau)) / 0.5).sum();
    for row in run.columns("rounds.csv", ["variant", "tau_eff"]) {
        let expected = if row[0] == "steps" { steps } else { accumulated };
        assert!((row[1].parse::<f64>().unwrap() - expected).abs() < 1e-12, "{row:?}");
    }
}

/// With plain SGD and FedNova's weights SCAFFOLD's control variates are FedNova-VR's.
#[test]
fn scaffold_and_fednova_vr_are_one_method_with_plain_sgd() {
    let both = variants(&[
        ("scaffold", "client.variance_reduction = \"scaffold\""),
        ("fednova", "client.variance_reduction = \"fednova\""),
    ]);
    let run = Simulated::run(&six(STEPS, "sample = { clients = 4 }", &both), 2);
    assert!(difference(&run.x("scaffold"), &run.x("fednova")) < 1e-13);
}

/// On equal steps SCAFFOLD and VRLSGD reach the optimum; with steps that change VRLSGD does not
/// (Figure 2).
#[test]
fn variance_reduction_converges_where_it_is_meant_to() {
    let each = variants(&[
        ("scaffold", "client.variance_reduction = \"scaffold\""),
        ("vrlsgd", "client.variance_reduction = \"vrlsgd\""),
        ("fednova", "server.weighting = \"fednova\", client.variance_reduction = \"fednova\""),
    ]);
    let long = |client: &str| {
        let text = six(client, "weighting = \"fedavg\"", &each);
        text.replace("stop.rounds = 40", "stop = { rounds = 3000, divergence = \"off\" }")
    };
    let distance = |run: &Simulated, i: usize| {
        run.summary.variants[i].metrics.get(gruppetto::metric::Metric::Distance).unwrap()
    };
    let equal = Simulated::run(&long("work = { steps = 7 }"), 2);
    for variant in 0..3 {
        assert!(distance(&equal, variant) < 1e-12, "{variant}: {}", distance(&equal, variant));
    }
    let random = Simulated::run(&long("work = { steps = { uniform = [1, 30] } }"), 2);
    assert!(distance(&random, 0) < 1e-9 && distance(&random, 2) < 1e-9);
    let astray = distance(&random, 1);
    assert!(astray.is_nan() || astray > 0.1, "{astray}");
}

/// Both unbiased schemes of the paper's footnote, through the whole simulator: over many rounds
/// from the same model the mean update is that of full participation. FedAvg, and FedNova at a
/// given τ_eff (a τ_eff of those who happen to arrive depends on the draw).
///
/// Each of the 8 comparisons (2 schemes × 2 weightings × 2 coordinates) is a z-test at 5 standard
/// errors, so a right implementation fails with probability below 8 · 5.8e-7 ≈ 5e-6; the seed is
/// fixed, so it either always fails or never.
#[test]
fn both_sampling_schemes_are_unbiased() {
    let runs = 4000;
    for weighting in ["fedavg", "fednova"] {
        let rule =
            format!("weighting = \"{weighting}\"\ntau_eff = 6.0\nparticipation = \"unbiased\"");
        let rule = if weighting == "fedavg" { rule.replace("tau_eff = 6.0\n", "") } else { rule };
        let update = |server: &str, seeds: u64| -> Vec<Vec<f64>> {
            let text = six(STEPS, &format!("{rule}\n{server}"), "")
                .replace("stop.rounds = 40", "stop.rounds = 1");
            let scenario = crate::simulated::scenario(&text);
            (1..=seeds)
                .map(|seed| {
                    let plan = &scenario.variants[0].plan;
                    let built =
                        gruppetto::run::build(plan, seed, 0, Some(Default::default())).unwrap();
                    one_round(built)
                })
                .collect()
        };
        let full = &update("", 1)[0];
        for scheme in ["uniform", "by-size"] {
            let sampled =
                update(&format!("sample = {{ clients = 2 }}\nscheme = \"{scheme}\""), runs);
            for j in 0..2 {
                let values: Vec<f64> = sampled.iter().map(|x| x[j]).collect();
                let n = values.len() as f64;
                let mean = values.iter().sum::<f64>() / n;
                let variance = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0);
                let error = (variance / n).sqrt();
                assert!(error > 0.0 && error < 0.05, "a test that could not tell: {error}");
                let off = (mean - full[j]).abs();
                assert!(off < 5.0 * error, "{weighting}, {scheme}: {mean} ± {error}, {}", full[j]);
            }
        }
    }
}

/// With τ_eff as it is by default, FedNova is consistent under both schemes: it is taken over
/// everyone heard so far, not over those who happen to be drawn. FedAvg is not, whatever the
/// scheme.
#[test]
fn sampled_fednova_is_consistent_by_default() {
    for scheme in ["uniform", "by-size"] {
        let server = format!(
            "participation = \"unbiased\"\nsample = {{ clients = 2 }}\nscheme = \"{scheme}\""
        );
        let both = variants(&[("avg", "server.weighting = \"fedavg\""), ("nova", "")]);
        let text = six(STEPS, &server, &both).replace("stop.rounds = 40", "stop.rounds = 4000");
        let run = Simulated::run(&text.replace("lr = 0.05", "lr = 0.001"), 2);
        let [avg, nova] = &run.summary.variants[..] else { panic!("two variants") };
        assert!(nova.chi2 < 0.005 && avg.chi2 > 0.2, "{scheme}: {} {}", nova.chi2, avg.chi2);
    }
}

/// VRLSGD averages the clients' models; where the server goes from there is its own affair.
#[test]
fn vrlsgd_takes_any_server() {
    let each = variants(&[
        ("plain", ""),
        ("half", "server.optimizer = { kind = \"sgd\", lr = 0.5 }"),
        ("momentum", "server.optimizer = { kind = \"momentum\", momentum = 0.5 }"),
        ("fixed", "server.weighting = \"fednova\", server.tau_eff = 3.0"),
    ]);
    let client = "work = { steps = 7 }\nvariance_reduction = \"vrlsgd\"";
    let text = six(client, "weighting = \"fedavg\"", &each);
    let run = Simulated::run(&text.replace("stop.rounds = 40", "stop.rounds = 3000"), 2);
    for variant in &run.summary.variants {
        let distance = variant.metrics.get(gruppetto::metric::Metric::Distance).unwrap();
        assert!(distance < 1e-12, "{}: {distance}", variant.name);
    }
}

/// Where the model is after one round, without actors.
fn one_round(built: gruppetto::run::Built) -> Vec<f64> {
    use gruppetto::clock::SimTime;
    let gruppetto::run::Built { mut server, client_side, .. } = built;
    let gruppetto::server::Opening::Asked(asked) = server.open_round(SimTime::ZERO).unwrap() else {
        panic!("everybody is there");
    };
    let round = server.round().clone();
    let mut arrivals: Vec<_> = asked
        .into_iter()
        .map(|asked| {
            let request = server.send_off(asked, SimTime::ZERO);
            client_side
                .set_out(round.clone(), request, server.client_context(asked.client, &round))
                .unwrap()
        })
        .collect();
    arrivals.sort_by_key(|arrival| arrival.way.arrives);
    let last = arrivals.last().unwrap().way.arrives;
    for arrival in arrivals {
        server.arrive(arrival).unwrap();
    }
    server.close_round(last).unwrap();
    server.take_parameters()
}
