//! The learning problem of a scenario: which task, and data sets from files.
//!
//! A [`TaskConfig`] says which problem, and a [`Task`] answers what a run asks about it. A [`Dataset`] is
//! read once, when the scenario is, by a reader per file format; a [`PartitionConfig`] splits it over the
//! clients for a seed. The problems themselves are in `gruppetto_sim::data`, whose names are repeated
//! here.
//!
//! ```text
//!  files ─► KnownDataset::load, TableConfig::load ─► Dataset ─┐
//!                                                             ├─► Federated ─► a trainer
//!                  seed, [task.partition] ─► PartitionConfig ─┘       └─► Shards (native kernels)
//! ```

mod error;
mod file;
mod images;
mod inspect;
mod plugin_task;
mod split_file;
mod table;
mod task;

pub use error::DataError;
pub use gruppetto_sim::data::*;
pub use images::{DataFolders, KNOWN, KnownDataset};
pub use inspect::{Glyphs, Heterogeneity, Inspection};
pub use plugin_task::PluginTask;
pub use split_file::read_split;
pub use table::{TableConfig, parse_bytes};
pub use task::{Init, ShareError, Shares, Task, TaskConfig, TaskError, TrainerSetup};
