//! The `gruppetto` command: everything it does is in the library.

use clap::Parser;
use gruppetto::cli::{self, Arguments};
use std::process::ExitCode;

/// A message costs an allocation on one side and a release on the other, a million clients keep a
/// million of them alive: with the system's allocator such runs take three times as long.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    ExitCode::from(cli::main(Arguments::parse()).0)
}
