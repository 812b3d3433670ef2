//! Tables of other people: any CSV with a mapping of its columns, and phones with latencies.

use super::mapping::{Mapping, Part};
use super::{Latencies, Outcome, Sink};
use crate::columns::Kind;
use crate::error::{TraceError, shown};
use crate::number::nearest_time;
use crate::records::Records;
use crate::rows::{MOST_CHANGES, is_empty, set};
use crate::{Change, Compute, Input, Recording};
use std::collections::HashMap;

/// Any table. Without a time every row is a device; with one, rows of a device come together and
/// in time order, and a row that tells nothing ends its recording.
pub(super) fn generic(input: &Input, map: &Mapping, sink: &mut Sink) -> Result<(), TraceError> {
    let mut table = Table::open(input, Headed::Yes)?;
    let columns = table.find(map)?;
    let time = map.part(Kind::Time);
    let (mut current, mut first) = (Recording::default(), 0);
    while let Some(line) = table.next()? {
        let at = || format!("line {line}");
        let (device, change) = match table.row(&columns) {
            Ok(row) => row,
            Err(what) => {
                sink.bad(input, at(), what)?;
                continue;
            }
        };
        if time.is_none() || device != current.device {
            flush(input, sink, &mut current, first)?;
            (current.device, first) = (device, line);
        }
        let last = current.end.or(current.changes.last().map(|change| change.at));
        let what = match () {
            () if last.is_some_and(|last| change.at <= last) => {
                format!("found {} s, expected a time after the row above", change.at.seconds())
            }
            () if current.end.is_some() => "a row after the recording ended".into(),
            () if is_empty(&change) && change.at.nanos() == 0 => "the row tells nothing".into(),
            () if is_empty(&change) => {
                current.end = Some(change.at);
                continue;
            }
            () if current.changes.len() == MOST_CHANGES => {
                return Err(input.wrong("too many rows of one device").at(at()));
            }
            () => {
                current.changes.push(change);
                continue;
            }
        };
        sink.bad(input, at(), what)?;
    }
    flush(input, sink, &mut current, first)
}

fn flush(
    input: &Input,
    sink: &mut Sink,
    current: &mut Recording,
    line: u64,
) -> Result<(), TraceError> {
    let done = std::mem::take(current);
    // Nothing good was read of it: its rows have been counted already.
    if done.changes.is_empty() && done.end.is_none() {
        return Ok(());
    }
    sink.take(input, || format!("line {line}"), Ok(Some(done)))
}

/// Phones and inference latencies in ms. Without a mapping the columns are found by their names,
/// or are the first two of a table without header. A latency of 0 is missing; a model that comes
/// again is another phone.
pub(super) fn ai_benchmark(
    input: &Input,
    map: Option<&Mapping>,
    latencies: Latencies,
    sink: &mut Sink,
) -> Result<(), TraceError> {
    let headed = if map.is_some() { Headed::Yes } else { Headed::Perhaps };
    let mut table = Table::open(input, headed)?;
    let guessed = if map.is_none() { Some(table.guess()?) } else { None };
    let columns = table.find(guessed.as_ref().or(map).expect("one of the two"))?;
    let wanted = |(_, part): &(usize, &Part)| matches!(part.kind, Kind::Device | Kind::Sample);
    if columns.len() != 2 || !columns.iter().all(wanted) {
        return Err(input.wrong("map device and sample_time of such a table, nothing else"));
    }
    let mut models: HashMap<String, u32> = HashMap::new();
    while let Some(line) = table.next()? {
        let outcome = latency(&table, &columns, latencies).map(|found| {
            let (model, nanos) = found?;
            let count = models.entry(model.clone()).or_default();
            *count += 1;
            let device = if *count == 1 { model } else { format!("{model} #{count}") };
            let compute = Some(Compute::Sample(nanos));
            let changes = vec![Change { compute, ..Change::default() }];
            Some(Recording { device, changes, end: None })
        });
        sink.take(input, || format!("line {line}"), outcome as Outcome)?;
    }
    Ok(())
}

fn latency(
    table: &Table,
    columns: &[(usize, &Part)],
    latencies: Latencies,
) -> Result<Option<(String, f64)>, String> {
    let cell = |kind: Kind| {
        let (index, part) = columns.iter().find(|(_, part)| part.kind == kind).expect("checked");
        table.cell(*index, part)
    };
    let text = cell(Kind::Sample)?;
    if text.is_empty() || text.parse() == Ok(0.0) {
        return Ok(None);
    }
    let (device, change) = table.row(columns)?;
    let nanos = latencies.factor() * change.compute.map_or(0.0, Compute::value);
    match nanos.is_finite() {
        true => Ok(Some((device, nanos))),
        false => Err("a latency that is too long".into()),
    }
}

#[derive(PartialEq)]
enum Headed {
    Yes,
    Perhaps,
}

/// A table with comma, semicolon or tab between its cells.
struct Table<'a> {
    input: &'a Input,
    records: Records,
    header: Vec<String>,
    /// There is none: columns are numbered from 1.
    is_bare: bool,
}

