//! Reads the lines of a table by the names in its header.

use super::cell_columns::{is_swept, kind_of};
use super::columns::{ColumnKind, RunTable};
use super::read_error::ReadError;
use crate::clock::SimTime;
use crate::sweep::SweptKey;
use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

/// The header of a file with the table `T`: the names of its columns, in their order.
pub struct TableHeader<T> {
    path: PathBuf,
    names: Vec<String>,
    /// What swept keys hold, where that is known.
    kinds: BTreeMap<String, ColumnKind>,
    /// Where the cells of the line that is being read end.
    ends: Vec<usize>,
    table: PhantomData<T>,
}

/// Which column of a file it is, and the type that its cells are read as.
pub struct ColumnPlace<V: ?Sized> {
    index: usize,
    read_as: PhantomData<V>,
}

impl<V: ?Sized> Clone for ColumnPlace<V> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<V: ?Sized> Copy for ColumnPlace<V> {}

impl<V: ?Sized> ColumnPlace<V> {
    /// The number of the column in the file, from 0.
    pub fn index(self) -> usize {
        self.index
    }
}

/// What a cell can be read as.
pub trait Readable {
    /// What comes out of a line that lives as long as `'a`.
    type Value<'a>;
    /// The kind of column it is read from.
    const KIND: ColumnKind;
    /// In an error: what was expected.
    const EXPECTED: &'static str;
    /// Reads a cell; `None` if it does not contain such a value.
    fn read(cell: &str) -> Option<Self::Value<'_>>;
}

impl<T: RunTable> TableHeader<T> {
    /// Of the file at `path`, whose first line is `line`.
    pub fn new(path: &Path, line: &str) -> Self {
        let names = line.split(',').map(str::to_string).collect();
        let (path, ends, kinds) = (path.to_owned(), Vec::new(), BTreeMap::new());
        TableHeader { path, names, kinds, ends, table: PhantomData }
    }

    /// With these keys swept.
    pub(super) fn with_swept(mut self, swept: &[SweptKey]) -> Self {
        let kind = |swept: &SweptKey| (swept.key.clone(), kind_of(&swept.values));
        self.kinds = swept.iter().map(kind).collect();
        self
    }

