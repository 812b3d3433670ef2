//! The stack of a pickle and the marks on it.

use super::{ContainerKind, Value};

/// A place on the stack.
pub(super) struct Slot {
    /// The byte of the opcode that made it.
    pub(super) at: u64,
    pub(super) held: Held,
}

/// What is there.
pub(super) enum Held {
    Done(Value),
    /// A list, dict or set that is still being filled.
    Open(Box<Open>),
}

/// A container that can still grow.
pub(super) struct Open {
    pub(super) kind: ContainerKind,
    pub(super) items: Vec<Value>,
    /// Under which indices to remember it, once it is whole.
    pub(super) names: Vec<u64>,
}

/// Not enough is there for an opcode.
const EMPTY: &str = "there is not enough on the stack for this opcode";

/// Slots, and how many there were at each mark. Nothing below the last mark can be reached.
#[derive(Default)]
pub(super) struct Stack {
    pub(super) slots: Vec<Slot>,
    pub(super) marks: Vec<usize>,
}

impl Stack {
    /// Takes the uppermost slot.
    pub(super) fn pop(&mut self) -> Result<Slot, &'static str> {
        let lowest = self.lowest();
        if self.slots.len() <= lowest {
            return Err(EMPTY);
        }
        self.slots.pop().ok_or(EMPTY)
    }

    /// Where the last `count` values begin.
    pub(super) fn last(&self, count: usize) -> Result<usize, &'static str> {
        let from = self.slots.len().checked_sub(count);
        from.filter(|from| *from >= self.lowest()).ok_or(EMPTY)
    }

    /// The same, with something below them that they go into.
    pub(super) fn last_into(&self, count: usize) -> Result<usize, &'static str> {
        self.last(count).ok().filter(|from| *from > self.lowest()).ok_or(EMPTY)
    }

    /// The uppermost slot.
    pub(super) fn top(&mut self) -> Result<&mut Slot, &'static str> {
        self.slots.last_mut().ok_or(EMPTY)
    }

    /// Takes a mark: where the values above it begin.
    pub(super) fn mark(&mut self) -> Result<usize, &'static str> {
        let mark = self.marks.pop().filter(|mark| *mark <= self.slots.len());
        mark.ok_or("there is no mark on the stack for this opcode")
    }

    /// Sets a mark.
    pub(super) fn set_mark(&mut self) {
        self.marks.push(self.slots.len());
    }

    /// Whether nothing is above the last mark.
    pub(super) fn is_at_mark(&self) -> bool {
        self.marks.last() == Some(&self.slots.len())
    }

    fn lowest(&self) -> usize {
        self.marks.last().copied().unwrap_or(0)
    }
}
