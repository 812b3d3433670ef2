//! What a user of the library brings to a run.

use crate::observer::Observer;
use crate::scenario::Variant;

/// One run of a scenario, as observers are made for it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct RunContext<'a> {
    /// The variant, with its whole plan.
    pub variant: &'a Variant,
    /// The seed.
    pub seed: u64,
}

type MakeObserver = Box<dyn Fn(&RunContext<'_>) -> Option<Box<dyn Observer>> + Send + Sync>;

/// Everything that is brought along, by name.
#[derive(Default)]
pub struct Plugins {
    observers: Vec<MakeObserver>,
}

impl Plugins {
    /// Nothing but what is built in.
    pub fn new() -> Self {
        Plugins::default()
    }

    /// An observer of every run. `make` is called once a run and may decline.
    pub fn observer(
        mut self,
        make: impl Fn(&RunContext<'_>) -> Option<Box<dyn Observer>> + Send + Sync + 'static,
    ) -> Self {
        self.observers.push(Box::new(make));
        self
    }

    /// The observers of one run.
    pub(crate) fn observers(&self, context: &RunContext<'_>) -> Vec<Box<dyn Observer>> {
        self.observers.iter().filter_map(|make| make(context)).collect()
    }
}
