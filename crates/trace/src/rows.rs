//! The rows of a trace, one by one, each checked on its own.

use super::columns::{Columns, KINDS, Kind, split_unit};
use super::error::{TraceError, shown};
use super::number::{self, Scale};
use super::records::Records;
use super::source::Input;
use super::{Change, Compute};
use gruppetto_sim::clock::Span;
use gruppetto_sim::units::UnitError;

/// One row.
pub(super) struct Row<'a> {
    pub line: u64,
    pub device: &'a str,
    /// Nothing but a time: the recording ends then.
    pub is_end: bool,
    pub change: Change,
}

struct Column {
    kind: Kind,
    title: String,
    unit: &'static str,
    scale: Scale,
}

/// Reads rows. A row that is wrong does not keep the next from being read.
pub(super) struct Rows {
    input: Input,
    records: Records,
    columns: Vec<Column>,
    scratch: String,
    over: bool,
}

impl Rows {
    pub(super) fn open(input: &Input) -> Result<Self, TraceError> {
        let mut records = Records::open(input, |_| b',')?;
        records.next().map_err(|error| input.broken(&error))?;
        let columns = header(&records).map_err(|wrong| {
            input.wrong(wrong).at(format!("line {}", records.line())).help(EXAMPLE)
        })?;
        Ok(Rows { input: input.clone(), records, columns, scratch: String::new(), over: false })
    }

    /// The aspects the file records.
    pub(super) fn columns(&self) -> Columns {
        self.columns.iter().fold(Columns::default(), |columns, column| columns.with(column.kind))
    }

    /// The next row, if there is one. After an error of the file itself there is none.
    pub(super) fn next(&mut self) -> Option<Result<Row<'_>, TraceError>> {
        if self.over {
            return None;
        }
        match self.records.next() {
            Ok(true) => Some(self.row(self.records.line())),
            Ok(false) => {
                self.over = true;
                None
            }
            Err(error) => {
                self.over = true;
                Some(Err(self.input.broken(&error)))
            }
        }
    }

    fn row(&mut self, line: u64) -> Result<Row<'_>, TraceError> {
        let wrong = |what: String| self.input.wrong(what).at(format!("line {line}"));
        if self.records.len() != self.columns.len() {
            let (found, wanted) = (self.records.len(), self.columns.len());
            let error = wrong(format!("found {found} cells, expected {wanted} as in the header"));
            return Err(error.help("an empty cell means \"as before\"; keep its comma"));
        }
        let mut row = Row { line, device: "", is_end: true, change: Change::default() };
        for (column, cell) in self.columns.iter().zip(self.records.iter()) {
            let at = || format!("line {line}, column `{}`", column.title);
            let wrong = |what: String| self.input.wrong(what).at(at());
            let cell = std::str::from_utf8(cell)
                .map_err(|_| wrong("found bytes that are not UTF-8 text".into()))?
                .trim();
            match (column.kind, cell) {
                (Kind::Device, "") => {
                    return Err(wrong("found nothing, expected the device's name".into()));
                }
                (Kind::Device, name) => row.device = name,
                (Kind::Time, cell) => {
                    row.change.at = number::parse_time(cell, column.unit, &mut self.scratch)
                        .map_err(|error| time_error(wrong, cell, column.unit, &error))?;
                }
                (_, "") => {}
                (kind, cell) => {
                    row.is_end = false;
                    set(&mut row.change, kind, cell, column.scale).map_err(|expected| {
                        wrong(format!("found `{}`, expected {expected}", shown(cell)))
                    })?;
                }
            }
        }
        Ok(row)
    }
}

const EXAMPLE: &str = "a header looks like `device,time [s],step_time [ms],up [Mbps],available`";

fn time_error(
    wrong: impl Fn(String) -> TraceError,
    cell: &str,
    unit: &str,
    error: &UnitError,
) -> TraceError {
    let found = format!("found `{}`, expected a time in {unit}, 0 or later", shown(cell));
    match error {
        UnitError::TooFine(_) | UnitError::TooLong(_) => wrong(format!("{found}: {error}")),
        _ => wrong(found),
    }
}

/// Puts a cell into a change; or says what was expected.
pub(super) fn set(
    change: &mut Change,
    kind: Kind,
    cell: &str,
    scale: Scale,
) -> Result<(), &'static str> {
    let number = || number::parse(cell, scale);
    let compute = || {
        let wanted = "a number above 0";
        number().filter(|value| *value > 0.0).ok_or(wanted)
    };
    let rate = || {
        let wanted = "a number, 0 (no connection) or more";
        number().filter(|value| *value >= 0.0).map(|value| value + 0.0).ok_or(wanted)
    };
    match kind {
        Kind::Device | Kind::Time => {}
        Kind::Step => change.compute = Some(Compute::Step(compute()?)),
        Kind::Sample => change.compute = Some(Compute::Sample(compute()?)),
        Kind::Speed => change.compute = Some(Compute::Flops(compute()?)),
        Kind::Up => change.up = Some(rate()?),
        Kind::Down => change.down = Some(rate()?),
        Kind::Available => {
            (change.available, change.lost) = match cell {
                "1" | "true" => (Some(true), false),
                "0" | "false" => (Some(false), false),
                "lost" => (None, true),
                _ => return Err("1, 0, true, false or lost"),
            };
        }
    }
    Ok(())
}

fn header(records: &Records) -> Result<Vec<Column>, String> {
    let mut columns: Vec<Column> = Vec::new();
    for title in records.iter() {
        let title = String::from_utf8_lossy(title);
        let (name, unit) = split_unit(&title);
        let kind = Kind::named(name).ok_or_else(|| unknown(name))?;
        let (unit, scale) =
            kind.unit(unit).map_err(|wrong| format!("column `{}`: {wrong}", shown(&title)))?;
        if columns.iter().any(|column| column.kind == kind) {
            return Err(format!("there are two columns `{name}`"));
        }
        if kind.is_compute()
            && let Some(other) = columns.iter().find(|column| column.kind.is_compute())
        {
            let other = other.kind.name();
            return Err(format!("`{other}` and `{name}` both tell compute speed: keep one"));
        }
        columns.push(Column { kind, title: title.trim().to_string(), unit, scale });
    }
    let missing = |kind: Kind| columns.iter().all(|column| column.kind != kind);
    match () {
        () if missing(Kind::Device) => Err("there is no column `device`".into()),
        () if missing(Kind::Time) => Err("there is no column `time [s]`".into()),
        () if columns.len() == 2 => Err("no column tells anything about the devices".into()),
        () => Ok(columns),
    }
}

fn unknown(name: &str) -> String {
    let names = KINDS.map(|(name, ..)| name);
    let near = names
        .iter()
        .map(|known| (strsim::damerau_levenshtein(known, &shown(name).to_lowercase()), known))
        .filter(|(distance, _)| *distance <= 2)
        .min();
    let meant = near.map_or(String::new(), |(_, near)| format!("; did you mean `{near}`?"));
    format!("unknown column `{}`, expected one of {}{meant}", shown(name), names.join(", "))
}

/// Whether nothing is told but a time.
pub(super) fn is_empty(change: &Change) -> bool {
    *change == Change { at: change.at, ..Change::default() }
}

/// Longest recording of one device: what does not fit in memory cannot be replayed either.
pub(super) const MOST_CHANGES: usize = 10_000_000;

/// The instant of a row must come after that of the row before.
pub(super) fn is_later(at: Span, before: Option<Span>) -> bool {
    before.is_none_or(|before| at > before)
}
