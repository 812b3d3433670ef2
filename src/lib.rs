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

pub mod actors;
pub mod aggregate;
pub mod bench;
pub mod cli;
pub mod client;
pub mod clock;
pub mod compare;
pub mod compress;
pub mod data;
pub mod device;
pub mod export;
pub mod matrix;
pub mod memory;
pub mod metric;
pub mod policy;
pub mod random;
pub mod record;
pub mod report;
pub mod run;
pub mod run_files;
pub mod scenario;
pub mod server;
pub mod solver;
pub mod theory;
pub mod train;
pub mod units;
pub mod watch;
