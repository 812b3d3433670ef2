//! The stack machine of pickles, without anything that could call.

use super::memo::Memo;
use super::opcode::{Op, Opcodes};
use super::stack::{Held, Open, Slot, Stack};
use super::{Container, ContainerKind, DEEPEST, LARGEST, PickleError, Value};
use std::collections::HashSet;
use std::io::BufRead;
use std::rc::Rc;

/// Key, value and the byte where the key begins.
pub(super) type Entry = (Value, Value, u64);

pub(super) struct Machine<R> {
    opcodes: Opcodes<R>,
    memo: Memo,
    stack: Stack,
    /// Bytes made since entries were last handed out.
    held: u64,
    over: bool,
}

impl<R: BufRead> Machine<R> {
    pub(super) fn new(input: R, shared: HashSet<u64>) -> Self {
        Machine {
            opcodes: Opcodes::new(input),
            memo: Memo::new(shared),
            stack: Stack::default(),
            held: 0,
            over: false,
        }
    }

    /// Runs until entries are put into the dict at the bottom; none when the pickle is over.
    pub(super) fn batch(&mut self) -> Result<Option<Vec<Entry>>, PickleError> {
        while !self.over {
            if let Some(entries) = self.step()? {
                self.held = 0;
                return Ok(Some(entries));
            }
        }
        Ok(None)
    }

    fn step(&mut self) -> Result<Option<Vec<Entry>>, PickleError> {
        match self.opcodes.next()? {
            Op::Nothing => {}
            Op::Stop => self.stop()?,
            Op::Mark => {
                self.stack.set_mark();
                self.hold(8)?;
            }
            Op::Pop if self.stack.is_at_mark() => {
                self.mark()?;
            }
            Op::Pop => {
                // It may be remembered, and come back.
                let slot = self.stack.pop().map_err(|what| self.opcodes.wrong(what))?;
                self.done(slot)?;
            }
            Op::PopMark => {
                let from = self.mark()?;
                self.take(from)?;
            }
            Op::Dup => match self.stack.slots.last() {
                Some(Slot { held: Held::Done(value), .. }) => self.push(value.clone())?,
                _ => return Err(self.opcodes.wrong("DUP of what is not whole yet")),
            },
            Op::None => self.push(Value::None)?,
            Op::Bool => self.push(Value::Bool)?,
            Op::Int(value) => self.push(Value::Int(value))?,
            Op::Float(value) => self.push(Value::Float(value))?,
            Op::Text => {
                let text = Value::Text(Rc::from(&*self.opcodes.text()));
                self.push(text)?;
            }
            Op::Bytes => self.push(Value::Bytes)?,
            Op::EmptyTuple => self.close(ContainerKind::Tuple, self.stack.slots.len())?,
            Op::EmptyList => self.open(ContainerKind::List, Vec::new())?,
            Op::EmptyDict => self.open(ContainerKind::Dict, Vec::new())?,
            Op::EmptySet => self.open(ContainerKind::Set, Vec::new())?,
            Op::List => {
                let from = self.mark()?;
                let items = self.take(from)?;
                self.open(ContainerKind::List, items)?;
            }
            Op::Dict => return self.dict(),
            Op::Tuple => {
                let from = self.mark()?;
                self.close(ContainerKind::Tuple, from)?;
            }
            Op::FrozenSet => {
                let from = self.mark()?;
                self.close(ContainerKind::Set, from)?;
            }
            Op::LastTuple(count) => {
                let from = self.stack.last(count).map_err(|what| self.opcodes.wrong(what))?;
                self.close(ContainerKind::Tuple, from)?;
            }
            Op::Append => {
                let from = self.below(1)?;
                return self.extend(from, ContainerKind::List);
            }
            Op::SetItem => {
                let from = self.below(2)?;
                return self.extend(from, ContainerKind::Dict);
            }
            Op::Appends => {
                let from = self.mark()?;
                return self.extend(from, ContainerKind::List);
            }
            Op::SetItems => {
                let from = self.mark()?;
                return self.extend(from, ContainerKind::Dict);
            }
            Op::AddItems => {
                let from = self.mark()?;
                return self.extend(from, ContainerKind::Set);
            }
            Op::Get(index) => {
                let value = self.recall(index)?;
                self.push(value)?;
            }
            Op::Put(index) => self.remember(index)?,
            Op::Memoize => self.remember(self.memo.count)?,
        }
        Ok(None)
    }

    fn mark(&mut self) -> Result<usize, PickleError> {
        self.stack.mark().map_err(|what| self.opcodes.wrong(what))
    }

    /// Where the last `count` values begin, which go into what is below them.
    fn below(&self, count: usize) -> Result<usize, PickleError> {
        self.stack.last_into(count).map_err(|what| self.opcodes.wrong(what))
    }

    fn hold(&mut self, bytes: u64) -> Result<(), PickleError> {
        self.held = self.held.saturating_add(bytes);
        match self.held > LARGEST {
            true => Err(self.opcodes.wrong("too much at once: is this a dict of devices?")),
            false => Ok(()),
        }
    }

    fn push(&mut self, value: Value) -> Result<(), PickleError> {
        let text = if let Value::Text(text) = &value { text.len() } else { 0 };
        self.hold((size_of::<Slot>() + size_of::<Value>() + text) as u64)?;
        self.stack.slots.push(Slot { at: self.opcodes.at, held: Held::Done(value) });
        Ok(())
    }

    fn open(&mut self, kind: ContainerKind, items: Vec<Value>) -> Result<(), PickleError> {
        self.hold((size_of::<Slot>() + size_of::<Open>()) as u64)?;
        let open = Box::new(Open { kind, items, names: Vec::new() });
        self.stack.slots.push(Slot { at: self.opcodes.at, held: Held::Open(open) });
        Ok(())
    }

