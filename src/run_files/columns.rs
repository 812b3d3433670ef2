//! The columns of a table, and how a row is written.

use crate::clock::SimTime;

/// What the cells of a column contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A name: no comma, quote or line end in it.
    Text,
    /// A whole number below 2^64.
    Integer,
    /// The shortest decimal that reads back as the same double.
    Float,
    /// Like [`Kind::Float`], or empty where nothing was measured.
    OptionalFloat,
    /// Simulated seconds, to the nanosecond.
    Seconds,
}

impl Kind {
    /// As the documentation says it.
    pub const fn in_words(self) -> &'static str {
        match self {
            Kind::Text => "text",
            Kind::Integer => "integer",
            Kind::Float => "number",
            Kind::OptionalFloat => "number or empty",
            Kind::Seconds => "seconds",
        }
    }
}

/// A column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// The name in the header.
    pub name: &'static str,
    /// What its cells contain.
    pub kind: Kind,
    /// What its cells mean, for `docs/outputs.md`.
    pub meaning: &'static str,
}

/// The columns with which every row begins: the run that it belongs to.
pub const RUN_COLUMNS: [Column; 2] = [
    Column { name: "variant", kind: Kind::Text, meaning: "name of the variant" },
    Column { name: "seed", kind: Kind::Integer, meaning: "seed of the run" },
];

/// The cells of [`RUN_COLUMNS`], put into text once for all rows of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunKey(String);

impl RunKey {
    /// Of a variant with a seed.
    pub fn new(variant: &str, seed: u64) -> Self {
        RunKey(format!("{variant},{seed},"))
    }
}

/// How the value of a cell is taken from a row of the table `T`.
pub type Get<T, V> = for<'r, 'a> fn(&'r <T as Table>::Row<'a>) -> V;

/// How a cell comes from a row. The variants are those of [`Kind`].
#[allow(missing_docs)]
pub enum Value<T: Table> {
    Text(for<'r, 'a> fn(&'r T::Row<'a>) -> &'r str),
    Integer(Get<T, u64>),
    Float(Get<T, f64>),
    OptionalFloat(Get<T, Option<f64>>),
    Seconds(Get<T, SimTime>),
}

/// A column of the table `T`, and how its cells come from a row.
pub struct Cell<T: Table> {
    /// The column.
    pub column: Column,
    /// How a cell comes from a row.
    pub value: Value<T>,
}

impl<T: Table> Cell<T> {
    /// A column, whose kind is that of its value.
    pub const fn new(name: &'static str, value: Value<T>, meaning: &'static str) -> Self {
        let kind = match value {
            Value::Text(_) => Kind::Text,
            Value::Integer(_) => Kind::Integer,
            Value::Float(_) => Kind::Float,
            Value::OptionalFloat(_) => Kind::OptionalFloat,
            Value::Seconds(_) => Kind::Seconds,
        };
        Cell { column: Column { name, kind, meaning }, value }
    }

    /// Appends the cell of `row`, and a comma.
    #[inline(always)]
    fn write(&self, out: &mut Vec<u8>, row: &T::Row<'_>) {
        match self.value {
            Value::Text(get) => out.extend_from_slice(get(row).as_bytes()),
            Value::Integer(get) => integer(out, get(row)),
            Value::Float(get) => float(out, get(row)),
            Value::OptionalFloat(get) => {
                if let Some(value) = get(row) {
                    float(out, value);
                }
            }
            Value::Seconds(get) => seconds(out, get(row)),
        }
        out.push(b',');
    }
}

/// A table of a run's folder: a CSV file with a header.
pub trait Table: Sized + 'static {
    /// The name of the file.
    const FILE: &'static str;
    /// What a row is written from.
    type Row<'a>;
    /// The columns after [`RUN_COLUMNS`], in the order of the file.
    const CELLS: &'static [Cell<Self>];

    /// Every column, in the order of the file.
    fn columns() -> impl Iterator<Item = &'static Column> {
        RUN_COLUMNS.iter().chain(Self::CELLS.iter().map(|cell| &cell.column))
    }

    /// The column called `name`.
    fn column(name: &str) -> Option<&'static Column> {
        Self::columns().find(|column| column.name == name)
    }

    /// The first line of the file, without its end.
    fn header() -> String {
        let names: Vec<&str> = Self::columns().map(|column| column.name).collect();
        names.join(",")
    }

    /// Appends a row with its line end.
    fn write_row(out: &mut Vec<u8>, run: &RunKey, row: &Self::Row<'_>) {
        out.extend_from_slice(run.0.as_bytes());
        // Written out, so that the compiler knows every column's function and inlines it: a loop takes
        // 30 % longer, and there may be a million rows a second.
        macro_rules! cells {
            ($($index:literal)*) => {$(
                if let Some(cell) = const { nth::<Self>($index) } {
                    cell.write(out, row);
                }
            )*};
        }
        cells!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31);
        Self::CELLS.iter().skip(32).for_each(|cell| cell.write(out, row));
        // The comma after the last cell.
        if let Some(last) = out.last_mut() {
            *last = b'\n';
        }
    }
}

const fn nth<T: Table>(index: usize) -> Option<&'static Cell<T>> {
    if index < T::CELLS.len() { Some(&T::CELLS[index]) } else { None }
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
