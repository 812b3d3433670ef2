//! A version of the model, as the server hands it out.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

static MODELS: AtomicU64 = AtomicU64::new(0);

/// Parameters of one version. The server adds in `f64`; kernels that work in `f32` take the
/// rounded copy, which is made once however many clients train from it.
pub struct Model {
    id: u64,
    /// One of the two is there from the start.
    values: OnceLock<Vec<f64>>,
    narrow: OnceLock<Vec<f32>>,
}

impl Model {
    /// A version with these parameters.
    pub fn new(values: Vec<f64>) -> Self {
        let id = MODELS.fetch_add(1, Ordering::Relaxed);
        Model { id, values: OnceLock::from(values), narrow: OnceLock::new() }
    }

    /// A version that is known in single precision only.
    pub fn from_narrow(narrow: Vec<f32>) -> Self {
        let id = MODELS.fetch_add(1, Ordering::Relaxed);
        Model { id, values: OnceLock::new(), narrow: OnceLock::from(narrow) }
    }

    /// How many parameters it has.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.values.get().map_or_else(|| self.narrow().len(), Vec::len)
    }

    /// A number that no other version of this process has: copies in other processes are known by it.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// The parameters.
    pub fn values(&self) -> &[f64] {
        self.values.get_or_init(|| {
            let narrow = self.narrow.get().expect("one of the two is there");
            narrow.iter().map(|value| f64::from(*value)).collect()
        })
    }

    /// The parameters rounded to single precision.
    pub fn narrow(&self) -> &[f32] {
        self.narrow.get_or_init(|| self.values().iter().map(|v| *v as f32).collect())
    }
}

/// A named array of parameters, by rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    /// Its name in the file.
    pub name: String,
    /// Its dimensions.
    pub shape: Vec<usize>,
    /// Its entries.
    pub values: Values,
}

/// Entries in the precision the task works in.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Single precision.
    F32(Vec<f32>),
    /// Double precision.
    F64(Vec<f64>),
}

impl Values {
    /// Whether every entry is a finite number.
    pub fn all_finite(&self) -> bool {
        match self {
            Values::F32(values) => values.iter().all(|value| value.is_finite()),
            Values::F64(values) => values.iter().all(|value| value.is_finite()),
        }
    }
}

/// A file of tensors does not fit the task.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TensorError {
    /// A tensor the task needs is not there.
    #[error("there is no tensor `{0}`; the file has: {1}")]
    Missing(String, String),
    /// A tensor has other dimensions than the task.
    #[error("tensor `{name}` has shape {found:?}, the task needs {expected:?}")]
    #[allow(missing_docs)]
    Shape { name: String, found: Vec<usize>, expected: Vec<usize> },
    /// A tensor has entries that are infinite or no numbers.
    #[error("tensor `{0}` has entries that are not finite numbers")]
    NotFinite(String),
}

impl Tensor {
    /// The tensor `name` among `tensors`, if it has the shape `expected`, as doubles.
    pub fn find(
        tensors: &[Tensor],
        name: &str,
        expected: &[usize],
    ) -> Result<Vec<f64>, TensorError> {
        let Some(tensor) = tensors.iter().find(|tensor| tensor.name == name) else {
            let names: Vec<&str> = tensors.iter().map(|tensor| tensor.name.as_str()).collect();
            return Err(TensorError::Missing(name.into(), names.join(", ")));
        };
        if tensor.shape != expected {
            let (found, expected) = (tensor.shape.clone(), expected.to_vec());
            return Err(TensorError::Shape { name: name.into(), found, expected });
        }
        Ok(match &tensor.values {
            Values::F32(values) => values.iter().map(|v| f64::from(*v)).collect(),
            Values::F64(values) => values.clone(),
        })
    }
}
