//! The command, as pip installs it.

use clap::Parser;
use gruppetto::cli::{self, Arguments};
use pyo3::prelude::*;

/// Does what the command line says. The exit code.
#[pyfunction]
pub fn command(py: Python<'_>, arguments: Vec<String>) -> i32 {
    let arguments = match Arguments::try_parse_from(arguments) {
        Ok(arguments) => arguments,
        Err(error) => {
            let _ = error.print();
            return error.exit_code();
        }
    };
    py.detach(|| cli::main(arguments).0.into())
}
