//! `--set path=value`.

use super::assign::{Assignment, Segment};
use super::error::ScenarioError;
use super::source::{Origin, Source, Where};
use super::tree::{Node, Raw, parse_value};
use std::sync::Arc;

/// One `--set path=value` of the command line.
#[derive(Clone, Debug)]
pub struct Override(pub(super) Assignment);

impl Override {
    /// Reads `path=value`. The value is tried as TOML (`0.1`, `"all"`, `{ first = 3, of = 5 }`)
    /// and otherwise taken as a string, so that `server.close.deadline=10s` needs no quotes.
    ///
    /// ```
    /// use gruppetto::scenario::Override;
    ///
    /// assert!(Override::parse("server.close.deadline=10s").is_ok());
    /// assert!(Override::parse("server.close.deadline").is_err());
    /// ```
    pub fn parse(text: &str) -> Result<Override, ScenarioError> {
        let source = Arc::new(Source { origin: Origin::Argument("--set"), text: text.into() });
        let all = Where { source, span: 0..text.len() };
        let Some((left, right)) = text.split_once('=') else {
            return Err(all
                .error("nothing is assigned")
                .expected("path=value, such as client.lr=0.1"));
        };
        let mut path = Vec::new();
        let mut start = 0;
        for piece in left.split('.') {
            let name = piece.trim();
            let begin = start + (piece.len() - piece.trim_start().len());
            let at = all.with_span(begin..begin + name.len());
            if name.is_empty() {
                return Err(at
                    .error("a part of the path is empty")
                    .expected("path=value, such as client.lr=0.1"));
            }
            path.push(Segment { name: name.into(), at });
            start += piece.len() + 1;
        }
        let value = value(&all, text.len() - right.len())?;
        Ok(Override(Assignment { path, value }))
    }
}

/// The value that begins at `start`.
fn value(all: &Where, start: usize) -> Result<Node, ScenarioError> {
    let text = &all.source.text;
    let right = text[start..].trim();
    let start = start + (text[start..].len() - text[start..].trim_start().len());
    let range = start..start + right.len();
    if right.is_empty() {
        return Err(all
            .with_span(range)
            .error("nothing is assigned")
            .expected("a value after the `=`"));
    }
    match parse_value(all, range.clone()) {
        Ok(node) => Ok(node),
        // What begins like a table, an array or a quoted string was meant as one.
        Err(error) if right.starts_with(['{', '[', '"', '\'']) => Err(error),
        Err(_) => Ok(Node { value: Raw::String(right.into()), at: all.with_span(range) }),
    }
}
