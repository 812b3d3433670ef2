//! What is wrong with a scenario, said so that it can be fixed.

use super::render;
use super::source::Where;
use std::fmt;

/// A scenario cannot be run as it stands. Nothing has been started or written.
///
/// Shown as a diagnostic of several lines: the place, a caret under the key or value, what was
/// expected, and the nearest valid name where a name was wrong.
#[derive(Clone)]
pub struct ScenarioError(Box<Diagnostic>);

#[derive(Clone)]
struct Diagnostic {
    message: String,
    place: ErrorPlace,
    notes: Vec<String>,
}

/// Where the error is.
#[derive(Clone)]
enum ErrorPlace {
    /// In a text.
    At(Where),
    /// In a file as a whole, which could not be read.
    File(String),
}

impl ScenarioError {
    /// A file that could not be read at all.
    pub(super) fn unreadable(file: &str, error: &std::io::Error) -> Self {
        let message = format!("cannot read the scenario: {error}");
        ScenarioError(Box::new(Diagnostic {
            message,
            place: ErrorPlace::File(file.into()),
            notes: Vec::new(),
        }))
    }

    /// Adds what would have been right.
    pub(super) fn expected(self, what: impl fmt::Display) -> Self {
        self.with(format!("expected {what}"))
    }

    /// Adds a way out.
    pub(super) fn help(self, what: impl fmt::Display) -> Self {
        self.with(format!("help: {what}"))
    }

    /// Adds a remark.
    pub(super) fn note(self, what: impl fmt::Display) -> Self {
        self.with(format!("note: {what}"))
    }

    /// Adds `did you mean …?` if there is something near.
    pub(super) fn meant(self, nearest: Option<impl fmt::Display>) -> Self {
        match nearest {
            Some(name) => self.help(format_args!("did you mean `{name}`?")),
            None => self,
        }
    }

    fn with(mut self, note: String) -> Self {
        self.0.notes.push(note);
        self
    }

    /// The same as something that is odd without being wrong.
    pub(super) fn as_warning(&self) -> String {
        Shown(self, "warning").to_string()
    }

    /// The first line of the diagnostic, without the word `error`.
    pub fn message(&self) -> &str {
        &self.0.message
    }
}

impl Where {
    /// An error at this place.
    pub(super) fn error(&self, message: impl Into<String>) -> ScenarioError {
        let place = ErrorPlace::At(self.clone());
        ScenarioError(Box::new(Diagnostic { message: message.into(), place, notes: Vec::new() }))
    }
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Shown(self, "error").fmt(f)
    }
}

/// A diagnostic after a word that says how bad it is.
struct Shown<'a>(&'a ScenarioError, &'static str);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Shown(ScenarioError(diagnostic), word) = self;
        let Diagnostic { message, place, notes } = &**diagnostic;
        write!(f, "{word}: {}", render::clean(message))?;
        let gutter = match place {
            ErrorPlace::At(at) => render::snippet(f, at)?,
            ErrorPlace::File(name) => {
                write!(f, "\n  --> {}", render::clean(name))?;
                2
            }
        };
        notes.iter().try_for_each(|note| render::note(f, gutter, note))
    }
}

impl fmt::Debug for ScenarioError {
    /// The same as `Display`, so that `unwrap` and `expect` in tests show something readable.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for ScenarioError {}
