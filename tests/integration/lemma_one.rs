//! Lemma 1 and appendix A: where FedAvg and FedNova come to rest on quadratics.

use crate::simulated::{Simulated, difference};
use gruppetto::data::LocalCurvature;
use gruppetto::matrix::Matrix;
use gruppetto::solver::Solver;
use gruppetto::theory::RestingPoint;

/// Two clients with full, different H_i, unequal weights and unequal steps.
fn two_clients(lr: f64, taus: [u64; 2], rounds: u64) -> String {
    format!(
        r#"
name = "two-clients"
stop.rounds = {rounds}
[task]
kind = "quadratic"
clients = 2
dim = 2
centers = [[1.0, -2.0], [3.0, 0.5]]
curvature = [[[2.0, 0.3], [0.3, 1.0]], [[1.0, -0.2], [-0.2, 3.0]]]
weights = [0.3, 0.7]
[client]
lr = {lr}
work = {{ steps = [{}, {}] }}
[server]
close = "all"
evaluate_every = {rounds}
[[variant]]
name = "fedavg"
set = {{ server.weighting = "fedavg" }}
[[variant]]
name = "fednova"
"#,
        taus[0], taus[1]
    )
}

type M = [[f64; 2]; 2];
const H: [M; 2] = [[[2.0, 0.3], [0.3, 1.0]], [[1.0, -0.2], [-0.2, 3.0]]];
const E: [[f64; 2]; 2] = [[1.0, -2.0], [3.0, 0.5]];
const P: [f64; 2] = [0.3, 0.7];

fn times(a: M, b: M) -> M {
    std::array::from_fn(|i| std::array::from_fn(|j| a[i][0] * b[0][j] + a[i][1] * b[1][j]))
}

fn apply(a: M, x: [f64; 2]) -> [f64; 2] {
    a.map(|row| row[0] * x[0] + row[1] * x[1])
}

fn inverse([[a, b], [c, d]]: M) -> M {
    let det = a * d - b * c;
    [[d / det, -b / det], [-c / det, a / det]]
}

/// x̃ = (Σ f_i K_i H_i)⁻¹ Σ f_i K_i e_i with K_i = [I − (I − ηH_i)^τ_i] H_i⁻¹, written out for two
/// dimensions as the appendix writes it: with powers and inverses, unlike the library.
fn closed_form(lr: f64, taus: [u64; 2], factors: [f64; 2]) -> [f64; 2] {
    let (mut left, mut right) = ([[0.0; 2]; 2], [0.0; 2]);
    for i in 0..2 {
        let identity = [[1.0, 0.0], [0.0, 1.0]];
        let contraction: M =
            std::array::from_fn(|r| std::array::from_fn(|c| identity[r][c] - lr * H[i][r][c]));
        let power = (0..taus[i]).fold(identity, |power, _| times(power, contraction));
        let shrunk: M =
            std::array::from_fn(|r| std::array::from_fn(|c| identity[r][c] - power[r][c]));
        let k = times(shrunk, inverse(H[i]));
        let (kh, ke) = (times(k, H[i]), apply(k, E[i]));
        for r in 0..2 {
            right[r] += factors[i] * ke[r];
            (0..2).for_each(|c| left[r][c] += factors[i] * kh[r][c]);
        }
    }
    apply(inverse(left), right)
}

/// x* = H̄⁻¹ē.
fn optimum() -> [f64; 2] {
    let mean: M =
        std::array::from_fn(|r| std::array::from_fn(|c| P[0] * H[0][r][c] + P[1] * H[1][r][c]));
    apply(inverse(mean), std::array::from_fn(|r| P[0] * E[0][r] + P[1] * E[1][r]))
}

#[test]
fn fedavg_rests_where_appendix_a_says() {
    for (lr, taus) in [(0.05, [3, 40]), (0.2, [1, 7]), (0.01, [96, 1])] {
        let run = Simulated::run(&two_clients(lr, taus, 4000), 2);
        let expected = closed_form(lr, taus, P);
        assert!(difference(&run.x("fedavg"), &expected) < 1e-10, "η={lr}, τ={taus:?}");
        // FedNova's factor is p_i/τ_i instead of p_i.
        let expected = closed_form(lr, taus, [P[0] / taus[0] as f64, P[1] / taus[1] as f64]);
        assert!(difference(&run.x("fednova"), &expected) < 1e-10, "η={lr}, τ={taus:?}");
        // And the library's own formula agrees with the one written out above.
        let mut rest = RestingPoint::default();
        (0..2).for_each(|i| rest.add(i, P[i], taus[i] as f64, &Solver::sgd(lr), taus[i]));
        let curvatures = H.map(|h| Matrix::from_rows(&h.map(|row| row.to_vec())));
        let library = rest.solve(2, |i| (LocalCurvature::Full(&curvatures[i]), &E[i])).unwrap();
        assert!(difference(&library, &expected) < 1e-12);
    }
}

