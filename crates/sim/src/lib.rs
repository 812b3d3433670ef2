//! The simulator behind Gruppetto, without files, scenario language or terminal.
//!
//! ```text
//!      device: how fast     data: what is learned   policy: when a round closes,
//!      devices are          train: how it is        who is asked, how much work
//!             │             computed                      │
//!             └────► client ◄─────┘                       │
//!                      │  Arrival{τ, ‖a‖, Δ, times}       ▼
//!                      └──────────────────────────────► server: aggregate, theory ─► observer
//!
//!          actors carry the messages · clock says when
//! ```
//!
//! The functional core is plain structs and functions. Only [`actors`] knows actix: it sleeps and
//! sends, and decides nothing. `CONTRIBUTING.md` maps the rooms.

pub mod actors;
pub mod aggregate;
pub mod client;
pub mod clock;
pub mod compress;
pub mod data;
pub mod device;
pub mod matrix;
pub mod metric;
pub mod observer;
pub mod participation;
pub mod policy;
pub mod random;
pub mod record;
pub mod server;
pub mod solver;
pub mod theory;
pub mod train;
pub mod units;
