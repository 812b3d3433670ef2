//! What a pickle remembers in order to refer to it again.
//!
//! Python remembers every text, list and dict it writes, a million of them here, and refers to a
//! handful. A first pass finds out which, so that the second keeps no others.

use super::opcode::{Op, Opcodes};
use super::{LARGEST, MOST_SHARED, PickleError, Value};
use std::collections::{HashMap, HashSet};
use std::io::BufRead;

/// Looks at every opcode up to the end. Returns which remembered values are referred to.
pub(super) fn survey(input: impl BufRead) -> Result<HashSet<u64>, PickleError> {
    let mut opcodes = Opcodes::new(input);
    let mut shared = HashSet::new();
    loop {
        match opcodes.next()? {
            Op::Stop => return Ok(shared),
            Op::Get(index) => {
                shared.insert(index);
                if shared.len() > MOST_SHARED {
                    let what = format!("more than {MOST_SHARED} values are used twice");
                    return Err(opcodes.wrong(what));
                }
            }
            _ => {}
        }
    }
}

/// Values that are referred to again.
pub(super) struct Memo {
    shared: HashSet<u64>,
    values: HashMap<u64, Value>,
    /// Where on the stack values to remember are that are still open.
    pub(super) places: HashMap<u64, usize>,
    /// How many values Python would remember by now: the next index of `MEMOIZE`.
    pub(super) count: u64,
    /// Bytes of what is kept.
    kept: u64,
}

impl Memo {
    /// Keeps only `shared`.
    pub(super) fn new(shared: HashSet<u64>) -> Self {
        let (values, places) = (HashMap::new(), HashMap::new());
        Memo { shared, values, places, count: 0, kept: 0 }
    }

    /// Whether a value will be referred to.
    pub(super) fn wants(&self, index: u64) -> bool {
        self.shared.contains(&index)
    }

    /// Remembers a value.
    pub(super) fn keep(&mut self, index: u64, value: &Value) -> Result<(), String> {
        self.kept = self.kept.saturating_add(value.weight() + 32);
        if self.kept > LARGEST {
            return Err(format!("values that are used twice take more than {LARGEST} bytes"));
        }
        self.values.insert(index, value.clone());
        Ok(())
    }

    /// A remembered value.
    pub(super) fn get(&self, index: u64) -> Option<Value> {
        self.values.get(&index).cloned()
    }
}
