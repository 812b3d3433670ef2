//! What the files of a run's folder contain, described once.
//!
//! ```text
//!   rounds_csv, clients_csv, runs_csv: the columns of a table, each with a name, a kind, a meaning
//!        │                   and how its cells come from a row
//!        ├─► write_row ──────────────► the writers of a run
//!        ├─► TableHeader, TableRows ─► watch, trace record, export
//!        └─► TableColumn ────────────► the types of Parquet columns, the tables of docs/outputs.md
//!
//!   summary_json: the types of summary.json, which are written and read
//!        ├─► the end of a run, `run --json`
//!        └─► watch, compare, report, trace record
//! ```
//!
//! A new column is one entry in [`RoundsCsv::WRITTEN`](RunTable::WRITTEN) or
//! [`ClientsCsv::WRITTEN`](RunTable::WRITTEN): the writer, Parquet, TensorBoard and the documentation
//! follow. Readers find columns by name, so a folder of another version can be read as long as it has
//! the columns that the reader needs.

mod cell_columns;
mod client_line;
mod clients_csv;
mod columns;
mod header;
mod latency;
mod read_error;
mod round_line;
mod rounds_csv;
mod rows;
mod runs_csv;
mod summary_json;

pub use cell_columns::{CellColumns, CellId, RunKey};
pub use client_line::{ClientColumns, ClientLine};
pub use clients_csv::{ClientsCsv, WeightedRow};
pub use columns::{CellValue, ColumnKind, RUN_COLUMNS, RunTable, TableColumn, WrittenColumn};
pub use header::{ColumnPlace, Readable, TableHeader, TableLine};
pub use latency::{Latencies, LatencySummary, Phase, Phases};
pub(crate) use read_error::MOST_TEXT;
pub use read_error::{ReadError, read_file};
pub use round_line::RoundColumns;
pub use rounds_csv::RoundsCsv;
pub use rows::{RowsOfRun, TableRows};
pub use runs_csv::RunsCsv;
pub use summary_json::{
    Bytes, Diverged, ExpectResult, FilesSummary, Legs, Losses, OverSeeds, PartOfRun, RestSummary,
    ScheduleSummary, Spread, Status, Summary, TargetReached, TauSummary, TheorySummary, Throughput,
    VariantSummary, Waited,
};
