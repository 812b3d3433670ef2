//! What can be wrong with a data set, said to the person who has to mend it.

use std::fmt;
use std::path::{Path, PathBuf};

/// A data set is not there, or is not what it should be. Nothing has been started.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DataError {
    file: Option<PathBuf>,
    what: String,
    expected: Option<String>,
    help: Vec<String>,
}

impl DataError {
    /// Something wrong with the content of `file`.
    pub fn new(file: &Path, what: impl Into<String>) -> Self {
        DataError { file: Some(file.to_owned()), ..DataError::general(what) }
    }

    /// Something wrong that no single file is to blame for.
    pub fn general(what: impl Into<String>) -> Self {
        DataError { file: None, what: what.into(), expected: None, help: Vec::new() }
    }

    /// The system refused to read `file`.
    pub fn io(file: &Path, error: &std::io::Error) -> Self {
        DataError::new(file, format!("cannot be read: {error}"))
    }

    /// Adds what would have been right.
    pub fn expected(self, what: impl Into<String>) -> Self {
        DataError { expected: Some(what.into()), ..self }
    }

    /// Adds what to do about it.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help.push(help.into());
        self
    }

    /// The problem in one line, with the bare name of the file.
    pub fn brief(&self) -> String {
        let name = self.file.as_ref().and_then(|file| file.file_name());
        match name {
            Some(name) => format!("{}: {}", name.to_string_lossy(), self.what),
            None => self.what.clone(),
        }
    }

    /// The file as a whole path.
    pub fn file(&self) -> Option<&Path> {
        self.file.as_deref()
    }

    /// What would have been right.
    pub fn wanted(&self) -> Option<&str> {
        self.expected.as_deref()
    }

    /// What to do about it.
    pub fn advice(&self) -> &[String] {
        &self.help
    }
}

impl std::error::Error for DataError {}

impl fmt::Display for DataError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            write!(f, "{}: ", file.display())?;
        }
        f.write_str(&self.what)?;
        if let Some(expected) = &self.expected {
            write!(f, "\n  = expected {expected}")?;
        }
        self.help.iter().try_for_each(|help| write!(f, "\n  = help: {help}"))
    }
}

/// A text from a file as it can be shown: in one line, and not too long.
pub(super) fn shown(text: &str) -> String {
    const LONGEST: usize = 40;
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
        let error = DataError::new(Path::new("a/b.csv"), "no rows").expected("one or more");
        let error = error.help("add some");
        assert_eq!(error.brief(), "b.csv: no rows");
        assert_eq!(
            error.to_string(),
            "a/b.csv: no rows\n  = expected one or more\n  = help: add some"
        );
        assert_eq!(shown(&"x\n".repeat(40)).chars().filter(|c| *c == '\n').count(), 0);
    }
}
