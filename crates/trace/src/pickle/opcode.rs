//! The opcodes of pickle protocols 0 to 5 and their arguments.

use super::escape::{Escapes, unescape};
use super::{LONGEST, PickleError};
use std::io::{BufRead, ErrorKind, Read};

/// What an opcode asks the machine to do. The text of a `Text` stays with the reader.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Op {
    /// Protocol numbers and frames: how the bytes are laid out, not what they mean.
    Nothing,
    Stop,
    Mark,
    Pop,
    PopMark,
    Dup,
    None,
    Bool,
    Int(i64),
    Float(f64),
    Text,
    Bytes,
    EmptyList,
    EmptyTuple,
    EmptyDict,
    EmptySet,
    List,
    Tuple,
    Dict,
    FrozenSet,
    /// A tuple of the last one, two or three.
    LastTuple(usize),
    Append,
    Appends,
    SetItem,
    SetItems,
    AddItems,
    Get(u64),
    Put(u64),
    Memoize,
}

/// Opcodes that ask for more than plain data: their byte, name and what they want.
const REFUSED: [(u8, &str, &str); 15] = [
    (b'c', "GLOBAL", "a global"),
    (0x93, "STACK_GLOBAL", "a global"),
    (b'i', "INST", "a global and a call"),
    (b'R', "REDUCE", "a call"),
    (b'o', "OBJ", "a call"),
    (0x81, "NEWOBJ", "a call"),
    (0x92, "NEWOBJ_EX", "a call"),
    (b'b', "BUILD", "a call"),
    (b'P', "PERSID", "a persistent id"),
    (b'Q', "BINPERSID", "a persistent id"),
    (0x82, "EXT1", "an extension"),
    (0x83, "EXT2", "an extension"),
    (0x84, "EXT4", "an extension"),
    (0x97, "NEXT_BUFFER", "a buffer from elsewhere"),
    (0x98, "READONLY_BUFFER", "a buffer from elsewhere"),
];

const PLAIN: &str = "nothing was run; in Python, turn it into plain dicts, lists, str, int and \
                     float (numpy values with .item() or .tolist()) and pickle it again";

/// Reads opcodes.
pub(super) struct Opcodes<R> {
    input: R,
    /// Bytes read so far.
    read: u64,
    /// Where the current opcode begins, and its first byte.
    pub(super) at: u64,
    scratch: Vec<u8>,
}

impl<R: BufRead> Opcodes<R> {
    pub(super) fn new(input: R) -> Self {
        Opcodes { input, read: 0, at: 0, scratch: Vec::new() }
    }

