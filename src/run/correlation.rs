//! How far one quantity goes with another.

/// Spearman's rank correlation of pairs: 1 if the larger x always has the larger y, whatever the shape
/// of the curve; `None` where one of them is always the same, or something is no number.
pub(super) fn rank_correlation(pairs: &[(f64, f64)]) -> Option<f64> {
    let x = ranks(pairs.iter().map(|(x, _)| *x))?;
    let y = ranks(pairs.iter().map(|(_, y)| *y))?;
    // The mean rank is the same with ties and without.
    let mean = (pairs.len() as f64 - 1.0) / 2.0;
    let product = |a: &[f64], b: &[f64]| -> f64 {
        a.iter().zip(b).map(|(a, b)| (a - mean) * (b - mean)).sum()
    };
    let correlation = product(&x, &y) / (product(&x, &x) * product(&y, &y)).sqrt();
    correlation.is_finite().then_some(correlation)
}

/// Everybody's place in order of size; who is alike shares the mean of their places.
fn ranks(values: impl Iterator<Item = f64>) -> Option<Vec<f64>> {
    let values: Vec<f64> = values.collect();
    if values.iter().any(|value| value.is_nan()) {
        return None;
    }
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    let mut ranks = vec![0.0; values.len()];
    let mut first = 0;
    for alike in order.chunk_by(|a, b| values[*a] == values[*b]) {
        let place = first as f64 + (alike.len() as f64 - 1.0) / 2.0;
        alike.iter().for_each(|i| ranks[*i] = place);
        first += alike.len();
    }
    Some(ranks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_order_counts() {
        let of = |y: [f64; 4]| {
            let pairs: Vec<_> = [1.0, 2.0, 3.0, 4.0].into_iter().zip(y).collect();
            rank_correlation(&pairs)
        };
        assert_eq!(of([0.1, 0.2, 50.0, 51.0]), Some(1.0));
        assert_eq!(of([4.0, 3.0, 2.0, -9.0]), Some(-1.0));
        // 1 − 6Σd²/(n(n² − 1)) with d = 1, 1, 1, 1.
        assert!((of([2.0, 1.0, 4.0, 3.0]).unwrap() - 0.6).abs() < 1e-15);
        assert_eq!(of([7.0; 4]), None);
        assert_eq!(of([1.0, f64::NAN, 2.0, 3.0]), None);
        assert_eq!(of([1.0, 2.0, 3.0, f64::INFINITY]), Some(1.0));
    }

    #[test]
    fn those_alike_share_their_places() {
        let ranks = ranks([5.0, 1.0, 5.0, 0.0, -0.0].into_iter()).unwrap();
        assert_eq!(ranks, [3.5, 2.0, 3.5, 0.5, 0.5]);
    }
}
