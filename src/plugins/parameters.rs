//! The parameters of a plug-in, as a scenario gives them.

use super::PluginError;
use crate::clock::Span;
use crate::units::parse_duration;
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// A value of the scenario language.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Parameter {
    /// `"text"`, which may be a duration such as `"30s"`.
    Text(String),
    /// A whole number.
    Integer(i64),
    /// A number.
    Number(f64),
    /// `true` or `false`.
    Truth(bool),
    /// `[…]`.
    List(Vec<Parameter>),
    /// `{ … }`.
    Table(Vec<(String, Parameter)>),
}

impl Parameter {
    fn describe(&self) -> String {
        match self {
            Parameter::Text(text) => format!("the string \"{text}\""),
            Parameter::Integer(number) => format!("the number {number}"),
            Parameter::Number(number) => format!("the number {number}"),
            Parameter::Truth(truth) => format!("`{truth}`"),
            Parameter::List(_) => "an array".into(),
            Parameter::Table(_) => "a table".into(),
        }
    }
}

/// Everything beside `plugin = "name"`. It remembers what was read: what no plug-in reads is an error,
/// so nothing in a scenario is ever ignored.
#[derive(Debug, Default)]
pub struct Parameters {
    values: Vec<(String, Parameter)>,
    read: Mutex<BTreeSet<String>>,
}

impl Parameters {
    /// These parameters.
    pub fn new(values: Vec<(String, Parameter)>) -> Self {
        Parameters { values, read: Mutex::default() }
    }

    /// The value of a parameter, if it is given.
    pub fn get<T: FromParameter>(&self, name: &str) -> Result<Option<T>, PluginError> {
        self.read.lock().unwrap_or_else(PoisonError::into_inner).insert(name.into());
        let Some((_, value)) = self.values.iter().find(|(key, _)| key == name) else {
            return Ok(None);
        };
        match T::from_parameter(value) {
            Some(read) => Ok(Some(read)),
            None => {
                Err(PluginError::new(format!("expected {}, found {}", T::WHAT, value.describe()))
                    .about(name))
            }
        }
    }

    /// The names of those that are given.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.values.iter().map(|(name, _)| name.as_str())
    }

    /// The value of a parameter, or `default` if it is not given.
    pub fn get_or<T: FromParameter>(&self, name: &str, default: T) -> Result<T, PluginError> {
        Ok(self.get(name)?.unwrap_or(default))
    }

    /// The value of a parameter that must be given.
    pub fn require<T: FromParameter>(&self, name: &str) -> Result<T, PluginError> {
        self.get(name)?.ok_or_else(|| {
            PluginError::new(format!("missing parameter `{name}`")).expected(T::WHAT)
        })
    }

    /// An error about a parameter whose value is of the right kind and still wrong.
    pub fn wrong(&self, name: &str, expected: &str) -> PluginError {
        let value = self.values.iter().find(|(key, _)| key == name);
        let found = value.map_or("missing".into(), |(_, value)| value.describe());
        PluginError::new(format!("`{name}` cannot be {found}")).about(name).expected(expected)
    }

    /// The first parameter that was given and not read, and those that were read.
    pub(super) fn unread(&self) -> Option<(String, Vec<String>)> {
        let read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        let (name, _) = self.values.iter().find(|(key, _)| !read.contains(key))?;
        Some((name.clone(), read.iter().cloned().collect()))
    }
}

impl Clone for Parameters {
    fn clone(&self) -> Self {
        Parameters::new(self.values.clone())
    }
}

impl PartialEq for Parameters {
    fn eq(&self, other: &Self) -> bool {
        self.values == other.values
    }
}

/// What a parameter can be read as.
pub trait FromParameter: Sized {
    /// What is expected, in words.
    const WHAT: &'static str;

    /// Reads it, if it is of this kind.
    fn from_parameter(value: &Parameter) -> Option<Self>;
}

impl FromParameter for f64 {
    const WHAT: &'static str = "a finite number";

    fn from_parameter(value: &Parameter) -> Option<Self> {
        match value {
            Parameter::Number(number) if number.is_finite() => Some(*number),
            Parameter::Integer(number) => Some(*number as f64),
            _ => None,
        }
    }
}

impl FromParameter for u64 {
    const WHAT: &'static str = "a whole number, 0 or more";

    fn from_parameter(value: &Parameter) -> Option<Self> {
        match value {
            Parameter::Integer(number) => u64::try_from(*number).ok(),
            _ => None,
        }
    }
}

impl FromParameter for usize {
    const WHAT: &'static str = u64::WHAT;

    fn from_parameter(value: &Parameter) -> Option<Self> {
        u64::from_parameter(value).and_then(|number| usize::try_from(number).ok())
    }
}

impl FromParameter for bool {
    const WHAT: &'static str = "`true` or `false`";

    fn from_parameter(value: &Parameter) -> Option<Self> {
        match value {
            Parameter::Truth(truth) => Some(*truth),
            _ => None,
        }
    }
}

impl FromParameter for String {
    const WHAT: &'static str = "a string";

    fn from_parameter(value: &Parameter) -> Option<Self> {
        match value {
            Parameter::Text(text) => Some(text.clone()),
            _ => None,
        }
    }
}

impl FromParameter for Span {
    const WHAT: &'static str = "a duration such as \"30s\"";

    fn from_parameter(value: &Parameter) -> Option<Self> {
        match value {
            Parameter::Text(text) => parse_duration(text).ok(),
            _ => None,
        }
    }
}

impl<T: FromParameter> FromParameter for Vec<T> {
    const WHAT: &'static str = "an array";

    fn from_parameter(value: &Parameter) -> Option<Self> {
        match value {
            Parameter::List(values) => values.iter().map(T::from_parameter).collect(),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameters() -> Parameters {
        Parameters::new(vec![
            ("k".into(), Parameter::Integer(3)),
            ("after".into(), Parameter::Text("2m".into())),
            ("parts".into(), Parameter::List(vec![Parameter::Number(0.5), Parameter::Integer(1)])),
        ])
    }

    #[test]
    fn values_are_read_by_kind() {
        let parameters = parameters();
        assert_eq!(parameters.require::<usize>("k"), Ok(3));
        assert_eq!(parameters.get::<f64>("k"), Ok(Some(3.0)));
        assert_eq!(parameters.get_or("exploration", 0.2), Ok(0.2));
        assert_eq!(parameters.get::<Span>("after"), Ok(Some(Span::from_nanos(120_000_000_000))));
        assert_eq!(parameters.get::<Vec<f64>>("parts"), Ok(Some(vec![0.5, 1.0])));
    }

    #[test]
    fn errors_name_the_parameter_and_what_was_expected() {
        let parameters = parameters();
        let error = parameters.get::<bool>("k").unwrap_err();
        assert_eq!(error.parameter(), Some("k"));
        assert_eq!(error.message(), "expected `true` or `false`, found the number 3");
        let error = parameters.require::<f64>("alpha").unwrap_err();
        assert_eq!((error.parameter(), error.wanted()), (None, Some("a finite number")));
        let error = parameters.wrong("k", "a number below 3");
        assert_eq!(error.to_string(), "k: `k` cannot be the number 3; expected a number below 3");
    }

    #[test]
    fn what_was_not_read_is_found() {
        let parameters = parameters();
        parameters.get::<u64>("k").unwrap();
        parameters.get::<u64>("after").unwrap_err();
        let (unread, read) = parameters.unread().unwrap();
        assert_eq!((unread.as_str(), read), ("parts", vec!["after".to_string(), "k".into()]));
    }
}
