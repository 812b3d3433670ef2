//! Scenarios as Python has them: the text of one, with changes.

use crate::errors::{RunError, wrong};
use crate::hooks::{Failure, Hooks};
use gruppetto::run::{
    Assumptions, estimate, overview, preflight, theory as predict, with_evaluations,
};
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
    /// Swept keys with their values, as `--sweep` has them.
    #[pyo3(item)]
    pub sweep: Vec<String>,
    /// Another seed.
    #[pyo3(item)]
    pub seed: Option<u64>,
    /// So many seeds.
    #[pyo3(item)]
    pub repeats: Option<u32>,
}

impl Source {
    /// Reads it.
    pub fn read(&self, plugins: &Plugins) -> PyResult<Scenario> {
        let set = self.set.iter().map(|text| Override::parse(text));
        let sweep = self.sweep.iter().map(|text| Override::sweep(text));
        let mut changes: Vec<Override> =
            set.chain(sweep).collect::<Result<_, _>>().map_err(wrong)?;
        changes.extend(self.repeats.map(Override::repeats));
        Scenario::parse_with(&self.name, &self.text, &changes, self.seed, plugins).map_err(wrong)
    }
}

/// What `gruppetto check` says.
#[pyfunction]
pub fn check(py: Python<'_>, source: Source, hooks: Hooks) -> PyResult<String> {
    with_hooks(py, &source, hooks, |scenario| {
        preflight(scenario, false).map_err(wrong)?;
        let scenario = with_evaluations(scenario).map_err(wrong)?;
        let threads = std::thread::available_parallelism().map_or(1, |cores| cores.get());
        let estimates = estimate(&scenario, threads).map_err(wrong)?;
        Ok(overview(&scenario, &estimates, threads))
    })
}

/// What the theorems predict, as JSON.
#[pyfunction]
pub fn theory(py: Python<'_>, source: Source, hooks: Hooks) -> PyResult<String> {
    with_hooks(py, &source, hooks, |scenario| {
        preflight(scenario, true).map_err(wrong)?;
        let outlooks = predict(scenario, &Assumptions::default()).map_err(wrong)?;
        Ok(serde_json::to_string(&outlooks).expect("plain data"))
    })
}

/// Reads a scenario that may name hooks, and does something with it. What a hook raises is raised.
fn with_hooks(
    py: Python<'_>,
    source: &Source,
    hooks: Hooks,
    work: impl FnOnce(&Scenario) -> PyResult<String> + Send,
) -> PyResult<String> {
    let failure = Failure::default();
    let plugins = hooks.plugins(&failure);
    // A hook that raises ends the thread that called it.
    let done = py.detach(|| {
        let work = std::panic::AssertUnwindSafe(|| {
            source.read(&plugins).and_then(|scenario| work(&scenario))
        });
        std::panic::catch_unwind(work).unwrap_or_else(|_| Err(RunError::new_err("a hook failed")))
    });
    match failure.take() {
        Some(error) => Err(error),
        None => done,
    }
}
