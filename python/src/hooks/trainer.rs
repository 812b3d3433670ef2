//! Tasks whose models Python trains.
//!
//! The worker threads of the simulator call a Python object for every local round. With one thread it trains in this
//! process; with more, each of them talks to a process of its own (`gruppetto/_workers.py`), so that the interpreter's
//! lock holds nobody up.

use super::Hook;
use crate::numbers::Numbers;
use gruppetto::aggregate::Buffers;
use gruppetto::metric::{Metric, Metrics};
use gruppetto::plugins::{PluginError, TaskSetup};
use gruppetto::solver::Solver;
use gruppetto::train::{
    Job, LocalRun, Measured, Model, TaskDescription, Tensor, TensorError, Trainer, Values,
    normal_vector,
};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::Arc;

/// What Python says of a task.
#[derive(FromPyObject)]
struct Described {
    #[pyo3(item)]
    parameters: usize,
    #[pyo3(item)]
    buffers: (usize, usize),
    #[pyo3(item)]
    p: Vec<f64>,
    #[pyo3(item)]
    samples: Vec<u32>,
    #[pyo3(item)]
    flops: (f64, f64),
    #[pyo3(item)]
    metrics: Vec<String>,
    /// Names and shapes, in the order of the vector.
    #[pyo3(item)]
    tensors: Vec<(String, Vec<usize>)>,
    /// Whether the model is computed in single precision.
    #[pyo3(item)]
    single: bool,
    /// In how many parts it is evaluated.
    #[pyo3(item)]
    parts: usize,
    /// Whether local steps follow a law of their own.
    #[pyo3(item)]
    own_law: bool,
    /// What a reader of the results must know.
    #[pyo3(item)]
    remarks: Vec<String>,
}

pub struct PyTrainer {
    hook: Arc<Hook>,
    known: TaskDescription,
    tensors: Vec<(String, Vec<usize>)>,
    single: bool,
    parts: usize,
    own_law: bool,
    remarks: Vec<String>,
}

/// A metric by its name.
fn metric(name: &str) -> Result<Metric, PluginError> {
    let names = || Metric::ALL.map(Metric::name).join(", ");
    let known = Metric::ALL.into_iter().find(|metric| metric.name() == name);
    known.ok_or_else(|| {
        PluginError::new(format!("there is no metric {name:?}; there are: {}", names()))
    })
}

/// A local law as Python is told of it.
fn told(solver: &Solver) -> (f64, f64, f64, f64, f64) {
    (solver.lr, solver.momentum, solver.prox, solver.lr_decay, solver.weight_decay)
}

impl PyTrainer {
    /// The task for a run.
    pub fn new(hook: Hook, setup: &TaskSetup) -> Result<Self, PluginError> {
        let batch = Some(setup.batch).filter(|batch| *batch < usize::MAX);
        let described = hook.attempt(
            || "its description".into(),
            |object| {
                let told = (setup.clients, setup.seed, batch);
                object.call_method1("_describe", told)?.extract::<Described>()
            },
        );
        let described = described.map_err(PluginError::new)?;
        let Described { parameters, p, samples, tensors, single, parts, own_law, .. } = described;
        let remarks = described.remarks;
        let ((averaged, counters), (fixed, each)) = (described.buffers, described.flops);
        let metrics =
            described.metrics.iter().map(|name| metric(name)).collect::<Result<_, _>>()?;
        let buffers = Buffers { averaged, counters };
        let known =
            TaskDescription { parameters, buffers, p, samples, flops: [fixed, each], metrics };
        Ok(PyTrainer { hook: Arc::new(hook), known, tensors, single, parts, own_law, remarks })
    }

    fn weights(&self) -> usize {
        self.known.buffers.begin(self.known.parameters)
    }
}

/// Numbers that Python gives back as bytes, in single precision or in double; `None` if there are not so many.
fn numbers(bytes: &[u8], single: bool, count: usize) -> Option<Vec<f64>> {
    let width = if single { 4 } else { 8 };
    (bytes.len() == width * count).then(|| match single {
        true => {
            let (chunks, _) = bytes.as_chunks::<4>();
            chunks.iter().map(|chunk| f64::from(f32::from_le_bytes(*chunk))).collect()
        }
        false => {
            let (chunks, _) = bytes.as_chunks::<8>();
            chunks.iter().map(|chunk| f64::from_le_bytes(*chunk)).collect()
        }
    })
}

impl Trainer for PyTrainer {
    fn description(&self) -> TaskDescription {
        self.known.clone()
    }

    fn accumulation(&self, solver: &Solver, lr: f64, tau: u64) -> Option<f64> {
        if !self.own_law {
            return None;
        }
        let place = || format!("{tau} steps");
        self.hook.call(place, |object| {
            object
                .call_method1(intern!(object.py(), "_accumulation"), (told(solver), lr, tau))?
                .extract()
        })
    }

    fn remarks(&self) -> Vec<String> {
        self.remarks.clone()
    }

