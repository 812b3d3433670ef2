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
//! To run a scenario, use the crate `gruppetto`, which reads scenarios, makes all of this and writes what
//! comes out. Use this one for its parts: how many local steps a client makes is a plain function of its
//! device and the deadline.
//!
//! ```
//! use gruppetto_sim::clock::{SimTime, Span};
//! use gruppetto_sim::device::{Device, Foresight, Pace, RoundTask, SteadyLegs};
//!
//! let ms = |millis: u64| Span::from_nanos(millis * 1_000_000);
//! let phone = Device { download: ms(100), step: ms(25), upload: ms(300), jitter: 0.0, class: 0 };
//! let deadline = SimTime::ZERO.after(ms(2000))?;
//! let task = RoundTask {
//!     start: SimTime::ZERO,
//!     steps: None,
//!     due: Some(deadline),
//!     foresight: Foresight::Exact,
//! };
//! let mut pace = Pace::new(&phone, 1, 0, 1);
//! let (times, _) = task.legs(&mut SteadyLegs { device: &phone, pace: &mut pace })?;
//! assert_eq!(times.tau, (2000 - 100 - 300) / 25);
//! assert_eq!(times.arrives, deadline);
//! # Ok::<(), gruppetto_sim::clock::TimeOverflow>(())
//! ```
//!
//! # What users bring
//!
//! | trait | decides |
//! |---|---|
//! | [`policy::Selector`] | which clients are asked |
//! | [`policy::Work`] | how much a client is to do |
//! | [`policy::Closing`] | when a round closes, which updates count |
//! | [`aggregate::Weighting`] | what an update weighs |
//! | [`aggregate::ServerOptimizer`] | how the model moves |
//! | [`train::Trainer`] | what is trained |
//! | [`observer::Observer`] | nothing: it is told everything |
//!
//! The built-in policies are behind the same traits.
//!
//! # How it is built
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
