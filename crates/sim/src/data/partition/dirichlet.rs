//! Dirichlet by label: every class is divided among the clients by proportions of its own.
//!
//! For class k, p ~ Dirichlet(α, …, α) over the clients, and client i gets the p_i part of its
//! samples; all is drawn again until everybody has enough (the way of Yurochkin et al. 2019 and of
//! most since; some also pass over clients that have N/m samples already, as the largest client of the
//! split in `scenarios/splits` suggests). Hsu et al. 2019 draw a mix of classes for every client
//! instead, with equal sizes; here sizes differ too, which is what makes τ_i differ.

use super::{ORDER, PartitionError};
use crate::data::Dataset;
use crate::random::{Purpose, Stream, shuffle, stream};
use rand::RngExt;
use rand_distr::{Distribution, Gamma};

/// How often everything is drawn again before giving up: fewer times where there is much to draw.
const TRIES: usize = 1000;
/// Proportions to draw before giving up.
const DRAWS: usize = 200_000_000;
/// Proportions of one division: beyond this, labels are hardly classes.
const MOST: usize = 20_000_000;

/// How many samples of each class each client gets.
pub(super) fn counts(
    data: &Dataset,
    clients: usize,
    alpha: f64,
    least: usize,
    seed: u64,
) -> Result<Vec<Vec<u32>>, PartitionError> {
    let labels = data.train.labels().ok_or(PartitionError::NoClasses)?;
    let mut members = vec![0usize; data.classes];
    labels.iter().for_each(|label| members[*label as usize] += 1);
    let cells = data.classes.saturating_mul(clients);
    if cells > MOST {
        return Err(PartitionError::Vast { classes: data.classes, clients });
    }
    let tries = (DRAWS / cells.max(1)).clamp(10, TRIES) as u64;
    for attempt in 0..tries {
        let counts: Vec<Vec<u32>> = members
            .iter()
            .enumerate()
            .map(|(class, members)| {
                let rng = &mut stream(seed, Purpose::Partition, class as u64, attempt);
                cut(*members, &proportions(clients, alpha, rng))
            })
            .collect();
        let of = |client: usize| counts.iter().map(|class| class[client] as usize).sum::<usize>();
        if (0..clients).all(|client| of(client) >= least) {
            return Ok(counts);
        }
    }
    let alpha = alpha.to_string();
    Err(PartitionError::Unlucky { alpha, clients, least, tries, seed })
}

/// Which samples each client gets.
pub(super) fn assign(
    data: &Dataset,
    clients: usize,
    alpha: f64,
    least: usize,
    seed: u64,
) -> Result<Vec<Vec<u32>>, PartitionError> {
    let counts = counts(data, clients, alpha, least, seed)?;
    let labels = data.train.labels().ok_or(PartitionError::NoClasses)?;
    let mut members = vec![Vec::new(); data.classes];
    labels.iter().enumerate().for_each(|(i, label)| members[*label as usize].push(i as u32));
    let mut given = vec![Vec::new(); clients];
    for (class, (mut members, counts)) in members.into_iter().zip(counts).enumerate() {
        shuffle(&mut members, &mut stream(seed, Purpose::Partition, class as u64, ORDER));
        let mut rest = &members[..];
        for (own, count) in given.iter_mut().zip(counts) {
            let (first, others) = rest.split_at(count as usize);
            own.extend_from_slice(first);
            rest = others;
        }
    }
    Ok(given)
}

/// A draw from Dirichlet(α, …, α), by its logarithms: with a small α almost all of its parts are
/// smaller than any number.
fn proportions(parts: usize, alpha: f64, rng: &mut Stream) -> Vec<f64> {
    let gamma = Gamma::new(alpha + 1.0, 1.0).expect("α is above 0");
    // Gamma(α) is Gamma(α + 1) times U^(1/α).
    let mut draws: Vec<f64> = (0..parts)
        .map(|_| {
            let uniform: f64 = rng.random();
            gamma.sample(rng).ln() + (1.0 - uniform).ln() / alpha
        })
        .collect();
    let most = draws.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    draws.iter_mut().for_each(|draw| *draw = (*draw - most).exp());
    let sum: f64 = draws.iter().sum();
    draws.iter_mut().for_each(|draw| *draw /= sum);
    draws
}

/// Cuts `all` where the running sum of the proportions says.
fn cut(all: usize, proportions: &[f64]) -> Vec<u32> {
    let (mut sum, mut before) = (0.0, 0);
    let last = proportions.len() - 1;
    let counts = proportions.iter().enumerate().map(|(part, proportion)| {
        sum += proportion;
        // The running sum may end a hair below 1.
        let to = if part == last { all } else { ((sum * all as f64) as usize).min(all) };
        let count = to - before;
        before = to;
        count as u32
    });
    counts.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Features, Samples, Targets};

    /// E[p_i] = 1/m, E[p_i²] = (α + 1)/(m(mα + 1)).
    #[test]
    fn proportions_have_the_moments_of_their_distribution() {
        for (parts, alpha) in [(4, 0.1), (10, 1.0), (3, 100.0)] {
            let (mut first, mut second) = (0.0, 0.0);
            let draws = 20_000;
            for draw in 0..draws {
                let rng = &mut stream(9, Purpose::Partition, 0, draw);
                let p = proportions(parts, alpha, rng);
                assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-12);
                first += p[0];
                second += p[0] * p[0];
            }
            let (m, n) = (parts as f64, draws as f64);
            let expected = (alpha + 1.0) / (m * (m * alpha + 1.0));
            assert!((first / n * m - 1.0).abs() < 0.05, "{parts} {alpha}: {}", first / n);
            assert!((second / n / expected - 1.0).abs() < 0.05, "{parts} {alpha}");
        }
    }

    #[test]
    fn tiny_concentrations_are_no_trouble() {
        for seed in 0..200 {
            let p = proportions(50, 1e-4, &mut stream(seed, Purpose::Partition, 0, 0));
            assert!(p.iter().all(|p| p.is_finite()));
            assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn labels_that_are_no_classes_are_refused_at_once() {
        let all = 60_000;
        let samples = |count: usize| Samples {
            x: Features::Bytes(vec![0; count]),
            y: Targets::Classes((0..count as u32).collect()),
        };
        let data = Dataset {
            name: "ids".into(),
            shape: vec![1, 1, 1],
            classes: all,
            class_names: Vec::new(),
            train: samples(all),
            test: samples(0),
            mean: vec![0.0],
            std: vec![1.0],
            clients: None,
        };
        let error = counts(&data, 1000, 0.1, 10, 1).unwrap_err();
        assert!(error.to_string().contains("are they classes?"), "{error}");
    }

    #[test]
    fn cuts_leave_nothing_over() {
        assert_eq!(cut(10, &[0.25, 0.25, 0.5]), [2, 3, 5]);
        assert_eq!(cut(7, &[0.1; 10]).iter().sum::<u32>(), 7);
        assert_eq!(cut(0, &[0.5, 0.5]), [0, 0]);
    }
}
