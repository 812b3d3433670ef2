//! A variant of a run, over all its seeds.

use crate::metric::Metric;
use crate::report::Spread;
use serde_json::Value;

/// What is compared.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Entry {
    pub run: String,
    pub variant: String,
    pub seeds: u64,
    /// In the order of [`Metric::ALL`].
    pub metrics: Vec<(Metric, Spread)>,
    pub virtual_seconds: Spread,
    pub rounds: Spread,
    /// Simulated seconds to the target, if every seed reached it.
    pub to_target: Option<Spread>,
    pub waste: Spread,
    pub chi2: Spread,
    pub missing_mass: Spread,
}

impl Entry {
    pub(super) fn of(run: &str, over_seeds: &Value, runs: &[Value]) -> Self {
        let name = over_seeds["name"].as_str().unwrap_or_default();
        let metric = |metric: Metric| {
            let known = &over_seeds["metrics"][metric.name()];
            known.is_object().then(|| (metric, spread(known)))
        };
        let own: Vec<&Value> = runs.iter().filter(|run| run["name"] == name).collect();
        let times = own.iter().map(|run| run["target"]["virtual_seconds"].as_f64());
        let times: Option<Vec<f64>> = times.collect();
        Entry {
            run: run.into(),
            variant: name.into(),
            seeds: own.len() as u64,
            metrics: Metric::ALL.into_iter().filter_map(metric).collect(),
            virtual_seconds: spread(&over_seeds["virtual_seconds"]),
            rounds: spread(&over_seeds["rounds"]),
            to_target: times.filter(|times| !times.is_empty()).map(|times| Spread::of(&times)),
            waste: spread(&over_seeds["waste"]),
            chi2: spread(&over_seeds["chi2"]),
            missing_mass: spread(&over_seeds["missing_mass"]),
        }
    }

    pub(super) fn metric(&self, metric: Metric) -> Option<Spread> {
        self.metrics.iter().find(|(own, _)| *own == metric).map(|(_, spread)| *spread)
    }
}

/// What is not a number was none when it was written.
fn spread(value: &Value) -> Spread {
    Spread { mean: value["mean"].as_f64().unwrap_or(f64::NAN), std: value["std"].as_f64() }
}