impl<'a> Table<'a> {
    fn open(input: &'a Input, headed: Headed) -> Result<Self, TraceError> {
        let mut records = Records::open(input, |line| {
            let count = |wanted: u8| line.iter().filter(|byte| **byte == wanted).count();
            *b"\t;,".iter().max_by_key(|byte| count(**byte)).expect("three")
        })?;
        records.next().map_err(|error| input.broken(&error))?;
        let text = |cell: &[u8]| String::from_utf8_lossy(cell).trim().to_string();
        let mut header: Vec<String> = records.iter().map(text).collect();
        if header.first().is_some_and(|cell| cell.starts_with(['{', '['])) {
            let error = input.wrong("it is JSON, not a table").at("line 1");
            return Err(error.help("tables are CSV, TSV or separated by semicolons"));
        }
        let is_data = header.get(1).is_some_and(|cell| cell.parse::<f64>().is_ok());
        let is_bare = headed == Headed::Perhaps && is_data;
        if is_bare {
            header = vec!["1".into(), "2".into()];
            records.again();
        }
        Ok(Table { input, records, header, is_bare })
    }

    /// Reads a row; its line, or none at the end.
    fn next(&mut self) -> Result<Option<u64>, TraceError> {
        let is_row = self.records.next().map_err(|error| self.input.broken(&error))?;
        Ok(is_row.then(|| self.records.line()))
    }

    /// Finds the columns of a mapping.
    fn find<'m>(&self, map: &'m Mapping) -> Result<Vec<(usize, &'m Part)>, TraceError> {
        let index = |part: &'m Part| {
            let index = self.header.iter().position(|name| *name == part.column);
            index.map(|index| (index, part)).ok_or_else(|| {
                let what = format!("there is no column `{}`", shown(&part.column));
                let names: Vec<_> = self.header.iter().take(20).map(|name| shown(name)).collect();
                let help = format!("the columns are: {}", names.join(", "));
                self.input.wrong(what).at("line 1").help(help)
            })
        };
        map.parts.iter().map(index).collect()
    }

    /// Which columns hold phones and latencies, by their names.
    fn guess(&self) -> Result<Mapping, TraceError> {
        if self.is_bare {
            return Ok(Mapping::latencies("1", "2"));
        }
        let named = |words: &[&str]| {
            let is = |name: &&String| words.iter().any(|word| name.to_lowercase().contains(word));
            self.header.iter().find(is)
        };
        let device = named(&["model", "phone", "device"]).or(self.header.first());
        match (device, named(&["latency", "inference", "(ms)", "[ms]", "_ms", " ms"])) {
            (Some(device), Some(latency)) if device != latency => {
                Ok(Mapping::latencies(device, latency))
            }
            _ => {
                let error = self.input.wrong("no column names a latency in ms").at("line 1");
                Err(error.help("say which: --map device=COLUMN,sample_time=COLUMN[ms]"))
            }
        }
    }

    fn cell(&self, index: usize, part: &Part) -> Result<&str, String> {
        let missing = || format!("there is no cell in column `{}`", shown(&part.column));
        let cell = std::str::from_utf8(self.records.get(index).ok_or_else(missing)?);
        let wrong = || format!("column `{}` is not UTF-8 text", shown(&part.column));
        Ok(cell.map_err(|_| wrong())?.trim())
    }

    /// The device and what the current row says about it.
    fn row(&self, columns: &[(usize, &Part)]) -> Result<(String, Change), String> {
        let (mut device, mut change) = (String::new(), Change::default());
        for (index, part) in columns {
            let cell = self.cell(*index, part)?;
            let wrong = |expected: &str| {
                let column = shown(&part.column);
                format!("column `{column}`: found `{}`, expected {expected}", shown(cell))
            };
            match part.kind {
                Kind::Device if cell.is_empty() => return Err(wrong("a device's name")),
                Kind::Device => device = cell.to_string(),
                Kind::Time => {
                    change.at = nearest_time(cell, part.unit, part.scale)
                        .ok_or_else(|| wrong("a time, 0 or later"))?;
                }
                _ if cell.is_empty() => {}
                kind => {
                    set(&mut change, kind, cell, part.scale).map_err(wrong)?;
                    multiply(&mut change, kind, part.factor)
                        .ok_or_else(|| wrong("a smaller number"))?;
                }
            }
        }
        Ok((device, change))
    }
}

fn multiply(change: &mut Change, kind: Kind, factor: f64) -> Option<()> {
    let times = |value: f64| Some(value * factor).filter(|value| value.is_finite());
    let nonzero = |value: f64| times(value).filter(|value| *value > 0.0);
    match (kind, &mut change.compute) {
        (Kind::Up, _) => change.up = Some(times(change.up?)?),
        (Kind::Down, _) => change.down = Some(times(change.down?)?),
        (Kind::Available, _) => {}
        (_, Some(Compute::Step(value) | Compute::Sample(value) | Compute::Flops(value))) => {
            *value = nonzero(*value)?
        }
        (_, None) => {}
    }
    Some(())
}
