//! What is wanted of `summary.json`.

use serde::Deserialize;
use std::collections::BTreeMap;

/// The whole scenario.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Told {
    /// The scenario's name.
    pub name: String,
    /// `incomplete` from its first moment on, until everything is written.
    pub status: String,
    /// Whether the schedule alone is run.
    pub timing_only: bool,
    /// What went wrong, if something did.
    pub error: Option<String>,
    /// The runs that are over.
    pub variants: Vec<Over>,
}

/// A run that is over. A number that is not finite is told as null.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
#[allow(missing_docs)]
pub struct Over {
    pub name: String,
    pub seed: u64,
    pub stopped_by: String,
    pub rounds: u64,
    pub virtual_seconds: Option<f64>,
    pub chi2: Option<f64>,
    /// By phase.
    pub latency_seconds: BTreeMap<String, Percentiles>,
    pub outcomes: BTreeMap<String, u64>,
}

/// Percentiles of a latency, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
#[allow(missing_docs)]
pub struct Percentiles {
    pub count: u64,
    pub p50: f64,
    pub p90: f64,
    pub p99: f64,
    pub max: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_or_less_than_expected_is_no_trouble() {
        let told: Told = serde_json::from_str(
            r#"{"name": "a", "status": "incomplete", "new": 1,
                "variants": [{"name": "x", "seed": 1, "chi2": null, "tau": {"min": 1}}]}"#,
        )
        .unwrap();
        assert_eq!((told.variants.len(), told.variants[0].chi2), (1, None));
        assert!(told.variants[0].outcomes.is_empty());
    }
}
