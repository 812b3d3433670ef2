//! Weightings, server optimisers and observers in Python.

use super::{Hook, bytes};
use crate::numbers::Numbers;
use gruppetto::aggregate::{
    AggregatedUpdate, Applied, Contribution, ServerOptimizer, Sums, Weight, Weighting,
};
use gruppetto::clock::SimTime;
use gruppetto::metric::Metrics;
use gruppetto::observer::{Observer, ObserverError, RunEnd};
use gruppetto::record::{ClientRow, RoundRow};
use gruppetto::train::Measured;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

pub struct PyWeighting(pub Hook);

/// A contribution as Python is told of it.
fn contribution(update: &Contribution) -> (u32, f64, u32, u64, f64, f64) {
    let Contribution { client, p, times_drawn, tau, accumulation, discount } = *update;
    (client, p, times_drawn, tau, accumulation, discount)
}

impl Weighting for PyWeighting {
    fn opened(&mut self) {
        let opened = |object: &Bound<'_, PyAny>| {
            object.call_method0(intern!(object.py(), "opened")).map(drop)
        };
        self.0.call(|| "opened".into(), opened);
    }

    fn weigh(&mut self, update: &Contribution) -> Weight {
        let weight: f64 = self.0.call(
            || format!("client {}", update.client),
            |object| {
                object.call_method1(intern!(object.py(), "_weigh"), contribution(update))?.extract()
            },
        );
        Weight::from(weight)
    }

    fn closed(&mut self, sums: &Sums) -> Applied {
        let (tau_eff, scale): (f64, f64) = self.0.call(
            || "closed".into(),
            |object| {
                let told = (
                    sums.raw,
                    sums.discounted,
                    sums.p,
                    sums.accumulation,
                    sums.steps,
                    sums.tau_eff(),
                );
                object.call_method1(intern!(object.py(), "_closed"), told)?.extract()
            },
        );
        Applied { tau_eff, scale }
    }
}

pub struct PyOptimizer {
    hook: Hook,
    collects: bool,
}

impl PyOptimizer {
    pub fn new(hook: Hook) -> Self {
        let collects =
            hook.call(|| "collects".into(), |object| object.getattr("collects")?.extract());
        PyOptimizer { hook, collects }
    }
}

/// Numbers that Python gives back as bytes.
fn numbers(bytes: &[u8]) -> impl Iterator<Item = f64> + '_ {
    bytes.chunks_exact(8).map(|chunk| f64::from_le_bytes(chunk.try_into().expect("8 bytes")))
}

impl ServerOptimizer for PyOptimizer {
    fn apply(&mut self, x: &mut [f64], update: &AggregatedUpdate<'_>) {
        x.copy_from_slice(&self.moved(x.to_vec(), update));
    }

    /// Everything is lent: nothing is copied, unless Python keeps an array of the model.
    fn moved(&mut self, x: Vec<f64>, update: &AggregatedUpdate<'_>) -> Vec<f64> {
        self.hook.call(
            || "apply".into(),
            |object| {
                let py = object.py();
                let updates = PyList::empty(py);
                for held in update.updates {
                    let delta = Numbers::shared(held.delta.clone());
                    updates.append((contribution(&held.update), held.raw, delta))?;
                }
                let direction = Numbers::shared(update.direction.clone());
                let Applied { tau_eff, scale } = update.applied;
                let (factor, lr) = (update.factor, update.client_lr);
                Numbers::lend(py, x, |x| {
                    let told = (x, direction, factor, (tau_eff, scale), lr, updates);
                    object.call_method1(intern!(py, "_apply"), told).map(drop)
                })
            },
        )
    }

    fn collects(&self) -> bool {
        self.collects
    }

    fn save(&self) -> Vec<f64> {
        let saved: Vec<u8> =
            self.hook.call(|| "save".into(), |object| object.call_method0("_save")?.extract());
        numbers(&saved).collect()
    }

    fn load(&mut self, state: &[f64]) {
        let load = |object: &Bound<'_, PyAny>| {
            object.call_method1("_load", (bytes(object.py(), state)?,)).map(drop)
        };
        self.hook.call(|| "load".into(), load);
    }
}

pub struct PyObserver(Hook);

/// Metrics by name.
fn named<'py>(py: Python<'py>, metrics: &Metrics) -> PyResult<Bound<'py, PyDict>> {
    let named = PyDict::new(py);
    for (metric, value) in metrics.iter() {
        named.set_item(metric.name(), value)?;
    }
    Ok(named)
}

impl PyObserver {
    /// For a run; `None` if it does not want to see it.
    pub fn begin(hook: Hook, variant: &str, seed: u64) -> Option<Box<dyn Observer>> {
        let wanted = hook.attempt(
            || format!("variant {variant}"),
            |object| object.call_method1("_begin", (variant, seed))?.extract(),
        );
        wanted.unwrap_or(true).then(|| Box::new(PyObserver(hook)) as Box<dyn Observer>)
    }

    fn tell(
        &self,
        work: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<()>,
    ) -> Result<(), ObserverError> {
        Ok(self.0.attempt(|| "an observer".into(), work)?)
    }
}

impl Observer for PyObserver {
    fn started(&mut self, metrics: &Metrics) -> Result<(), ObserverError> {
        self.tell(|object| {
            object.call_method1("_started", (named(object.py(), metrics)?,)).map(drop)
        })
    }

    fn arrived(&mut self, rows: &[ClientRow]) -> Result<(), ObserverError> {
        self.tell(|object| {
            let py = object.py();
            let wanted: bool = object.getattr(intern!(py, "_hears_arrivals"))?.extract()?;
            if !wanted {
                return Ok(());
            }
            let list = PyList::empty(py);
            for row in rows {
                let times = (
                    row.dispatched.seconds(),
                    row.download.seconds(),
                    row.compute.seconds(),
                    row.upload.seconds(),
                    row.arrived.seconds(),
                );
                list.append((
                    row.round,
                    row.client,
                    row.outcome.name(),
                    row.tau,
                    row.staleness,
                    times,
                ))?;
            }
            object.call_method1(intern!(py, "_arrived"), (list,)).map(drop)
        })
    }

    fn closed(&mut self, row: &RoundRow) -> Result<(), ObserverError> {
        self.tell(|object| {
            let py = object.py();
            let metrics = row.metrics.as_ref().map(|metrics| named(py, metrics)).transpose()?;
            let told = (
                row.round,
                row.closed.seconds(),
                row.asked,
                row.arrived,
                row.tau,
                row.tau_eff,
                row.chi2,
                row.missing_mass,
                metrics,
            );
            object.call_method1(intern!(py, "_closed"), told).map(drop)
        })
    }

    fn measured(&mut self, now: SimTime, measured: &Measured) -> Result<(), ObserverError> {
        self.tell(|object| {
            let metrics = named(object.py(), &measured.metrics)?;
            object.call_method1("_measured", (now.seconds(), metrics)).map(drop)
        })
    }

    fn ended(&mut self, end: &RunEnd) -> Result<(), ObserverError> {
        self.tell(|object| object.call_method1("_ended", (end.now.seconds(),)).map(drop))
    }
}
