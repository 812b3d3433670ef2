//! The consistency meter: whose gradients really moved the model.
//!
//! Whatever the policy, the model's whole movement is Σ_t Σ_i c_i(t)·d_i(t) with c_i(t) = η_t·τ_eff·w_i,
//! where η_t is the rate at which client i trained. The *effective weights* ŵ_i = Σ_t c_i(t) / Σ_{t,j} c_j(t) therefore say which surrogate objective
//! Σ ŵ_iF_i the run really descended (Theorem 1), and their χ² distance from p is the factor of
//! the error floor that does not vanish (Theorem 2).
//!
//! A client that never contributed has ŵ_i = 0, which makes χ² infinite whatever the others do.
//! So the meter tells two things apart: the *missing mass* Σ p_i of those never heard, and χ²
//! among those who were, with p renormalised over them.

use std::sync::Arc;

/// χ²(p, w) = Σ (p_i − w_i)²/w_i (Theorem 2).
pub fn chi_square(p: &[f64], w: &[f64]) -> f64 {
    p.iter().zip(w).map(|(p, w)| (p - w).powi(2) / w).sum()
}

/// What the meter reads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Consistency {
    /// χ² between p and ŵ among clients that contributed; 0 before anybody did.
    pub chi2: f64,
    /// Σ p_i over clients that never contributed.
    pub missing_mass: f64,
}

impl Consistency {
    /// 2χ²κ², the part of ‖∇F‖² that does not vanish (Theorem 2), for clients whose gradients are
    /// κ² apart. `None` where some were never heard: then nothing bounds it.
    pub fn floor(&self, kappa2: f64) -> Option<f64> {
        (self.missing_mass == 0.0).then_some(2.0 * self.chi2 * kappa2)
    }
}

/// Sums are made afresh after so many additions at least.
const RECOUNT: usize = 1024;

/// Accumulates c_i over a run.
///
/// χ² among the heard is `C·Σ(p_i²/c_i)/P² − 1` with C = Σc_i and P = Σp_i over them, so one more
/// contribution changes it in constant time: a round that asks 10 of a million clients costs 10.
pub struct Meter {
    p: Arc<[f64]>,
    c: Vec<f64>,
    total: f64,
    heard: f64,
    unheard: usize,
    ratio: f64,
    added: usize,
}

impl Meter {
    /// A meter for clients with shares `p`.
    pub fn new(p: Arc<[f64]>) -> Self {
        let (c, unheard) = (vec![0.0; p.len()], p.len());
        Meter { p, c, total: 0.0, heard: 0.0, unheard, ratio: 0.0, added: 0 }
    }

    /// Client `i` moved the model by `c` times its normalized gradient, c = η·τ_eff·w_i up to a factor that
    /// is the same in every round.
    pub fn add(&mut self, i: usize, c: f64) {
        if c <= 0.0 {
            return;
        }
        let p = self.p[i];
        let before = self.c[i];
        let after = before + c;
        self.c[i] = after;
        self.total += c;
        if before > 0.0 {
            self.ratio += p * p * (1.0 / after - 1.0 / before);
        } else {
            self.heard += p;
            self.unheard -= 1;
            self.ratio += p * p / after;
        }
        self.added += 1;
        if self.added >= self.p.len().max(RECOUNT) {
            self.recount();
        }
    }

    /// Sums afresh, so that rounding errors of the running sums never pile up.
    fn recount(&mut self) {
        (self.total, self.heard, self.ratio, self.added) = (0.0, 0.0, 0.0, 0);
        for (p, c) in self.p.iter().zip(&self.c).filter(|(_, c)| **c > 0.0) {
            self.total += c;
            self.heard += p;
            self.ratio += p * p / c;
        }
    }

    /// The present reading.
    pub fn read(&self) -> Consistency {
        if self.heard == 0.0 {
            return Consistency { chi2: 0.0, missing_mass: 1.0 };
        }
        let chi2 = self.total * self.ratio / (self.heard * self.heard) - 1.0;
        // Rounding leaves about ε for every number that was added where the truth is 0. Running and fresh
        // sums must agree on what is 0.
        let noise = f64::EPSILON * (self.p.len() - self.unheard + self.p.len().max(RECOUNT)) as f64;
        let chi2 = if chi2 < noise { 0.0 } else { chi2 };
        // Neither reading can be negative.
        let missing_mass = if self.unheard == 0 { 0.0 } else { (1.0 - self.heard).max(0.0) };
        Consistency { chi2, missing_mass }
    }

    /// The reading summed afresh in client order.
    pub fn read_exactly(&mut self) -> Consistency {
        self.recount();
        self.read()
    }

    /// The shares p_i.
    pub fn shares(&self) -> Arc<[f64]> {
        self.p.clone()
    }

    /// The effective weights ŵ_i.
    pub fn effective_weights(&self) -> Vec<f64> {
        let total: f64 = self.c.iter().sum();
        self.c.iter().map(|c| if total > 0.0 { c / total } else { 0.0 }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn reads_the_papers_distance() {
        let p = [0.5, 0.3, 0.2];
        let mut meter = Meter::new(p.to_vec().into());
        for (i, c) in [(0, 4.0), (1, 10.0), (2, 6.0), (1, 20.0)] {
            meter.add(i, c);
        }
        assert_eq!(meter.effective_weights(), [0.1, 0.75, 0.15]);
        let reading = meter.read();
        assert!((reading.chi2 - chi_square(&p, &[0.1, 0.75, 0.15])).abs() < 1e-14);
        assert!(reading.missing_mass.abs() < 1e-15);
    }

    #[test]
    fn there_is_no_floor_where_somebody_was_never_heard() {
        let floor = |missing_mass| Consistency { chi2: 0.5, missing_mass }.floor(3.0);
        assert_eq!((floor(0.0), floor(0.01)), (Some(3.0), None));
    }

    #[test]
    fn tells_the_unheard_from_the_unevenly_heard() {
        let mut meter = Meter::new([0.5, 0.3, 0.2].into());
        assert_eq!(meter.read(), Consistency { chi2: 0.0, missing_mass: 1.0 });
        meter.add(0, 5.0);
        meter.add(1, 3.0);
        let reading = meter.read();
        assert!(reading.chi2 < 1e-15, "heard in proportion to p: {reading:?}");
        assert!((reading.missing_mass - 0.2).abs() < 1e-15);
        meter.add(2, 0.0);
        assert!((meter.read().missing_mass - 0.2).abs() < 1e-15, "no movement, not heard");
    }

    proptest! {
        #[test]
        fn running_and_fresh_sums_agree(
            adds in proptest::collection::vec((0usize..12, 1e-3..1e3f64), 1..3000),
        ) {
            let p: Vec<f64> = (1..=12).map(|i| i as f64 / 78.0).collect();
            let mut meter = Meter::new(p.clone().into());
            for (i, c) in adds {
                meter.add(i, c);
            }
            let running = meter.read();
            let fresh = meter.read_exactly();
            prop_assert!((running.chi2 - fresh.chi2).abs() <= 1e-9 * (1.0 + fresh.chi2));
            if fresh.missing_mass < 1e-12 {
                let direct = chi_square(&p, &meter.effective_weights());
                prop_assert!((fresh.chi2 - direct).abs() <= 1e-9 * (1.0 + direct));
            }
        }
    }
}
