//! What Python brings: objects behind the traits of the simulator. They are called on the thread of the simulation,
//! with the interpreter's lock taken for the call alone. Columns are handed over as bytes, which NumPy reads as they
//! are; the base classes in `gruppetto/plugins.py` make views of them and check what comes back.

mod policies;
mod server;
mod trainer;

use gruppetto::Plugins;
use gruppetto::plugins::{FromParameter, Parameter, Parameters, PluginError};
use gruppetto::policy::{KeyedRng, draw_uniform};
use policies::{PyClosing, PySelector, PyWork};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};
use rand::{Rng, RngExt};
use server::{PyObserver, PyOptimizer, PyWeighting};
use std::sync::{Arc, Mutex, PoisonError};
use trainer::PyTrainer;

/// The exception that ended a run.
#[derive(Clone, Default)]
pub struct Failure(Arc<Mutex<Option<PyErr>>>);

impl Failure {
    fn set(&self, error: PyErr) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }

    /// Takes it, if there was one.
    pub fn take(&self) -> Option<PyErr> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// A Python object that is called back.
pub struct Hook {
    object: Py<PyAny>,
    failure: Failure,
    /// The seed of its run, where that is known.
    seed: Option<u64>,
}

impl Hook {
    /// Calls it. An exception ends the run; `place` says where it was raised.
    fn call<T>(
        &self,
        place: impl FnOnce() -> String,
        work: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>,
    ) -> T {
        self.attempt(place, work).unwrap_or_else(|text| std::panic::resume_unwind(Box::new(text)))
    }

    /// Calls it; the exception in words if there was one.
    fn attempt<T>(
        &self,
        place: impl FnOnce() -> String,
        work: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>,
    ) -> Result<T, String> {
        Python::attach(|py| {
            let object = self.object.bind(py);
            let process = std::process::id();
            let done = work(object);
            if std::process::id() != process {
                leave_fork(py);
            }
            done.map_err(|error| {
                let text = error.to_string();
                let name = object
                    .get_type()
                    .name()
                    .map_or_else(|_| "a hook".into(), |name| name.to_string());
                let seed = self.seed.map_or(String::new(), |seed| format!(", seed {seed}"));
                note(py, &error, &format!("in {name}: {}{seed}", place()));
                self.failure.set(error);
                text
            })
        })
    }

    /// The same, to be given another object.
    fn clone_of(&self) -> Hook {
        let object = Python::attach(|py| self.object.clone_ref(py));
        Hook { object, failure: self.failure.clone(), seed: self.seed }
    }
}

/// A hook has forked, and this is the child: it must not go on with the run, whose files and threads are its parent's.
fn leave_fork(py: Python<'_>) {
    eprintln!("error: a hook forked, and its child came back\n  = help: end it with os._exit(0)");
    let _ = py.import("os").and_then(|os| os.call_method1("_exit", (1,)));
}

/// Adds a line to what Python prints of an exception. Python 3.10 has no notes: there the line is kept, and not printed.
pub fn note(py: Python<'_>, error: &PyErr, line: &str) {
    let value = error.value(py);
    if value.call_method1("add_note", (line,)).is_err() {
        let notes = PyList::new(py, [line]);
        let _ = notes.and_then(|notes| value.setattr("__notes__", notes));
    }
}

/// A kind of plug-in that Python brings: its name, what makes it, and the parameters that this takes (`None`: any).
#[derive(FromPyObject)]
struct Factory {
    #[pyo3(item)]
    name: String,
    #[pyo3(item)]
    make: Py<PyAny>,
    #[pyo3(item)]
    takes: Option<Vec<String>>,
}

/// Everything that Python brings to a run.
#[derive(FromPyObject)]
pub struct Hooks {
    #[pyo3(item)]
    selectors: Vec<Factory>,
    #[pyo3(item)]
    works: Vec<Factory>,
    #[pyo3(item)]
    closings: Vec<Factory>,
    #[pyo3(item)]
    weightings: Vec<Factory>,
    #[pyo3(item)]
    optimizers: Vec<Factory>,
    #[pyo3(item)]
    tasks: Vec<Factory>,
    #[pyo3(item)]
    observers: Vec<Py<PyAny>>,
}

impl Factory {
    /// Makes the object for a run.
    fn make(
        &self,
        parameters: &Parameters,
        failure: &Failure,
        seed: u64,
    ) -> Result<Hook, PluginError> {
        Python::attach(|py| {
            let given = PyDict::new(py);
            let names = match &self.takes {
                Some(names) => names.clone(),
                None => parameters.names().map(String::from).collect(),
            };
            for name in names {
                if let Some(Raw(value)) = parameters.get::<Raw>(&name)? {
                    let value = python(py, &value).map_err(|error| error.to_string())?;
                    given.set_item(name, value).map_err(|error| error.to_string())?;
                }
            }
            let made = self.make.call(py, (), Some(&given));
            let object = made.map_err(|error| {
                let text = error.value(py).to_string();
                // What is wrong with a value is told at its place in the scenario; anything else is a fault.
                if !error.is_instance_of::<pyo3::exceptions::PyValueError>(py) {
                    failure.set(error);
                }
                PluginError::new(text)
            })?;
            Ok(Hook { object, failure: failure.clone(), seed: Some(seed) })
        })
    }
}

