//! Synthetic(α, β): softmax regression data as Li et al. 2018 (FedProx) generate it.
//!
//! Per client: u ~ N(0, α) and B ~ N(0, β) (standard deviations); W (features × classes) and b
//! with entries N(u, 1); feature means v_j ~ N(B, 1); samples x ~ N(v, diag(j^−1.2)) and labels
//! y = argmax(Wᵀx + b). Shuffled, then the first 90 % train and the rest test.
//!
//! u is added to every entry of W and b, so it moves the scores of all classes alike and changes no label:
//! α does nothing, in the original generator neither. The clients' models differ because each draws its
//! own W. How much they do, [`SyntheticConfig::model_difference`] says.

use super::{Shard, Shards};
use crate::random::{Dist, Purpose, Stream, stream};
use rand_distr::{Distribution, StandardNormal};

/// `[task] kind = "synthetic"`.
#[derive(Clone, Debug, PartialEq)]
pub struct SyntheticConfig {
    /// Standard deviation of the clients' model means u_i.
    pub alpha: f64,
    /// Standard deviation of the clients' feature means B_i.
    pub beta: f64,
    /// From 0, one W for all clients, to 1, each its own as in the original: W_i − u_i is
    /// √(1 − difference²) times a common one plus difference times an own one.
    pub model_difference: f64,
    /// Features per sample.
    pub features: usize,
    /// Classes.
    pub classes: usize,
    /// Samples per client, before the 90/10 split.
    pub size: Dist,
}

/// How many samples of a client train and test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Split {
    /// That train.
    pub train: u32,
    /// That test.
    pub test: u32,
}

impl SyntheticConfig {
    /// n_i, drawn from a stream of its own so that a schedule can be made without the data.
    pub fn split(&self, seed: u64, client: u64) -> Split {
        // Round 1 of the stream: round 0 holds the data itself.
        let size = self.size.sample(&mut stream(seed, Purpose::Data, client, 1));
        // Two at least, so that nobody is left without a training sample.
        let size = size.clamp(2.0, f64::from(u32::MAX)) as u32;
        let train = ((u64::from(size) * 9) / 10).max(1) as u32;
        Split { train, test: size - train }
    }

    /// Draws the problem.
    pub fn init(&self, seed: u64, clients: usize) -> Shards {
        let mut test = Shard::default();
        let common = self.common_weights(seed);
        let train = (0..clients as u64)
            .map(|client| {
                let split = self.split(seed, client);
                let mut rng = stream(seed, Purpose::Data, client, 0);
                // Samples of a client are independent, so any cut is as good as a shuffled one.
                let model = LocalModel::draw(self, &common, &mut rng);
                model.samples(split.test, &mut rng, &mut test);
                let mut train = Shard::default();
                model.samples(split.train, &mut rng, &mut train);
                train
            })
            .collect();
        Shards { features: self.features, classes: self.classes, train, test }
    }
}

impl SyntheticConfig {
    /// What the clients' models have in common; empty if that is nothing.
    fn common_weights(&self, seed: u64) -> Vec<f64> {
        if self.model_difference == 1.0 {
            return Vec::new();
        }
        // Round 2 of the stream of client 0: 0 and 1 hold its own data and sizes.
        let mut rng = stream(seed, Purpose::Data, 0, 2);
        let part = (1.0 - self.model_difference.powi(2)).sqrt();
        (0..(self.features + 1) * self.classes).map(|_| part * normal(&mut rng)).collect()
    }
}

/// One client's labelling model and feature distribution.
struct LocalModel {
    /// W by rows of features, b last: (features + 1) × classes.
    weights: Vec<f64>,
    means: Vec<f64>,
    stds: Vec<f64>,
    classes: usize,
}

impl LocalModel {
    fn draw(config: &SyntheticConfig, common: &[f64], rng: &mut Stream) -> Self {
        let u = config.alpha * normal(rng);
        let b = config.beta * normal(rng);
        let mut weights: Vec<f64> =
            (0..(config.features + 1) * config.classes).map(|_| u + normal(rng)).collect();
        for (weight, common) in weights.iter_mut().zip(common) {
            *weight = u + common + config.model_difference * (*weight - u);
        }
        let means = (0..config.features).map(|_| b + normal(rng)).collect();
        // Σ is diagonal with Σ_jj = j^−1.2, so the standard deviation is j^−0.6.
        let stds = (1..=config.features).map(|j| (j as f64).powf(-0.6)).collect();
        LocalModel { weights, means, stds, classes: config.classes }
    }

    fn samples(&self, count: u32, rng: &mut Stream, into: &mut Shard) {
        let mut scores = vec![0.0; self.classes];
        if into.y.is_empty() {
            // Exactly: doubling would waste up to half of it in every client.
            into.x.reserve_exact(count as usize * (self.means.len() + 1));
            into.y.reserve_exact(count as usize);
        }
        for _ in 0..count {
            // The bias is the last row of W, met with x = 1.
            let (rows, bias) = self.weights.split_at(self.means.len() * self.classes);
            scores.copy_from_slice(bias);
            for ((mean, std), row) in
                self.means.iter().zip(&self.stds).zip(rows.chunks_exact(self.classes))
            {
                // The label belongs to the sample that training sees, so it is made from the
                // rounded value.
                let x = (mean + std * normal(rng)) as f32;
                into.x.push(x);
                scores.iter_mut().zip(row).for_each(|(score, w)| *score += w * f64::from(x));
            }
            into.x.push(1.0);
            into.y.push(argmax(&scores));
        }
    }
}

