//! The columns of a table, and how a row is written.

use super::cell_columns::RunKey;
use crate::clock::SimTime;
use crate::sweep::SweptKey;

/// What the cells of a column contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// A name: no comma, quote or line end in it.
    Text,
    /// A whole number below 2^64.
    Integer,
    /// The shortest decimal that reads back as the same double.
    Float,
    /// Like [`ColumnKind::Float`], or empty where nothing was measured.
    OptionalFloat,
    /// Simulated seconds, to the nanosecond.
    Seconds,
}

impl ColumnKind {
    /// As it is written in the documentation.
    pub const fn in_words(self) -> &'static str {
        match self {
            ColumnKind::Text => "text",
            ColumnKind::Integer => "integer",
            ColumnKind::Float => "number",
            ColumnKind::OptionalFloat => "number or empty",
            ColumnKind::Seconds => "seconds",
        }
    }
}

/// A column of a table: its name, the kind of its cells and their meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableColumn {
    /// The name in the header.
    pub name: &'static str,
    /// What its cells contain.
    pub kind: ColumnKind,
    /// What its cells mean, for `docs/outputs.md`.
    pub meaning: &'static str,
}

/// The first columns of every table: the run that a row belongs to. With a sweep, a column for every swept key follows.
pub const RUN_COLUMNS: [TableColumn; 2] = [
    TableColumn { name: "variant", kind: ColumnKind::Text, meaning: "name of the variant" },
    TableColumn { name: "seed", kind: ColumnKind::Integer, meaning: "seed of the run" },
];

/// How the value of a cell is taken from a row of the table `T`.
pub(super) type Get<T, V> = for<'r, 'a> fn(&'r <T as RunTable>::Row<'a>) -> V;

/// How the value of a cell is taken from a row. The variants are those of [`ColumnKind`].
#[allow(missing_docs)]
pub enum CellValue<T: RunTable> {
    Text(for<'r, 'a> fn(&'r T::Row<'a>) -> &'r str),
    Integer(Get<T, u64>),
    Float(Get<T, f64>),
    OptionalFloat(Get<T, Option<f64>>),
    Seconds(Get<T, SimTime>),
}

/// A column of the table `T`, and how its cells are written from a row.
pub struct WrittenColumn<T: RunTable> {
    /// The column.
    pub column: TableColumn,
    /// How the value of a cell is taken from a row.
    pub value: CellValue<T>,
}

impl<T: RunTable> WrittenColumn<T> {
    /// A column, whose kind is that of its value.
    pub const fn new(name: &'static str, value: CellValue<T>, meaning: &'static str) -> Self {
        let kind = match value {
            CellValue::Text(_) => ColumnKind::Text,
            CellValue::Integer(_) => ColumnKind::Integer,
            CellValue::Float(_) => ColumnKind::Float,
            CellValue::OptionalFloat(_) => ColumnKind::OptionalFloat,
            CellValue::Seconds(_) => ColumnKind::Seconds,
        };
        WrittenColumn { column: TableColumn { name, kind, meaning }, value }
    }

    /// Appends the cell of `row`, and a comma.
    #[inline(always)]
    fn write(&self, out: &mut Vec<u8>, row: &T::Row<'_>) {
        match self.value {
            CellValue::Text(get) => out.extend_from_slice(get(row).as_bytes()),
            CellValue::Integer(get) => integer(out, get(row)),
            CellValue::Float(get) => float(out, get(row)),
            CellValue::OptionalFloat(get) => {
                if let Some(value) = get(row) {
                    float(out, value);
                }
            }
            CellValue::Seconds(get) => seconds(out, get(row)),
        }
        out.push(b',');
    }
}

/// A table in the folder of a run: a CSV file with a header.
pub trait RunTable: Sized + 'static {
    /// The name of the file.
    const FILE: &'static str;
    /// What a row is written from.
    type Row<'a>;
    /// The columns after [`RUN_COLUMNS`] and swept keys, in the order of the file.
    const WRITTEN: &'static [WrittenColumn<Self>];

    /// Every column, in the order of the file.
    fn columns() -> impl Iterator<Item = &'static TableColumn> {
        RUN_COLUMNS.iter().chain(Self::WRITTEN.iter().map(|written| &written.column))
    }

    /// The column called `name`.
    fn column(name: &str) -> Option<&'static TableColumn> {
        Self::columns().find(|column| column.name == name)
    }

    /// The first line of the file, without its end, in a run in which these keys are swept.
    fn header(swept: &[SweptKey]) -> String {
        let first = RUN_COLUMNS.iter().map(|column| column.name);
        let written = Self::WRITTEN.iter().map(|written| written.column.name);
        let swept = swept.iter().map(|swept| swept.key.as_str());
        first.chain(swept).chain(written).collect::<Vec<&str>>().join(",")
    }

    /// Appends a row with its line end.
    fn write_row(out: &mut Vec<u8>, run: &RunKey, row: &Self::Row<'_>) {
        out.extend_from_slice(run.0.as_bytes());
        // Written out, so that the compiler knows every column's function and inlines it: a loop takes
        // 30 % longer, and there may be a million rows a second.
        macro_rules! write_cells {
            ($($index:literal)*) => {$(
                if let Some(written) = const { nth::<Self>($index) } {
                    written.write(out, row);
                }
            )*};
        }
        write_cells!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31);
        Self::WRITTEN.iter().skip(32).for_each(|written| written.write(out, row));
        // The comma after the last cell.
        if let Some(last) = out.last_mut() {
            *last = b'\n';
        }
    }
}

const fn nth<T: RunTable>(index: usize) -> Option<&'static WrittenColumn<T>> {
    if index < T::WRITTEN.len() { Some(&T::WRITTEN[index]) } else { None }
}

#[inline]
fn integer(out: &mut Vec<u8>, value: u64) {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

#[inline]
fn float(out: &mut Vec<u8>, value: f64) {
    out.extend_from_slice(ryu::Buffer::new().format(value).as_bytes());
}

#[inline]
fn seconds(out: &mut Vec<u8>, at: SimTime) {
    integer(out, at.nanos() / 1_000_000_000);
    let digits = 1_000_000_000 + at.nanos() % 1_000_000_000;
    out.push(b'.');
    out.extend_from_slice(&itoa::Buffer::new().format(digits).as_bytes()[1..]);
}
