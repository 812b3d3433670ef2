//! What a run leaves behind: one file per output format. What the tables and the summary contain is
//! described in [`crate::run_files`].
//!
//! A [`Ledger`] listens to one run and keeps what can be kept in constant memory: histograms,
//! counts, a digest. Rows go straight to their files as they happen. A run folder says from its
//! first moment that it is incomplete, and stops saying so only when everything is written.

mod durable;
mod files;
mod findings;
mod folder;
mod latency_hlog;
mod ledger;
mod lock;
mod page;
mod recorded;
mod row_file;
mod successor;
mod tensors;
mod terminal;
mod timeline;

pub use durable::write_whole;
pub(crate) use durable::{create_folder, sync_folder, write_whole_by};
pub use files::{FileLengths, Files, FilesWanted};
pub(crate) use files::{LATENCIES, TIMELINE};
pub use findings::{Detail, Findings, Gathering, MOST_RUNS, Mark, RunFindings};
pub(crate) use folder::CELLS;
pub use folder::{FolderError, RunFolder, RunPath, is_record_of_run};
pub use latency_hlog::{LatencyLog, latency_lines, read_latencies};
pub use ledger::Ledger;
pub use lock::holder;
pub use page::{PageRun, write_page};
pub use recorded::recorded;
pub use row_file::{FileError, RowFile, RowRange, TableFile, TableLength};
pub(crate) use successor::{is_of_cells, put_back};
pub use tensors::{LoadError, load_tensors, save_tensors};
pub use terminal::{TextStyle, number, results, wrapped};
pub(crate) use timeline::PROCESSES;
pub use timeline::Timeline;
