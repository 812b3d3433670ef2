//! What a run leaves behind: one file per output format.
//!
//! A [`Ledger`] listens to one run and keeps what can be kept in constant memory: histograms,
//! counts, a digest. Rows go straight to their files as they happen. A run folder says from its
//! first moment that it is incomplete, and stops saying so only when everything is written.

mod clients_csv;
mod findings;
mod finished;
mod folder;
mod latency;
mod ledger;
mod page;
mod rounds_csv;
mod row_file;
mod summary;
mod tensors;
mod terminal;
mod timeline;

pub use clients_csv::{ClientsCsv, recorded};
pub use findings::{Detail, Findings, Gathering, MOST_RUNS, Mark, RunFindings};
pub use finished::{ReadError, read_file};
pub use folder::{FolderError, RunFolder};
pub use latency::{Phase, Phases, write_hlog};
pub use ledger::{Files, Ledger};
pub use page::{PageError, write_page};
pub use rounds_csv::RoundsCsv;
pub use row_file::{FileError, RowFile};
pub use summary::{
    ExpectResult, LatencySummary, OverSeeds, RestSummary, ScheduleSummary, Spread, Status, Summary,
    VariantSummary,
};
pub use tensors::{LoadError, load_tensors, save_tensors};
pub use terminal::{Style, number, results, wrapped};
pub use timeline::Timeline;
