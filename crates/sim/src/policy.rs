//! When a round closes, which clients are asked, and how much work they are given.
//!
//! Three seams, each a small trait: a [`Selector`] chooses clients, a [`Work`] says how much one is to
//! do, a [`Closing`] says when a round closes and which updates count. Events go in, decisions come
//! out; the server carries them out. The built-in policies are behind the same traits as those of
//! users, and the enums of [`ServerConfig`] and [`ClientConfig`] only configure them.

mod closing;
mod columns;
mod config;
mod keyed_rng;
mod selection;
mod selector;
mod work;
mod workload;

pub use closing::*;
pub use columns::Columns;
pub use config::{
    Amount, Batch, ClientConfig, LastBatch, Late, Partial, Redraw, Sample, ServerConfig, Staleness,
    Stop, Target, WorkConfig,
};
pub use keyed_rng::KeyedRng;
pub use selection::{Asked, Selection, SelectionError};
pub use selector::*;
pub use work::{Work, WorkAmount, WorkAsked};
pub use workload::{Sent, Workload};
