//! Values of the tree as numbers, names, durations, rates and speeds.

use super::error::ScenarioError;
use super::render::short;
use super::schema::{self, Choice};
use super::suggest::nearest;
use super::tree::{Node, Raw};
use crate::clock::Span;
use crate::units::{UnitError, parse_duration, parse_rate, parse_speed};
use std::ops::RangeInclusive;

/// What kind of number a key holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    /// A number without a unit.
    Plain,
    /// A duration, read as nanoseconds.
    Time,
    /// A data rate, read as bits per second.
    Rate,
    /// A compute speed, read as floating-point operations per second.
    Speed,
}

impl Unit {
    /// What a message asks for.
    pub(super) fn expected(self) -> &'static str {
        match self {
            Unit::Plain => "a number without a unit",
            Unit::Time => "a duration such as \"30s\"; units: ns us ms s m h d",
            Unit::Rate => "a rate such as \"20Mbps\"; units: bps kbps Mbps Gbps",
            Unit::Speed => "a speed such as \"4 GFLOPS\"; units: FLOPS MFLOPS GFLOPS TFLOPS",
        }
    }

    /// The unit that is shown when one was forgotten.
    pub(super) fn usual(self) -> &'static str {
        match self {
            Unit::Plain => "",
            Unit::Time => "s",
            Unit::Rate => "Mbps",
            Unit::Speed => " GFLOPS",
        }
    }

    /// Reads a text that carries its unit.
    pub(super) fn parse(self, text: &str) -> Result<f64, UnitError> {
        match self {
            Unit::Plain => text.trim().parse().map_err(|_| UnitError::NoNumber(short(text))),
            Unit::Time => parse_duration(text).map(|span| span.nanos() as f64),
            Unit::Rate => parse_rate(text),
            Unit::Speed => parse_speed(text),
        }
    }
}

impl Node {
    /// The error for a value of the wrong kind.
    pub(super) fn wrong_type(&self, wanted: &str) -> ScenarioError {
        self.at.error(format!("expected {wanted}, found {}", self.describe()))
    }

    fn describe(&self) -> String {
        match &self.value {
            Raw::String(text) => format!("the string \"{}\"", short(text)),
            Raw::Integer(number) => format!("the number {number}"),
            Raw::Float(number) => format!("the number {number:?}"),
            Raw::Bool(truth) => format!("`{truth}`"),
            Raw::Date => "a date or time of day".into(),
            Raw::Array(_) => "an array".into(),
            Raw::Table(_) => "a table".into(),
        }
    }

    /// Any string.
    pub(super) fn text(&self) -> Result<&str, ScenarioError> {
        match &self.value {
            Raw::String(text) => Ok(text),
            _ => Err(self.wrong_type("a string").expected("text in quotes")),
        }
    }

    /// `true` or `false`.
    pub(super) fn truth(&self) -> Result<bool, ScenarioError> {
        match self.value {
            Raw::Bool(truth) => Ok(truth),
            _ => Err(self.wrong_type("`true` or `false`").expected("one of them, without quotes")),
        }
    }

    /// An array of any values.
    pub(super) fn array(&self, what: &str) -> Result<&[Node], ScenarioError> {
        match &self.value {
            Raw::Array(nodes) => Ok(nodes),
            _ => Err(self.wrong_type("an array").expected(what)),
        }
    }

    /// A whole number within bounds.
    pub(super) fn whole(
        &self,
        name: &str,
        bounds: RangeInclusive<u64>,
    ) -> Result<u64, ScenarioError> {
        let wanted = match (*bounds.start(), *bounds.end()) {
            (low, end) if end >= i64::MAX as u64 => format!("a whole number, {low} or more"),
            (low, high) => format!("a whole number from {low} to {high}"),
        };
        match self.value {
            Raw::Integer(number) => match u64::try_from(number) {
                Ok(number) if bounds.contains(&number) => Ok(number),
                _ => Err(self.at.error(format!("`{name}` cannot be {number}")).expected(wanted)),
            },
            _ => Err(self.quoted(self.wrong_type("a whole number").expected(wanted))),
        }
    }

    /// A finite number without a unit.
    pub(super) fn number(&self) -> Result<f64, ScenarioError> {
        match self.value {
            Raw::Integer(number) => Ok(number as f64),
            Raw::Float(number) if number.is_finite() => Ok(number),
            Raw::Float(number) => Err(self
                .at
                .error(format!("{number} is not a usable number"))
                .expected("a finite number")),
            _ => Err(self.quoted(self.wrong_type("a number").expected(Unit::Plain.expected()))),
        }
    }

    /// A number that satisfies a condition, which `wanted` puts in words.
    pub(super) fn number_that(
        &self,
        name: &str,
        wanted: &str,
        holds: impl Fn(f64) -> bool,
    ) -> Result<f64, ScenarioError> {
        let number = self.number()?;
        match holds(number) {
            true => Ok(number),
            false => Err(self.at.error(format!("`{name}` cannot be {number}")).expected(wanted)),
        }
    }

