//! Where a piece of a scenario was written: a place in the file or in an argument.

use std::ops::Range;
use std::sync::Arc;

/// A text that scenario values come from.
#[derive(Debug)]
pub(super) struct Source {
    pub origin: Origin,
    pub text: String,
}

/// What kind of text it is.
#[derive(Debug)]
pub(super) enum Origin {
    /// The scenario file, by the name it was given.
    File(String),
    /// An argument of the command line, by its option.
    Argument(&'static str),
}

/// A range of bytes of a [`Source`].
#[derive(Clone, Debug)]
pub(super) struct Where {
    pub source: Arc<Source>,
    pub span: Range<usize>,
}

/// A range in the units a reader counts in.
pub(super) struct Position<'a> {
    /// Counted from 1.
    pub line: usize,
    /// Characters before it on its line.
    pub before: usize,
    /// Characters from there to its end, or to the end of the line; at least one.
    pub width: usize,
    /// The whole line, without its end.
    pub text: &'a str,
}

impl Where {
    /// The same text, another range.
    pub(super) fn with_span(&self, span: Range<usize>) -> Where {
        Where { source: Arc::clone(&self.source), span }
    }

    /// Line and column of the range's beginning.
    pub(super) fn position(&self) -> Position<'_> {
        let text = self.source.text.as_str();
        let begin = boundary(text, self.span.start);
        let end = boundary(text, self.span.end).max(begin);
        let line_start = text[..begin].rfind('\n').map_or(0, |at| at + 1);
        let line_end = text[begin..].find('\n').map_or(text.len(), |at| begin + at);
        let line = text[line_start..line_end].trim_end_matches('\r');
        Position {
            line: text[..line_start].matches('\n').count() + 1,
            before: text[line_start..begin].chars().count(),
            width: text[begin..end.min(line_end)].trim_end().chars().count().max(1),
            text: line,
        }
    }
}

/// The last character boundary at or before `at`.
fn boundary(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}
