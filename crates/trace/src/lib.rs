//! Recordings of how devices behaved: compute speed, links and availability over time.
//!
//! A trace is a CSV file (see `traces/README.md`), one row per change, rows of one device together
//! and in time order. Values are piecewise constant: what a row says holds until a later row of
//! the same device says otherwise.
//!
//! ```text
//!   FedScale, FLASH, logs, tables ──import──┐
//!                      a Mixture ──devices──┴─► TraceWriter ──► trace.csv.gz
//!                                                                   │
//!              inspect: what is in it, what is wrong ◄── rows ──────┤
//!                          one Recording after the other ◄── Recordings
//!                                                                   │
//!                     fit: classes of devices for a scenario ◄──────┘
//! ```

mod columns;
mod error;
mod fit;
mod import;
mod inspect;
mod number;
mod pickle;
mod reader;
mod records;
mod rows;
mod source;
mod store;
mod synth;
mod writer;

pub use gruppetto_sim::device::{Change, Compute, Recording};

pub use columns::{Columns, ComputeColumn};
pub use error::TraceError;
pub use fit::{Fit, FitClass, FitOptions, Lognormal, Presence, Quality, fit};
pub use import::{Direction, Format, ImportOptions, ImportSummary, Latencies, Mapping, import};
pub use inspect::{Aspect, Availability, Bin, Inspection, Problem, Spread, inspect};
pub use reader::Recordings;
pub use source::Input;
pub use store::read_store;
pub use synth::{Air, Crowd, Load, Mixture, Outage, Rhythm, Tier};
pub use writer::TraceWriter;
