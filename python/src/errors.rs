//! What is raised.

use pyo3::create_exception;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;

create_exception!(
    gruppetto,
    ScenarioError,
    PyValueError,
    "A scenario is wrong. The text is that of the command line: the line, a caret, what was expected."
);
create_exception!(
    gruppetto,
    RunError,
    PyRuntimeError,
    "A run did not come to its end. What was recorded is kept."
);

/// A scenario that is wrong. What needs libtorch cannot be had here, but something else can.
pub fn wrong(error: impl ToString) -> PyErr {
    let mut text = error.to_string();
    if text.contains("needs libtorch") {
        text = text.trim_end().to_string();
        text.push_str(
            "\n  = help: or train a model of PyTorch here: gp.run(scenario, task=gp.torch.Task(…))",
        );
    }
    ScenarioError::new_err(text)
}
