//! Parameters in and out as safetensors.

use super::durable::write_whole;
use super::row_file::FileError;
use crate::memory;
use crate::train::{Tensor, Values};
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use std::path::{Path, PathBuf};

/// A file of tensors could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The file itself.
    #[error("cannot read {}: {source}", path.display())]
    #[allow(missing_docs)]
    File { path: PathBuf, source: std::io::Error },
    /// Its content.
    #[error("{} is not a safetensors file: {source}", path.display())]
    #[allow(missing_docs)]
    Format { path: PathBuf, source: safetensors::SafeTensorError },
    /// A tensor of a kind that parameters cannot have.
    #[error("{}: tensor `{name}` is {dtype:?}; parameters are F32 or F64", path.display())]
    #[allow(missing_docs)]
    Dtype { path: PathBuf, name: String, dtype: Dtype },
}

/// Writes `tensors` to `path`.
pub fn save_tensors(path: &Path, tensors: &[Tensor]) -> Result<(), FileError> {
    let bytes: Vec<Vec<u8>> = tensors
        .iter()
        .map(|tensor| match &tensor.values {
            Values::F32(values) => values.iter().flat_map(|v| v.to_le_bytes()).collect(),
            Values::F64(values) => values.iter().flat_map(|v| v.to_le_bytes()).collect(),
        })
        .collect();
    let views = tensors.iter().zip(&bytes).map(|(tensor, bytes)| {
        let dtype = match tensor.values {
            Values::F32(_) => Dtype::F32,
            Values::F64(_) => Dtype::F64,
        };
        let view = TensorView::new(dtype, tensor.shape.clone(), bytes);
        (tensor.name.as_str(), view.expect("the shape fits the values"))
    });
    let whole = safetensors::serialize(views, None).expect("views are consistent");
    write_whole(path, &whole)
}

/// Bytes of the largest file of tensors that is read, if memory allows: they are held twice.
const MOST: u64 = 64 << 30;

/// Reads every tensor of `path`.
pub fn load_tensors(path: &Path) -> Result<Vec<Tensor>, LoadError> {
    let file = |source| LoadError::File { path: path.to_owned(), source };
    let format = |source| LoadError::Format { path: path.to_owned(), source };
    let most = memory::available().map_or(MOST, |left| MOST.min((left.bytes / 2.0) as u64));
    let bytes = memory::read_at_most(path, most).map_err(file)?;
    let tensors = SafeTensors::deserialize(&bytes).map_err(format)?;
    tensors
        .tensors()
        .into_iter()
        .map(|(name, view)| {
            let values = match view.dtype() {
                Dtype::F32 => Values::F32(numbers(view.data(), f32::from_le_bytes)),
                Dtype::F64 => Values::F64(numbers(view.data(), f64::from_le_bytes)),
                dtype => {
                    return Err(LoadError::Dtype { path: path.to_owned(), name, dtype });
                }
            };
            Ok(Tensor { name, shape: view.shape().to_vec(), values })
        })
        .collect()
}

fn numbers<T, const N: usize>(bytes: &[u8], read: fn([u8; N]) -> T) -> Vec<T> {
    bytes.chunks_exact(N).map(|chunk| read(chunk.try_into().expect("N bytes"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tensors_come_back_as_they_went() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model.safetensors");
        let tensors = vec![
            Tensor {
                name: "bias".into(),
                shape: vec![3],
                values: Values::F64(vec![1.0, -0.5, f64::MIN_POSITIVE]),
            },
            Tensor {
                name: "weight".into(),
                shape: vec![2, 2],
                values: Values::F32(vec![1.5, -0.0, 3.0e-39, 7.0]),
            },
        ];
        save_tensors(&path, &tensors).unwrap();
        let mut back = load_tensors(&path).unwrap();
        back.sort_by(|a, b| a.name.cmp(&b.name));
        assert_eq!(back, tensors);
    }

    #[test]
    fn rubbish_is_named_as_such() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model.safetensors");
        assert!(load_tensors(&path).unwrap_err().to_string().starts_with("cannot read"));
        std::fs::write(&path, b"not at all").unwrap();
        assert!(load_tensors(&path).unwrap_err().to_string().contains("not a safetensors file"));
    }
}
