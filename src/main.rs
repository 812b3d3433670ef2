//! The `gruppetto` command: everything it does is in the library.

use clap::Parser;
use gruppetto::cli::{self, Arguments};
use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main(Arguments::parse())
}
