//! The tables of a run as Arrow columns, which polars, pandas and pyarrow read without copies.

use crate::errors::RunError;
use arrow_array::builder::{Float64Builder, StringBuilder, UInt64Builder};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{ArrayRef, Float64Array, RecordBatch, RecordBatchIterator, UInt64Array};
use arrow_schema::{DataType, Field, Schema};
use gruppetto::report::read_latencies;
use gruppetto::resume::RunSoFar;
use gruppetto::run_files::{
    ClientsCsv, ColumnKind, ReadError, Readable, RoundsCsv, RunTable, RunsCsv, TableRows,
};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyDict};
use std::path::{Path, PathBuf};
use std::sync::Arc;

fn failed(error: impl ToString) -> PyErr {
    RunError::new_err(error.to_string())
}

/// A table: columns by name.
#[pyclass(frozen)]
pub struct Table {
    batch: RecordBatch,
}

#[pymethods]
impl Table {
    /// The columns, in order.
    #[getter]
    fn column_names(&self) -> Vec<String> {
        self.batch.schema().fields().iter().map(|field| field.name().clone()).collect()
    }

    fn __len__(&self) -> usize {
        self.batch.num_rows()
    }

    /// The Arrow PyCapsule interface.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let batches = RecordBatchIterator::new([Ok(self.batch.clone())], self.batch.schema());
        let stream = FFI_ArrowArrayStream::new(Box::new(batches));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    /// A column as raw bytes with the name of their type, or as a list of texts.
    fn raw<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let column = self.batch.column_by_name(name);
        let column =
            column.ok_or_else(|| pyo3::exceptions::PyKeyError::new_err(name.to_string()))?;
        if let Some(numbers) = column.as_any().downcast_ref::<Float64Array>() {
            let bytes = numbers.iter().flat_map(|value| value.unwrap_or(f64::NAN).to_le_bytes());
            let bytes: Vec<u8> = bytes.collect();
            return Ok((PyBytes::new(py, &bytes), "<f8").into_pyobject(py)?.into_any());
        }
        if let Some(numbers) = column.as_any().downcast_ref::<UInt64Array>() {
            let bytes: Vec<u8> =
                numbers.values().iter().flat_map(|value| value.to_le_bytes()).collect();
            return Ok((PyBytes::new(py, &bytes), "<u8").into_pyobject(py)?.into_any());
        }
        let texts = column.as_any().downcast_ref::<arrow_array::StringArray>();
        let texts: Vec<&str> = texts.into_iter().flatten().flatten().collect();
        Ok((texts, "text").into_pyobject(py)?.into_any())
    }
}

/// The cells of a column that are gathered.
enum Builder {
    Text(StringBuilder),
    Whole(UInt64Builder),
    Real(Float64Builder),
}

impl Builder {
    fn of(kind: ColumnKind) -> Self {
        match kind {
            ColumnKind::Text => Builder::Text(StringBuilder::new()),
            ColumnKind::Integer => Builder::Whole(UInt64Builder::new()),
            _ => Builder::Real(Float64Builder::new()),
        }
    }

    /// Adds a cell; what was expected if it is something else.
    fn add(&mut self, cell: &str) -> Result<(), &'static str> {
        match self {
            Builder::Text(texts) => texts.append_value(cell),
            Builder::Whole(numbers) => numbers.append_value(u64::read(cell).ok_or(u64::EXPECTED)?),
            Builder::Real(numbers) => {
                numbers.append_option(Option::<f64>::read(cell).ok_or(Option::<f64>::EXPECTED)?);
            }
        }
        Ok(())
    }

    fn finish(self) -> (DataType, ArrayRef) {
        match self {
            Builder::Text(mut texts) => (DataType::Utf8, Arc::new(texts.finish())),
            Builder::Whole(mut numbers) => (DataType::UInt64, Arc::new(numbers.finish())),
            Builder::Real(mut numbers) => (DataType::Float64, Arc::new(numbers.finish())),
        }
    }
}

fn read<T: RunTable>(folder: &Path) -> Result<RecordBatch, ReadError> {
    let mut rows = TableRows::<T>::open(folder)?;
    let (names, mut columns): (Vec<String>, Vec<Builder>) =
        rows.header().columns().map(|(name, kind)| (name.to_string(), Builder::of(kind))).unzip();
    while let Some(row) = rows.next_row()? {
        for (index, column) in columns.iter_mut().enumerate() {
            column.add(row.cell(index)).map_err(|expected| row.odd(index, expected))?;
        }
    }
    let (types, arrays): (Vec<DataType>, Vec<ArrayRef>) =
        columns.into_iter().map(Builder::finish).unzip();
    let fields = names.into_iter().zip(types).map(|(name, kind)| Field::new(name, kind, true));
    let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
    Ok(RecordBatch::try_new(schema, arrays).expect("columns of one length"))
}

/// `runs`, `rounds` or `clients` of the run in a folder.
#[pyfunction]
pub fn table(py: Python<'_>, folder: PathBuf, name: &str) -> PyResult<Table> {
    let batch = py.detach(|| match name {
        "clients" => read::<ClientsCsv>(&folder),
        "runs" => read::<RunsCsv>(&folder),
        _ => read::<RoundsCsv>(&folder),
    });
    Ok(Table { batch: batch.map_err(failed)? })
}

/// The summary of the run in a folder, finished or not, as JSON.
#[pyfunction]
pub fn load(py: Python<'_>, folder: PathBuf) -> PyResult<String> {
    let run = py.detach(|| RunSoFar::read(&folder)).map_err(failed)?;
    Ok(run.summary.to_json())
}

/// Percentiles in seconds of a phase, by the name of the run: `variant`, or `variant-seed`.
#[pyfunction]
pub fn latency<'py>(
    py: Python<'py>,
    folder: PathBuf,
    phase: &str,
    percentiles: Vec<f64>,
) -> PyResult<Bound<'py, PyDict>> {
    let mut found = Vec::new();
    let path = folder.join("latency.hlog");
    let read = read_latencies(&path, |run, known, histogram| {
        if known.name() == phase {
            let at = |part: &f64| histogram.value_at_percentile(*part) as f64 / 1e9;
            found.push((run.to_string(), percentiles.iter().map(at).collect::<Vec<f64>>()));
        }
    });
    read.map_err(failed)?;
    let by_run = PyDict::new(py);
    for (run, values) in found {
        by_run.set_item(run, values)?;
    }
    Ok(by_run)
}
