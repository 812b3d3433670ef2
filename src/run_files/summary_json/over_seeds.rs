//! A variant over all its seeds.

use super::{VariantSummary, nan_if_null};
use crate::metric::Metric;
use crate::sweep::Swept;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A variant, with a sweep a combination, over all its seeds.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
#[allow(missing_docs)]
pub struct OverSeeds {
    pub name: String,
    /// With a sweep: the name of the variant.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub variant: String,
    /// With a sweep: the value of every swept key.
    #[serde(skip_serializing_if = "Swept::is_empty")]
    pub swept: Swept,
    pub seeds: usize,
    /// By name of the metric.
    pub metrics: BTreeMap<String, Spread>,
    pub rounds: Spread,
    pub virtual_seconds: Spread,
    pub chi2: Spread,
    pub missing_mass: Spread,
    pub waste: Spread,
}

/// The mean of a quantity and, with several seeds, its standard deviation between them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[allow(missing_docs)]
pub struct Spread {
    #[serde(deserialize_with = "nan_if_null")]
    pub mean: f64,
    pub std: Option<f64>,
}

impl Default for Spread {
    /// Unknown.
    fn default() -> Self {
        Spread { mean: f64::NAN, std: None }
    }
}

impl Spread {
    /// Of these values, of which there is at least one.
    pub fn of(values: &[f64]) -> Self {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        Spread { mean, std: (n > 1.0).then(|| (squares / (n - 1.0)).sqrt()) }
    }
}

impl OverSeeds {
    /// Groups runs by variant, in their order.
    pub fn of(runs: &[VariantSummary]) -> Vec<OverSeeds> {
        let groups = runs.chunk_by(|a, b| a.name == b.name);
        groups.map(OverSeeds::of_one).collect()
    }

    /// One that did not come to its end says nothing of how the others end: it counts only if there is no other.
    fn of_one(runs: &[VariantSummary]) -> OverSeeds {
        let over: Vec<&VariantSummary> = runs.iter().filter(|run| run.is_over()).collect();
        let runs = if over.is_empty() { runs.iter().collect() } else { over };
        let spread = |of: &dyn Fn(&VariantSummary) -> f64| {
            Spread::of(&runs.iter().map(|run| of(run)).collect::<Vec<_>>())
        };
        let metric = |metric: Metric| {
            let values: Option<Vec<f64>> = runs.iter().map(|run| run.metrics.get(metric)).collect();
            Some((metric.name().to_string(), Spread::of(&values?)))
        };
        OverSeeds {
            name: runs[0].name.clone(),
            variant: runs[0].variant.clone(),
            swept: runs[0].swept.clone(),
            seeds: runs.len(),
            metrics: Metric::ALL.into_iter().filter_map(metric).collect(),
            rounds: spread(&|run| run.rounds as f64),
            virtual_seconds: spread(&|run| run.virtual_seconds),
            chi2: spread(&|run| run.chi2),
            missing_mass: spread(&|run| run.missing_mass),
            waste: spread(&|run| run.waste),
        }
    }
}
