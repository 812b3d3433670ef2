//! `gruppetto new`: a scenario to begin with.

use super::{Problem, print};
use crate::cli::ExitCode;
use clap::Args;
use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::path::PathBuf;

const STARTER: &str = include_str!("starter.toml");

#[derive(Args)]
pub(super) struct NewArguments {
    /// What it is called: letters, digits, - and _; the file is NAME.toml
    #[arg(value_name = "NAME")]
    name: String,
}

/// Does what `gruppetto new` says.
pub(super) fn new(NewArguments { name }: &NewArguments) -> Result<ExitCode, Problem> {
    let name = name.strip_suffix(".toml").unwrap_or(name);
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if name.is_empty() || name.len() > 64 || !name.chars().all(plain) {
        return Err(Problem::usage(format!(
            "error: `{}` is no name for a scenario\n  = expected letters, digits, - and _",
            name.escape_debug()
        )));
    }
    let path = PathBuf::from(format!("{name}.toml"));
    let failed = |error: std::io::Error| match error.kind() {
        ErrorKind::AlreadyExists => Problem::failed(format!(
            "{} is there already, and stays as it is\n  = help: choose another name",
            path.display()
        )),
        _ => Problem::failed(format!("cannot write {}: {error}", path.display())),
    };
    let mut file = OpenOptions::new().write(true).create_new(true).open(&path).map_err(failed)?;
    file.write_all(STARTER.replace("NAME", name).as_bytes()).map_err(failed)?;
    print(&format!("written to {0}\n\n  gruppetto run {0}\n", path.display()))?;
    Ok(ExitCode::SUCCESS)
}
