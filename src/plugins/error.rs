//! What a plug-in does not like about its parameters.

use std::fmt;

/// A plug-in cannot be made. In a scenario it is shown at the place of the parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PluginError {
    parameter: Option<String>,
    message: String,
    expected: Option<String>,
}

impl PluginError {
    /// Something is wrong that no single parameter is to blame for.
    pub fn new(message: impl Into<String>) -> Self {
        PluginError { parameter: None, message: message.into(), expected: None }
    }

    /// The same, about a parameter.
    pub fn about(self, parameter: impl Into<String>) -> Self {
        PluginError { parameter: Some(parameter.into()), ..self }
    }

    /// Adds what would have been right.
    pub fn expected(self, what: impl Into<String>) -> Self {
        PluginError { expected: Some(what.into()), ..self }
    }

    /// The parameter that is wrong, if it is one.
    pub fn parameter(&self) -> Option<&str> {
        self.parameter.as_deref()
    }

    /// What is wrong.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// What would have been right.
    pub fn wanted(&self) -> Option<&str> {
        self.expected.as_deref()
    }
}

impl fmt::Display for PluginError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(parameter) = &self.parameter {
            write!(f, "{parameter}: ")?;
        }
        f.write_str(&self.message)?;
        self.expected.as_ref().map_or(Ok(()), |expected| write!(f, "; expected {expected}"))
    }
}

impl std::error::Error for PluginError {}

impl From<String> for PluginError {
    fn from(message: String) -> Self {
        PluginError::new(message)
    }
}

impl From<&str> for PluginError {
    fn from(message: &str) -> Self {
        PluginError::new(message)
    }
}
