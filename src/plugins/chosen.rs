//! The plug-ins that a scenario chose.

use super::{FleetView, Parameters, PluginError, TaskSetup};
use crate::aggregate::{ServerOptimizer, Weighting};
use crate::policy::{Closing, Selector, Work};
use crate::train::Trainer;
use std::fmt;
use std::sync::Arc;

/// Makes a plug-in for a run, of which it is told `S`.
pub(super) type Make<T, S> =
    Arc<dyn Fn(&Parameters, &S) -> Result<Box<T>, PluginError> + Send + Sync>;

/// A plug-in that a scenario chose, with its parameters: it can be made for any run.
pub struct Chosen<T: ?Sized, S = FleetView> {
    name: String,
    parameters: Parameters,
    make: Make<T, S>,
}

impl<T: ?Sized, S> Chosen<T, S> {
    pub(super) fn new(name: String, parameters: Parameters, make: Make<T, S>) -> Self {
        Chosen { name, parameters, make }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Makes it for a run. Parameters that it does not read are an error.
    pub fn make(&self, setup: &S) -> Result<Box<T>, PluginError> {
        let made = (self.make)(&self.parameters, setup)?;
        match self.parameters.unread() {
            None => Ok(made),
            Some((unread, read)) => {
                let expected = match &read[..] {
                    [] => "no parameters".to_string(),
                    read => format!("only: {}", read.join(", ")),
                };
                let message = format!("plug-in \"{}\" has no parameter `{unread}`", self.name);
                Err(PluginError::new(message).about(unread).expected(expected))
            }
        }
    }
}

impl<T: ?Sized, S> Clone for Chosen<T, S> {
    fn clone(&self) -> Self {
        let (name, parameters) = (self.name.clone(), self.parameters.clone());
        Chosen { name, parameters, make: self.make.clone() }
    }
}

impl<T: ?Sized, S> PartialEq for Chosen<T, S> {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && self.parameters == other.parameters
    }
}

impl<T: ?Sized, S> fmt::Debug for Chosen<T, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Chosen").field(&self.name).field(&self.parameters).finish()
    }
}

/// A task that a plug-in brings.
pub type ChosenTask = Chosen<dyn Trainer, TaskSetup>;

/// The policies of a plan that are plug-ins; for the others, what is configured is built in.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ChosenPlugins {
    /// `server.scheme`.
    pub selector: Option<Chosen<dyn Selector>>,
    /// `client.work`.
    pub work: Option<Chosen<dyn Work>>,
    /// `server.close`.
    pub closing: Option<Chosen<dyn Closing>>,
    /// `server.weighting`.
    pub weighting: Option<Chosen<dyn Weighting>>,
    /// `server.optimizer`.
    pub optimizer: Option<Chosen<dyn ServerOptimizer>>,
}

impl ChosenPlugins {
    /// Whether there is any.
    pub fn is_empty(&self) -> bool {
        *self == ChosenPlugins::default()
    }
}
