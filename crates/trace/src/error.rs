//! What can be wrong with a trace, said to the person who has to mend it.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// A trace, or a file to import, could not be read or written. Nothing after it was looked at.
#[derive(Debug)]
#[non_exhaustive]
pub struct TraceError {
    file: PathBuf,
    at: String,
    what: String,
    help: Option<String>,
    kind: io::ErrorKind,
}

impl TraceError {
    /// Something wrong with the content of `file`.
    pub fn new(file: &Path, what: impl Into<String>) -> Self {
        let kind = io::ErrorKind::InvalidData;
        TraceError { file: file.to_owned(), at: String::new(), what: what.into(), help: None, kind }
    }

    /// The system refused to read from, or write to, `file`.
    pub fn io(file: &Path, doing: &str, error: &io::Error) -> Self {
        let kind = error.kind();
        TraceError { kind, ..TraceError::new(file, format!("cannot {doing}: {error}")) }
    }

    /// Where in the file: "line 7", "byte 12".
    pub fn at(self, place: impl Into<String>) -> Self {
        TraceError { at: place.into(), ..self }
    }

    /// What to do about it.
    pub fn help(self, help: impl Into<String>) -> Self {
        TraceError { help: Some(help.into()), ..self }
    }

    /// Whether whoever read our output went away, which is no mistake.
    pub fn is_broken_pipe(&self) -> bool {
        self.kind == io::ErrorKind::BrokenPipe
    }

    /// Place and problem, without the file and the help: a line in a list of problems, or part of
    /// a message that names the file in another way.
    pub fn brief(&self) -> String {
        if self.at.is_empty() { self.what.clone() } else { format!("{}: {}", self.at, self.what) }
    }

    /// What to do about it, if there is something to say.
    pub fn advice(&self) -> Option<&str> {
        self.help.as_deref()
    }
}

impl std::error::Error for TraceError {}

impl fmt::Display for TraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file.display())?;
        if !self.at.is_empty() {
            write!(f, ", {}", self.at)?;
        }
        write!(f, ": {}", self.what)?;
        match &self.help {
            Some(help) => write!(f, "\n  = help: {help}"),
            None => Ok(()),
        }
    }
}

/// A text from a file as it can be shown: in one line, and not too long.
pub(super) fn shown(text: &str) -> String {
    const LONGEST: usize = 60;
    let mut shown: String = text.chars().take(LONGEST).flat_map(char::escape_debug).collect();
    if text.chars().nth(LONGEST).is_some() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_say_where_what_and_what_to_do() {
        let error = TraceError::new(Path::new("a.csv"), "found `x`, expected a number");
        assert_eq!(error.to_string(), "a.csv: found `x`, expected a number");
        let error = error.at("line 2").help("mend it");
        assert_eq!(
            error.to_string(),
            "a.csv, line 2: found `x`, expected a number\n  = help: mend it"
        );
        assert_eq!(error.brief(), "line 2: found `x`, expected a number");
        assert!(!error.is_broken_pipe());
    }

    #[test]
    fn what_is_shown_is_one_short_line() {
        assert_eq!(shown("a\nb"), "a\\nb");
        assert_eq!(shown(&"x".repeat(1000)).chars().count(), 61);
    }
}
