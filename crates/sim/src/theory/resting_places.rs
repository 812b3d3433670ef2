//! [`RestingPoint`] against Lemma 1, against the paper's K, and against the rule at work.

use super::RestingPoint;
use crate::data::LocalCurvature;
use crate::matrix::Matrix;
use crate::solver::{Descent, Solver};
use proptest::prelude::*;

/// H_i as a test owns it.
#[derive(Clone, Debug)]
enum Owned {
    Identity,
    Diagonal(Vec<f64>),
    Full(Matrix),
}

impl Owned {
    fn lend(&self) -> LocalCurvature<'_> {
        match self {
            Owned::Identity => LocalCurvature::Identity,
            Owned::Diagonal(h) => LocalCurvature::Diagonal(h),
            Owned::Full(h) => LocalCurvature::Full(h),
        }
    }
}

/// One client: how far its displacement counts, its law and its problem.
#[derive(Clone, Debug)]
struct Client {
    factor: f64,
    solver: Solver,
    tau: u64,
    curvature: Owned,
    center: Vec<f64>,
}

fn rest(clients: &[Client]) -> Option<Vec<f64>> {
    let mut rest = RestingPoint::default();
    for (i, client) in clients.iter().enumerate() {
        let accumulation = client.solver.accumulation(client.tau);
        rest.add(i, client.factor * accumulation, accumulation, &client.solver, client.tau);
    }
    rest.solve(clients[0].center.len(), |i| (clients[i].curvature.lend(), &clients[i].center))
}

/// The rule at work: round after round until the model moves no more.
fn iterate(clients: &[Client]) -> Vec<f64> {
    let mut x = vec![1.0; clients[0].center.len()];
    for _ in 0..20_000 {
        let mut next = x.clone();
        for client in clients {
            let mut local = x.clone();
            let mut descent = Descent::new(client.solver, &x, &[]);
            for _ in 0..client.tau {
                let mut gradient = client.curvature.lend().apply(&local);
                gradient.iter_mut().zip(&client.center).for_each(|(g, e)| *g -= e);
                descent.step(&mut local, &gradient);
            }
            for (next, (local, x)) in next.iter_mut().zip(local.iter().zip(&x)) {
                *next += client.factor * (local - x);
            }
        }
        let moved = difference(&next, &x);
        x = next;
        if moved < 1e-15 {
            break;
        }
    }
    x
}

