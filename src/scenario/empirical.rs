//! `{ empirical = "file.csv", column = "…" }`: measured values, drawn as they are. Files whose names end in
//! `.gz` are gzipped.

use super::error::ScenarioError;
use super::render::short;
use super::suggest::nearest;
use super::tree::Node;
use super::value::Unit;
use crate::memory::Bounded;
use flate2::read::MultiGzDecoder;
use std::fs::File;
use std::io::Read;

/// Bytes of a file and of a line in it, and rows: a few megabytes of gzip can hold gigabytes.
const MOST_BYTES: u64 = 256 << 20;
const LONGEST: u64 = 1 << 20;
const MOST_VALUES: usize = 20_000_000;

/// What is said about the cells of a column.
pub(super) struct Cells<'a> {
    /// The unit of bare numbers.
    pub given: Option<&'a Node>,
    /// The number that stands for nothing.
    pub missing: Option<&'a Node>,
}

/// Reads a column of a CSV file. Values carry their own unit or share `given`.
pub(super) fn read(
    file: &Node,
    column: &Node,
    Cells { given, missing }: Cells<'_>,
    unit: Unit,
) -> Result<Vec<f64>, ScenarioError> {
    let (path, name) = (file.text()?, column.text()?);
    let scale = given.map(|node| factor(node, unit)).transpose()?;
    let missing = missing.map(Node::number).transpose()?;
    let broken = |error: csv::Error| file.at.error(format!("cannot read the file: {error}"));
    let source = File::open(path).map_err(|error| {
        let error = broken(error.into());
        error.expected("a CSV file, relative to the folder of the scenario; it may be gzipped")
    })?;
    let source: Box<dyn Read> = match path.ends_with(".gz") {
        true => Box::new(MultiGzDecoder::new(source)),
        false => Box::new(source),
    };
    let source = Bounded::new(source, MOST_BYTES, LONGEST);
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(source);
    let headers = reader.headers().map_err(broken)?.clone();
    let Some(index) = headers.iter().position(|header| header == name) else {
        let list: Vec<_> = headers.iter().map(short).collect();
        let error = column.at.error(format!("the file has no column `{}`", short(name)));
        let error = error.expected(format_args!("one of: {}", list.join(", ")));
        return Err(error.meant(nearest(name, headers.iter())));
    };
    let (mut values, mut left_out) = (Vec::new(), 0);
    for record in reader.records() {
        let record = record.map_err(broken)?;
        let line = record.position().map_or(0, csv::Position::line);
        let cell = record.get(index).unwrap_or("");
        if missing.is_some() && cell.parse().ok() == missing {
            left_out += 1;
            continue;
        }
        if values.len() == MOST_VALUES {
            return Err(file.at.error(format!("the file has more than {MOST_VALUES} rows")));
        }
        values.push(value(cell, scale, unit).ok_or_else(|| {
            let error = file.at.error(format!("line {line} of the file: `{}`", short(cell)));
            let error = error.expected(unit.expected());
            match (unit, given, cell.parse::<f64>()) {
                (Unit::Time, None, Ok(_)) => {
                    error.help("say the unit of the column: `unit = \"ms\"`")
                }
                (Unit::Rate, None, Ok(_)) => {
                    error.help("say the unit of the column: `unit = \"kbps\"`")
                }
                (Unit::Speed, None, Ok(_)) => {
                    error.help("say the unit of the column: `unit = \"GFLOPS\"`")
                }
                _ => error,
            }
        })?);
    }
    match (values.is_empty(), left_out) {
        (false, _) => Ok(values),
        (true, 0) => Err(file.at.error("the file has no rows").expected("one value or more")),
        (true, rows) => {
            let what = format!("all {rows} rows of the column are left out as missing");
            Err(file.at.error(what).expected("one value or more"))
        }
    }
}

/// One cell: a bare number in the unit of the column, or a number with a unit of its own.
fn value(cell: &str, scale: Option<f64>, unit: Unit) -> Option<f64> {
    let value = match (cell.parse::<f64>(), scale, unit) {
        (Ok(number), Some(scale), _) => number * scale,
        (Ok(number), None, Unit::Plain) => number,
        _ => unit.parse(cell).ok()?,
    };
    value.is_finite().then_some(value)
}

/// What one `unit` is in the base unit. Measured values need not be whole nanoseconds.
fn factor(node: &Node, unit: Unit) -> Result<f64, ScenarioError> {
    let text = node.text()?;
    let wrong = || node.at.error(format!("`{}` is not a unit here", short(text)));
    match unit {
        Unit::Plain => Err(wrong().expected("no unit: these values are plain numbers")),
        _ => unit.parse(&format!("1{text}")).map_err(|_| wrong().expected(unit.expected())),
    }
}
