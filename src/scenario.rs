//! From a TOML file to a [`Scenario`] that cannot be wrong.
//!
//! Two stages. The first keeps everything where it was written: TOML becomes a tree whose keys and
//! values know their place in the file, and `--set` and the `set` of a variant are assignments on
//! that tree. The second reads the tree table by table into the types that the rest of the program
//! uses. Code past that point never checks again.
//!
//! ```text
//!   file ──► tree ──► tree, changed ──► Section by Section ──► Scenario { variants: [Plan] }
//!              ▲           ▲                    │
//!          places     --set, set            ScenarioError: place, caret, what was expected
//! ```
//!
//! One description of the language ([`schema`]) tells known keys from unknown ones, and is what
//! `gruppetto list` and `docs/scenario.md` show. A key that was not read is an error as well, so
//! nothing in a file is ever ignored.
//!
//! ```
//! use gruppetto::scenario::{Override, Scenario};
//!
//! let text = r#"
//! name = "two-speeds"
//! stop.rounds = 20
//!
//! [task]
//! kind = "quadratic"
//! clients = 2
//!
//! [[fleet.class]]
//! name = "slow"
//! step_time = "200ms"
//! "#;
//! let tighter = Override::parse("server.close.deadline=10s")?;
//! let scenario = Scenario::parse("two-speeds.toml", text, &[tighter], None)?;
//! assert_eq!(scenario.variants[0].name, "fednova");
//!
//! let error = Scenario::parse("two-speeds.toml", &text.replace("step_time", "steptime"), &[], None);
//! assert!(error.unwrap_err().to_string().contains("did you mean `step_time`?"));
//! # Ok::<(), gruppetto::scenario::ScenarioError>(())
//! ```

mod assign;
mod client;
mod close;
mod compression;
mod device;
mod dist;
mod drawn;
mod empirical;
mod error;
mod event;
mod expect;
mod fleet;
mod foresight;
mod habits;
mod model;
mod optimizer;
mod overrides;
mod partition;
mod plan;
mod plugin;
mod read;
mod render;
mod replay;
mod resolved;
mod rules;
pub mod schema;
mod scheme;
mod section;
mod select;
mod server;
mod solver;
mod source;
mod stop;
mod suggest;
mod sweep;
mod task;
mod tree;
mod united;
mod value;

pub(crate) use drawn::DrawnFleet;
pub use drawn::{DrawError, DrawnClients};
pub use error::ScenarioError;
pub use overrides::Override;
pub use plan::{
    EvaluateEvery, Expect, ExpectBound, Over, Plan, Quantity, RecordClients, Reference, Scenario,
    Side, Subject, Variant,
};
pub(crate) use united::{repeats, united};

use crate::memory::read_at_most;
use crate::plugins::Plugins;
use assign::{Assignment, Segment};
use overrides::Change;
use source::{Origin, Source, Where};
use std::path::Path;
use std::sync::Arc;

/// Bytes of the largest scenario file.
const MOST: u64 = 64 << 20;

impl Scenario {
    /// Reads a scenario file. Files it names are looked for in its folder.
    pub fn load(path: impl AsRef<Path>, plugins: &Plugins) -> Result<Scenario, ScenarioError> {
        Scenario::load_with(path.as_ref(), &[], None, plugins)
    }

    /// Reads a scenario file and changes some of its keys, and its seed.
    pub fn load_with(
        path: &Path,
        overrides: &[Override],
        seed: Option<u64>,
        plugins: &Plugins,
    ) -> Result<Scenario, ScenarioError> {
        let name = path.display().to_string();
        let bytes =
            read_at_most(path, MOST).map_err(|error| ScenarioError::unreadable(&name, &error))?;
        match String::from_utf8(bytes) {
            Ok(text) => build(path, &text, overrides, seed, plugins),
            Err(error) => {
                let start = error.utf8_error().valid_up_to();
                let text = String::from_utf8_lossy(error.as_bytes()).into_owned();
                let source = Arc::new(Source { origin: Origin::File(name), text });
                let at = Where { source, span: start..start + 1 };
                Err(at.error("the file is not text").expected("TOML in UTF-8"))
            }
        }
    }

    /// Reads a scenario from its text. The name is shown in errors, and its folder is where files
    /// that the scenario names are looked for.
    pub fn parse(
        file_name: &str,
        text: &str,
        overrides: &[Override],
        seed: Option<u64>,
    ) -> Result<Scenario, ScenarioError> {
        Scenario::parse_with(file_name, text, overrides, seed, &Plugins::new())
    }

    /// The same, with plug-ins.
    pub fn parse_with(
        file_name: &str,
        text: &str,
        overrides: &[Override],
        seed: Option<u64>,
        plugins: &Plugins,
    ) -> Result<Scenario, ScenarioError> {
        build(Path::new(file_name), text, overrides, seed, plugins)
    }
}

fn build(
    path: &Path,
    text: &str,
    overrides: &[Override],
    seed: Option<u64>,
    plugins: &Plugins,
) -> Result<Scenario, ScenarioError> {
    let mut tree = tree::parse_file(&path.display().to_string(), text)?;
    let mut set = Vec::new();
    for Override(change) in overrides {
        match change {
            Change::Set(assignment) => set.push(assignment.clone()),
            Change::Sweep(given) => sweep::add(&mut tree, given),
        }
    }
    sweep::Sweep::read(&tree)?.leaves_alone(&set, "--set")?;
    for assignment in set.into_iter().chain(seed.map(seed_assignment).transpose()?) {
        assign::apply(&mut tree, &[assignment])?;
    }
    resolved::anchor(&mut tree, path.parent().unwrap_or(Path::new("")));
    read::read(&tree, plugins)
}

/// `--seed` as an assignment. TOML holds 63 bits, and the resolved scenario must hold the seed.
fn seed_assignment(seed: u64) -> Result<Assignment, ScenarioError> {
    let source = Arc::new(Source { origin: Origin::Argument("--seed"), text: seed.to_string() });
    let span = 0..source.text.len();
    let at = Where { source, span };
    let number = i64::try_from(seed).map_err(|_| {
        at.error("the seed is too large")
            .expected(format_args!("a whole number up to {}", i64::MAX))
    })?;
    let path = vec![Segment { name: "seed".into(), at: at.clone() }];
    Ok(Assignment { path, value: tree::Node { value: tree::Raw::Integer(number), at } })
}
