//! Readers of data files, one per format. Each takes the bytes of a whole file and trusts none of
//! them: what a header promises is compared with what is there before anything is made of it.

pub(super) mod cifar;
pub(super) mod columns;
pub(super) mod idx;
pub(super) mod npy;
pub(super) mod npz;
pub(super) mod svm;

use super::error::DataError;
use flate2::read::MultiGzDecoder;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// More bytes than any file here may hold: a few megabytes of gzip can pretend to be terabytes. And
/// what becomes of it must fit into memory beside it.
pub(super) fn most_bytes() -> u64 {
    let most = 8 << 30;
    crate::memory::available().map_or(most, |left| most.min((left.bytes / 4.0) as u64))
}

/// The content of a file, gunzipped if it begins like gzip: names are often wrong.
pub(super) fn read(path: &Path) -> Result<Vec<u8>, DataError> {
    let broken = |error: std::io::Error| DataError::io(path, &error);
    let most = most_bytes();
    let mut file = File::open(path).map_err(broken)?;
    let mut bytes = Vec::new();
    file.by_ref().take(2).read_to_end(&mut bytes).map_err(broken)?;
    if bytes == [0x1f, 0x8b] {
        let whole = std::io::Cursor::new(std::mem::take(&mut bytes)).chain(file);
        let mut plain = MultiGzDecoder::new(std::io::BufReader::new(whole)).take(most + 1);
        plain.read_to_end(&mut bytes).map_err(|error| {
            DataError::new(path, format!("the gzip archive is broken: {error}"))
                .help("fetch the file again")
        })?;
    } else {
        let length = file.metadata().map_or(0, |known| known.len().min(most));
        bytes.reserve_exact(length as usize);
        file.take(most + 1).read_to_end(&mut bytes).map_err(broken)?;
    }
    match bytes.len() as u64 > most {
        true => Err(too_large(path, most)),
        false => Ok(bytes),
    }
}

/// A file holds more than there is room for.
pub(super) fn too_large(path: &Path, most: u64) -> DataError {
    DataError::new(path, format!("it holds more than {:.1} GB", most as f64 / 1e9))
        .expected("at most 8 GiB, and a quarter of the memory that is free")
}

/// A table as it is in its file, before it becomes a data set.
#[derive(Debug, PartialEq)]
pub(super) struct RawTable {
    /// Shape of a sample.
    pub shape: Vec<usize>,
    /// Features, by rows.
    pub x: super::Features,
    /// What is to be predicted.
    pub y: Vec<f64>,
    /// The client of each row, where there is such a column.
    pub clients: Option<super::NaturalClients>,
}

/// Gives clients their numbers, in the order in which they first appear.
#[derive(Default)]
pub(super) struct Register {
    numbers: std::collections::HashMap<String, u32>,
    names: Vec<String>,
    of: Vec<u32>,
}

impl Register {
    /// The next row is of the client `name`.
    pub(super) fn add(&mut self, name: &str) {
        let number = match self.numbers.get(name) {
            Some(number) => *number,
            None => {
                let number = self.names.len() as u32;
                self.numbers.insert(name.into(), number);
                self.names.push(name.into());
                number
            }
        };
        self.of.push(number);
    }

    /// All rows have been seen.
    pub(super) fn finish(self) -> super::NaturalClients {
        super::NaturalClients { of: self.of, names: self.names }
    }
}
