//! A CSV file that somebody else is writing, read line by line as it grows.
//!
//! Only whole lines are taken: half of one stays where it is until its end is there. A file that is
//! read more slowly than it is written, or that was huge before anybody looked, is not read through:
//! what lies too far back is left out, and its size is reported.

use std::fs::{File, Metadata};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// No header of ours is as long as this.
const LONGEST_HEADER: u64 = 1 << 14;

/// How much of a file is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Limits {
    /// Bytes at a time.
    pub at_once: u64,
    /// Bytes that may still have to be read; of more than that only the last are.
    pub behind: u64,
}

/// A line of the file that is followed, without its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TailLine<'a> {
    /// The first one: the names of the columns.
    Header(&'a str),
    /// Any other.
    Row(&'a str),
    /// Here lines were left out.
    Gap,
}

/// What came of reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reading {
    /// There is no file, or nothing in it yet.
    Nothing,
    /// Everything that was there has been read.
    UpToDate,
    /// There is more to read.
    Behind,
    /// It is another file than before: everything read from it is out of date.
    Replaced,
}

/// Reads a file that grows.
pub(super) struct Tail {
    path: PathBuf,
    limits: Limits,
    open: Option<OpenFile>,
    skipped: u64,
}

/// The file is kept open: its number cannot be given to another one meanwhile.
struct OpenFile {
    file: File,
    identity: Identity,
    /// Where the first line that was not taken yet begins.
    position: u64,
}

impl Tail {
    /// Of the file at `path`, which need not be there yet.
    pub(super) fn new(path: PathBuf, limits: Limits) -> Self {
        Tail { path, limits, open: None, skipped: 0 }
    }

    /// The file.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Bytes that were left out.
    pub(super) fn skipped(&self) -> u64 {
        self.skipped
    }

    /// Forgets what was read: the next reading starts from the beginning.
    pub(super) fn rewind(&mut self) {
        self.open = None;
        self.skipped = 0;
    }

    /// Takes the lines that came since the last time, as many as the limits allow.
    pub(super) fn read(&mut self, take: &mut dyn FnMut(TailLine<'_>)) -> io::Result<Reading> {
        let there = match std::fs::metadata(&self.path) {
            Ok(there) => there,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Reading::Nothing),
            Err(error) => return Err(error),
        };
        if !there.is_file() {
            // A pipe would be waited for.
            return Err(io::Error::other("it is not a file"));
        }
        if let Some(open) = &self.open
            && (open.identity != identity(&there) || there.len() < open.position)
        {
            return Ok(Reading::Replaced);
        }
        if self.open.is_none() {
            self.open = OpenFile::begin(&self.path, take)?;
        }
        let Some(open) = &mut self.open else {
            return Ok(Reading::Nothing);
        };
        let end = open.file.metadata()?.len();
        let skipped = open.catch_up(end, self.limits.behind)?;
        if skipped > 0 {
            self.skipped += skipped;
            take(TailLine::Gap);
        }
        // What is left after one reading is half a line, unless there was more than is read at once.
        let is_behind = end.saturating_sub(open.position) > self.limits.at_once;
        open.take_lines(self.limits.at_once, take)?;
        Ok(if is_behind { Reading::Behind } else { Reading::UpToDate })
    }
}

impl OpenFile {
    /// Opens the file and takes its header, if that is there yet.
    fn begin(path: &Path, take: &mut dyn FnMut(TailLine<'_>)) -> io::Result<Option<Self>> {
        let mut file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let identity = identity(&file.metadata()?);
        let mut bytes = Vec::new();
        file.by_ref().take(LONGEST_HEADER).read_to_end(&mut bytes)?;
        let Some(end) = bytes.iter().position(|byte| *byte == b'\n') else {
            return Ok(None);
        };
        take(TailLine::Header(&String::from_utf8_lossy(&bytes[..end])));
        Ok(Some(OpenFile { file, identity, position: end as u64 + 1 }))
    }

    /// Leaves out what lies further back than `behind`, and says how much that is.
    fn catch_up(&mut self, end: u64, behind: u64) -> io::Result<u64> {
        if end.saturating_sub(self.position) <= behind {
            return Ok(0);
        }
        // From one byte earlier: if that ends a line, the first one is whole.
        let from = end - behind - 1;
        let mut bytes = Vec::new();
        self.file.seek(SeekFrom::Start(from))?;
        self.file.by_ref().take(LONGEST_HEADER).read_to_end(&mut bytes)?;
        let line = bytes.iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |at| at + 1);
        let position = from + line as u64;
        let skipped = position - self.position;
        self.position = position;
        Ok(skipped)
    }

