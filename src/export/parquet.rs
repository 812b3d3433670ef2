//! Parquet files beside the CSV files, column by column the same.

use super::ExportError;
use crate::run_files::{ClientsCsv, ColumnKind, Readable, RoundsCsv, RunTable, RunsCsv, TableRows};
use parquet::basic::{Compression, ConvertedType, Repetition, Type as PhysicalType};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::Type;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Rows that are gathered before they are written.
const GROUP: usize = 128 * 1024;

/// The cells of a column that are gathered; an empty cell is missing.
enum Gathered {
    Text(Vec<ByteArray>),
    Real(Vec<Option<f64>>),
    Whole(Vec<i64>),
}

/// Writes `runs.parquet`, `rounds.parquet` and, where there are rows of clients, `clients.parquet` beside the CSV files
/// of the run in `folder`; which files there are now.
pub fn write_parquet(folder: &Path) -> Result<Vec<PathBuf>, ExportError> {
    let mut written = vec![convert::<RoundsCsv>(folder)?];
    if folder.join(ClientsCsv::FILE).exists() {
        written.push(convert::<ClientsCsv>(folder)?);
    }
    // A run of an earlier version, or one that was killed, has none.
    if folder.join(RunsCsv::FILE).exists() {
        written.push(convert::<RunsCsv>(folder)?);
    }
    Ok(written)
}

/// Writes a table of the run in `folder` as Parquet; the file.
fn convert<T: RunTable>(folder: &Path) -> Result<PathBuf, ExportError> {
    let mut rows = TableRows::<T>::open(folder)?;
    let to = folder.join(T::FILE).with_extension("parquet");
    let failed = |error: ParquetError| ExportError::write(&to)(io::Error::other(error));
    let (mut gathered, mut fields) = (Vec::new(), Vec::new());
    for (name, kind) in rows.header().columns() {
        let (empty, physical, presence, logical) = column(kind);
        let field = Type::primitive_type_builder(name, physical).with_repetition(presence);
        fields.push(Arc::new(field.with_converted_type(logical).build().map_err(failed)?));
        gathered.push(empty);
    }
    let schema = Type::group_type_builder("rows").with_fields(fields).build().map_err(failed)?;
    let schema = Arc::new(schema);
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    let file = File::create(&to).map_err(ExportError::write(&to))?;
    let mut writer =
        SerializedFileWriter::new(file, schema, Arc::new(properties)).map_err(failed)?;
    let mut count = 0;
    while let Some(row) = rows.next_row()? {
        for (index, cells) in gathered.iter_mut().enumerate() {
            let added = add(cells, row.cell(index));
            added.map_err(|expected| row.odd(index, expected))?;
        }
        count += 1;
        if count == GROUP {
            write(&mut writer, &mut gathered).map_err(failed)?;
            count = 0;
        }
    }
    if count > 0 {
        write(&mut writer, &mut gathered).map_err(failed)?;
    }
    writer.close().map_err(failed)?;
    Ok(to)
}

/// A column without cells yet, and how Parquet is told what it holds.
fn column(kind: ColumnKind) -> (Gathered, PhysicalType, Repetition, ConvertedType) {
    const REQUIRED: Repetition = Repetition::REQUIRED;
    const OPTIONAL: Repetition = Repetition::OPTIONAL;
    match kind {
        ColumnKind::Text => {
            (Gathered::Text(Vec::new()), PhysicalType::BYTE_ARRAY, REQUIRED, ConvertedType::UTF8)
        }
        ColumnKind::Integer => {
            (Gathered::Whole(Vec::new()), PhysicalType::INT64, REQUIRED, ConvertedType::NONE)
        }
        ColumnKind::Float | ColumnKind::OptionalFloat | ColumnKind::Seconds => {
            (Gathered::Real(Vec::new()), PhysicalType::DOUBLE, OPTIONAL, ConvertedType::NONE)
        }
    }
}

/// Adds a cell, or says what it should have been.
fn add(gathered: &mut Gathered, cell: &str) -> Result<(), &'static str> {
    match gathered {
        Gathered::Text(all) => all.push(cell.into()),
        Gathered::Real(all) => {
            all.push(Option::<f64>::read(cell).ok_or(Option::<f64>::EXPECTED)?);
        }
        // Seeds may use all 64 bits.
        Gathered::Whole(all) => all.push(u64::read(cell).ok_or(u64::EXPECTED)? as i64),
    }
    Ok(())
}

/// Writes what is gathered as a row group.
fn write(
    writer: &mut SerializedFileWriter<File>,
    columns: &mut [Gathered],
) -> Result<(), ParquetError> {
    let mut group = writer.next_row_group()?;
    columns.iter_mut().try_for_each(|column| write_column(&mut group, column))?;
    group.close().map(drop)
}

fn write_column(
    group: &mut SerializedRowGroupWriter<'_, File>,
    column: &mut Gathered,
) -> Result<(), ParquetError> {
    let Some(mut into) = group.next_column()? else {
        return Ok(());
    };
    match column {
        Gathered::Text(all) => {
            into.typed::<ByteArrayType>().write_batch(all, None, None)?;
            all.clear();
        }
        Gathered::Whole(all) => {
            into.typed::<Int64Type>().write_batch(all, None, None)?;
            all.clear();
        }
        Gathered::Real(all) => {
            let levels: Vec<i16> = all.iter().map(|cell| cell.is_some().into()).collect();
            let values: Vec<f64> = all.drain(..).flatten().collect();
            into.typed::<DoubleType>().write_batch(&values, Some(&levels), None)?;
        }
    }
    into.close()
}
