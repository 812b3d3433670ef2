//! Norms of a for very many steps, without taking them one by one.
//!
//! Without decay every step of the law is the same linear map, so τ steps are its τ-th power: a
//! few dozen multiplications even for a billion steps. With decay the steps shrink to nothing, so
//! there is a last one that matters.

use super::Solver;

/// Up to so many steps are taken one by one.
const SHORT: u64 = 4096;

type Map<const N: usize> = [[f64; N]; N];

impl Solver {
    /// Where the constant gradient 1 leads after `tau` steps, in units of η: ‖a‖₁. `None` if there
    /// are few enough to be taken.
    pub(super) fn long_accumulation(&self, tau: u64) -> Option<f64> {
        if tau <= SHORT || self.lr_decay < 1.0 {
            return None;
        }
        // (x, u, 1): u ← ρu + 1 + αx, x ← x − u.
        let (rho, alpha) = (self.momentum, self.prox);
        let step = [[1.0 - alpha, -rho, -1.0], [alpha, rho, 1.0], [0.0, 0.0, 1.0]];
        Some(-power(step, tau)[0][2])
    }

    /// Σ a_k² after `tau` steps, in units of η².
    pub(super) fn long_squares(&self, tau: u64) -> Option<f64> {
        if tau <= SHORT || self.lr_decay < 1.0 {
            return None;
        }
        // From the last step to the first: a = p − b, p ← p − αa, b ← −ρa, from p = 1, b = 0. The
        // map takes p², pb, b² and the sum of a² so far.
        let (rho, alpha) = (self.momentum, self.prox);
        let (keep, rho2) = (1.0 - alpha, rho * rho);
        let step = [
            [keep * keep, 2.0 * keep * alpha, alpha * alpha, 0.0],
            [-rho * keep, rho * (keep - alpha), rho * alpha, 0.0],
            [rho2, -2.0 * rho2, rho2, 0.0],
            [1.0, -2.0, 1.0, 1.0],
        ];
        Some(power(step, tau)[3][0])
    }

    /// The steps of `tau` that matter: later ones, decayed by γᵏ, are below the last digit of what
    /// all of them come to.
    pub(super) fn steps_that_matter(&self, tau: u64) -> u64 {
        if self.lr_decay >= 1.0 {
            return tau;
        }
        let below = 1e-18 * (1.0 - self.lr_decay) * (1.0 - self.momentum);
        tau.min((below.ln() / self.lr_decay.ln()).ceil() as u64)
    }
}

fn power<const N: usize>(mut map: Map<N>, mut exponent: u64) -> Map<N> {
    let mut result: Map<N> =
        std::array::from_fn(|i| std::array::from_fn(|j| f64::from(u8::from(i == j))));
    while exponent > 0 {
        if exponent % 2 == 1 {
            result = product(&result, &map);
        }
        map = product(&map, &map);
        exponent /= 2;
    }
    result
}

fn product<const N: usize>(a: &Map<N>, b: &Map<N>) -> Map<N> {
    std::array::from_fn(|i| std::array::from_fn(|j| (0..N).map(|k| a[i][k] * b[k][j]).sum()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Powers and steps are two ways to the same norms.
    #[test]
    fn many_steps_at_once_are_the_same_as_one_by_one() {
        let plain = Solver::sgd(0.1);
        for solver in [
            Solver { momentum: 0.9, ..plain },
            Solver { prox: 0.01, ..plain },
            Solver { prox: 10.0, ..plain },
            Solver { momentum: 0.99, prox: 1e-4, ..plain },
            Solver { momentum: 0.5, prox: 2.0, ..plain },
            Solver { lr_decay: 0.99, momentum: 0.9, ..plain },
        ] {
            for tau in [SHORT + 1, 9_999, 30_000] {
                let norms = solver.norms(tau, 0.1);
                let vector = solver.accumulation_vector(tau);
                let l1: f64 = vector.iter().sum();
                let l2: f64 = vector.iter().map(|a| a * a).sum();
                assert!((norms.l1 / l1 - 1.0).abs() < 1e-10, "{solver:?}: {} {l1}", norms.l1);
                assert!((norms.l2_squared / l2 - 1.0).abs() < 1e-10, "{solver:?} {l2}");
                assert!((norms.last - vector[vector.len() - 1]).abs() < 1e-12 * norms.last);
            }
        }
    }

    #[test]
    fn a_billion_steps_take_no_time() {
        let solver = Solver { momentum: 0.9, ..Solver::sgd(0.02) };
        let n = 1e9;
        let norms = solver.norms(1_000_000_000, 0.02);
        assert!((norms.l1 / (10.0 * (n - 9.0)) - 1.0).abs() < 1e-9);
        assert!((norms.l2_squared / (100.0 * n) - 1.0).abs() < 1e-6);
        let decayed = Solver { lr_decay: 0.999, ..solver }.norms(1_000_000_000, 0.02);
        assert!(decayed.l1 > 9_000.0 && decayed.l1 < 10_000.0);
    }
}
