//! Reading Python pickles without running anything.
//!
//! A pickle is a program for a small stack machine, and the machine's `GLOBAL` and `REDUCE` can
//! call any function Python can import. This one has neither: it knows every opcode of protocols
//! 0 to 5, builds plain values (numbers, texts, lists, dicts) and refuses everything that asks for
//! more, naming the opcode and its byte.
//!
//! The pickle of interest is one dict of half a million entries. It is read twice: the first pass
//! looks at every opcode, so that a hostile file is refused before anything is made of it, and
//! notes which earlier values are referred to; the second hands out the entries of the dict as
//! they come and remembers only those values. Nothing else stays in memory.

mod escape;
mod machine;
mod memo;
mod opcode;
mod stack;

use super::error::TraceError;
use super::source::Input;
use machine::Machine;
use memo::survey;
use std::rc::Rc;

/// Deepest nesting. Data has three levels; a bomb has thousands.
const DEEPEST: u32 = 32;
/// Longest text or number, in bytes.
const LONGEST: u64 = 1 << 24;
/// Most memory for what one batch of entries (1,000 in Python's own pickles) holds, and for what
/// is remembered.
const LARGEST: u64 = 1 << 28;
/// Most values that are referred to again.
const MOST_SHARED: usize = 1 << 22;

/// A plain value.
#[derive(Clone, Debug)]
pub(super) enum Value {
    None,
    Bool,
    Int(i64),
    Float(f64),
    Text(Rc<str>),
    Bytes,
    Container(Rc<Container>),
}

/// A list, a tuple, a set or a dict.
#[derive(Debug)]
pub(super) struct Container {
    kind: ContainerKind,
    /// Of a dict: key, value, key, value, …
    items: Vec<Value>,
    depth: u32,
    /// Bytes it would take if nothing in it were shared.
    weight: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ContainerKind {
    List,
    Tuple,
    Set,
    Dict,
}

impl Value {
    /// A number, if it is one.
    pub(super) fn number(&self) -> Option<f64> {
        match self {
            Value::Int(value) => Some(*value as f64),
            Value::Float(value) => Some(*value),
            _ => None,
        }
    }

    /// The items of a list or a tuple.
    pub(super) fn items(&self) -> Option<&[Value]> {
        match self {
            Value::Container(container)
                if matches!(container.kind, ContainerKind::List | ContainerKind::Tuple) =>
            {
                Some(&container.items)
            }
            _ => None,
        }
    }

    /// What a dict holds under `key`; the last, if there are several.
    pub(super) fn get(&self, key: &str) -> Option<&Value> {
        let Value::Container(container) = self else {
            return None;
        };
        if container.kind != ContainerKind::Dict {
            return None;
        }
        let is_key = |pair: &&[Value]| matches!(&pair[0], Value::Text(text) if **text == *key);
        container.items.chunks_exact(2).rev().find(is_key).map(|pair| &pair[1])
    }

    /// What it is, for messages.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Value::None => "None",
            Value::Bool => "a bool",
            Value::Int(_) => "an int",
            Value::Float(_) => "a float",
            Value::Text(_) => "a str",
            Value::Bytes => "bytes",
            Value::Container(container) => match container.kind {
                ContainerKind::List => "a list",
                ContainerKind::Tuple => "a tuple",
                ContainerKind::Set => "a set",
                ContainerKind::Dict => "a dict",
            },
        }
    }

    fn depth(&self) -> u32 {
        if let Value::Container(container) = self { container.depth } else { 0 }
    }

    fn weight(&self) -> u64 {
        let inside = match self {
            Value::Text(text) => text.len() as u64,
            Value::Container(container) => container.weight,
            _ => 0,
        };
        inside.saturating_add(size_of::<Value>() as u64)
    }
}

/// Something wrong with a pickle, and the byte of the opcode that does it.
#[derive(Debug)]
struct PickleError {
    at: u64,
    what: String,
    help: Option<&'static str>,
}

impl PickleError {
    fn new(at: u64, what: impl Into<String>) -> Self {
        PickleError { at, what: what.into(), help: None }
    }
}

/// Hands every entry of the pickled dict to `each`, with the byte where it starts.
pub(super) fn entries(
    input: &Input,
    each: &mut dyn FnMut(Value, Value, u64) -> Result<(), TraceError>,
) -> Result<(), TraceError> {
    let wrong = |error: PickleError| {
        let told = input.wrong(error.what).at(format!("byte {}", error.at));
        match error.help {
            Some(help) => told.help(help),
            None => told,
        }
    };
    if !input.can_be_read_twice() {
        return Err(input.wrong("a pickle is read twice: give it as a file"));
    }
    let shared = survey(input.open()?).map_err(wrong)?;
    let mut machine = Machine::new(input.open()?, shared);
    while let Some(batch) = machine.batch().map_err(wrong)? {
        for (key, value, at) in batch {
            each(key, value, at)?;
        }
    }
    Ok(())
}