    fn take_lines(&mut self, at_once: u64, take: &mut dyn FnMut(TailLine<'_>)) -> io::Result<()> {
        let mut bytes = Vec::new();
        self.file.seek(SeekFrom::Start(self.position))?;
        self.file.by_ref().take(at_once).read_to_end(&mut bytes)?;
        let whole = match bytes.iter().rposition(|byte| *byte == b'\n') {
            Some(end) => end + 1,
            // No line is as long as this: whatever it is, it must not hold us up for ever.
            None if bytes.len() as u64 == at_once => bytes.len(),
            None => 0,
        };
        for line in bytes[..whole].split_inclusive(|byte| *byte == b'\n') {
            if let Some(line) = line.strip_suffix(b"\n")
                && let Ok(line) = str::from_utf8(line)
            {
                take(TailLine::Row(line));
            }
        }
        self.position += whole as u64;
        Ok(())
    }
}

/// What tells a file from one that took its place.
#[cfg(unix)]
type Identity = (u64, u64);
#[cfg(not(unix))]
type Identity = Option<std::time::SystemTime>;

#[cfg(unix)]
fn identity(file: &Metadata) -> Identity {
    use std::os::unix::fs::MetadataExt;
    (file.dev(), file.ino())
}

#[cfg(not(unix))]
fn identity(file: &Metadata) -> Identity {
    file.created().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::io::Write;

    const WIDE: Limits = Limits { at_once: 1 << 20, behind: 1 << 20 };

    fn all(tail: &mut Tail) -> (Vec<String>, Reading) {
        let mut lines = Vec::new();
        let reading = tail
            .read(&mut |line| match line {
                TailLine::Header(line) => lines.push(format!("# {line}")),
                TailLine::Row(line) => lines.push(line.into()),
                TailLine::Gap => lines.push("...".into()),
            })
            .unwrap();
        (lines, reading)
    }

    fn append(path: &Path, text: &str) {
        let mut file = fs::OpenOptions::new().append(true).create(true).open(path).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    }

    #[test]
    fn half_a_line_waits_for_its_other_half() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        let mut tail = Tail::new(path.clone(), WIDE);
        assert_eq!(all(&mut tail), (vec![], Reading::Nothing), "no file");
        append(&path, "a,");
        assert_eq!(all(&mut tail), (vec![], Reading::Nothing), "half a header");
        append(&path, "b\n1,2\n3");
        assert_eq!(all(&mut tail).0, ["# a,b", "1,2"]);
        assert_eq!(all(&mut tail), (vec![], Reading::UpToDate));
        append(&path, ",4\n");
        assert_eq!(all(&mut tail).0, ["3,4"]);
        // A writer whose disk is full takes half a line back.
        append(&path, "5,");
        assert_eq!(all(&mut tail), (vec![], Reading::UpToDate));
        let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
        file.set_len(12).unwrap();
        assert_eq!(all(&mut tail), (vec![], Reading::UpToDate));
    }

    #[test]
    fn another_file_in_its_place_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        append(&path, "a\n1\n2\n");
        let mut tail = Tail::new(path.clone(), WIDE);
        all(&mut tail);
        fs::write(&path, "a\n").unwrap();
        assert_eq!(all(&mut tail).1, Reading::Replaced, "shorter than what was read");
        tail.rewind();
        assert_eq!(all(&mut tail).0, ["# a"]);
        fs::remove_file(&path).unwrap();
        assert_eq!(all(&mut tail).1, Reading::Nothing);
        append(&path, "a\n1\n2\n3\n");
        if cfg!(unix) {
            assert_eq!(all(&mut tail).1, Reading::Replaced, "longer, but another one");
        }
    }

    #[test]
    fn what_lies_too_far_back_is_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        let rows: String = (0..1000).map(|n| format!("{n:04}\n")).collect();
        append(&path, &format!("number\n{rows}"));
        let mut tail = Tail::new(path.clone(), Limits { at_once: 30, behind: 100 });
        let (lines, reading) = all(&mut tail);
        assert_eq!(lines[..3], ["# number", "...", "0980"], "the last hundred bytes");
        assert_eq!((tail.skipped(), reading), (4900, Reading::Behind));
        let mut rest = Vec::new();
        loop {
            let (lines, reading) = all(&mut tail);
            rest.extend(lines);
            if reading == Reading::UpToDate {
                break;
            }
        }
        assert_eq!(rest.last().unwrap(), "0999", "up to date is the end");
        assert_eq!(all(&mut tail), (vec![], Reading::UpToDate));
    }

    #[test]
    fn a_line_without_an_end_does_not_hold_it_up() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        append(&path, &format!("a\n{}\n1\n", "x".repeat(100)));
        let mut tail = Tail::new(path, Limits { at_once: 30, behind: 1000 });
        let lines: Vec<String> = (0..6).flat_map(|_| all(&mut tail).0).collect();
        assert_eq!(lines.last().unwrap(), "1");
    }
}