fn difference(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

fn client(factor: f64, solver: Solver, tau: u64, h: Owned, center: &[f64]) -> Client {
    Client { factor, solver, tau, curvature: h, center: center.to_vec() }
}

/// Lemma 1's concrete example: H_i = I gives Σ[1−(1−η)^τ_i]e_i / Σ[1−(1−η)^τ_i].
#[test]
fn identity_curvature_gives_lemma_one() {
    let (lr, taus, centers) = (0.05, [3u64, 20, 96], [1.0, -2.0, 5.0]);
    let clients: Vec<_> = taus
        .iter()
        .zip(centers)
        .map(|(&tau, center)| {
            client(1.0 / 3.0, Solver::sgd(lr), tau, Owned::Identity, &[center, 2.0 * center])
        })
        .collect();
    let gain = |tau: u64| 1.0 - (1.0f64 - lr).powi(tau as i32);
    let above: f64 = taus.iter().zip(centers).map(|(&tau, e)| gain(tau) * e).sum();
    let below: f64 = taus.iter().map(|&tau| gain(tau)).sum();
    let x = rest(&clients).unwrap();
    assert!(difference(&x, &[above / below, 2.0 * above / below]) < 1e-13);
}

/// Eq. T_limit with μ > 0 and K as the paper writes it, on diagonals.
#[test]
fn proximal_clients_rest_where_appendix_a_says() {
    let (lr, mu) = (0.04, 1.5);
    let solver = Solver { prox: mu, ..Solver::sgd(lr) };
    let (p, taus): ([f64; 2], [u64; 2]) = ([0.3, 0.7], [4, 33]);
    let h = [[2.0, 0.5, 1.0], [1.0, 3.0, 0.2]];
    let e = [[1.0, -2.0, 0.5], [3.0, 0.5, -1.0]];
    let k = |i: usize, j: usize| {
        (1.0 - (1.0f64 - lr * mu - lr * h[i][j]).powi(taus[i] as i32)) / (h[i][j] + mu)
    };
    let expected: Vec<f64> = (0..3)
        .map(|j| {
            let left: f64 = (0..2).map(|i| p[i] * k(i, j) * h[i][j]).sum();
            (0..2).map(|i| p[i] * k(i, j) * e[i][j]).sum::<f64>() / left
        })
        .collect();
    let clients: Vec<_> = (0..2)
        .map(|i| client(p[i], solver, taus[i], Owned::Diagonal(h[i].to_vec()), &e[i]))
        .collect();
    assert!(difference(&rest(&clients).unwrap(), &expected) < 1e-12);
}

type M = [[f64; 2]; 2];

fn times(a: M, b: M) -> M {
    std::array::from_fn(|i| std::array::from_fn(|j| a[i][0] * b[0][j] + a[i][1] * b[1][j]))
}

fn combine(a: M, factor: f64, b: M) -> M {
    std::array::from_fn(|i| std::array::from_fn(|j| a[i][j] + factor * b[i][j]))
}

fn inverse([[a, b], [c, d]]: M) -> M {
    let det = a * d - b * c;
    [[d / det, -b / det], [-c / det, a / det]]
}

/// The same with full matrices, powers and inverses written out for two dimensions.
#[test]
fn proximal_clients_rest_where_appendix_a_says_with_full_matrices() {
    const I: M = [[1.0, 0.0], [0.0, 1.0]];
    let (lr, mu) = (0.06, 0.8);
    let h: [M; 2] = [[[2.0, 0.3], [0.3, 1.0]], [[1.0, -0.2], [-0.2, 3.0]]];
    let (e, p, taus) = ([[1.0, -2.0], [3.0, 0.5]], [0.4, 0.6], [5, 21]);
    let (mut left, mut right) = ([[0.0; 2]; 2], [0.0; 2]);
    for i in 0..2 {
        let contraction = combine(combine(I, -lr * mu, I), -lr, h[i]);
        let power = (0..taus[i]).fold(I, |power, _| times(power, contraction));
        let k = times(combine(I, -1.0, power), inverse(combine(h[i], mu, I)));
        left = combine(left, p[i], times(k, h[i]));
        for r in 0..2 {
            right[r] += p[i] * (k[r][0] * e[i][0] + k[r][1] * e[i][1]);
        }
    }
    let expected = inverse(left).map(|row| row[0] * right[0] + row[1] * right[1]);
    let solver = Solver { prox: mu, ..Solver::sgd(lr) };
    let full = |i: usize| Owned::Full(Matrix::from_rows(&h[i].map(|row| row.to_vec())));
    let clients: Vec<_> = (0..2).map(|i| client(p[i], solver, taus[i], full(i), &e[i])).collect();
    assert!(difference(&rest(&clients).unwrap(), &expected) < 1e-12);
}

#[test]
fn contributions_add_up_over_rounds_and_in_any_order() {
    let solvers = [Solver::sgd(0.05), Solver { momentum: 0.5, ..Solver::sgd(0.02) }];
    let adds = [(0, 2.0, 0, 7), (1, 1.0, 1, 3), (0, 4.0, 0, 7), (0, 1.0, 1, 2), (1, 3.0, 0, 9)];
    let (h, e) = ([[1.0, 2.0], [0.5, 3.0]], [[1.0, -1.0], [2.0, 5.0]]);
    let solve = |adds: &[(usize, f64, usize, u64)]| {
        let mut rest = RestingPoint::default();
        for &(client, movement, solver, tau) in adds {
            rest.add(client, movement, tau as f64, &solvers[solver], tau);
        }
        rest.solve(2, |i| (LocalCurvature::Diagonal(&h[i]), &e[i])).unwrap()
    };
    let expected = solve(&adds);
    let merged = [(0, 1.0, 1, 2), (0, 6.0, 0, 7), (1, 3.0, 0, 9), (1, 1.0, 1, 3), (1, 0.0, 0, 4)];
    assert!(difference(&solve(&merged), &expected) < 1e-15);
}

/// Clients that take turns, one of them with more steps every other time: the model keeps moving,
/// but the smaller the steps the closer to x̃.
#[test]
fn a_schedule_is_followed_ever_closer_with_smaller_steps() {
    let away = |lr: f64| {
        let solver = Solver { momentum: 0.5, ..Solver::sgd(lr) };
        let turns = [(0usize, 3u64), (1, 10), (0, 8), (1, 10)];
        let (mut rest, mut x) = (RestingPoint::default(), 0.3);
        for (i, tau) in turns {
            rest.add(i, 4.0, solver.accumulation(tau), &solver, tau);
        }
        let centers = [[1.0], [-2.0]];
        let expected = rest.solve(1, |i| (LocalCurvature::Identity, &centers[i])).unwrap()[0];
        for _ in 0..20_000 {
            for (i, tau) in turns {
                let start = [x];
                let (mut local, mut descent) = (start, Descent::new(solver, &start, &[]));
                for _ in 0..tau {
                    let gradient = [local[0] - centers[i][0]];
                    descent.step(&mut local, &gradient);
                }
                x += 4.0 / solver.accumulation(tau) * (local[0] - x);
            }
        }
        (x - expected).abs()
    };
    let gaps = [4e-3, 2e-3, 1e-3].map(away);
    assert!(gaps[0] < 0.1, "{gaps:?}");
    assert!(gaps.windows(2).all(|pair| (0.45..0.55).contains(&(pair[1] / pair[0]))), "{gaps:?}");
}

#[test]
fn there_is_no_rest_without_a_pull() {
    assert_eq!(RestingPoint::default().solve(1, |_| unreachable!()), None);
    // η = 3 on H = 1: two steps overshoot to 1 − (1 − 3)² < 0, away from the minimum.
    let away = client(0.5, Solver::sgd(3.0), 2, Owned::Identity, &[1.0]);
    let full = Client { curvature: Owned::Full(Matrix::identity(1)), ..away.clone() };
    assert_eq!((rest(&[away]), rest(&[full])), (None, None));
}

/// A hundred thousand parameters: nothing here is of the size of a matrix.
#[test]
fn thin_problems_may_be_large() {
    let dim = 100_000;
    let solver = Solver { momentum: 0.3, ..Solver::sgd(0.1) };
    let h: Vec<f64> = (0..dim).map(|j| 0.5 + (j % 7) as f64).collect();
    let center: Vec<f64> = h.iter().map(|h| 2.0 * h).collect();
    let one = client(0.5, solver, 20, Owned::Diagonal(h), &center);
    let two = client(0.5, solver, 5, Owned::Identity, &vec![2.0; dim]);
    // Both minima are at 2, so whatever the gains that is where they rest.
    assert!(difference(&rest(&[one, two]).unwrap(), &vec![2.0; dim]) < 1e-13);
}

fn any_solver() -> impl Strategy<Value = Solver> {
    (0.02..0.1f64, 0.0..0.8f64, 0.0..0.5f64, 0.7..1.0f64, 0.0..0.5f64).prop_map(
        |(lr, momentum, alpha, lr_decay, weight_decay)| Solver {
            lr,
            momentum,
            prox: alpha / lr,
            lr_decay,
            weight_decay,
        },
    )
}

/// Clients whose displacements count for no more than one displacement together.
fn any_clients() -> impl Strategy<Value = Vec<Client>> {
    let one = (
        0.1..1.0f64,
        any_solver(),
        1u64..15,
        0..3u8,
        -0.5..0.5f64,
        [0.5..3.0f64, 0.5..3.0],
        [-3.0..3.0f64, -3.0..3.0],
    );
    (0..4u8, proptest::collection::vec(one, 1..4)).prop_map(|(kind, clients)| {
        let total: f64 = clients.iter().map(|client| client.0).sum();
        clients
            .into_iter()
            .map(|(share, solver, tau, own, off, h, center)| {
                // All alike, or each of a kind of its own.
                let curvature = match if kind == 3 { own } else { kind } {
                    0 => Owned::Identity,
                    1 => Owned::Diagonal(h.to_vec()),
                    _ => Owned::Full(Matrix::from_rows(&[vec![h[0], off], vec![off, h[1]]])),
                };
                client(0.9 * share / total, solver, tau, curvature, &center)
            })
            .collect()
    })
}

proptest! {
    #[test]
    fn the_rule_at_work_comes_to_rest_there(clients in any_clients()) {
        let expected = rest(&clients).unwrap();
        let worked = iterate(&clients);
        let size = 1.0 + expected.iter().map(|x| x.abs()).fold(0.0, f64::max);
        prop_assert!(difference(&worked, &expected) < 1e-9 * size, "{worked:?} {expected:?}");
    }
}