    /// Makes a container that cannot change of everything from `from` on.
    fn close(&mut self, kind: ContainerKind, from: usize) -> Result<(), PickleError> {
        let items = self.take(from)?;
        let value = self.whole(Open { kind, items, names: Vec::new() })?;
        self.hold(size_of::<Container>() as u64)?;
        self.push(value)
    }

    /// The values from `from` on, each whole now.
    fn take(&mut self, from: usize) -> Result<Vec<Value>, PickleError> {
        let slots: Vec<Slot> = self.stack.slots.drain(from..).collect();
        slots.into_iter().map(|slot| self.done(slot)).collect()
    }

    fn done(&mut self, slot: Slot) -> Result<Value, PickleError> {
        match slot.held {
            Held::Done(value) => Ok(value),
            Held::Open(open) => self.whole(*open),
        }
    }

    fn whole(&mut self, open: Open) -> Result<Value, PickleError> {
        let depth = 1 + open.items.iter().map(Value::depth).max().unwrap_or(0);
        let weight = open.items.iter().map(Value::weight).fold(64u64, u64::saturating_add);
        if depth > DEEPEST {
            return Err(self.opcodes.wrong(format!("nested more than {DEEPEST} deep")));
        }
        if weight > LARGEST {
            return Err(self.opcodes.wrong(format!("one value of more than {LARGEST} bytes")));
        }
        let Open { kind, items, names } = open;
        let value = Value::Container(Rc::new(Container { kind, items, depth, weight }));
        for name in names {
            self.memo.keep(name, &value).map_err(|what| self.opcodes.wrong(what))?;
        }
        Ok(value)
    }

    /// A remembered value. One that is still open on the stack is taken to be whole: if it grows
    /// after all, it holds itself, and is refused then.
    fn recall(&mut self, index: u64) -> Result<Value, PickleError> {
        if let Some(place) = self.memo.places.remove(&index)
            && let Some(slot) = self.stack.slots.get_mut(place)
            && matches!(&slot.held, Held::Open(open) if open.names.contains(&index))
        {
            let at = slot.at;
            let slot = std::mem::replace(slot, Slot { at, held: Held::Done(Value::None) });
            let value = self.done(slot)?;
            self.stack.slots[place].held = Held::Done(value);
        }
        let missing = || self.opcodes.wrong(format!("refers to value {index}: there is none"));
        self.memo.get(index).ok_or_else(missing)
    }

    fn remember(&mut self, index: u64) -> Result<(), PickleError> {
        self.memo.count += 1;
        let place = self.stack.slots.len().saturating_sub(1);
        let slot = self.stack.top().map_err(|what| self.opcodes.wrong(what))?;
        if !self.memo.wants(index) {
            return Ok(());
        }
        match &mut slot.held {
            Held::Done(value) => {
                self.memo.keep(index, value).map_err(|what| self.opcodes.wrong(what))
            }
            Held::Open(open) if open.names.len() < 4 => {
                open.names.push(index);
                self.memo.places.insert(index, place);
                Ok(())
            }
            Held::Open(_) => Err(self.opcodes.wrong("one value under many names")),
        }
    }

    fn dict(&mut self) -> Result<Option<Vec<Entry>>, PickleError> {
        let from = self.mark()?;
        self.open(ContainerKind::Dict, Vec::new())?;
        // Below what goes into it, as if it had been there first.
        self.stack.slots[from..].rotate_right(1);
        self.extend(from + 1, ContainerKind::Dict)
    }

    /// Puts everything from `from` on into what is below it; entries of the dict at the bottom
    /// are handed out instead.
    fn extend(
        &mut self,
        from: usize,
        kind: ContainerKind,
    ) -> Result<Option<Vec<Entry>>, PickleError> {
        let fits = |slot: &Slot| matches!(&slot.held, Held::Open(open) if open.kind == kind);
        let Some(target) = from.checked_sub(1).filter(|place| fits(&self.stack.slots[*place]))
        else {
            let what =
                format!("there is no {kind:?} that can still change below what goes into it");
            return Err(self.opcodes.wrong(what));
        };
        let is_bottom = target == 0 && self.stack.marks.is_empty();
        if kind == ContainerKind::Dict && !(self.stack.slots.len() - from).is_multiple_of(2) {
            return Err(self.opcodes.wrong("a key without a value"));
        }
        if is_bottom && kind == ContainerKind::Dict {
            let keys = self.stack.slots[from..].iter().step_by(2);
            let starts: Vec<u64> = keys.map(|slot| slot.at).collect();
            let values = self.take(from)?;
            let pairs = values.chunks_exact(2).zip(starts);
            return Ok(Some(pairs.map(|(p, at)| (p[0].clone(), p[1].clone(), at)).collect()));
        }
        let values = self.take(from)?;
        if let Held::Open(open) = &mut self.stack.slots[target].held {
            open.items.extend(values);
        }
        Ok(None)
    }

    fn stop(&mut self) -> Result<(), PickleError> {
        self.over = true;
        let what = match self.stack.slots.pop() {
            Some(Slot { held: Held::Open(open), .. }) if self.stack.slots.is_empty() => {
                if open.kind == ContainerKind::Dict {
                    return Ok(());
                }
                format!("a {:?}", open.kind).to_lowercase()
            }
            Some(Slot { held: Held::Done(value), .. }) => value.kind().to_string(),
            _ => "something unfinished".to_string(),
        };
        Err(self.opcodes.wrong(format!("the pickle holds {what}, expected a dict of devices")))
    }
}