    /// The columns of swept keys: their numbers in the file, and the keys.
    pub fn swept(&self) -> impl Iterator<Item = (usize, &str)> {
        let names = self.names.iter().map(String::as_str).enumerate();
        names.filter(|(_, name)| {
            T::column(name).is_none() && (self.kinds.contains_key(*name) || is_swept(name))
        })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Every column of the file: its name and what it holds. One that only another version knows is text.
    pub fn columns(&self) -> impl Iterator<Item = (&str, ColumnKind)> {
        let kind = |name: &str| {
            let known = T::column(name).map(|column| column.kind);
            known.or(self.kinds.get(name).copied()).unwrap_or(ColumnKind::Text)
        };
        self.names.iter().map(move |name| (name.as_str(), kind(name)))
    }

    /// Where the column `name` of the table is in this file.
    ///
    /// # Panics
    ///
    /// If the table is not described to have such a column, or one of another kind.
    pub fn find<V: Readable + ?Sized>(&self, name: &str) -> Result<ColumnPlace<V>, ReadError> {
        let kind = T::column(name).map(|column| column.kind);
        assert_eq!(kind, Some(V::KIND), "`{name}` of {}", T::FILE);
        let index = self.names.iter().position(|own| own == name).ok_or_else(|| {
            let error = ReadError::broken(&self.path, format!("there is no column `{name}`"));
            error.at(Some(1)).help("was it written by this version of Gruppetto?")
        })?;
        Ok(ColumnPlace { index, read_as: PhantomData })
    }

    /// A line of the file, with its number if that is known.
    pub fn line<'h, 'a>(
        &'h mut self,
        text: &'a str,
        number: Option<u64>,
    ) -> Result<TableLine<'h, 'a, T>, ReadError> {
        self.ends.clear();
        self.ends
            .extend(text.bytes().enumerate().filter(|(_, byte)| *byte == b',').map(|(at, _)| at));
        self.ends.push(text.len());
        let line = TableLine { header: self, text, number };
        let (found, wanted) = (self.ends.len(), self.names.len());
        match found == wanted {
            true => Ok(line),
            false => {
                Err(line.wrong(format!("found {found} cells, expected {wanted} as in the header")))
            }
        }
    }
}

/// A line of a file with the table `T`.
pub struct TableLine<'h, 'a, T> {
    header: &'h TableHeader<T>,
    text: &'a str,
    number: Option<u64>,
}

impl<'a, T: RunTable> TableLine<'_, 'a, T> {
    /// The value in a column.
    pub fn get<V: Readable + ?Sized>(
        &self,
        place: ColumnPlace<V>,
    ) -> Result<V::Value<'a>, ReadError> {
        V::read(self.cell(place.index)).ok_or_else(|| self.odd(place.index, V::EXPECTED))
    }

    /// The cell of a column, by its number in the file, as it is written.
    pub fn cell(&self, index: usize) -> &'a str {
        let ends = &self.header.ends;
        let begin = if index == 0 { 0 } else { ends[index - 1] + 1 };
        &self.text[begin..ends[index]]
    }

    /// The cell of a column is not what it should be.
    pub fn odd(&self, index: usize, expected: &str) -> ReadError {
        // An edited file may contain anything.
        let visible = |c: char| if c.is_control() { '\u{fffd}' } else { c };
        let found: String = self.cell(index).chars().take(32).map(visible).collect();
        let name = &self.header.names[index];
        self.wrong(format!("column `{name}`: found `{found}`, expected {expected}"))
    }

    /// Something is wrong with the line.
    pub fn wrong(&self, what: impl ToString) -> ReadError {
        ReadError::broken(&self.header.path, what).at(self.number)
    }
}

impl Readable for str {
    type Value<'a> = &'a str;
    const KIND: ColumnKind = ColumnKind::Text;
    const EXPECTED: &'static str = "a text";

    fn read(cell: &str) -> Option<&str> {
        Some(cell)
    }
}

impl Readable for u64 {
    type Value<'a> = u64;
    const KIND: ColumnKind = ColumnKind::Integer;
    const EXPECTED: &'static str = "a whole number below 2^64";

    fn read(cell: &str) -> Option<u64> {
        // `parse` would take a plus sign.
        cell.bytes().all(|byte| byte.is_ascii_digit()).then(|| cell.parse().ok())?
    }
}

impl Readable for f64 {
    type Value<'a> = f64;
    const KIND: ColumnKind = ColumnKind::Float;
    const EXPECTED: &'static str = "a number";

    fn read(cell: &str) -> Option<f64> {
        cell.parse().ok()
    }
}

impl Readable for Option<f64> {
    type Value<'a> = Option<f64>;
    const KIND: ColumnKind = ColumnKind::OptionalFloat;
    const EXPECTED: &'static str = "a number or nothing";

    fn read(cell: &str) -> Option<Option<f64>> {
        if cell.is_empty() { Some(None) } else { cell.parse().ok().map(Some) }
    }
}

impl Readable for SimTime {
    type Value<'a> = SimTime;
    const KIND: ColumnKind = ColumnKind::Seconds;
    const EXPECTED: &'static str = "seconds with at most nine decimals";

    /// Exactly: a double would not do.
    fn read(cell: &str) -> Option<SimTime> {
        let (whole, decimals) = cell.split_once('.').unwrap_or((cell, "0"));
        let scale = 10u64.checked_pow(9u32.checked_sub(decimals.len() as u32)?)?;
        let nanos = u64::read(decimals)?.checked_mul(scale)?;
        let whole = u64::read(whole)?.checked_mul(1_000_000_000)?;
        Some(SimTime::from_nanos(whole.checked_add(nanos)?))
    }
}

#[cfg(test)]
mod tests;
