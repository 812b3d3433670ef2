//! Scenarios as Python has them: the text of one, with changes.

use crate::errors::wrong;
use gruppetto::run::{Assumptions, estimate, preflight, theory as predict, with_evaluations};
use gruppetto::scenario::Override;
use gruppetto::{Plugins, Scenario};
use pyo3::prelude::*;

/// A scenario that is to be read.
#[derive(FromPyObject)]
pub struct Source {
    /// Its text.
    #[pyo3(item)]
    pub text: String,
    /// What it is called in errors; files that it names are looked for in its folder.
    #[pyo3(item)]
    pub name: String,
    /// Changes, as `--set` has them.
    #[pyo3(item)]
    pub set: Vec<String>,
    /// Another seed.
    #[pyo3(item)]
    pub seed: Option<u64>,
}

impl Source {
    /// Reads it.
    pub fn read(&self, plugins: &Plugins) -> PyResult<Scenario> {
        let set: Result<Vec<Override>, _> =
            self.set.iter().map(|text| Override::parse(text)).collect();
        Scenario::parse_with(&self.name, &self.text, &set.map_err(wrong)?, self.seed, plugins)
            .map_err(wrong)
    }
}

/// What `gruppetto check` says.
#[pyfunction]
pub fn check(py: Python<'_>, source: Source) -> PyResult<String> {
    let scenario = source.read(&Plugins::new())?;
    py.detach(|| {
        preflight(&scenario, false).map_err(wrong)?;
        let scenario = with_evaluations(&scenario).map_err(wrong)?;
        let threads = std::thread::available_parallelism().map_or(1, |cores| cores.get());
        let estimates = estimate(&scenario, threads).map_err(wrong)?;
        Ok(estimates.iter().map(|estimate| format!("{estimate}\n")).collect())
    })
}

/// What the theorems predict, as JSON.
#[pyfunction]
pub fn theory(py: Python<'_>, source: Source) -> PyResult<String> {
    let scenario = source.read(&Plugins::new())?;
    py.detach(|| {
        preflight(&scenario, true).map_err(wrong)?;
        let outlooks = predict(&scenario, &Assumptions::default()).map_err(wrong)?;
        Ok(serde_json::to_string(&outlooks).expect("plain data"))
    })
}
