//! Vectors that NumPy reads where they are, without copies: by the array interface, a dict with an address. The array
//! keeps its object alive, and the object its vector.

use gruppetto::train::Model;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::{Arc, Mutex, PoisonError};

/// A vector that is lent to Python.
#[pyclass(frozen)]
pub struct Numbers(Lent);

enum Lent {
    /// Which others may be reading.
    Shared(Arc<Vec<f64>>),
    /// A model as kernels in single precision have it.
    Narrow(Arc<Model>),
    /// A model in double precision.
    Wide(Arc<Model>),
    /// Which Python may change.
    Given(Arc<Mutex<Vec<f64>>>),
}

impl Numbers {
    /// A vector that may only be read.
    pub fn shared(values: Arc<Vec<f64>>) -> Self {
        Numbers(Lent::Shared(values))
    }

    /// A model, in single precision or in double.
    pub fn model(model: Arc<Model>, single: bool) -> Self {
        Numbers(if single { Lent::Narrow(model) } else { Lent::Wide(model) })
    }

    /// A vector that may be changed.
    fn given(values: Arc<Mutex<Vec<f64>>>) -> Self {
        Numbers(Lent::Given(values))
    }

    /// Lends a vector that `work` may have changed, and takes it back. If Python still has an array of it then, that
    /// array keeps the memory, and this is a copy.
    pub fn lend(
        py: Python<'_>,
        values: Vec<f64>,
        work: impl FnOnce(Py<Numbers>) -> PyResult<()>,
    ) -> PyResult<Vec<f64>> {
        let values = Arc::new(Mutex::new(values));
        work(Py::new(py, Numbers::given(values.clone()))?)?;
        Ok(match Arc::try_unwrap(values) {
            Ok(values) => values.into_inner().unwrap_or_else(PoisonError::into_inner),
            Err(kept) => kept.lock().unwrap_or_else(PoisonError::into_inner).clone(),
        })
    }
}

#[pymethods]
impl Numbers {
    /// What NumPy asks for.
    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (length, address, kind, is_fixed) = match &self.0 {
            Lent::Shared(values) => (values.len(), values.as_ptr() as usize, "<f8", true),
            Lent::Narrow(model) => {
                (model.narrow().len(), model.narrow().as_ptr() as usize, "<f4", true)
            }
            Lent::Wide(model) => {
                (model.values().len(), model.values().as_ptr() as usize, "<f8", true)
            }
            Lent::Given(values) => {
                let mut values = values.lock().unwrap_or_else(PoisonError::into_inner);
                (values.len(), values.as_mut_ptr() as usize, "<f8", false)
            }
        };
        let interface = PyDict::new(py);
        interface.set_item("version", 3)?;
        interface.set_item("shape", (length,))?;
        interface.set_item("typestr", kind)?;
        interface.set_item("data", (address, is_fixed))?;
        Ok(interface)
    }
}
