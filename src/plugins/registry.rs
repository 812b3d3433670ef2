//! What can be chosen by name.

use super::chosen::{Chosen, Make};
use super::{FleetView, Parameters, PluginError, TaskSetup};
use crate::aggregate::{ServerOptimizer, Weighting};
use crate::observer::Observer;
use crate::policy::{Closing, Selector, Stop, Work};
use crate::train::Trainer;
use std::sync::Arc;

/// One run of a scenario, as observers are made for it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct RunContext<'a> {
    /// The name of the variant.
    pub variant: &'a str,
    /// The seed.
    pub seed: u64,
    /// When the run ends.
    pub stop: &'a Stop,
    /// Rounds that are replayed without training, in a run that is resumed.
    pub replayed_rounds: u64,
}

impl<'a> RunContext<'a> {
    pub(crate) fn new(variant: &'a str, seed: u64, stop: &'a Stop, replayed_rounds: u64) -> Self {
        RunContext { variant, seed, stop, replayed_rounds }
    }
}

type MakeObserver = Arc<dyn Fn(&RunContext<'_>) -> Option<Box<dyn Observer>> + Send + Sync>;

/// Plug-ins of one kind, in the order in which they were registered.
struct Named<T: ?Sized, S>(Vec<(String, Make<T, S>)>);

impl<T: ?Sized, S> Clone for Named<T, S> {
    fn clone(&self) -> Self {
        Named(self.0.clone())
    }
}

impl<T: ?Sized, S> Default for Named<T, S> {
    fn default() -> Self {
        Named(Vec::new())
    }
}

impl<T: ?Sized, S> Named<T, S> {
    /// A name that is there already is replaced, as in a notebook that runs a cell twice.
    fn add(&mut self, name: &str, make: Make<T, S>) {
        self.0.retain(|(other, _)| other != name);
        self.0.push((name.into(), make));
    }

    fn choose(&self, name: &str, parameters: Parameters) -> Result<Chosen<T, S>, Vec<String>> {
        match self.0.iter().find(|(other, _)| other == name) {
            Some((_, make)) => Ok(Chosen::new(name.into(), parameters, make.clone())),
            None => Err(self.0.iter().map(|(name, _)| name.clone()).collect()),
        }
    }
}

/// Everything that is brought along.
#[derive(Clone, Default)]
pub struct Plugins {
    selectors: Named<dyn Selector, FleetView>,
    works: Named<dyn Work, FleetView>,
    closings: Named<dyn Closing, FleetView>,
    weightings: Named<dyn Weighting, FleetView>,
    optimizers: Named<dyn ServerOptimizer, FleetView>,
    tasks: Named<dyn Trainer, TaskSetup>,
    observers: Vec<MakeObserver>,
}

/// A method that registers plug-ins of one kind, and one that finds them.
macro_rules! kind {
    ($(#[$doc:meta])* $register:ident, $choose:ident, $field:ident, $trait:path, $setup:ty) => {
        $(#[$doc])*
        pub fn $register(
            mut self,
            name: &str,
            make: impl Fn(&Parameters, &$setup) -> Result<Box<dyn $trait>, PluginError>
            + Send
            + Sync
            + 'static,
        ) -> Self {
            self.$field.add(name, Arc::new(make));
            self
        }

        /// The plug-in of that name; else the names that there are.
        pub(crate) fn $choose(
            &self,
            name: &str,
            parameters: Parameters,
        ) -> Result<Chosen<dyn $trait, $setup>, Vec<String>> {
            self.$field.choose(name, parameters)
        }
    };
}

impl Plugins {
    /// Nothing but what is built in.
    pub fn new() -> Self {
        Plugins::default()
    }

    kind! {
        /// A selector, for `server.scheme = { plugin = "name", … }`.
        selector, choose_selector, selectors, Selector, FleetView
    }

    kind! {
        /// A work policy, for `client.work = { plugin = "name", … }`.
        work, choose_work, works, Work, FleetView
    }

    kind! {
        /// A closing policy, for `server.close = { plugin = "name", … }`.
        closing, choose_closing, closings, Closing, FleetView
    }

    kind! {
        /// A weighting, for `server.weighting = { plugin = "name", … }`.
        weighting, choose_weighting, weightings, Weighting, FleetView
    }

    kind! {
        /// A server optimiser, for `server.optimizer = { plugin = "name", … }`.
        optimizer, choose_optimizer, optimizers, ServerOptimizer, FleetView
    }

    kind! {
        /// A task with a trainer of its own, for `[task] kind = { plugin = "name", … }`.
        task, choose_task, tasks, Trainer, TaskSetup
    }

    /// An observer of every run. `make` is called once a run and may decline.
    pub fn observer(
        mut self,
        make: impl Fn(&RunContext<'_>) -> Option<Box<dyn Observer>> + Send + Sync + 'static,
    ) -> Self {
        self.observers.push(Arc::new(make));
        self
    }

    /// The observers of one run.
    pub(crate) fn observers(&self, context: &RunContext<'_>) -> Vec<Box<dyn Observer>> {
        self.observers.iter().filter_map(|make| make(context)).collect()
    }
}
