//! Who is heard: every client's share p_i against its effective weight ŵ_i.

use super::rough;
use crate::record::Weights;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Cells along each axis where clients are counted instead of told one by one.
const SIDE: usize = 29;

/// What every client weighed, as the page wants it.
pub(super) struct Heard<'a>(pub(super) &'a Weights);

impl Heard<'_> {
    /// At most `most` clients one by one, or all of them counted; `place` tells where a class is told.
    pub(super) fn json(&self, most: usize, place: impl Fn(u16) -> usize) -> Value {
        let Heard(Weights { p, effective, classes }) = self;
        let clients = p.len();
        if clients > most {
            return json!({ "clients": clients, "points": null, "cells": self.cells() });
        }
        let all = p.iter().zip(effective).zip(classes.iter()).enumerate();
        let point = |(client, ((p, w), class)): (usize, ((&f64, &f64), &u16))| {
            json!([rough(*p), rough(*w), place(*class), client])
        };
        json!({ "clients": clients, "points": all.map(point).collect::<Vec<_>>(), "cells": null })
    }

    /// Clients counted in cells of a logarithmic grid; who was never heard has a row of its own.
    fn cells(&self) -> Vec<Value> {
        let Heard(Weights { p, effective, .. }) = self;
        let (across, up) = (Axis::over(p), Axis::over(effective));
        let mut counts: BTreeMap<(usize, usize), u64> = BTreeMap::new();
        for (p, w) in p.iter().zip(effective) {
            *counts.entry((across.cell(*p), up.cell(*w))).or_default() += 1;
        }
        let cell = |((x, y), count): ((usize, usize), u64)| {
            let ([p_low, p_high], [w_low, w_high]) = (across.ends(x), up.ends(y));
            json!([p_low, p_high, w_low, w_high, count, null])
        };
        counts.into_iter().map(cell).collect()
    }
}

/// A logarithmic axis; cell 0 is for zeros.
struct Axis {
    low: f64,
    step: f64,
}

impl Axis {
    fn over(values: &[f64]) -> Self {
        let positive = || values.iter().copied().filter(|value| *value > 0.0);
        let low = positive().fold(f64::INFINITY, f64::min);
        let high = positive().fold(0.0, f64::max);
        if low >= high {
            return Axis { low: if low.is_finite() { low } else { 1.0 }, step: 0.0 };
        }
        Axis { low, step: (high / low).ln() / SIDE as f64 }
    }

    fn cell(&self, value: f64) -> usize {
        match value {
            value if value <= 0.0 => 0,
            _ if self.step == 0.0 => 1,
            value => 1 + (((value / self.low).ln() / self.step) as usize).min(SIDE - 1),
        }
    }

    fn ends(&self, cell: usize) -> [f64; 2] {
        if cell == 0 {
            return [0.0, 0.0];
        }
        let end = |cell: usize| rough(self.low * (self.step * cell as f64).exp());
        [end(cell - 1), end(cell)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn weights(p: &[f64], effective: &[f64]) -> Weights {
        Weights { p: p.into(), effective: effective.to_vec(), classes: vec![0; p.len()].into() }
    }

    #[test]
    fn few_are_told_one_by_one() {
        let json = Heard(&weights(&[0.25, 0.75], &[0.5, 0.5])).json(2, usize::from);
        assert_eq!(json["points"], json!([[0.25, 0.5, 0, 0], [0.75, 0.5, 0, 1]]));
        assert!(json["cells"].is_null());
    }

    #[test]
    fn many_are_counted_and_nobody_is_lost() {
        let n = 5000;
        let p: Vec<f64> = (0..n).map(|i| (1.0 + i as f64) / 1e7).collect();
        let w: Vec<f64> = (0..n).map(|i| if i % 5 == 0 { 0.0 } else { p[n - 1 - i] }).collect();
        let json = Heard(&weights(&p, &w)).json(2000, usize::from);
        let cells = json["cells"].as_array().unwrap();
        assert!(cells.len() <= SIDE * (SIDE + 1));
        let count = |cell: &Value| cell[4].as_u64().unwrap();
        assert_eq!(cells.iter().map(count).sum::<u64>(), n as u64);
        let never = cells.iter().filter(|cell| cell[3].as_f64() == Some(0.0));
        assert_eq!(never.map(count).sum::<u64>(), n as u64 / 5);
        for cell in cells {
            let [p_low, p_high] = [0, 1].map(|at| cell[at].as_f64().unwrap());
            assert!(p_low > 0.0 && p_low < p_high * 1.000_01);
        }
    }

    #[test]
    fn all_alike_are_in_one_cell() {
        let json = Heard(&weights(&[1e-4; 3000], &[0.0; 3000])).json(2000, usize::from);
        assert_eq!(json["cells"], json!([[1e-4, 1e-4, 0.0, 0.0, 3000, null]]));
    }
}