    fn start(&self, seed: u64, std: f64) -> Vec<f64> {
        let mut x = self.default_start(seed);
        let weights = self.weights();
        x[..weights].copy_from_slice(&normal_vector(weights, seed, std));
        x
    }

    fn default_start(&self, seed: u64) -> Vec<f64> {
        self.hook.call(
            || "the start".into(),
            |object| {
                let start = object.call_method1("_start", (seed,))?;
                let bytes = start.cast::<PyBytes>()?.as_bytes();
                let count = self.known.parameters;
                numbers(bytes, self.single, count)
                    .ok_or_else(|| wrong("start", bytes, self.single, count))
            },
        )
    }

    fn begin(&self, job: Job) -> Box<dyn LocalRun> {
        let Job { model, client, round, solver, correction } = job;
        let place = Place { client, round };
        let count = self.known.parameters;
        let object = self.hook.call(
            || place.told(),
            |object| {
                let py = object.py();
                let weights = self.weights();
                let correction = (!correction.is_zero())
                    .then(|| Numbers::shared(Arc::new(correction.vector(weights))));
                let version = model.id();
                let model = Numbers::model(model, self.single);
                let told = (model, version, client, round, told(&solver), correction);
                Ok(object.call_method1(intern!(py, "_begin"), told)?.unbind())
            },
        );
        let run = Hook { object, ..self.hook.clone_of() };
        Box::new(PyLocalRun { run: Some(run), place, single: self.single, count })
    }

    fn evaluation_parts(&self) -> usize {
        self.parts
    }

    fn evaluate(&self, model: &Arc<Model>, part: usize, _: Option<&[f64]>) -> Vec<f64> {
        self.hook.call(
            || format!("part {part} of an evaluation"),
            |object| {
                let told = (Numbers::model(model.clone(), self.single), model.id(), part);
                object.call_method1(intern!(object.py(), "_evaluate"), told)?.extract()
            },
        )
    }

    fn measured(&self, _: &Model, sums: &[f64]) -> Measured {
        let values: Vec<(String, f64)> = self.hook.call(
            || "an evaluation".into(),
            |object| object.call_method1(intern!(object.py(), "_measured"), (sums,))?.extract(),
        );
        let mut metrics = Metrics::default();
        for (name, value) in values {
            if let Some(known) = self.known.metrics.iter().find(|metric| metric.name() == name) {
                metrics.set(*known, value);
            }
        }
        Measured { metrics, gradients: None }
    }

    fn tensors(&self, values: &[f64]) -> Vec<Tensor> {
        let mut rest = values;
        let tensor = |(name, shape): &(String, Vec<usize>)| {
            let (own, others) = rest.split_at(shape.iter().product());
            rest = others;
            let values = match self.single {
                true => Values::F32(own.iter().map(|value| *value as f32).collect()),
                false => Values::F64(own.to_vec()),
            };
            Tensor { name: name.clone(), shape: shape.clone(), values }
        };
        self.tensors.iter().map(tensor).collect()
    }

    fn values(&self, tensors: &[Tensor]) -> Result<Vec<f64>, TensorError> {
        let found = self.tensors.iter().map(|(name, shape)| Tensor::find(tensors, name, shape));
        Ok(found.collect::<Result<Vec<_>, _>>()?.concat())
    }
}

fn wrong(method: &str, bytes: &[u8], single: bool, count: usize) -> PyErr {
    let found = bytes.len() / if single { 4 } else { 8 };
    pyo3::exceptions::PyValueError::new_err(format!(
        "{method}: found {found} numbers, expected {count}, one for each parameter and buffer"
    ))
}

/// Whose training, in which round.
#[derive(Clone, Copy)]
struct Place {
    client: u32,
    round: u64,
}

impl Place {
    fn told(self) -> String {
        format!("client {}, round {}", self.client, self.round)
    }
}

struct PyLocalRun {
    /// `None` once it is over.
    run: Option<Hook>,
    place: Place,
    single: bool,
    count: usize,
}

impl LocalRun for PyLocalRun {
    fn steps(&mut self, count: u64) {
        if let Some(run) = &self.run {
            run.call(
                || self.place.told(),
                |object| object.call_method1(intern!(object.py(), "steps"), (count,)).map(drop),
            );
        }
    }

    fn change(mut self: Box<Self>) -> Vec<f64> {
        let (single, count) = (self.single, self.count);
        let Some(run) = self.run.take() else { return Vec::new() };
        run.call(
            || self.place.told(),
            |object| {
                let change = object.call_method0(intern!(object.py(), "_change"))?;
                let bytes = change.cast::<PyBytes>()?.as_bytes();
                numbers(bytes, single, count).ok_or_else(|| wrong("change", bytes, single, count))
            },
        )
    }
}

impl Drop for PyLocalRun {
    fn drop(&mut self) {
        // Left because the run should end: the process that trains it is free again.
        if let Some(run) = self.run.take() {
            let _ =
                run.attempt(|| self.place.told(), |object| object.call_method0("_leave").map(drop));
        }
    }
}
