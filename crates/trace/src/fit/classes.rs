//! How many kinds of devices there are, by the logarithm of a speed: normal distributions found by
//! expectation-maximisation, from starts that are always the same.

/// One kind of device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Component {
    pub(super) share: f64,
    pub(super) mean: f64,
    pub(super) sigma: f64,
}

/// Kinds of devices, from small to large, and the criterion they were chosen by.
pub(super) struct Classes {
    pub(super) components: Vec<Component>,
    pub(super) bic: Vec<f64>,
}

/// Most classes that are chosen without being asked for.
const MOST: usize = 4;
/// No class is narrower than this while searching: devices that are rounded to the same value
/// would otherwise be a class of infinite likelihood.
const NARROWEST: f64 = 0.01;
/// More values than these are taken together with their neighbours: it makes no difference.
const POINTS: usize = 4096;
const STEPS: usize = 1000;

/// Everything in one class, where nothing is known to tell devices apart.
pub(super) fn one() -> Classes {
    let components = vec![Component { share: 1.0, mean: 0.0, sigma: 1.0 }];
    Classes { components, bic: Vec::new() }
}

/// As many classes as asked for, or as many as the devices make likely; an error with the number
/// of different values if there are fewer than classes.
pub(super) fn find(logs: &[f64], asked: Option<usize>) -> Result<Classes, usize> {
    let mut sorted = logs.to_vec();
    sorted.sort_by(f64::total_cmp);
    let distinct = 1 + sorted.windows(2).filter(|two| two[1] - two[0] > 1e-9).count();
    let points = condensed(&sorted);
    if let Some(asked) = asked {
        return match asked <= distinct {
            true => Ok(Classes { components: best(&points, asked).0, bic: Vec::new() }),
            false => Err(distinct),
        };
    }
    let n = logs.len() as f64;
    // A class of one or two devices explains them perfectly and means nothing.
    let fewest = (0.02 * n).max(3.0);
    let mut chosen: Option<(f64, Vec<Component>)> = None;
    let mut bic = Vec::new();
    for count in 1..=MOST.min(distinct).min((logs.len() / 5).max(1)) {
        let (components, likelihood) = best(&points, count);
        let parameters = (3 * count - 1) as f64;
        let criterion = parameters * n.ln() - 2.0 * likelihood;
        bic.push(criterion);
        let is_large = count == 1 || components.iter().all(|class| class.share * n >= fewest);
        if is_large && chosen.as_ref().is_none_or(|(least, _)| criterion < *least) {
            chosen = Some((criterion, components));
        }
    }
    let (_, components) = chosen.expect("one class is always possible");
    Ok(Classes { components, bic })
}

/// How much a value belongs to each class; adds up to 1.
pub(super) fn parts(components: &[Component], log: f64) -> Vec<f64> {
    let mut parts = vec![0.0; components.len()];
    belongs(components, log, &mut parts);
    parts
}

/// Fills in how much a value belongs to each class and returns the logarithm of its density.
fn belongs(components: &[Component], log: f64, parts: &mut [f64]) -> f64 {
    for (part, class) in parts.iter_mut().zip(components) {
        let z = (log - class.mean) / class.sigma;
        *part = class.share.ln() - class.sigma.ln() - 0.5 * z * z;
    }
    // Far from every class all densities are 0; their ratios are not.
    let most = parts.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    parts.iter_mut().for_each(|part| *part = (*part - most).exp());
    let total: f64 = parts.iter().sum();
    parts.iter_mut().for_each(|part| *part /= total);
    most + total.ln() - 0.5 * std::f64::consts::TAU.ln()
}

/// Sorted values with weights, not too many.
fn condensed(sorted: &[f64]) -> Vec<(f64, f64)> {
    let size = sorted.len().div_ceil(POINTS);
    let mean = |some: &[f64]| {
        let n = some.len() as f64;
        (some[0] + some.iter().map(|value| value - some[0]).sum::<f64>() / n, n)
    };
    sorted.chunks(size).map(mean).collect()
}

/// The most likely of what is found from each start, with the logarithm of its likelihood.
fn best(points: &[(f64, f64)], count: usize) -> (Vec<Component>, f64) {
    let (low, high) = (points[0].0, points[points.len() - 1].0);
    let total: f64 = points.iter().map(|(_, weight)| weight).sum();
    let mut gaps: Vec<usize> = (1..points.len()).collect();
    let gap = |at: usize| points[at].0 - points[at - 1].0;
    gaps.sort_by(|a, b| gap(*b).total_cmp(&gap(*a)).then(a.cmp(b)));
    let mut widest: Vec<f64> = gaps.iter().take(count - 1).map(|at| points[*at].0).collect();
    widest.sort_by(f64::total_cmp);
    let cuts = |at: &dyn Fn(f64) -> f64| (1..count).map(|i| at(i as f64 / count as f64)).collect();
    let quantile = |share: f64| {
        let mut below = 0.0;
        let reached = |(_, weight): &&(f64, f64)| {
            below += weight;
            below > share * total
        };
        points.iter().find(reached).map_or(high, |(value, _)| *value)
    };
    let starts: [Vec<f64>; 3] =
        [widest, cuts(&|share| low + share * (high - low)), cuts(&quantile)];
    let found = starts.iter().filter_map(|cuts| split(points, cuts, total));
    let found = found.map(|start| improved(points, start, total));
    // The first wins a tie. Cuts at the widest gaps leave no class empty.
    found.reduce(|best, other| if other.1 > best.1 { other } else { best }).expect("a start")
}

