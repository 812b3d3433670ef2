//! The command, as pip installs it.

use crate::hooks::{Failure, Hooks};
use clap::Parser;
use gruppetto::cli::{self, Arguments};
use pyo3::prelude::*;
use std::path::PathBuf;

/// Does what the command line says. The exit code. `bring` is called with the files of `--plugin` and the number of
/// threads, if there is one, and gives the hooks that can be named; what they raise is raised.
#[pyfunction]
pub fn command(py: Python<'_>, arguments: Vec<String>, bring: Py<PyAny>) -> PyResult<i32> {
    let arguments = match Arguments::try_parse_from(arguments) {
        Ok(arguments) => arguments,
        Err(error) => {
            let _ = error.print();
            return Ok(error.exit_code());
        }
    };
    let (files, threads) = arguments.python();
    if files.is_empty() {
        return Ok(py.detach(|| cli::main(arguments).0.into()));
    }
    let files: Vec<PathBuf> = files.to_vec();
    let hooks: Hooks = bring.call1(py, (files, threads))?.extract(py)?;
    let failure = Failure::default();
    let plugins = hooks.plugins(&failure);
    let code = py.detach(|| cli::main_with(arguments, &plugins).0);
    failure.take().map_or(Ok(code.into()), Err)
}
