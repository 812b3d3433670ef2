//! Theorem 1's A, B and C from the general formulas and `Solver::norms`, against the closed forms
//! of section 4.2 and appendix E, written out here as the paper writes them; and the floor of
//! Theorem 2 in the one case that the paper works out.

use super::{FedProx, Participant, RestingPoint, Round, chi_square};
use crate::data::LocalCurvature;
use crate::solver::Solver;
use proptest::prelude::*;

/// A round in which w_i and τ_eff follow from the local solver (eq. new_form1): FedAvg, FedProx.
fn implicit(p: &[f64], tau: &[u64], solver: Solver) -> Round {
    let norms: Vec<_> = tau.iter().map(|tau| solver.norms(*tau, solver.lr)).collect();
    let tau_eff: f64 = p.iter().zip(&norms).map(|(p, norms)| p * norms.l1).sum();
    let clients = p.iter().zip(tau).zip(norms).map(|((&p, &tau), norms)| Participant {
        p,
        weight: p * norms.l1 / tau_eff,
        tau,
        norms,
    });
    Round::new(tau_eff, clients).unwrap()
}

/// τ_eff, A, B, C, χ² of FedAvg.
fn fedavg(p: &[f64], tau: &[u64]) -> [f64; 5] {
    let mean = |f: &dyn Fn(f64) -> f64| -> f64 {
        p.iter().zip(tau).map(|(p, tau)| p * f(*tau as f64)).sum()
    };
    let (m, first) = (p.len() as f64, mean(&|tau| tau));
    let variance = mean(&|tau| tau * tau) - first * first;
    let noise: f64 = p.iter().zip(tau).map(|(p, tau)| p * p * *tau as f64).sum();
    let most = *tau.iter().max().unwrap() as f64;
    let w: Vec<f64> = p.iter().zip(tau).map(|(p, tau)| p * *tau as f64 / first).collect();
    let b = first - 1.0 + variance / first;
    [first, m * noise / first, b, most * (most - 1.0), chi_square(p, &w)]
}

/// The same of FedProx with 0 < α ≤ 1.
fn fedprox(p: &[f64], tau: &[u64], alpha: f64) -> [f64; 5] {
    let gone = |times: u64| 1.0 - (1.0 - alpha).powi(times as i32);
    let l2 = |tau: u64| gone(2 * tau) / gone(2);
    let clients = || p.iter().copied().zip(tau.iter().copied());
    let sum: f64 = clients().map(|(p, tau)| p * gone(tau)).sum();
    let a: f64 = clients().map(|(p, tau)| p * p * l2(tau)).sum();
    let b: f64 = clients().map(|(p, tau)| p * gone(tau) / sum * (l2(tau) - 1.0)).sum();
    let l1 = gone(*tau.iter().max().unwrap()) / alpha;
    let w: Vec<f64> = clients().map(|(p, tau)| p * gone(tau) / sum).collect();
    [sum / alpha, p.len() as f64 * alpha / sum * a, b, l1 * (l1 - 1.0), chi_square(p, &w)]
}

fn of(round: &Round) -> [f64; 5] {
    [round.tau_eff, round.a, round.b, round.c, round.chi2]
}

fn close(got: [f64; 5], want: [f64; 5], tolerance: f64) -> bool {
    got.iter().zip(want).all(|(got, want)| (got - want).abs() <= tolerance * (1.0 + want.abs()))
}

/// "If all clients perform the same local steps and have the same amount of data."
#[test]
fn equal_clients_give_one_and_tau_minus_one() {
    for (m, tau) in [(1, 1), (4, 1), (7, 20)] {
        let (p, taus) = (vec![1.0 / m as f64; m], vec![tau; m]);
        let round = implicit(&p, &taus, Solver::sgd(0.1));
        let n = tau as f64;
        assert!(close(of(&round), [n, 1.0, n - 1.0, n * (n - 1.0), 0.0], 1e-13), "{round:?}");
        assert!((round.slowdown - 1.0).abs() < 1e-14);
    }
}

/// FedNova of the same steps, w_i = p_i: no bias; with p_i = 1/m its A is τ̄/m · Σ 1/τ_i.
#[test]
fn fednova_has_no_bias() {
    let tau = [2u64, 5, 11];
    let norms = tau.map(|tau| Solver::sgd(0.1).norms(tau, 0.1));
    let clients = (0..3).map(|i| Participant {
        p: 1.0 / 3.0,
        weight: 1.0 / 3.0,
        tau: tau[i],
        norms: norms[i],
    });
    let round = Round::new(6.0, clients).unwrap();
    assert!(close(of(&round), [6.0, 2.0 * (0.5 + 0.2 + 1.0 / 11.0), 5.0, 110.0, 0.0], 1e-14));
}