/// Classes between cuts; none if one would be empty.
fn split(points: &[(f64, f64)], cuts: &[f64], total: f64) -> Option<Vec<Component>> {
    let edges = || cuts.iter().copied();
    let lows = [f64::NEG_INFINITY].into_iter().chain(edges());
    let highs = edges().chain([f64::INFINITY]);
    let class = |(low, high): (f64, f64)| {
        let within = points.iter().filter(|(value, _)| (low..high).contains(value));
        moments(within.map(|(value, weight)| (*value, *weight)), total)
    };
    lows.zip(highs).map(class).collect()
}

fn moments(points: impl Iterator<Item = (f64, f64)> + Clone, total: f64) -> Option<Component> {
    let weight: f64 = points.clone().map(|(_, weight)| weight).sum();
    if weight <= 0.0 {
        return None;
    }
    let mean = points.clone().map(|(value, weight)| weight * value).sum::<f64>() / weight;
    let var = points.map(|(value, part)| part * (value - mean).powi(2)).sum::<f64>() / weight;
    Some(Component { share: weight / total, mean, sigma: var.sqrt().max(NARROWEST) })
}

/// Expectation-maximisation, until it hardly gets better. Classes come in the order of their
/// means.
fn improved(
    points: &[(f64, f64)],
    mut classes: Vec<Component>,
    total: f64,
) -> (Vec<Component>, f64) {
    let count = classes.len();
    let mut parts = vec![0.0; count * points.len()];
    let mut likelihood = f64::NEG_INFINITY;
    for _ in 0..STEPS {
        let rows = parts.chunks_mut(count).zip(points);
        let now: f64 =
            rows.map(|(row, (value, weight))| weight * belongs(&classes, *value, row)).sum();
        let better = now - likelihood;
        likelihood = now;
        if better < 1e-9 * total {
            break;
        }
        for (index, class) in classes.iter_mut().enumerate() {
            let weighted = || {
                let rows = parts.chunks(count).zip(points);
                rows.map(|(row, (value, weight))| (*value, weight * row[index]))
            };
            if let Some(next) = moments(weighted(), total) {
                *class = next;
            }
        }
    }
    classes.sort_by(|a, b| a.mean.total_cmp(&b.mean));
    (classes, likelihood)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gruppetto_sim::random::{Dist, Purpose, Shape, stream};

    fn draws(mean: f64, std: f64, count: usize, key: u64) -> Vec<f64> {
        let dist = Dist { shape: Shape::Normal { mean, std }, ..Dist::fixed(0.0) };
        let mut rng = stream(11, Purpose::Synthesis, key, 0);
        (0..count).map(|_| dist.sample(&mut rng)).collect()
    }

    #[test]
    fn one_kind_is_not_split() {
        for (count, key) in [(50, 0), (2000, 1), (100_000, 2)] {
            let found = find(&draws(3.0, 0.5, count, key), None).unwrap();
            assert_eq!(found.components.len(), 1, "{count}: {:?}", found.bic);
        }
    }

    #[test]
    fn kinds_that_overlap_are_found() {
        let logs =
            [draws(0.0, 0.2, 2000, 0), draws(1.0, 0.3, 5000, 1), draws(2.2, 0.4, 3000, 2)].concat();
        let found = find(&logs, None).unwrap();
        assert_eq!(found.components.len(), 3, "{:?}", found.bic);
        let wanted = [(0.2, 0.0, 0.2), (0.5, 1.0, 0.3), (0.3, 2.2, 0.4)];
        for (class, (share, mean, sigma)) in found.components.iter().zip(wanted) {
            assert!((class.share - share).abs() < 0.03, "{class:?}");
            assert!((class.mean - mean).abs() < 0.03, "{class:?}");
            assert!((class.sigma - sigma).abs() < 0.03, "{class:?}");
        }
        let parts = parts(&found.components, -50.0);
        assert!(parts.iter().all(|part| part.is_finite()), "{parts:?}");
        assert!((parts.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn a_few_values_are_no_trouble() {
        assert_eq!(find(&[1.0], None).unwrap().components.len(), 1);
        assert_eq!(find(&[1.0, 2.0], None).unwrap().components.len(), 1);
        assert_eq!(find(&[1.0, 2.0], Some(2)).unwrap().components[1].mean, 2.0);
        assert_eq!(find(&[1.0; 500], None).unwrap().components.len(), 1);
        assert_eq!(find(&[1.0; 500], Some(2)).err(), Some(1));
        let two = [vec![0.0; 30], vec![3.0; 10]].concat();
        let found = find(&two, None).unwrap().components;
        assert_eq!((found.len(), found[0].share), (2, 0.75));
    }
}
