//! `gruppetto data inspect`: how a task's data is spread over its clients.

mod display;
mod heat_map;

use super::{Dataset, PartitionScheme, SyntheticConfig, Targets};
use serde::Serialize;

/// Which characters a terminal can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Glyphs {
    /// Shades and mathematical signs.
    Unicode,
    /// ASCII only.
    Ascii,
}

/// What there is to know of a task's data with one seed.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Inspection {
    /// The data set.
    pub name: String,
    /// Shape of a sample.
    pub shape: Vec<usize>,
    /// What each class is called; empty where targets are real numbers.
    pub classes: Vec<String>,
    /// Training samples of the whole data set.
    pub train: usize,
    /// Test samples.
    pub test: usize,
    /// Mean of pixel/255 by channel; empty for tables.
    pub mean: Vec<f64>,
    /// Standard deviation of pixel/255 by channel; empty for tables.
    pub std: Vec<f64>,
    /// The rule by which it is spread.
    pub scheme: String,
    /// The seed it is spread with.
    pub seed: u64,
    /// What clients are called, where the data says so.
    pub names: Vec<String>,
    /// Training samples n_i of every client.
    pub sizes: Vec<u32>,
    /// How often every client has every class; empty where targets are real numbers.
    pub counts: Vec<Vec<u32>>,
    /// How far clients are apart; `None` where targets are real numbers.
    pub heterogeneity: Option<Heterogeneity>,
}

/// How much the clients' labels differ from those of all together, each client weighted by n_i.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Heterogeneity {
    /// Σ p_i · ½ Σ_k |q_ik − q_k|: the part of its samples an average client would have to exchange.
    /// 0 where all have the same mix, near 1 where nobody has what the others have.
    pub total_variation: f64,
    /// Σ p_i Σ_k (q_ik − q_k)²/q_k.
    pub chi2: f64,
    /// What χ² would be on average if samples were dealt at random: (m − 1)(K − 1)/(N − 1).
    pub chi2_if_iid: f64,
}

impl Inspection {
    /// Of a synthetic task, whose clients draw their own data.
    pub fn of_synthetic(config: &SyntheticConfig, clients: usize, seed: u64) -> Inspection {
        let shards = config.init(seed, clients);
        let count = |y: &[u32]| {
            let mut counts = vec![0; config.classes];
            y.iter().for_each(|class| counts[*class as usize] += 1);
            counts
        };
        let counts: Vec<Vec<u32>> = shards.train.iter().map(|shard| count(&shard.y)).collect();
        let sizes: Vec<u32> = shards.train.iter().map(|s| s.y.len() as u32).collect();
        Inspection {
            name: format!("synthetic({}, {})", config.alpha, config.beta),
            shape: vec![config.features],
            classes: (0..config.classes).map(|class| class.to_string()).collect(),
            train: sizes.iter().map(|n| *n as usize).sum(),
            test: shards.test.y.len(),
            mean: Vec::new(),
            std: Vec::new(),
            scheme: "drawn client by client".into(),
            seed,
            names: Vec::new(),
            heterogeneity: heterogeneity(&counts),
            sizes,
            counts,
        }
    }

    /// Of a data set, and the samples that each client has.
    pub fn of_data(
        data: &Dataset,
        clients: &[Vec<u32>],
        scheme: &PartitionScheme,
        seed: u64,
    ) -> Inspection {
        let counts: Vec<Vec<u32>> = match &data.train.y {
            Targets::Values(_) => Vec::new(),
            Targets::Classes(y) => clients
                .iter()
                .map(|own| {
                    let mut counts = vec![0; data.classes];
                    own.iter().for_each(|index| counts[y[*index as usize] as usize] += 1);
                    counts
                })
                .collect(),
        };
        let names = data.clients.as_ref().filter(|_| matches!(scheme, PartitionScheme::Natural));
        Inspection {
            name: data.name.clone(),
            shape: data.shape.clone(),
            classes: data.class_names.clone(),
            train: data.train.len(),
            test: data.test.len(),
            mean: data.mean.clone(),
            std: data.std.clone(),
            scheme: scheme.to_string(),
            seed,
            names: names.map_or(Vec::new(), |natural| natural.names.clone()),
            sizes: clients.iter().map(|own| own.len() as u32).collect(),
            heterogeneity: heterogeneity(&counts),
            counts,
        }
    }
}

fn heterogeneity(counts: &[Vec<u32>]) -> Option<Heterogeneity> {
    let classes = counts.first()?.len();
    let mut whole = vec![0.0; classes];
    for own in counts {
        whole.iter_mut().zip(own).for_each(|(sum, count)| *sum += f64::from(*count));
    }
    let all: f64 = whole.iter().sum();
    let (mut total_variation, mut chi2) = (0.0, 0.0);
    for own in counts {
        let n: f64 = own.iter().map(|count| f64::from(*count)).sum();
        if n == 0.0 {
            continue;
        }
        for (count, sum) in own.iter().zip(&whole).filter(|(_, sum)| **sum > 0.0) {
            let (q, global) = (f64::from(*count) / n, sum / all);
            total_variation += n / all * 0.5 * (q - global).abs();
            chi2 += n / all * (q - global).powi(2) / global;
        }
    }
    let present = whole.iter().filter(|sum| **sum > 0.0).count();
    let clients = counts.iter().filter(|own| own.iter().any(|count| *count > 0)).count();
    let freedom = clients.saturating_sub(1) * present.saturating_sub(1);
    let chi2_if_iid = freedom as f64 / (all - 1.0).max(1.0);
    Some(Heterogeneity { total_variation, chi2, chi2_if_iid })
}

#[cfg(test)]
mod tests;
