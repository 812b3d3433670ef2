//! What is raised.

use pyo3::create_exception;
use pyo3::exceptions::{PyRuntimeError, PyValueError};

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
