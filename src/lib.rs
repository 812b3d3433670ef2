//! Gruppetto, a straggler-aware federated-learning simulator.
//!
//! In a stage race the *gruppetto* is the group at the back that rides together to make the time
//! cut. Here the riders are devices: each client is an actor with a speed and a deadline, so the
//! number of local steps it makes, τ_i, emerges from timing. A server aggregates whatever progress
//! arrives, with the general update rule of the FedNova paper (Wang et al., 2020).
//!
//! ```text
//!  scenario.toml ─► scenario ─► Plan (cannot be wrong)
//!                                 │
//!             ┌───────────────────┼────────────────────┐
//!             ▼                   ▼                    ▼
//!      device: how fast     data: what is learned   policy: when a round closes,
//!      devices are          train: who computes it  who is asked, how much work
//!             │                   │                    │
//!             └────► client ◄─────┘                    │
//!                      │  Arrival{τ, ‖a‖, Δ, times}    ▼
//!                      └───────────────────────────► server: aggregate, theory ─► report
//!
//!          actors carry the messages · clock says when
//! ```
//!
//! The functional core (every room but [`actors`], [`report`] and [`run`]) is plain structs and
//! functions; the actor shell around it only sleeps and sends. `CONTRIBUTING.md` maps the rooms.

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
pub mod run;
pub mod scenario;
#[cfg(feature = "watch")]
pub mod watch;

pub use plugins::Plugins;
pub use run::{Options, run};
pub use scenario::Scenario;

pub use gruppetto_sim::{
    actors, aggregate, client, clock, compress, device, matrix, metric, observer, participation,
    policy, random, record, server, solver, theory, train, units,
};
#[cfg(feature = "torch")]
pub use gruppetto_torch as torch;
pub use gruppetto_trace as trace;
