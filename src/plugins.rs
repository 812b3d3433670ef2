//! What a user brings to a run: policies, optimisers, tasks and observers, by name.
//!
//! ```text
//!   scenario:  scheme = { plugin = "mine", k = 3 }
//!                               │         └──────► Parameters ─┐
//!   Plugins::new().selector("mine", |parameters, fleet| …) ────┴─► Box<dyn Selector>
//! ```
//!
//! A plug-in is made once when the scenario is read, so that what is wrong with its parameters is told
//! with line and caret before anything runs, and then once for every run.
//!
//! ```
//! use gruppetto::plugins::Plugins;
//! use gruppetto::policy::{KeyedRng, Selector, View};
//! use gruppetto::run::{Options, run};
//! use gruppetto::scenario::Scenario;
//!
//! /// Asks the clients with the largest shares of the data.
//! struct Largest;
//!
//! impl Selector for Largest {
//!     fn select(&mut self, view: &View<'_>, _: &KeyedRng) -> Vec<u32> {
//!         let mut clients: Vec<u32> = view.available_clients().collect();
//!         clients.sort_by(|a, b| view.p[*b as usize].total_cmp(&view.p[*a as usize]));
//!         clients.truncate(view.wanted);
//!         clients
//!     }
//! }
//!
//! let plugins = Plugins::new().selector("largest", |_, _| Ok(Box::new(Largest)));
//! let text = r#"
//! name = "largest-first"
//! stop.rounds = 3
//! server.sample.clients = 5
//! server.scheme = { plugin = "largest" }
//! "#;
//! let scenario = Scenario::parse_with("largest.toml", text, &[], None, &plugins)?;
//! let summary = run(&scenario, &Options::default(), &plugins)?;
//! assert_eq!(summary.variants[0].rounds, 3);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod chosen;
mod error;
mod fleet;
mod parameters;
mod registry;

pub use chosen::{Chosen, ChosenPlugins, ChosenTask};
pub use error::PluginError;
pub use fleet::{FleetView, TaskSetup};
pub use parameters::{FromParameter, Parameter, Parameters};
pub use registry::{Plugins, RunContext};
