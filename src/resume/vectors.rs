//! Files of named vectors: safetensors, with a text in the metadata and a digest of everything.

use super::CheckpointError;
use crate::memory;
use crate::report::{FileError, write_whole_by};
use crate::solver::ControlVector;
use safetensors::SafeTensorError;
use safetensors::tensor::{Dtype, SafeTensors, View, serialize_to_file};
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use xxhash_rust::xxh3::Xxh3;

/// The bytes of a vector.
pub(super) fn little_endian(values: &[f64]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(8 * values.len());
    values.iter().for_each(|value| bytes.extend_from_slice(&value.to_le_bytes()));
    bytes
}

/// A vector that is turned into bytes when its turn comes: a checkpoint needs no second copy of all of them.
struct VectorView<'a> {
    values: &'a [f64],
    shape: [usize; 1],
}

impl View for VectorView<'_> {
    fn dtype(&self) -> Dtype {
        Dtype::F64
    }

    fn shape(&self) -> &[usize] {
        &self.shape
    }

    fn data(&self) -> Cow<'_, [u8]> {
        little_endian(self.values).into()
    }

    fn data_len(&self) -> usize {
        8 * self.values.len()
    }
}

/// Writes named vectors.
pub(super) fn write_tensors(
    path: &Path,
    tensors: &[(String, &[f64])],
    meta: Option<String>,
) -> Result<(), FileError> {
    let views = tensors
        .iter()
        .map(|(name, values)| (name.as_str(), VectorView { values, shape: [values.len()] }));
    let meta = meta.unwrap_or_default();
    let mut sorted: Vec<(&str, &[f64])> =
        tensors.iter().map(|(name, own)| (&**name, *own)).collect();
    sorted.sort_by_key(|(name, _)| *name);
    let digest = format!("{:016x}", digest(&meta, sorted.into_iter()));
    let meta = [("gruppetto".to_string(), meta), ("digest".to_string(), digest)];
    let meta = Some(HashMap::from(meta));
    write_whole_by(path, |partial| {
        serialize_to_file(views, meta, partial).map_err(|error| match error {
            SafeTensorError::IoError(error) => error,
            error => io::Error::other(error),
        })
    })
}

/// Of what a file of vectors says and holds, in the order of names: a disk may forget, and a file be changed.
fn digest<'a>(meta: &str, vectors: impl Iterator<Item = (&'a str, &'a [f64])>) -> u64 {
    let mut hash = Xxh3::new();
    hash.update(meta.as_bytes());
    for (name, values) in vectors {
        hash.update(name.as_bytes());
        hash.update(&(values.len() as u64).to_le_bytes());
        hash.update(&little_endian(values));
    }
    hash.digest()
}

/// Named vectors of a file.
pub(super) struct NamedVectors {
    path: PathBuf,
    by_name: BTreeMap<String, Vec<f64>>,
    pub(super) meta: String,
}

impl NamedVectors {
    pub(super) fn read(path: PathBuf) -> Result<NamedVectors, CheckpointError> {
        let most = memory::available().map_or(u64::MAX, |left| left.bytes as u64);
        let bytes = match memory::read_at_most(&path, most) {
            Ok(bytes) => bytes,
            Err(source) => return Err(CheckpointError::Read { path, source }),
        };
        let broken = |what: String| CheckpointError::Broken { path: path.clone(), what };
        let (_, header) = SafeTensors::read_metadata(&bytes).map_err(|e| broken(e.to_string()))?;
        let get = |key: &str| header.metadata().as_ref().and_then(|meta| meta.get(key).cloned());
        let (meta, written) = (get("gruppetto"), get("digest").unwrap_or_default());
        let tensors = SafeTensors::deserialize(&bytes).map_err(|e| broken(e.to_string()))?;
        let by_name: BTreeMap<String, Vec<f64>> = tensors
            .tensors()
            .into_iter()
            .map(|(name, view)| {
                let chunks = view.data().chunks_exact(8);
                let values = chunks.map(|chunk| f64::from_le_bytes(chunk.try_into().expect("8")));
                (name, values.collect())
            })
            .collect();
        let meta = meta.unwrap_or_default();
        let found = digest(&meta, by_name.iter().map(|(name, own)| (&**name, &own[..])));
        // Fuzzing looks for what is behind it.
        if cfg!(not(fuzzing)) && written != format!("{found:016x}") {
            return Err(broken("it has changed since it was written".into()));
        }
        Ok(NamedVectors { path, by_name, meta })
    }

    pub(super) fn take(&mut self, name: &str) -> Result<Vec<f64>, CheckpointError> {
        let found = self.by_name.remove(name);
        found.ok_or_else(|| self.broken(format!("there is no `{name}` in it")))
    }

    pub(super) fn shared(&mut self, name: &str) -> ControlVector {
        self.by_name.remove(name).map(Arc::new)
    }

    pub(super) fn broken(&self, what: String) -> CheckpointError {
        CheckpointError::Broken { path: self.path.clone(), what }
    }
}