    /// The argument of the [`Op::Text`] just read.
    pub(super) fn text(&self) -> std::borrow::Cow<'_, str> {
        String::from_utf8_lossy(&self.scratch)
    }

    /// The next opcode.
    pub(super) fn next(&mut self) -> Result<Op, PickleError> {
        self.at = self.read;
        let [code] = self.array()?;
        Ok(match code {
            0x80 => {
                let [protocol] = self.array()?;
                if protocol > 5 {
                    return Err(self.wrong(format!("protocol {protocol}, expected 0 to 5")));
                }
                Op::Nothing
            }
            0x95 => {
                self.array::<8>()?;
                Op::Nothing
            }
            b'.' => Op::Stop,
            b'(' => Op::Mark,
            b'0' => Op::Pop,
            b'1' => Op::PopMark,
            b'2' => Op::Dup,
            b'N' => Op::None,
            0x88 | 0x89 => Op::Bool,
            b'K' => Op::Int(i64::from(self.array::<1>()?[0])),
            b'M' => Op::Int(i64::from(u16::from_le_bytes(self.array()?))),
            b'J' => Op::Int(i64::from(i32::from_le_bytes(self.array()?))),
            b'I' => match self.number()? {
                "00" | "01" => Op::Bool,
                _ => self.integer()?,
            },
            b'L' => self.integer_line()?,
            0x8a => self.long(1)?,
            0x8b => self.long(4)?,
            b'G' => Op::Float(f64::from_be_bytes(self.array()?)),
            b'F' => {
                let value = self.number()?.parse();
                Op::Float(value.map_err(|_| self.wrong("this is no number"))?)
            }
            b'X' => self.binary(4, Op::Text)?,
            0x8c => self.binary(1, Op::Text)?,
            0x8d => self.binary(8, Op::Text)?,
            b'T' => self.binary(4, Op::Text)?,
            b'U' => self.binary(1, Op::Text)?,
            b'V' => self.escaped(Escapes::Unicode)?,
            b'S' => self.escaped(Escapes::Quoted)?,
            b'B' => self.binary(4, Op::Bytes)?,
            b'C' => self.binary(1, Op::Bytes)?,
            0x8e | 0x96 => self.binary(8, Op::Bytes)?,
            b']' => Op::EmptyList,
            b')' => Op::EmptyTuple,
            b'}' => Op::EmptyDict,
            0x8f => Op::EmptySet,
            b'l' => Op::List,
            b't' => Op::Tuple,
            b'd' => Op::Dict,
            0x91 => Op::FrozenSet,
            0x85..=0x87 => Op::LastTuple(usize::from(code - 0x84)),
            b'a' => Op::Append,
            b'e' => Op::Appends,
            b's' => Op::SetItem,
            b'u' => Op::SetItems,
            0x90 => Op::AddItems,
            b'h' => Op::Get(u64::from(self.array::<1>()?[0])),
            b'j' => Op::Get(u64::from(u32::from_le_bytes(self.array()?))),
            b'g' => Op::Get(self.index()?),
            b'q' => Op::Put(u64::from(self.array::<1>()?[0])),
            b'r' => Op::Put(u64::from(u32::from_le_bytes(self.array()?))),
            b'p' => Op::Put(self.index()?),
            0x94 => Op::Memoize,
            _ => return Err(self.refused(code)),
        })
    }

    pub(super) fn wrong(&self, what: impl Into<String>) -> PickleError {
        PickleError::new(self.at, what)
    }

    fn refused(&self, code: u8) -> PickleError {
        match REFUSED.iter().find(|(refused, ..)| *refused == code) {
            Some((_, name, wants)) => {
                let what = format!("the opcode {name} (0x{code:02x}) asks for {wants}: refused");
                PickleError { help: Some(PLAIN), ..self.wrong(what) }
            }
            None => self.wrong(format!("0x{code:02x} is no opcode of a pickle")),
        }
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], PickleError> {
        let mut bytes = [0; N];
        match self.input.read_exact(&mut bytes) {
            Ok(()) => self.read += N as u64,
            Err(error) => return Err(self.ended(&error)),
        }
        Ok(bytes)
    }

    fn ended(&self, error: &std::io::Error) -> PickleError {
        match error.kind() {
            ErrorKind::UnexpectedEof => self.wrong("the pickle ends here, before its STOP"),
            _ => self.wrong(format!("cannot read on: {error}")),
        }
    }

    /// A length of `width` bytes and as many bytes as it says.
    fn binary(&mut self, width: usize, op: Op) -> Result<Op, PickleError> {
        let length = self.length(width)?;
        self.fill(length)?;
        Ok(op)
    }

    fn length(&mut self, width: usize) -> Result<u64, PickleError> {
        let length = match width {
            1 => u64::from(self.array::<1>()?[0]),
            4 => u64::from(u32::from_le_bytes(self.array()?)),
            _ => u64::from_le_bytes(self.array()?),
        };
        if length > LONGEST {
            return Err(self.wrong(format!("{length} bytes, expected at most {LONGEST}")));
        }
        Ok(length)
    }

    fn fill(&mut self, length: u64) -> Result<(), PickleError> {
        self.scratch.clear();
        // Memory grows with what is there, not with what is claimed.
        let read = self.input.by_ref().take(length).read_to_end(&mut self.scratch);
        let read = read.map_err(|error| self.ended(&error))? as u64;
        self.read += read;
        match read == length {
            true => Ok(()),
            false => Err(self.ended(&ErrorKind::UnexpectedEof.into())),
        }
    }

    /// Reads a line, without its end.
    fn line(&mut self) -> Result<(), PickleError> {
        self.scratch.clear();
        let read = self.input.by_ref().take(LONGEST).read_until(b'\n', &mut self.scratch);
        self.read += read.map_err(|error| self.ended(&error))? as u64;
        if self.scratch.pop() != Some(b'\n') {
            return Err(match self.scratch.len() as u64 + 1 >= LONGEST {
                true => self.wrong(format!("a line of more than {LONGEST} bytes")),
                false => self.ended(&ErrorKind::UnexpectedEof.into()),
            });
        }
        if self.scratch.last() == Some(&b'\r') {
            self.scratch.pop();
        }
        Ok(())
    }

    /// Reads a line that holds a number.
    fn number(&mut self) -> Result<&str, PickleError> {
        self.line()?;
        let at = self.at;
        let text = std::str::from_utf8(&self.scratch);
        text.map(str::trim).map_err(|_| PickleError::new(at, "this line is not text"))
    }

    fn integer_line(&mut self) -> Result<Op, PickleError> {
        self.line()?;
        self.integer()
    }

    /// The integer in the line just read. Python 2 marks long ones with an L.
    fn integer(&self) -> Result<Op, PickleError> {
        let text = self.text();
        let digits = text.trim().trim_end_matches('L');
        digits.parse().map(Op::Int).map_err(|_| self.wrong("this is no integer of 64 bits"))
    }

    fn index(&mut self) -> Result<u64, PickleError> {
        let index = self.number()?.parse();
        index.map_err(|_| self.wrong("this is no index"))
    }

    /// A little-endian two's complement integer.
    fn long(&mut self, width: usize) -> Result<Op, PickleError> {
        let length = self.length(width)?;
        self.fill(length)?;
        let fill = if self.scratch.last().is_some_and(|last| last & 0x80 != 0) { 0xff } else { 0 };
        let mut bytes = [fill; 8];
        let (low, high) = self.scratch.split_at(self.scratch.len().min(8));
        bytes[..low.len()].copy_from_slice(low);
        let value = i64::from_le_bytes(bytes);
        match high.iter().all(|byte| *byte == fill) && (value < 0) == (fill == 0xff) {
            true => Ok(Op::Int(value)),
            false => Err(self.wrong("an integer of more than 64 bits")),
        }
    }

    /// Protocol 0: a text in one line, in Latin-1, with escapes.
    fn escaped(&mut self, escapes: Escapes) -> Result<Op, PickleError> {
        self.line()?;
        let line: String = self.scratch.iter().copied().map(char::from).collect();
        let mut text = line.as_str();
        if escapes == Escapes::Quoted {
            let quote = text.chars().next().filter(|c| matches!(c, '\'' | '"'));
            let inside = quote.and_then(|quote| text.strip_prefix(quote)?.strip_suffix(quote));
            text = inside.ok_or_else(|| self.wrong("this text has no quotes"))?;
        }
        let text = unescape(text, escapes);
        let text = text.ok_or_else(|| self.wrong("a backslash that escapes nothing"))?;
        self.scratch = text.into_bytes();
        Ok(Op::Text)
    }
}
