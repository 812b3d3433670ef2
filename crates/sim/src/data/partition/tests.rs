//! What every scheme promises, and what the Dirichlet's sizes and skew are on average.

use super::*;
use crate::data::NaturalClients;
use crate::data::dataset::tests::labelled;

fn partition(scheme: PartitionScheme) -> PartitionConfig {
    PartitionConfig { scheme, min_size: 1 }
}

/// Everybody's labels, counted.
fn histogram(data: &Dataset, own: &[u32]) -> Vec<usize> {
    let mut counts = vec![0; data.classes];
    own.iter().for_each(|i| counts[data.train.labels().unwrap()[*i as usize] as usize] += 1);
    counts
}

#[test]
fn every_sample_goes_to_somebody_and_to_nobody_else() {
    let data = labelled(&[70, 30, 101]);
    for scheme in
        [PartitionScheme::Iid, PartitionScheme::Dirichlet(0.5), PartitionScheme::Shards(3)]
    {
        for seed in [1, 2] {
            let config = partition(scheme.clone());
            let given = config.assign(&data, 7, seed).unwrap();
            let sizes = config.sizes(&data, 7, seed).unwrap();
            assert!(given.iter().map(|own| own.len() as u32).eq(sizes), "{scheme:?}");
            assert!(given.iter().all(|own| own.is_sorted()));
            let mut all = given.concat();
            all.sort_unstable();
            assert!(all.into_iter().eq(0..201), "{scheme:?}");
        }
        let of = |seed| partition(scheme.clone()).assign(&data, 7, seed).unwrap();
        assert_eq!(of(1), of(1));
        assert_ne!(of(1), of(2));
    }
}

#[test]
fn iid_is_even() {
    let data = labelled(&[500, 500]);
    let given = partition(PartitionScheme::Iid).assign(&data, 3, 1).unwrap();
    assert_eq!(given.iter().map(Vec::len).collect::<Vec<_>>(), [333, 333, 334]);
    // Binomial(333, ½): four standard deviations are 37.
    for own in &given {
        assert!(histogram(&data, own)[0].abs_diff(167) < 37);
    }
}

#[test]
fn shards_hold_few_labels() {
    let data = labelled(&[100; 10]);
    let given = partition(PartitionScheme::Shards(2)).assign(&data, 10, 5).unwrap();
    for own in &given {
        assert_eq!(own.len(), 100);
        let labels = histogram(&data, own).iter().filter(|count| **count > 0).count();
        assert!(labels <= 2, "two pieces of fifty, each of one class");
    }
}

#[test]
fn natural_and_written_partitions_are_taken_as_they_are() {
    let mut data = labelled(&[3, 2]);
    let names = vec!["a".into(), "b".into()];
    data.clients = Some(NaturalClients { of: vec![1, 0, 1, 1, 0], names });
    let given = partition(PartitionScheme::Natural).assign(&data, 2, 1).unwrap();
    assert_eq!(given, [vec![1, 4], vec![0, 2, 3]]);
    let written = PartitionScheme::File(Arc::new(vec![vec![4, 0], vec![2]]));
    assert_eq!(partition(written.clone()).assign(&data, 2, 1).unwrap(), [vec![4, 0], vec![2]]);
    let small = PartitionConfig { scheme: written, min_size: 2 }.sizes(&data, 2, 1).unwrap_err();
    assert_eq!(small, PartitionError::TooSmall { client: 1, found: 1, least: 2 });
}

#[test]
fn what_cannot_be_is_refused() {
    let data = labelled(&[5, 5]);
    let many = PartitionConfig { scheme: PartitionScheme::Iid, min_size: 4 }.sizes(&data, 3, 1);
    assert_eq!(many, Err(PartitionError::TooMany { clients: 3, least: 4, samples: 10 }));
    assert!(partition(PartitionScheme::Shards(4)).sizes(&data, 3, 1).is_err());
    // Nearly everything goes to one of two clients: the other hardly ever has four of ten.
    let unlucky = PartitionConfig { scheme: PartitionScheme::Dirichlet(1e-3), min_size: 3 };
    let error = unlucky.sizes(&labelled(&[10]), 2, 1).unwrap_err();
    let text = error.to_string();
    for words in ["1000 draws", "seed 1", "dirichlet = 0.001", "2 clients", "min_size = 3"] {
        assert!(text.contains(words), "{text}");
    }
}

#[test]
fn draws_are_repeated_until_everybody_has_enough() {
    let data = labelled(&[200; 10]);
    let config = PartitionConfig { scheme: PartitionScheme::Dirichlet(0.1), min_size: 40 };
    for seed in 0..20 {
        assert!(config.sizes(&data, 10, seed).unwrap().iter().all(|n| *n >= 40));
    }
}

/// With n_k samples of class k, client i's size Σ n_k p_ik has mean N/m and variance
/// Σ n_k² · (1/m)(1 − 1/m)/(mα + 1); the expected sum of squared class counts, which is large when
/// clients are skewed, is Σ n_k² (α + 1)/(m(mα + 1)).
#[test]
fn sizes_and_skew_are_those_of_the_dirichlet_distribution() {
    let counts = [3000usize, 1000, 2000, 2000];
    let data = labelled(&counts);
    let (m, draws) = (8, 400);
    for alpha in [0.2, 1.0, 20.0] {
        let config = PartitionConfig { scheme: PartitionScheme::Dirichlet(alpha), min_size: 0 };
        let (mut sum, mut squares, mut skew, mut n) = (0.0, 0.0, 0.0, 0.0);
        for seed in 0..draws {
            // Too small a client is an error here: the rare draws with one would shift the moments.
            let Ok(per_class) = dirichlet::counts(&data, m, alpha, 0, seed) else { panic!() };
            for client in 0..m {
                let own: Vec<f64> =
                    per_class.iter().map(|class| f64::from(class[client])).collect();
                let size: f64 = own.iter().sum();
                sum += size;
                squares += size * size;
                skew += own.iter().map(|count| count * count).sum::<f64>();
                n += 1.0;
            }
        }
        let (mean, m) = (sum / n, m as f64);
        let variance = squares / n - mean * mean;
        let all: f64 = counts.iter().map(|n| *n as f64).sum();
        let of_squares: f64 = counts.iter().map(|n| (*n as f64).powi(2)).sum();
        let expected = of_squares * (1.0 / m) * (1.0 - 1.0 / m) / (m * alpha + 1.0);
        assert!((mean - all / m).abs() < 1e-9, "nothing is lost");
        assert!((variance / expected - 1.0).abs() < 0.12, "α={alpha}: {variance} {expected}");
        let expected = of_squares * (alpha + 1.0) / (m * (m * alpha + 1.0));
        assert!((skew / n / expected - 1.0).abs() < 0.06, "α={alpha}: {} {expected}", skew / n);
        assert!(config.min_size == 0);
    }
}