/// With η → 0 FedNova's limit tends to x*, in proportion to η; FedAvg's to the minimum of the
/// surrogate Σ p_iτ_iF_i, which is elsewhere.
#[test]
fn fednova_tends_to_the_optimum_and_fedavg_does_not() {
    let taus = [2, 20];
    let gap = |run: &Simulated, variant| difference(&run.x(variant), &optimum());
    let runs = [0.04, 0.02, 0.01].map(|lr| Simulated::run(&two_clients(lr, taus, 6000), 1));
    for pair in runs.windows(2) {
        let halved = gap(&pair[1], "fednova") / gap(&pair[0], "fednova");
        assert!((0.4..0.6).contains(&halved), "halving η gave {halved}");
    }
    let surrogate: f64 = 0.1;
    assert!(gap(&runs[2], "fedavg") > surrogate, "{}", gap(&runs[2], "fedavg"));
    assert!(gap(&runs[2], "fednova") < 0.3 * gap(&runs[2], "fedavg"));
}

/// Lemma 1 as the paper states it: H_i = I, equal weights, and at finite η
/// Σ[1−(1−η)^τ_i]e_i / Σ[1−(1−η)^τ_i].
#[test]
fn lemma_one_for_thirty_clients() {
    let taus: Vec<u64> = (0..30).map(|i| 1 + i * 95 / 29).collect();
    let steps = taus.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
    let centers: Vec<f64> = (0..30).map(|i| ((i * 37) % 11) as f64 / 10.0 - 0.5).collect();
    let vectors = centers.iter().map(|e| format!("[{e:?}]")).collect::<Vec<_>>().join(", ");
    let text = format!(
        r#"
name = "lemma-one"
stop.rounds = 500
[task]
kind = "quadratic"
clients = 30
dim = 1
centers = [{vectors}]
[client]
lr = 0.05
work = {{ steps = [{steps}] }}
[server]
close = "all"
weighting = "fedavg"
"#
    );
    let run = Simulated::run(&text, 2);
    let gain = |tau: &u64| 1.0 - 0.95f64.powi(*tau as i32);
    let above: f64 = taus.iter().zip(&centers).map(|(tau, e)| gain(tau) * e).sum();
    let below: f64 = taus.iter().map(gain).sum();
    assert!((run.x("fedavg")[0] - above / below).abs() < 1e-12);
}

#[test]
fn equal_steps_make_both_agree_to_rounding() {
    let run = Simulated::run(&two_clients(0.05, [25, 25], 300), 2);
    assert!(difference(&run.x("fedavg"), &run.x("fednova")) < 1e-13);
    let chi2: Vec<f64> = run.summary.variants.iter().map(|variant| variant.chi2).collect();
    assert!(chi2.iter().all(|chi2| *chi2 < 1e-12), "{chi2:?}");
}

/// Equal steps, but only some take part: still the same model, for both weightings and whichever
/// way those who are missing are dealt with.
#[test]
fn equal_steps_make_both_agree_when_only_some_take_part() {
    for participation in ["renormalize", "unbiased"] {
        for scheme in ["uniform", "by-size"] {
            let server = format!(
                "close = \"all\"\nsample = {{ clients = 1 }}\nscheme = \"{scheme}\"\n\
                 participation = \"{participation}\""
            );
            let text = two_clients(0.05, [25, 25], 50).replace("close = \"all\"", &server);
            let run = Simulated::run(&text, 1);
            let gap = difference(&run.x("fedavg"), &run.x("fednova"));
            assert!(gap < 1e-13, "{participation}, {scheme}: {gap}");
        }
    }
}

/// With sampling, the effective weights tend to p: drawn by size, by draws; drawn uniformly,
/// unbiased weights do it and renormalised ones nearly.
#[test]
fn sampled_clients_are_heard_in_proportion_to_their_data() {
    let text = two_clients(0.001, [5, 5], 20_000).replace("evaluate_every = 20000", "evaluate_every = 20000\nsample = { clients = 1 }\nscheme = \"SCHEME\"\nparticipation = \"HOW\"");
    for (scheme, how) in
        [("by-size", "renormalize"), ("by-size", "unbiased"), ("uniform", "unbiased")]
    {
        let text = text.replace("SCHEME", scheme).replace("HOW", how);
        let folder = tempfile::tempdir().unwrap();
        let options = gruppetto::run::Options {
            timing_only: true,
            ..crate::simulated::options(folder.path(), 1)
        };
        let summary = gruppetto::run::run(
            &crate::simulated::scenario(&text),
            &options,
            &gruppetto::plugins::Plugins::new(),
        )
        .unwrap();
        for variant in summary.summary.variants {
            assert!(variant.chi2 < 1e-3, "{scheme}, {how}, {}: {}", variant.name, variant.chi2);
        }
    }
}