fn argmax(scores: &[f64]) -> u32 {
    let mut best = 0;
    for (class, score) in scores.iter().enumerate() {
        if *score > scores[best] {
            best = class;
        }
    }
    best as u32
}

fn normal(rng: &mut Stream) -> f64 {
    StandardNormal.sample(rng)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Shape;

    fn config(alpha: f64, beta: f64) -> SyntheticConfig {
        let shape = Shape::Lognormal { median: 54.6, sigma: 2.0 };
        let size = Dist { shape, plus: 50.0, min: None, max: Some(2000.0) };
        SyntheticConfig { alpha, beta, model_difference: 1.0, features: 60, classes: 10, size }
    }

    fn mean_and_std(values: impl Iterator<Item = f64>) -> (f64, f64) {
        let values: Vec<f64> = values.collect();
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let var = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / values.len() as f64;
        (mean, var.sqrt())
    }

    #[test]
    fn features_spread_as_published() {
        let size = Dist::fixed(4000.0);
        let data = SyntheticConfig { size, ..config(1.0, 1.0) }.init(3, 1);
        let shard = &data.train[0];
        assert_eq!((shard.y.len(), data.test.y.len()), (3600, 400));
        for j in [0usize, 9, 59] {
            let column = shard.x.iter().skip(j).step_by(61).map(|x| f64::from(*x));
            let (_, std) = mean_and_std(column);
            let expected = ((j + 1) as f64).powf(-0.6);
            assert!((std / expected - 1.0).abs() < 0.06, "feature {j}: {std}, not {expected}");
        }
        assert!(shard.x.iter().skip(60).step_by(61).all(|bias| *bias == 1.0));
    }

    /// The second argument of the paper's N(·,·) is the standard deviation: over many clients the
    /// mean feature of a client varies with β² + 1 (its B_i, and the 1 of each v_j).
    #[test]
    fn alpha_and_beta_are_standard_deviations_between_clients() {
        for beta in [0.0, 2.0] {
            let size = Dist::fixed(20.0);
            let data = SyntheticConfig { size, ..config(0.0, beta) }.init(4, 800);
            let means = data.train.iter().map(|shard| {
                mean_and_std(shard.x.iter().skip(59).step_by(61).map(|x| f64::from(*x))).0
            });
            let (_, std) = mean_and_std(means);
            let expected = (beta * beta + 1.0).sqrt();
            assert!((std / expected - 1.0).abs() < 0.08, "β={beta}: {std}, not {expected}");
        }
    }

    #[test]
    fn sizes_follow_the_power_law_and_the_data_follows_the_sizes() {
        let synthetic = config(1.0, 1.0);
        let sizes: Vec<u32> = (0..2000).map(|client| synthetic.split(11, client).train).collect();
        assert!(sizes.iter().all(|n| (45..=1800).contains(n)));
        let mut sorted = sizes.clone();
        sorted.sort();
        // Median 54.6 + 50, of which 90 % train.
        assert!((88..=101).contains(&sorted[1000]), "median {}", sorted[1000]);
        let data = synthetic.init(11, 5);
        for (shard, n) in data.train.iter().zip(&sizes) {
            assert_eq!(shard.y.len(), *n as usize);
        }
    }

    /// u moves all scores of a sample alike.
    #[test]
    fn alpha_changes_no_label() {
        let [without, with] = [0.0, 5.0].map(|alpha| config(alpha, 1.0).init(6, 20));
        for (one, other) in without.train.iter().zip(&with.train) {
            let same = one.y.iter().zip(&other.y).filter(|(one, other)| one == other).count();
            // But for scores that rounding cannot tell apart.
            assert!(one.y.len() - same <= one.y.len() / 1000, "{same} of {}", one.y.len());
        }
    }

    /// How often the labels of two clients' models agree on the same samples: always with one model for
    /// all, by chance with models of their own, and in between in between.
    #[test]
    fn the_difference_is_that_of_the_clients_models() {
        let agreement = |model_difference: f64| {
            let synthetic = SyntheticConfig { model_difference, ..config(1.0, 0.0) };
            let common = synthetic.common_weights(3);
            let label = |client: u64, x: &[f64]| {
                let mut rng = stream(3, Purpose::Data, client, 0);
                let model = LocalModel::draw(&synthetic, &common, &mut rng);
                let scores = (0..10).map(|class| {
                    let row = |j: usize| model.weights[j * 10 + class];
                    row(60) + x.iter().enumerate().map(|(j, x)| row(j) * x).sum::<f64>()
                });
                argmax(&scores.collect::<Vec<_>>())
            };
            let mut rng = stream(9, Purpose::Data, 0, 0);
            let agree = (0..400).filter(|_| {
                let x: Vec<f64> = (0..60).map(|_| normal(&mut rng)).collect();
                label(1, &x) == label(2, &x)
            });
            agree.count() as f64 / 400.0
        };
        let [same, near, own] = [0.0, 0.3, 1.0].map(agreement);
        assert!(same > 0.99 && own < 0.25, "{same} {own}");
        assert!((0.4..0.95).contains(&near), "{near}");
    }

    #[test]
    fn labels_come_from_a_linear_model_per_client() {
        // With α = β = 0 clients still differ in W: a label must be the argmax of its own client.
        let data = config(0.0, 0.0).init(8, 3);
        assert!(data.train.iter().all(|shard| shard.y.iter().all(|y| *y < 10)));
        assert_ne!(data.train[0].y[..20], data.train[1].y[..20]);
    }
}
