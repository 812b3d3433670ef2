//! How different the clients' objectives are, from what a run has seen.
//!
//! Assumption 3 asks for β² ≥ 1 and κ² ≥ 0 with Y ≤ β²X + κ², where X = ‖Σ w_i∇F_i‖² and
//! Y = Σ w_i‖∇F_i‖². Of all pairs that hold at every point seen, the tightest has the least
//! Σ_t (β²X_t + κ² − Y_t): a linear program in two variables. With Z = Y − X ≥ 0 it asks for the
//! line of slope β² − 1 ≥ 0 and value κ² ≥ 0 at zero that is above all (X, Z) and lowest at the
//! mean X. That line continues an edge of the *roof*: the upper hull of the points and (0, 0), as
//! far as it rises.
//!
//! Only the roof is kept, so a million points cost no more memory than its corners.

/// β² and κ² of assumption 3.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dissimilarity {
    /// β² ≥ 1.
    pub beta2: f64,
    /// κ² ≥ 0.
    pub kappa2: f64,
}

impl Dissimilarity {
    /// 2χ²κ², the error that does not vanish (Theorem 2).
    pub fn floor(&self, chi2: f64) -> f64 {
        2.0 * chi2 * self.kappa2
    }
}

/// A roof with more corners than this is simplified.
const MOST_CORNERS: usize = 4096;
/// So many points are collected before the roof is built anew.
const MOST_WAITING: usize = 1024;

/// The points a run has seen.
#[derive(Clone, Debug, Default)]
pub struct GradientSpread {
    /// From left to right; slopes are positive and fall.
    roof: Vec<(f64, f64)>,
    waiting: Vec<(f64, f64)>,
    sum_x: f64,
    count: u64,
}

impl GradientSpread {
    /// Adds X = ‖Σ w_i∇F_i‖² and Y = Σ w_i‖∇F_i‖² at one point. Points of a run that has diverged
    /// to infinity say nothing and are left out.
    pub fn add(&mut self, x: f64, y: f64) {
        // Y < X only by rounding: the mean of squares is no less than the square of the mean.
        let z = (y - x).max(0.0);
        if !(x.is_finite() && z.is_finite()) {
            return;
        }
        self.sum_x += x;
        self.count += 1;
        self.waiting.push((x, z));
        if self.waiting.len() >= MOST_WAITING {
            self.roof = self.roof_with_waiting();
            self.waiting.clear();
        }
    }

    /// The tightest constants that hold at all points; `None` before the first.
    ///
    /// Where several are equally tight (one point, or all with the same X) the least β² is taken:
    /// nothing has been seen of how Y grows with X.
    pub fn tightest(&self) -> Option<Dissimilarity> {
        if self.count == 0 {
            return None;
        }
        let roof = self.roof_with_waiting();
        // The mean may miss a corner it should hit by rounding.
        let mean = self.sum_x / self.count as f64 * (1.0 + 1e-12);
        let (slope, (x, z)) = match roof.windows(2).find(|edge| mean < edge[1].0) {
            Some(edge) => (slope(edge[0], edge[1]), edge[1]),
            None => (0.0, *roof.last()?),
        };
        Some(Dissimilarity { beta2: 1.0 + slope, kappa2: (z - slope * x).max(0.0) })
    }

    fn roof_with_waiting(&self) -> Vec<(f64, f64)> {
        let mut points: Vec<_> =
            [(0.0, 0.0)].iter().chain(&self.roof).chain(&self.waiting).copied().collect();
        // Highest first among equals, so that those below it make no corner.
        points.sort_by(|a, b| a.0.total_cmp(&b.0).then(b.1.total_cmp(&a.1)));
        let mut roof: Vec<(f64, f64)> = Vec::new();
        for point in points {
            if roof.last().is_some_and(|last| point.1 <= last.1) {
                continue;
            }
            while let [.., before, last] = roof[..] {
                if slope(before, last) > slope(last, point) {
                    break;
                }
                roof.pop();
            }
            roof.push(point);
        }
        if roof.len() > MOST_CORNERS { simplified(&roof) } else { roof }
    }
}

fn slope(a: (f64, f64), b: (f64, f64)) -> f64 {
    (b.1 - a.1) / (b.0 - a.0)
}

