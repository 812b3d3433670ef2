//! Gruppetto, a straggler-aware federated-learning simulator.
//!
//! In a stage race the *gruppetto* is the group at the back that rides together to make the time
//! cut. Here the riders are devices: each client is an actor with a speed and a deadline, so the
//! number of local steps it makes, τ_i, emerges from timing. A server aggregates whatever progress
//! arrives, with the general update rule of the FedNova paper (Wang et al., 2020).
//!
//! # A first run
//!
//! A [`Scenario`] says what is simulated, [`Options`] how, [`Plugins`] what you bring; [`run()`] does it, and
//! a [`Run`] is what comes out.
//!
//! ```
//! use gruppetto::{Options, Plugins, Scenario, run};
//!
//! let text = r#"
//! name = "two-speeds"
//! stop.rounds = 20
//!
//! [task]
//! kind = "synthetic"                    # softmax regression on made-up data
//! clients = 10
//!
//! [client]
//! work = { until = "deadline" }         # τ_i emerges
//!
//! [server]
//! close = { deadline = "2s" }
//!
//! [[fleet.class]]
//! name = "fast"
//! step_time = "25ms"
//!
//! [[fleet.class]]
//! name = "slow"
//! step_time = { lognormal = { median = "400ms", sigma = 0.5 } }
//!
//! [[variant]]
//! name = "fednova"
//!
//! [[variant]]
//! name = "fedavg"
//! set = { server.weighting = "fedavg" }
//! "#;
//! let scenario = Scenario::parse("two-speeds.toml", text, &[], None)?;
//! let run = run(&scenario, &Options::default(), &Plugins::new())?;
//! let [fednova, fedavg] = [&run.variants[0], &run.variants[1]];
//! // Fast clients make many more steps: FedAvg leans towards their data, FedNova does not.
//! assert!(fednova.tau.max > 10 * fednova.tau.min);
//! assert!(fednova.chi2 < 1e-9 && fedavg.chi2 > 0.1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`Scenario::load`] reads a file; `Options { out: Some(…), .. }` writes the run's folder with rows, summary
//! and report.
//!
//! # Three ideas
//!
//! 1. **Steps are an outcome of timing.** A device downloads, steps and uploads; τ_i is what fits. [`device`]
//!    says how fast devices are, [`clock`] counts nanoseconds.
//! 2. **One update rule for every algorithm**, `x ← x − τ_eff · Σ w_i · η · d_i`: [`aggregate`]. The meter of
//!    [`theory`] tells which objective a run really descended.
//! 3. **The same bits always.** Randomness is keyed ([`random`]), sums are in arrival order; any number of
//!    threads gives the same files.
//!
//! # Your own ideas
//!
//! | trait | decides | in a scenario |
//! |---|---|---|
//! | [`policy::Selector`] | which clients are asked | `server.scheme` |
//! | [`policy::Work`] | how much a client is to do | `client.work` |
//! | [`policy::Closing`] | when a round closes, which updates count | `server.close` |
//! | [`aggregate::Weighting`] | what an update weighs | `server.weighting` |
//! | [`aggregate::ServerOptimizer`] | how the model moves | `server.optimizer` |
//! | [`train::Trainer`] | what is trained | `[task] kind` |
//! | [`observer::Observer`] | nothing: it is told everything | |
//!
//! [`plugins`] shows how they are registered; `examples/` has a page for each.
//!
//! # Where things are
//!
//! ```text
//!  scenario.toml ─► scenario ─► Plan (cannot be wrong) ◄── plugins, by name
//!                                 │
//!             ┌───────────────────┼────────────────────┐
//!             ▼                   ▼                    ▼
//!      device: how fast     data: what is learned   policy: when a round closes,
//!      devices are          train: how it is        who is asked, how much work
//!             │             computed                   │
//!             └────► client ◄─────┘                    │
//!                      │  Arrival{τ, ‖a‖, Δ, times}    ▼
//!                      └───────────────────────────► server: aggregate, theory ─► report
//!
//!          actors carry the messages · clock says when
//! ```
//!
//! The simulator is the crate `gruppetto-sim`; its modules are repeated here. Scenario language, runs, run
//! files, reports and the command line are this crate's own. `CONTRIBUTING.md` maps the rooms.

#[cfg(feature = "cli")]
pub mod bench;
#[cfg(feature = "cli")]
pub mod cli;
pub mod compare;
pub mod data;
pub mod export;
mod memory;
pub mod plugins;
pub mod report;
pub mod resume;
pub mod run;
pub mod run_files;
pub mod scenario;
pub mod sweep;
#[cfg(feature = "watch")]
pub mod watch;

pub use plugins::Plugins;
pub use run::{Options, Run, run};
pub use scenario::Scenario;

pub use gruppetto_sim::{
    actors, aggregate, client, clock, compress, device, matrix, metric, observer, participation,
    policy, random, record, server, solver, theory, train, units,
};
#[cfg(feature = "torch")]
pub use gruppetto_torch as torch;
pub use gruppetto_trace as trace;

/// The example in README.md is compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