    /// A duration.
    pub(super) fn duration(&self) -> Result<Span, ScenarioError> {
        self.with_unit(Unit::Time, parse_duration)
    }

    /// A duration that is not zero; `wrong` says what is wrong with zero.
    pub(super) fn positive_duration(&self, wrong: &str) -> Result<Span, ScenarioError> {
        match self.duration()? {
            Span::ZERO => Err(self.at.error(wrong).expected("more than 0s")),
            span => Ok(span),
        }
    }

    /// A number in the base unit of its kind.
    pub(super) fn quantity(&self, unit: Unit) -> Result<f64, ScenarioError> {
        match unit {
            Unit::Plain => self.number(),
            _ => self.with_unit(unit, |text| unit.parse(text)),
        }
    }

    fn with_unit<T>(
        &self,
        unit: Unit,
        parse: impl Fn(&str) -> Result<T, UnitError>,
    ) -> Result<T, ScenarioError> {
        let number = match &self.value {
            Raw::String(text) => {
                return parse(text).map_err(|error| self.unit_error(unit, text, error));
            }
            Raw::Integer(number) => number.to_string(),
            Raw::Float(number) if number.is_finite() => number.to_string(),
            _ => {
                return Err(self.wrong_type("a number with a unit").expected(unit.expected()));
            }
        };
        let error = self.at.error(format!("{number} has no unit")).expected(unit.expected());
        Err(error.help(format_args!("write `\"{number}{}\"`", unit.usual())))
    }

    fn unit_error(&self, unit: Unit, text: &str, error: UnitError) -> ScenarioError {
        let help = match &error {
            UnitError::NoUnit(_) => {
                Some(format!("write `\"{}{}\"`", short(text.trim()), unit.usual()))
            }
            UnitError::UnknownUnit { nearest: Some(nearest), .. } => {
                Some(format!("did you mean `{nearest}`?"))
            }
            _ => None,
        };
        let said = self.at.error(short_error(error)).expected(unit.expected());
        match help {
            Some(help) => said.help(help),
            None => said,
        }
    }

    /// One name of several, which are those that the schema has for the key at `path`; only some of
    /// them where the others do not apply.
    pub(super) fn one_of<T: Copy>(
        &self,
        path: &str,
        what: &str,
        now: &[(&'static str, T)],
    ) -> Result<T, ScenarioError> {
        let names = || now.iter().map(|(name, _)| *name);
        debug_assert!(
            schema::key(path).is_some_and(|key| {
                let mut known = key.choices.iter().filter_map(Choice::name);
                names().all(|name| known.any(|other| other == name))
            }),
            "the schema has other names for `{path}`, or in another order"
        );
        let list = names().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ");
        let Raw::String(text) = &self.value else {
            let article = if what.starts_with(['a', 'e', 'i', 'o']) { "an" } else { "a" };
            return Err(self
                .wrong_type(&format!("{article} {what}"))
                .expected(format_args!("one of: {list}")));
        };
        if let Some((_, value)) = now.iter().find(|(name, _)| name == text) {
            return Ok(*value);
        }
        let error = self.at.error(format!("unknown {what} \"{}\"", short(text)));
        let near = nearest(text, names());
        Err(error.expected(format_args!("one of: {list}")).meant(near))
    }

    /// The same for a key whose value may also be a table: the message shows how such are written.
    pub(super) fn one_of_or_table<T: Copy>(
        &self,
        path: &str,
        what: &str,
        now: &[(&'static str, T)],
    ) -> Result<T, ScenarioError> {
        self.one_of(path, what, now).map_err(|error| {
            let choices: Vec<Choice> = schema::key(path).map_or(Vec::new(), |key| {
                key.alternatives().filter(|choice| choice.tables().next().is_some()).collect()
            });
            match &choices[..] {
                [only] => error.note(format_args!("or {}: {}", only.form, only.meaning)),
                _ => {
                    let forms: Vec<&str> = choices.iter().flat_map(Choice::tables).collect();
                    error.note(format_args!("or {}", forms.join(", ")))
                }
            }
        })
    }

    /// A name that is safe in tables, files and folders.
    pub(super) fn identifier(&self, what: &str) -> Result<String, ScenarioError> {
        const LONGEST: usize = 64;
        let text = self.text()?;
        let safe = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        match text.len() {
            1..=LONGEST if text.chars().all(safe) => Ok(text.into()),
            _ => Err(self
                .at
                .error(format!("\"{}\" cannot be the name of a {what}", short(text)))
                .expected(format_args!("1 to {LONGEST} letters, digits, - and _"))),
        }
    }

    /// Adds a hint to an error about a number that was put in quotes.
    fn quoted(&self, error: ScenarioError) -> ScenarioError {
        match &self.value {
            Raw::String(text) if text.trim().parse::<f64>().is_ok() => {
                error.help("remove the quotes")
            }
            _ => error,
        }
    }
}

/// Unit errors quote what they could not read; a very long text is cut.
fn short_error(error: UnitError) -> String {
    let text = error.to_string();
    match text.chars().count() {
        0..=90 => text,
        _ => format!("{}…", text.chars().take(89).collect::<String>()),
    }
}