/// A parameter of any kind.
struct Raw(Parameter);

impl FromParameter for Raw {
    const WHAT: &'static str = "a value";

    fn from_parameter(value: &Parameter) -> Option<Self> {
        Some(Raw(value.clone()))
    }
}

/// A parameter as Python has it.
fn python<'py>(py: Python<'py>, value: &Parameter) -> PyResult<Bound<'py, PyAny>> {
    match value {
        Parameter::Text(text) => text.into_bound_py_any(py),
        Parameter::Integer(number) => number.into_bound_py_any(py),
        Parameter::Number(number) => number.into_bound_py_any(py),
        Parameter::Truth(truth) => truth.into_bound_py_any(py),
        Parameter::List(values) => {
            let values: PyResult<Vec<_>> = values.iter().map(|value| python(py, value)).collect();
            PyList::new(py, values?)?.into_bound_py_any(py)
        }
        Parameter::Table(values) => {
            let table = PyDict::new(py);
            for (name, value) in values {
                table.set_item(name, python(py, value)?)?;
            }
            table.into_bound_py_any(py)
        }
        _ => Ok(py.None().into_bound(py)),
    }
}

impl Hooks {
    /// Whether Python observes runs.
    pub fn has_observers(&self) -> bool {
        !self.observers.is_empty()
    }

    /// As plug-ins of the simulator.
    pub fn plugins(self, failure: &Failure) -> Plugins {
        let mut plugins = Plugins::new();
        for factory in self.selectors {
            let (name, failure) = (factory.name.clone(), failure.clone());
            plugins = plugins.selector(&name, move |parameters, fleet| {
                Ok(Box::new(PySelector::new(
                    factory.make(parameters, &failure, fleet.seed)?,
                    fleet,
                )))
            });
        }
        for factory in self.works {
            let (name, failure) = (factory.name.clone(), failure.clone());
            plugins = plugins.work(&name, move |parameters, fleet| {
                Ok(Box::new(PyWork(factory.make(parameters, &failure, fleet.seed)?)))
            });
        }
        for factory in self.closings {
            let (name, failure) = (factory.name.clone(), failure.clone());
            plugins = plugins.closing(&name, move |parameters, fleet| {
                Ok(Box::new(PyClosing(factory.make(parameters, &failure, fleet.seed)?)))
            });
        }
        for factory in self.weightings {
            let (name, failure) = (factory.name.clone(), failure.clone());
            plugins = plugins.weighting(&name, move |parameters, fleet| {
                Ok(Box::new(PyWeighting(factory.make(parameters, &failure, fleet.seed)?)))
            });
        }
        for factory in self.optimizers {
            let (name, failure) = (factory.name.clone(), failure.clone());
            plugins = plugins.optimizer(&name, move |parameters, fleet| {
                Ok(Box::new(PyOptimizer::new(factory.make(parameters, &failure, fleet.seed)?)))
            });
        }
        for factory in self.tasks {
            let (name, failure) = (factory.name.clone(), failure.clone());
            plugins = plugins.task(&name, move |parameters, setup| {
                let hook = factory.make(parameters, &failure, setup.seed)?;
                Ok(Box::new(PyTrainer::new(hook, setup)?))
            });
        }
        for observer in self.observers {
            let failure = failure.clone();
            plugins = plugins.observer(move |context| {
                let object = Python::attach(|py| observer.clone_ref(py));
                let hook = Hook { object, failure: failure.clone(), seed: Some(context.seed) };
                PyObserver::begin(hook, context.variant, context.seed)
            });
        }
        plugins
    }
}

/// Numbers as bytes that NumPy reads.
fn bytes<'py>(py: Python<'py>, values: &[f64]) -> PyResult<Bound<'py, PyBytes>> {
    PyBytes::new_with(py, 8 * values.len(), |buffer| {
        for (into, value) in buffer.chunks_exact_mut(8).zip(values) {
            into.copy_from_slice(&value.to_le_bytes());
        }
        Ok(())
    })
}

/// Randomness of one call, as a hook gets it.
#[pyclass(frozen)]
pub struct CallRng(KeyedRng);

#[pymethods]
impl CallRng {
    /// NumPy's generators are made of it.
    fn key(&self) -> (u64, u64) {
        let mut stream = self.0.stream(0);
        (stream.next_u64(), stream.next_u64())
    }

    /// So many numbers in [0, 1) of a stream, as bytes of `float64`.
    fn uniforms<'py>(
        &self,
        py: Python<'py>,
        number: u64,
        count: usize,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let mut stream = self.0.stream(number);
        let drawn: Vec<f64> = (0..count).map(|_| stream.random()).collect();
        bytes(py, &drawn)
    }

    /// So many of those that can be drawn, with a byte for every client, all equally likely.
    fn draw(&self, number: u64, count: usize, candidates: &[u8]) -> Vec<u32> {
        let candidates: Vec<bool> = candidates.iter().map(|byte| *byte != 0).collect();
        let all = candidates.iter().filter(|candidate| **candidate).count();
        draw_uniform(count.min(all), all, &candidates, &mut self.0.stream(number))
    }
}
