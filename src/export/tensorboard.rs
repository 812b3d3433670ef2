//! TensorBoard's event files: a folder for every run, a scalar for every column of `rounds.csv`.
//!
//! The step is the round. The time of an event is the simulated one, so that the axis "relative" shows
//! simulated time. An event file is a list of records, each a protocol buffer with its length and check
//! sums; the few messages that scalars need are put together here.

use super::ExportError;
use crate::clock::SimTime;
use crate::metric::Metric;
use crate::run_files::{CellColumns, ColumnKind, Readable, RoundsCsv, TableRows};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Writes the rounds of the run in `folder` to event files below `to`; how many runs there were.
pub fn write_tensorboard(folder: &Path, to: &Path) -> Result<usize, ExportError> {
    let mut rows = TableRows::<RoundsCsv>::open(folder)?;
    let header = rows.header();
    let cell = CellColumns::find(header)?;
    let (round, closed) =
        (header.find::<u64>("round")?, header.find::<SimTime>("virtual_seconds")?);
    // Which run, which round and when: these are no scalars.
    let keys = [cell.indices(), vec![round.index(), closed.index()]].concat();
    let columns = header.columns().enumerate().filter(|(index, _)| !keys.contains(index));
    let scalars: Vec<(usize, String)> = columns
        .filter(|(_, (_, kind))| *kind != ColumnKind::Text)
        .map(|(index, (name, _))| (index, tag(name)))
        .collect();
    let mut runs: BTreeMap<(String, u64), Vec<u8>> = BTreeMap::new();
    while let Some(row) = rows.next_row()? {
        let number = |index: usize| {
            let number = Option::<f64>::read(row.cell(index));
            number.ok_or_else(|| row.odd(index, Option::<f64>::EXPECTED))
        };
        let mut values = Vec::new();
        for (index, tag) in &scalars {
            values.extend(number(*index)?.map(|value| (tag.as_str(), value as f32)));
        }
        // As a reader of the file would take it, not as the clock would round it.
        let at = number(closed.index())?.unwrap_or_default();
        let event = event(at, row.get(round)?, &values);
        let (name, seed) = cell.read(&row)?;
        let key = (name.into_owned(), seed);
        let file = runs.entry(key).or_insert_with(|| record(&version()));
        file.extend_from_slice(&record(&event));
    }
    for ((variant, seed), bytes) in &runs {
        // A swept value may be a path.
        let folder = to.join(format!("{variant}-{seed}").replace(['/', '\\'], "_"));
        fs::create_dir_all(&folder).map_err(ExportError::write(&folder))?;
        let path = folder.join("events.out.tfevents.0.gruppetto");
        fs::write(&path, bytes).map_err(ExportError::write(&path))?;
    }
    Ok(runs.len())
}

/// Metrics describe the model, all other columns the round.
fn tag(column: &str) -> String {
    let is_metric = Metric::ALL.iter().any(|metric| metric.name() == column);
    format!("{}/{column}", if is_metric { "metric" } else { "round" })
}

/// The first event of every file.
fn version() -> Vec<u8> {
    let mut event = Vec::new();
    double(&mut event, 1, 0.0);
    bytes(&mut event, 3, b"brain.Event:2");
    event
}

/// tensorflow.Event: wall_time = 1, step = 2, summary = 5.
fn event(at: f64, step: u64, scalars: &[(&str, f32)]) -> Vec<u8> {
    // tensorflow.Summary: value = 1, and in it tag = 1, simple_value = 2.
    let mut summary = Vec::new();
    for (tag, value) in scalars {
        let mut one = Vec::new();
        bytes(&mut one, 1, tag.as_bytes());
        one.push(2 << 3 | 5);
        one.extend_from_slice(&value.to_le_bytes());
        bytes(&mut summary, 1, &one);
    }
    let mut event = Vec::new();
    double(&mut event, 1, at);
    event.push(2 << 3);
    varint(&mut event, step);
    bytes(&mut event, 5, &summary);
    event
}

fn double(out: &mut Vec<u8>, field: u8, value: f64) {
    out.push(field << 3 | 1);
    out.extend_from_slice(&value.to_le_bytes());
}

fn bytes(out: &mut Vec<u8>, field: u8, value: &[u8]) {
    out.push(field << 3 | 2);
    varint(out, value.len() as u64);
    out.extend_from_slice(value);
}

fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// A record: length, its check sum, the bytes, their check sum.
fn record(data: &[u8]) -> Vec<u8> {
    let length = (data.len() as u64).to_le_bytes();
    let mut out = Vec::with_capacity(data.len() + 16);
    out.extend_from_slice(&length);
    out.extend_from_slice(&masked(&length).to_le_bytes());
    out.extend_from_slice(data);
    out.extend_from_slice(&masked(data).to_le_bytes());
    out
}

/// CRC-32C, rotated and shifted as the format wants it.
fn masked(data: &[u8]) -> u32 {
    crc32c::crc32c(data).rotate_right(15).wrapping_add(0xa282_ead8)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand, from the definition of the wire format.
    #[test]
    fn an_event_is_what_the_format_says() {
        let event = event(1.5, 300, &[("metric/x", 0.25)]);
        let mut expected = vec![0x09];
        expected.extend_from_slice(&1.5f64.to_le_bytes());
        expected.extend_from_slice(&[0x10, 0xac, 0x02]);
        expected.extend_from_slice(&[0x2a, 17, 0x0a, 15, 0x0a, 8]);
        expected.extend_from_slice(b"metric/x");
        expected.push(0x15);
        expected.extend_from_slice(&0.25f32.to_le_bytes());
        assert_eq!(event, expected);
        let record = record(b"abc");
        assert_eq!(record.len(), 8 + 4 + 3 + 4);
        assert_eq!(record[..8], 3u64.to_le_bytes());
    }
}