/// Half the edges, prolonged until they meet: no point comes to lie above the new roof, and the
/// constants stay valid if not quite tightest.
fn simplified(roof: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut corners = vec![roof[0]];
    for four in roof.windows(4).step_by(2) {
        let (left, right) = (slope(four[0], four[1]), slope(four[2], four[3]));
        let meet = (four[2].1 - four[1].1 + left * four[1].0 - right * four[2].0) / (left - right);
        let x = meet.clamp(four[1].0, four[2].0);
        let on = |corner: (f64, f64), slope: f64| corner.1 + slope * (x - corner.0);
        corners.push((x, on(four[1], left).max(on(four[2], right))));
    }
    // The last kept edge ends where it ended; one left over after it stays as it is.
    let left_over = roof.len() % 2;
    corners.extend(&roof[roof.len() - 1 - left_over..]);
    corners
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn fit(points: &[(f64, f64)]) -> Dissimilarity {
        let mut spread = GradientSpread::default();
        points.iter().for_each(|(x, y)| spread.add(*x, *y));
        spread.tightest().unwrap()
    }

    fn slack(fit: Dissimilarity, points: &[(f64, f64)]) -> f64 {
        points.iter().map(|(x, y)| fit.beta2 * x + fit.kappa2 - y).sum()
    }

    fn holds(fit: Dissimilarity, (x, y): (f64, f64)) -> bool {
        y <= (fit.beta2 * x + fit.kappa2) * (1.0 + 1e-9) + 1e-12
    }

    #[test]
    fn lines_are_recovered() {
        for (beta2, kappa2) in [(1.0, 3.0), (2.5, 0.75), (4.0, 0.0), (1.0, 0.0)] {
            let points: Vec<_> = (0..5000)
                .map(|k| 1e-3 * f64::from(k + 1))
                .map(|x| (x, beta2 * x + kappa2))
                .collect();
            let fit = fit(&points);
            assert!((fit.beta2 - beta2).abs() < 1e-9, "{fit:?}");
            assert!((fit.kappa2 - kappa2).abs() < 1e-9, "{fit:?}");
        }
    }

    #[test]
    fn one_point_says_nothing_of_growth() {
        assert_eq!(GradientSpread::default().tightest(), None);
        let mut spread = GradientSpread::default();
        spread.add(f64::INFINITY, f64::INFINITY);
        assert_eq!(spread.tightest(), None);
        for _ in 0..3 {
            spread.add(0.1, 0.4);
            let fit = spread.tightest().unwrap();
            assert_eq!(fit.beta2, 1.0);
            assert!((fit.kappa2 - 0.3).abs() < 1e-15);
        }
        assert!((spread.tightest().unwrap().floor(0.5) - 0.3).abs() < 1e-15);
        // At rest: X = 0 decides κ² alone.
        assert_eq!(fit(&[(0.0, 2.0)]), Dissimilarity { beta2: 1.0, kappa2: 2.0 });
    }

    /// A roof that is all corners: it stays small, the constants stay valid and nearly tightest.
    #[test]
    fn memory_is_bounded_whatever_the_points() {
        let points: Vec<_> = (0..300_000u64)
            .map(|k| (k * 7919 % 300_007) as f64 / 3e5)
            .map(|x| (x, x + x.sqrt()))
            .collect();
        let mut spread = GradientSpread::default();
        for (x, y) in &points {
            spread.add(*x, *y);
            assert!(spread.roof.len() <= MOST_CORNERS && spread.waiting.len() < MOST_WAITING);
        }
        let fit = spread.tightest().unwrap();
        assert!(points.iter().all(|point| holds(fit, *point)));
        // The tangent of √x at the mean.
        let mean = points.iter().map(|point| point.0).sum::<f64>() / 3e5;
        assert!((fit.beta2 - 1.0 - 0.5 / mean.sqrt()).abs() < 1e-2, "{fit:?}");
        let touching = 0.5 * mean.sqrt();
        assert!((fit.kappa2 + (fit.beta2 - 1.0) * mean - 2.0 * touching).abs() < 1e-4);
    }

    /// All lines that could be best: through two points, through a point and (0, 0), level.
    fn brute_force(points: &[(f64, f64)]) -> f64 {
        let mut lines = vec![];
        for &(x, y) in points {
            lines.push((1.0, y - x));
            lines.push((y / x, 0.0));
            for &(x2, y2) in points {
                let beta2 = (y2 - y) / (x2 - x);
                lines.push((beta2, y - beta2 * x));
            }
        }
        lines
            .into_iter()
            .filter(|(beta2, kappa2)| *beta2 >= 1.0 && *kappa2 >= 0.0 && beta2.is_finite())
            .map(|(beta2, kappa2)| Dissimilarity { beta2, kappa2 })
            .filter(|fit| points.iter().all(|point| holds(*fit, *point)))
            .map(|fit| slack(fit, points))
            .fold(f64::INFINITY, f64::min)
    }

    proptest! {
        #[test]
        fn nothing_tighter_holds(
            points in proptest::collection::vec((1e-3..5.0f64, 0.0..3.0f64, 0.0..4.0f64), 1..25),
        ) {
            let points: Vec<_> =
                points.into_iter().map(|(x, z, grow)| (x, x + z + grow * x)).collect();
            let fit = fit(&points);
            prop_assert!(fit.beta2 >= 1.0 && fit.kappa2 >= 0.0);
            prop_assert!(points.iter().all(|point| holds(fit, *point)), "{:?}", fit);
            let (got, least) = (slack(fit, &points), brute_force(&points));
            prop_assert!((got - least).abs() <= 1e-8 * (1.0 + least), "{} {}", got, least);
        }

        /// Simplified roofs are above the roofs they replace.
        #[test]
        fn simplifying_loses_no_point(
            points in proptest::collection::vec((1e-3..5.0f64, 0.0..3.0f64), 4..60),
        ) {
            let mut spread = GradientSpread::default();
            points.iter().for_each(|(x, z)| spread.add(*x, x + z));
            let roof = spread.roof_with_waiting();
            prop_assume!(roof.len() > 1);
            let simple = simplified(&roof);
            prop_assert!(roof.len() < 4 || simple.len() < roof.len());
            let height = |x: f64| {
                let edge = simple.windows(2).find(|edge| x <= edge[1].0);
                edge.map(|edge| edge[0].1 + slope(edge[0], edge[1]) * (x - edge[0].0))
            };
            for (x, z) in roof {
                prop_assert!(height(x).is_some_and(|height| height >= z - 1e-9), "{} {}", x, z);
            }
        }
    }
}