/// Appendix D.2: F₁ = ½(x − a)², F₂ = ½(x + a)², equal shares, FedAvg. The paper's constants are
/// both off by two, in ways that cancel: κ² = Σ w_i‖∇F_i − ∇F̃‖² is 4w₁w₂a², not 2w₁w₂a², and
/// χ² = (τ₂ − τ₁)²/(4τ₁τ₂), not (τ₂ − τ₁)²/(2τ₁τ₂). (F₂ has a w for its x, besides.) What remains
/// is ‖∇F(x̃)‖² = χ²κ², half of what Theorem 2 allows: the floor is real.
#[test]
fn the_two_client_lower_bound_is_chi2_kappa2() {
    const A: f64 = 3.0;
    let (a, lr) = (A, 1e-7);
    for taus in [[1u64, 2], [3, 40], [25, 4]] {
        let mut rest = RestingPoint::default();
        for (i, tau) in taus.into_iter().enumerate() {
            rest.add(i, 0.5 * tau as f64, tau as f64, &Solver::sgd(lr), tau);
        }
        let x = rest.solve(1, |i| (LocalCurvature::Identity, &[[A], [-A]][i])).unwrap()[0];
        let [t1, t2] = taus.map(|tau| tau as f64);
        let w = [t1 / (t1 + t2), t2 / (t1 + t2)];
        let surrogate = x - (w[0] - w[1]) * a;
        let kappa2 = w[0] * (x - a - surrogate).powi(2) + w[1] * (x + a - surrogate).powi(2);
        assert!((kappa2 - 4.0 * w[0] * w[1] * a * a).abs() < 1e-12);
        let chi2 = chi_square(&[0.5, 0.5], &w);
        assert!((chi2 - (t2 - t1).powi(2) / (4.0 * t1 * t2)).abs() < 1e-12);
        let gradient2 = x * x;
        assert!((gradient2 - chi2 * kappa2).abs() < 1e-4, "{gradient2} {}", chi2 * kappa2);
        assert!((chi2 * kappa2 - ((t1 - t2) / (t1 + t2) * a).powi(2)).abs() < 1e-12);
    }
}

fn any_clients() -> impl Strategy<Value = (Vec<f64>, Vec<u64>)> {
    proptest::collection::vec((0.05..1.0f64, 1u64..60), 1..12).prop_map(|clients| {
        let total: f64 = clients.iter().map(|client| client.0).sum();
        clients.into_iter().map(|(share, tau)| (share / total, tau)).unzip()
    })
}

proptest! {
    #[test]
    fn fedavg_is_the_papers((p, tau) in any_clients()) {
        let want = fedavg(&p, &tau);
        prop_assert!(close(of(&implicit(&p, &tau, Solver::sgd(0.05))), want, 1e-12));
        prop_assert!(close(of(&FedProx::new(&p, &tau).round(0.0)), want, 1e-12), "α = 0");
    }

    #[test]
    fn fedprox_is_the_papers((p, tau) in any_clients(), alpha in 1e-3..1.0f64) {
        let solver = Solver { prox: alpha / 0.05, ..Solver::sgd(0.05) };
        let want = fedprox(&p, &tau, alpha);
        prop_assert!(close(of(&implicit(&p, &tau, solver)), want, 1e-9));
        prop_assert!(close(of(&FedProx::new(&p, &tau).round(alpha)), want, 1e-9));
    }

    /// α → 0 is FedAvg: A, B, C differ by no more than in proportion to α, down to where the
    /// paper's expressions would be 0/0.
    #[test]
    fn fedprox_tends_to_fedavg((p, tau) in any_clients(), digits in 5i32..300) {
        let alpha = 10f64.powi(-digits);
        let want = fedavg(&p, &tau);
        let near = 200.0 * alpha + 1e-12;
        prop_assert!(close(of(&FedProx::new(&p, &tau).round(alpha)), want, near));
        let solver = Solver { prox: alpha / 0.05, ..Solver::sgd(0.05) };
        prop_assert!(close(of(&implicit(&p, &tau, solver)), want, near));
    }

    /// α = 1 forgets all steps but the last: consistent, and one effective step.
    #[test]
    fn fedprox_at_one_is_consistent_and_slow((p, tau) in any_clients()) {
        let size: f64 = p.iter().map(|p| p * p).sum();
        let want = [1.0, p.len() as f64 * size, 0.0, 0.0, 0.0];
        prop_assert!(close(of(&FedProx::new(&p, &tau).round(1.0)), want, 1e-13));
        let solver = Solver { prox: 4.0, ..Solver::sgd(0.25) };
        prop_assert!(close(of(&implicit(&p, &tau, solver)), want, 1e-13));
    }
}
