//! Which cell of a run a row belongs to: the first columns of every table.

use super::columns::{ColumnKind, RunTable};
use super::header::{ColumnPlace, TableHeader, TableLine};
use super::read_error::ReadError;
use crate::sweep::{Swept, SweptKey, label, shown};
use std::borrow::Cow;

/// A cell of a scenario, as files name it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CellId {
    /// The label of the combination; without a sweep the name of the variant.
    pub name: String,
    /// The name of the variant.
    pub variant: String,
    /// The values of swept keys.
    pub swept: Swept,
    /// The seed.
    pub seed: u64,
    /// With a sweep: its number.
    pub cell: Option<u64>,
    /// Whether the scenario has several seeds.
    pub several_seeds: bool,
}

impl CellId {
    /// As it is in the names of files, and in `latency.hlog`: labels are too long for that, and may have any
    /// characters.
    pub fn file_name(&self) -> String {
        match (self.cell, self.several_seeds) {
            (Some(cell), _) => format!("{}-{cell}", self.variant),
            (None, true) => format!("{}-{}", self.variant, self.seed),
            (None, false) => self.variant.clone(),
        }
    }

    /// As people see it.
    pub fn title(&self) -> String {
        match self.several_seeds {
            true => format!("{} seed {}", self.name, self.seed),
            false => self.name.clone(),
        }
    }
}

/// The cells of the first columns as text, formatted once for all rows of a run: the variant, the seed, and the values
/// of swept keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunKey(pub(super) String);

impl RunKey {
    /// Of the rows of a cell.
    pub fn new(cell: &CellId) -> Self {
        let mut text = format!("{},{},", cell.variant, cell.seed);
        for (_, value) in cell.swept.iter() {
            text.push_str(&shown(value));
            text.push(',');
        }
        RunKey(text)
    }
}

/// Where the columns are that say which cell a row belongs to.
#[derive(Clone)]
pub struct CellColumns {
    variant: ColumnPlace<str>,
    seed: ColumnPlace<u64>,
    /// Swept keys.
    swept: Vec<(String, usize)>,
}

impl CellColumns {
    /// In a file with this header.
    pub fn find<T: RunTable>(header: &TableHeader<T>) -> Result<Self, ReadError> {
        let swept = header.swept().map(|(index, key)| (key.to_string(), index)).collect();
        Ok(CellColumns { variant: header.find("variant")?, seed: header.find("seed")?, swept })
    }

    /// The label of the combination, and the seed.
    pub fn read<'a, T: RunTable>(
        &self,
        line: &TableLine<'_, 'a, T>,
    ) -> Result<(Cow<'a, str>, u64), ReadError> {
        let (variant, seed) = (line.get(self.variant)?, line.get(self.seed)?);
        let values = self.swept.iter().map(|(key, index)| (key.as_str(), line.cell(*index)));
        Ok(match self.swept.is_empty() {
            true => (variant.into(), seed),
            false => (label(variant, values).into(), seed),
        })
    }

    /// The cell, of a run in which these keys are swept.
    pub fn id<T: RunTable>(
        &self,
        line: &TableLine<'_, '_, T>,
        swept: &[SweptKey],
    ) -> Result<CellId, ReadError> {
        let (name, seed) = self.read(line)?;
        let value = |(key, index): &(String, usize)| {
            let text = line.cell(*index);
            let values = swept.iter().filter(|known| known.key == *key);
            let known = values.flat_map(|known| &known.values).find(|value| shown(value) == text);
            (key.clone(), known.cloned().unwrap_or_else(|| text.into()))
        };
        Ok(CellId {
            name: name.into_owned(),
            variant: line.get(self.variant)?.into(),
            swept: Swept::new(self.swept.iter().map(value).collect()),
            seed,
            ..CellId::default()
        })
    }

    /// The numbers of these columns in the file.
    pub fn indices(&self) -> Vec<usize> {
        let swept = self.swept.iter().map(|(_, index)| *index);
        [self.variant.index(), self.seed.index()].into_iter().chain(swept).collect()
    }
}

/// Whether a column that no table has by itself is a swept key: these are paths, or tables of the scenario.
pub(super) fn is_swept(name: &str) -> bool {
    name.contains('.') || matches!(name, "event" | "stop" | "task" | "client" | "server" | "fleet")
}

/// What the cells of a swept key are.
pub(super) fn kind_of(values: &[serde_json::Value]) -> ColumnKind {
    match values.iter().all(serde_json::Value::is_number) {
        true => ColumnKind::Float,
        false => ColumnKind::Text,
    }
}
