//! Gruppetto for Python: `gruppetto._native`, which the package `gruppetto` wraps. Everything that is simulated is in
//! the crate `gruppetto`; here it is called, with the interpreter's lock released, and what Python brings is called
//! back.
//!
//! ```text
//!   gruppetto/__init__.py ─► run(…) ─► a thread of its own runs the scenario ─► summary.json
//!                              │             │
//!         signals, progress ◄──┘             └──► hooks: Python objects behind the traits
//!   Run.rounds ─► table(…) ─► Arrow columns
//! ```

mod command;
mod data;
mod errors;
mod hooks;
mod numbers;
mod running;
mod scenario;
mod tables;

use pyo3::prelude::*;

/// The one of the command: Python's own objects are not concerned.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// What the package `gruppetto` is made of.
#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("ScenarioError", module.py().get_type::<errors::ScenarioError>())?;
    module.add("RunError", module.py().get_type::<errors::RunError>())?;
    module.add_function(wrap_pyfunction!(command::command, module)?)?;
    module.add_function(wrap_pyfunction!(scenario::check, module)?)?;
    module.add_function(wrap_pyfunction!(scenario::theory, module)?)?;
    module.add_function(wrap_pyfunction!(running::run, module)?)?;
    module.add_function(wrap_pyfunction!(running::merge, module)?)?;
    module.add_function(wrap_pyfunction!(tables::table, module)?)?;
    module.add_function(wrap_pyfunction!(tables::latency, module)?)?;
    module.add_function(wrap_pyfunction!(tables::load, module)?)?;
    module.add_class::<tables::Table>()?;
    module.add_class::<numbers::Numbers>()?;
    module.add_class::<hooks::CallRng>()?;
    module.add_class::<data::BatchOrder>()?;
    module.add_function(wrap_pyfunction!(data::partition, module)?)?;
    Ok(())
}
