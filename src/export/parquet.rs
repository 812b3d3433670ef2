//! Parquet files beside the CSV files, column by column the same.

use super::{ExportError, open};
use parquet::basic::Compression;
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Rows that are gathered before they are written.
const GROUP: usize = 128 * 1024;
/// Columns of texts.
const TEXTS: [&str; 4] = ["variant", "class", "outcome", "phase"];
/// Columns of real numbers; all others are whole.
const REALS: [&str; 20] = [
    "virtual_seconds",
    "waited_seconds",
    "tau_eff",
    "tau_min",
    "tau_mean",
    "tau_max",
    "chi2",
    "missing_mass",
    "train_loss",
    "grad_norm",
    "test_accuracy",
    "test_loss",
    "distance",
    "grad_norm_squared",
    "kappa2",
    "beta2",
    "floor",
    "accumulation",
    "weight",
    "lr_factor",
];

/// A column of the rows that are gathered; an empty cell is missing.
enum Column {
    Text(Vec<ByteArray>),
    Real(Vec<Option<f64>>),
    Whole(Vec<i64>),
}

/// Writes `rounds.parquet` and, where there are rows of clients, `clients.parquet` beside the CSV
/// files of the run in `folder`; which files there are now.
pub fn write_parquet(folder: &Path) -> Result<Vec<PathBuf>, ExportError> {
    let mut written = Vec::new();
    for (from, to) in [("rounds.csv", "rounds.parquet"), ("clients.csv", "clients.parquet")] {
        if from == "rounds.csv" || folder.join(from).exists() {
            let to = folder.join(to);
            convert(folder, from, &to)?;
            written.push(to);
        }
    }
    Ok(written)
}

fn convert(folder: &Path, from: &'static str, to: &Path) -> Result<(), ExportError> {
    let mut reader = open(folder, from)?;
    let from = &folder.join(from);
    let head = reader.headers().map_err(|error| ExportError::broken(from, error))?.clone();
    let mut columns: Vec<Column> = head.iter().map(empty).collect();
    let fields: Vec<String> =
        head.iter().zip(&columns).map(|(name, column)| field(name, column)).collect();
    let schema = format!("message rows {{ {} }}", fields.join(" "));
    let failed = |error: ParquetError| ExportError::broken(to, error);
    let schema = Arc::new(parse_message_type(&schema).map_err(failed)?);
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    let file = File::create(to).map_err(ExportError::write(to))?;
    let mut writer =
        SerializedFileWriter::new(file, schema, Arc::new(properties)).map_err(failed)?;
    let mut gathered = 0;
    let mut row = csv::StringRecord::new();
    while reader.read_record(&mut row).map_err(|error| ExportError::broken(from, error))? {
        for ((name, cell), column) in head.iter().zip(&row).zip(&mut columns) {
            add(column, cell).ok_or_else(|| {
                let line = row.position().map_or(0, csv::Position::line);
                let what = format!("line {line}: column `{name}`: found `{}`", cell.escape_debug());
                ExportError::broken(from, what)
            })?;
        }
        gathered += 1;
        if gathered == GROUP {
            write(&mut writer, &mut columns).map_err(failed)?;
            gathered = 0;
        }
    }
    if gathered > 0 {
        write(&mut writer, &mut columns).map_err(failed)?;
    }
    writer.close().map_err(failed)?;
    Ok(())
}

fn empty(name: &str) -> Column {
    match name {
        name if TEXTS.contains(&name) => Column::Text(Vec::new()),
        name if REALS.contains(&name) => Column::Real(Vec::new()),
        _ => Column::Whole(Vec::new()),
    }
}

fn field(name: &str, column: &Column) -> String {
    match column {
        Column::Text(_) => format!("required binary {name} (UTF8);"),
        Column::Real(_) => format!("optional double {name};"),
        Column::Whole(_) => format!("required int64 {name};"),
    }
}

fn add(column: &mut Column, cell: &str) -> Option<()> {
    match column {
        Column::Text(all) => all.push(cell.into()),
        Column::Real(all) if cell.is_empty() => all.push(None),
        Column::Real(all) => all.push(Some(cell.parse().ok()?)),
        // Seeds may use all 64 bits.
        Column::Whole(all) => all.push(cell.parse::<u64>().ok()? as i64),
    }
    Some(())
}

/// Writes what is gathered as a row group.
fn write(
    writer: &mut SerializedFileWriter<File>,
    columns: &mut [Column],
) -> Result<(), ParquetError> {
    let mut group = writer.next_row_group()?;
    columns.iter_mut().try_for_each(|column| write_column(&mut group, column))?;
    group.close().map(drop)
}

fn write_column(
    group: &mut SerializedRowGroupWriter<'_, File>,
    column: &mut Column,
) -> Result<(), ParquetError> {
    let Some(mut into) = group.next_column()? else {
        return Ok(());
    };
    match column {
        Column::Text(all) => {
            into.typed::<ByteArrayType>().write_batch(all, None, None)?;
            all.clear();
        }
        Column::Whole(all) => {
            into.typed::<Int64Type>().write_batch(all, None, None)?;
            all.clear();
        }
        Column::Real(all) => {
            let levels: Vec<i16> = all.iter().map(|cell| cell.is_some().into()).collect();
            let values: Vec<f64> = all.drain(..).flatten().collect();
            into.typed::<DoubleType>().write_batch(&values, Some(&levels), None)?;
        }
    }
    into.close()
}
