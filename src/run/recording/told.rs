//! What a run's `summary.json` tells that a recording is held against.

use gruppetto_trace::TraceError;
use std::path::Path;

/// What `summary.json` tells of a run.
pub(super) struct Told {
    pub version: String,
    pub scenario_digest: String,
    pub ended: Vec<Ended>,
}

/// A run that came to its end.
pub(super) struct Ended {
    pub name: String,
    pub seed: u64,
    /// Rows of `clients.csv`: everybody who was asked came to some end.
    pub rows: u64,
}

impl Told {
    pub(super) fn read(path: &Path) -> Result<Told, TraceError> {
        let bytes = std::fs::read(path).map_err(|error| {
            let error = TraceError::io(path, "read", &error);
            error.help("expected the folder of a run, such as runs/NAME")
        })?;
        let json: serde_json::Value = serde_json::from_slice(&bytes).map_err(|error| {
            TraceError::new(path, format!("it is not the summary of a run: {error}"))
        })?;
        let version =
            json["version"].as_str().filter(|v| v.len() < 40 && !v.contains(char::is_control));
        let version = version.ok_or_else(|| TraceError::new(path, "it tells no version"))?;
        let runs = json["variants"].as_array().map_or(&[][..], Vec::as_slice);
        let ended = runs.iter().filter_map(|run| {
            let name = run["name"].as_str()?.to_string();
            let outcomes = run["outcomes"].as_object()?.values();
            let rows = outcomes.filter_map(serde_json::Value::as_u64).sum();
            // One that diverged came to its end as well.
            let ended = run["status"] != "incomplete";
            Some(Ended { name, seed: run["seed"].as_u64()?, rows }).filter(|_| ended)
        });
        Ok(Told {
            version: version.to_string(),
            scenario_digest: json["scenario_digest"].as_str().unwrap_or_default().to_string(),
            ended: ended.collect(),
        })
    }
}
