//! What a run leaves behind: one file per output format. What the tables and the summary contain is
//! described in [`crate::run_files`].
//!
//! A [`Ledger`] listens to one run and keeps what can be kept in constant memory: histograms,
//! counts, a digest. Rows go straight to their files as they happen. A run folder says from its
//! first moment that it is incomplete, and stops saying so only when everything is written.

mod findings;
mod folder;
mod latency_hlog;
mod ledger;
mod lock;
mod page;
mod recorded;
mod row_file;
mod tensors;
mod terminal;
mod timeline;

pub use findings::{Detail, Findings, Gathering, MOST_RUNS, Mark, RunFindings};
pub(crate) use folder::CELLS;
pub use folder::{FolderError, RunFolder, RunPath, write_whole};
pub use latency_hlog::{LatencyLog, latency_lines, read_latencies};
pub use ledger::{FileLengths, Files, Ledger};
pub use page::{PageError, write_page};
pub use recorded::recorded;
pub use row_file::{FileError, RowFile, TableFile};
pub use tensors::{LoadError, load_tensors, save_tensors};
pub use terminal::{TextStyle, number, results, wrapped};
pub use timeline::Timeline;
