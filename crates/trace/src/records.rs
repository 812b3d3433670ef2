//! Lines of cells: CSV with any delimiter, and with the line numbers an editor shows.

use super::source::{Bytes, Input};
use std::io::{self, BufRead, Read};

/// Longest record, in bytes: a few kilobytes of gzip can hold gigabytes of one line.
const LONGEST: usize = 1 << 20;
/// Bytes of all comments and empty lines together: nothing comes of reading them.
const MOST_SKIPPED: u64 = 16 << 20;
/// Most lines that one quoted cell goes on for.
const MOST_LINES: usize = 100;

/// Reads records. Quoted cells may hold delimiters, line ends and doubled quotes.
pub(super) struct Records {
    reader: Bytes,
    delimiter: u8,
    /// Where the current record begins, from 1.
    line: u64,
    lines_read: u64,
    skipped: u64,
    raw: Vec<u8>,
    text: Vec<u8>,
    /// Where each cell is in `text`.
    cells: Vec<(usize, usize)>,
    is_waiting: bool,
}

impl Records {
    /// Starts with the first record, from which `delimiter` chooses.
    pub(super) fn open(
        input: &Input,
        delimiter: impl Fn(&[u8]) -> u8,
    ) -> Result<Self, super::TraceError> {
        let mut records = Records {
            reader: input.open()?,
            delimiter: b',',
            line: 0,
            lines_read: 0,
            skipped: 0,
            raw: Vec::new(),
            text: Vec::new(),
            cells: Vec::new(),
            is_waiting: false,
        };
        let start = |records: &mut Records| {
            let is_line = records.find_line()?;
            records.delimiter = delimiter(&records.raw);
            records.is_waiting = is_line && records.cells_of_line()?;
            Ok(())
        };
        start(&mut records).map_err(|error: io::Error| input.broken(&error))?;
        Ok(records)
    }

    /// Reads the next record; false at the end.
    pub(super) fn next(&mut self) -> io::Result<bool> {
        match std::mem::take(&mut self.is_waiting) {
            true => Ok(true),
            false => Ok(self.find_line()? && self.cells_of_line()?),
        }
    }

    /// The current record comes again.
    pub(super) fn again(&mut self) {
        self.is_waiting = true;
    }

    /// The line where the current record begins.
    pub(super) fn line(&self) -> u64 {
        self.line
    }

    /// Cells of the current record.
    pub(super) fn len(&self) -> usize {
        self.cells.len()
    }

    /// A cell of the current record.
    pub(super) fn get(&self, index: usize) -> Option<&[u8]> {
        self.cells.get(index).map(|(from, to)| &self.text[*from..*to])
    }

    /// All of them.
    pub(super) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.cells.iter().map(|(from, to)| &self.text[*from..*to])
    }

    /// Goes to the next line that is neither empty nor a comment.
    fn find_line(&mut self) -> io::Result<bool> {
        loop {
            self.raw.clear();
            self.cells.clear();
            self.line = self.lines_read + 1;
            if !self.add_line()? {
                return Ok(false);
            }
            if !self.raw.starts_with(b"#") && !self.raw.trim_ascii().is_empty() {
                return Ok(true);
            }
            self.skipped += self.raw.len() as u64;
            if self.skipped > MOST_SKIPPED {
                return Err(self.wrong("more than 16 MiB of comments and empty lines".into()));
            }
        }
    }

    fn add_line(&mut self) -> io::Result<bool> {
        let room = (LONGEST + 1 - self.raw.len()) as u64;
        let read = self.reader.by_ref().take(room).read_until(b'\n', &mut self.raw)?;
        self.lines_read += u64::from(read > 0);
        // What some editors put before everything else.
        if self.lines_read == 1 && self.raw.starts_with(b"\xef\xbb\xbf") {
            self.raw.drain(..3);
        }
        match self.raw.len() > LONGEST {
            true => Err(self.wrong(format!("a row of more than {LONGEST} bytes"))),
            false => Ok(read > 0),
        }
    }

    fn cells_of_line(&mut self) -> io::Result<bool> {
        for _ in 0..MOST_LINES {
            if self.split() {
                return Ok(true);
            }
            if !self.add_line()? {
                break;
            }
        }
        Err(self.wrong("a quote that is not closed".into()))
    }

    fn wrong(&self, what: String) -> io::Error {
        io::Error::new(io::ErrorKind::InvalidData, format!("line {}: {what}", self.line))
    }

    /// Splits what was read; false if it ends within quotes.
    fn split(&mut self) -> bool {
        self.text.clear();
        self.cells.clear();
        let line = self.raw.strip_suffix(b"\n").unwrap_or(&self.raw);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let mut rest = line;
        loop {
            let from = self.text.len();
            if let Some(mut quoted) = rest.strip_prefix(b"\"") {
                loop {
                    let Some(quote) = quoted.iter().position(|byte| *byte == b'"') else {
                        return false;
                    };
                    self.text.extend_from_slice(&quoted[..quote]);
                    quoted = &quoted[quote + 1..];
                    match quoted.strip_prefix(b"\"") {
                        Some(more) => {
                            self.text.push(b'"');
                            quoted = more;
                        }
                        None => break,
                    }
                }
                rest = quoted;
            }
            let end = rest.iter().position(|byte| *byte == self.delimiter);
            self.text.extend_from_slice(&rest[..end.unwrap_or(rest.len())]);
            self.cells.push((from, self.text.len()));
            match end {
                Some(end) => rest = &rest[end + 1..],
                None => return true,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> Result<Vec<(u64, Vec<String>)>, String> {
        let input = Input::bytes("t", text.as_bytes());
        let mut records = Records::open(&input, |_| b',').map_err(|error| error.to_string())?;
        let mut all = Vec::new();
        while records.next().map_err(|error| error.to_string())? {
            let cells = records.iter().map(|cell| String::from_utf8_lossy(cell).into_owned());
            all.push((records.line(), cells.collect()));
        }
        Ok(all)
    }

    #[test]
    fn lines_are_those_of_an_editor() {
        let text = "\u{feff}# by hand\r\n\r\na,b\r\n\n \"x\",\"1,\"\"2\n3\"z,\n#\nlast";
        let cells = |cells: &[&str]| cells.iter().map(|cell| cell.to_string()).collect();
        let expected: Vec<(u64, Vec<String>)> = vec![
            (3, cells(&["a", "b"])),
            (5, cells(&[" \"x\"", "1,\"2\n3z", ""])),
            (8, cells(&["last"])),
        ];
        assert_eq!(all(text).unwrap(), expected);
        assert_eq!(all("\u{feff}a\n").unwrap(), [(1, vec!["a".to_string()])]);
        assert_eq!(all("").unwrap(), []);
    }

    #[test]
    fn quotes_and_lines_have_an_end() {
        assert!(all("a\n\"b\nc\n").unwrap_err().contains("line 2: a quote that is not closed"));
        let long = format!("a\n{}", "x".repeat(2 * LONGEST));
        assert!(all(&long).unwrap_err().contains("line 2: a row of more than"));
        assert!(all(&format!("\"{}", "\n".repeat(LONGEST / 2))).is_err());
        let comments = "# nothing\n".repeat(2_000_000);
        assert!(all(&format!("a\n{comments}")).unwrap_err().contains("16 MiB of comments"));
    }
}
