//! A task that the user brings.

use super::{ShareError, Shares, Task, TaskError, TrainerSetup};
use crate::aggregate::Buffers;
use crate::metric::Metric;
use crate::plugins::{ChosenTask, PluginError, TaskSetup};
use crate::train::{TaskDescription, Trainer};
use std::any::Any;
use std::sync::{Arc, Mutex, PoisonError};

/// A task of the user's own: the plug-in that makes its trainer, and what is known of it.
#[derive(Clone)]
pub struct PluginTask {
    chosen: ChosenTask,
    clients: usize,
    batch: usize,
    /// As it is for the scenario's first seed. Size, work and metrics are the same for all.
    known: Arc<TaskDescription>,
    /// The trainer that was made last: shares and training ask for the same one.
    made: Arc<Mutex<Option<Made>>>,
}

/// A trainer, and the seed it was made for.
type Made = (u64, Arc<dyn Trainer>);

impl PluginTask {
    /// Makes the trainer for the first seed, and asks what it is like.
    pub fn new(
        chosen: ChosenTask,
        clients: usize,
        batch: usize,
        seed: u64,
    ) -> Result<Self, PluginError> {
        let setup = TaskSetup::new(clients, seed, batch);
        let trainer: Arc<dyn Trainer> = Arc::from(chosen.make(&setup)?);
        let known = checked(trainer.description(), clients)?;
        let made = Arc::new(Mutex::new(Some((seed, trainer))));
        Ok(PluginTask { chosen, clients, batch, known: Arc::new(known), made })
    }

    /// The name of the plug-in.
    pub fn name(&self) -> &str {
        self.chosen.name()
    }

    /// The trainer for a seed.
    fn trainer_for(&self, seed: u64) -> Result<Arc<dyn Trainer>, PluginError> {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((known, trainer)) = &*made
            && *known == seed
        {
            return Ok(trainer.clone());
        }
        let setup = TaskSetup::new(self.clients, seed, self.batch);
        let trainer: Arc<dyn Trainer> = Arc::from(self.chosen.make(&setup)?);
        *made = Some((seed, trainer.clone()));
        Ok(trainer)
    }

    /// What the task is like for a seed.
    fn description(&self, seed: u64) -> Result<TaskDescription, PluginError> {
        let description = checked(self.trainer_for(seed)?.description(), self.clients)?;
        if (description.parameters, description.buffers)
            != (self.known.parameters, self.known.buffers)
        {
            return Err(PluginError::new(format!(
                "plug-in \"{}\" has {} parameters with seed {seed}, and {} with the first seed",
                self.name(),
                description.parameters,
                self.known.parameters
            )));
        }
        Ok(description)
    }
}

/// A description that can be used.
fn checked(known: TaskDescription, clients: usize) -> Result<TaskDescription, PluginError> {
    let wrong = |what: String| Err(PluginError::new(what));
    if known.parameters == 0 {
        return wrong("the task says that its model has no parameters".into());
    }
    if known.buffers.len() >= known.parameters {
        return wrong("the task says that all its parameters are buffers".into());
    }
    if known.p.len() != clients {
        let found = known.p.len();
        return wrong(format!("the task gives {found} shares for {clients} clients"));
    }
    let all: f64 = known.p.iter().sum();
    if known.p.iter().any(|p| !p.is_finite() || *p < 0.0) || (all - 1.0).abs() > 1e-9 {
        return wrong(format!("the task's shares must be 0 or more and sum to 1, not {all}"));
    }
    if !known.samples.is_empty() && known.samples.len() != clients {
        let found = known.samples.len();
        return wrong(format!("the task gives {found} numbers of samples for {clients} clients"));
    }
    if known.flops.iter().any(|flops| !flops.is_finite() || *flops < 0.0) {
        return wrong("the work of a step must be a number, 0 or more".into());
    }
    Ok(known)
}

impl PartialEq for PluginTask {
    fn eq(&self, other: &Self) -> bool {
        self.chosen == other.chosen && self.clients == other.clients && self.batch == other.batch
    }
}

impl Task for PluginTask {
    fn equals(&self, other: &dyn Any) -> bool {
        other.downcast_ref() == Some(self)
    }

    fn model(&self) -> &'static str {
        "plug-in"
    }

    fn parameters(&self) -> usize {
        self.known.parameters
    }

    fn buffers(&self) -> Buffers {
        self.known.buffers
    }

    fn flops(&self, samples: usize) -> f64 {
        let [fixed, each] = self.known.flops;
        fixed + each * samples as f64
    }

    fn measures(&self, metric: Metric) -> bool {
        self.known.metrics.contains(&metric)
    }

    fn shares(&self, _clients: usize, seed: u64) -> Result<Shares, ShareError> {
        let TaskDescription { p, samples, .. } = self.description(seed)?;
        Ok(Shares { p, samples })
    }

    fn trainer(&self, setup: &TrainerSetup) -> Result<Arc<dyn Trainer>, TaskError> {
        Ok(self.trainer_for(setup.seed)?)
    }

    /// Only the plug-in knows.
    fn data_bytes(&self, _clients: usize, _samples: f64) -> f64 {
        0.0
    }

    fn foreign_law(&self, seed: u64) -> Result<Option<Arc<dyn Trainer>>, PluginError> {
        Ok(Some(self.trainer_for(seed)?))
    }
}

impl std::fmt::Debug for PluginTask {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("PluginTask").field(&self.chosen).field(&self.clients).finish()
    }
}
