//! `--set path=value`, `--sweep path=value,value` and `--repeats N`.

use super::assign::{Assignment, Segment};
use super::error::ScenarioError;
use super::source::{Origin, Source, Where};
use super::tree::{Node, Raw, parse_value};
use std::ops::Range;
use std::sync::Arc;

/// One `--set path=value`, or `--sweep path=values`, of the command line.
#[derive(Clone, Debug)]
pub struct Override(pub(super) Change);

/// What it changes.
#[derive(Clone, Debug)]
pub(super) enum Change {
    Set(Assignment),
    Sweep(KeyValues),
}

/// A key, and the values that it is to have one after the other.
#[derive(Clone, Debug)]
pub(super) struct KeyValues {
    pub path: Vec<Segment>,
    pub values: Vec<Node>,
    pub at: Where,
}

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
        let all = argument("--set", text);
        let (path, right) = split(&all, "path=value, such as client.lr=0.1")?;
        let value = value(&all, right)?;
        Ok(Override(Change::Set(Assignment { path, value })))
    }

    /// Reads `path=value,value,…`, a key of `[sweep]` with its values. Commas in brackets, braces and quotes belong to
    /// a value.
    ///
    /// ```
    /// use gruppetto::scenario::Override;
    ///
    /// assert!(Override::sweep("server.close.deadline=5s,30s").is_ok());
    /// assert!(Override::sweep("server.close.deadline=").is_err());
    /// ```
    pub fn sweep(text: &str) -> Result<Override, ScenarioError> {
        let all = argument("--sweep", text);
        let (path, right) = split(&all, "path=value,value,…, such as client.lr=0.1,0.2")?;
        let ranges = pieces(text, right.start);
        let values =
            ranges.into_iter().map(|range| value(&all, range)).collect::<Result<_, _>>()?;
        Ok(Override(Change::Sweep(KeyValues { path, values, at: all })))
    }

    /// `--repeats`: how many seeds every variant is run with.
    pub fn repeats(repeats: u32) -> Override {
        let at = argument("--repeats", &repeats.to_string());
        let path = vec![Segment { name: "repeats".into(), at: at.clone() }];
        let value = Node { value: Raw::Integer(repeats.into()), at };
        Override(Change::Set(Assignment { path, value }))
    }
}

fn argument(option: &'static str, text: &str) -> Where {
    let source = Arc::new(Source { origin: Origin::Argument(option), text: text.into() });
    Where { source, span: 0..text.len() }
}

/// The path before the `=`, and where what comes after it is.
fn split(all: &Where, example: &str) -> Result<(Vec<Segment>, Range<usize>), ScenarioError> {
    let text = &all.source.text;
    let Some((left, _)) = text.split_once('=') else {
        return Err(all.error("nothing is assigned").expected(example));
    };
    let mut path = Vec::new();
    let mut start = 0;
    for piece in left.split('.') {
        let name = piece.trim();
        let begin = start + (piece.len() - piece.trim_start().len());
        let at = all.with_span(begin..begin + name.len());
        if name.is_empty() {
            return Err(at.error("a part of the path is empty").expected(example));
        }
        path.push(Segment { name: name.into(), at });
        start += piece.len() + 1;
    }
    Ok((path, left.len() + 1..text.len()))
}

/// What stands between the commas that are in no bracket, brace or quote.
fn pieces(text: &str, start: usize) -> Vec<Range<usize>> {
    let (mut pieces, mut begin, mut depth, mut quote) = (Vec::new(), start, 0u32, None);
    for (at, c) in text.char_indices().skip_while(|(at, _)| *at < start) {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '[' | '{') => depth += 1,
            (None, ']' | '}') => depth = depth.saturating_sub(1),
            (None, ',') if depth == 0 => {
                pieces.push(begin..at);
                begin = at + 1;
            }
            _ => {}
        }
    }
    pieces.push(begin..text.len());
    pieces
}

/// The value in a range of an argument.
fn value(all: &Where, range: Range<usize>) -> Result<Node, ScenarioError> {
    let text = &all.source.text[range.clone()];
    let right = text.trim();
    let start = range.start + (text.len() - text.trim_start().len());
    let range = start..start + right.len();
    if right.is_empty() {
        return Err(all
            .with_span(range)
            .error("nothing is assigned")
            .expected("a value after the `=`, and between commas"));
    }
    match parse_value(all, range.clone()) {
        Ok(node) => Ok(node),
        // What begins like a table, an array or a quoted string was meant as one.
        Err(error) if right.starts_with(['{', '[', '"', '\'']) => Err(error),
        Err(_) => Ok(Node { value: Raw::String(right.into()), at: all.with_span(range) }),
    }
}
