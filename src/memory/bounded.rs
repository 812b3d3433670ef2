//! Files read with a bound: what somebody names may be a device without an end, or a few kilobytes of gzip
//! that hold gigabytes.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::Path;

/// A whole file of at most `most` bytes.
pub(crate) fn read_at_most(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let file = File::open(path)?;
    let mut bytes =
        Vec::with_capacity(file.metadata().map_or(0, |known| known.len().min(most)) as usize);
    Bounded::new(file, most, most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Refuses to read on when a line or all of it gets too long.
pub(crate) struct Bounded<R> {
    inner: R,
    left: u64,
    most: u64,
    line: u64,
    longest: u64,
}

impl<R> Bounded<R> {
    /// At most `most` bytes in all, and `longest` in a line.
    pub(crate) fn new(inner: R, most: u64, longest: u64) -> Self {
        Bounded { inner, left: most, most, line: 0, longest }
    }
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        let refuse = |what: String| Err(io::Error::new(ErrorKind::FileTooLarge, what));
        let Some(left) = self.left.checked_sub(count as u64) else {
            return refuse(format!("it holds more than {}", size(self.most)));
        };
        self.left = left;
        let read = &buffer[..count];
        // Nearly always no line can be too long, and only the last matters.
        if self.line + count as u64 <= self.longest {
            self.line = match read.iter().rposition(|byte| *byte == b'\n') {
                Some(end) => (count - end - 1) as u64,
                None => self.line + count as u64,
            };
            return Ok(count);
        }
        for line in read.split_inclusive(|byte| *byte == b'\n') {
            self.line += line.len() as u64;
            if self.line > self.longest {
                return refuse(format!("a line of more than {}", size(self.longest)));
            }
            if line.ends_with(b"\n") {
                self.line = 0;
            }
        }
        Ok(count)
    }
}

fn size(bytes: u64) -> String {
    match bytes >> 20 {
        0 => format!("{bytes} bytes"),
        mebibytes @ 1..1024 => format!("{mebibytes} MiB"),
        mebibytes => format!("{:.0} GiB", mebibytes as f64 / 1024.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &[u8], most: u64, longest: u64) -> Result<usize, String> {
        let mut all = Vec::new();
        let read = Bounded::new(text, most, longest).read_to_end(&mut all);
        read.map_err(|error| error.to_string())
    }

    #[test]
    fn lines_and_files_have_an_end() {
        assert_eq!(read(b"ab\ncd\n", 6, 3), Ok(6));
        assert_eq!(read(b"ab\ncd\n", 5, 3), Err("it holds more than 5 bytes".into()));
        assert_eq!(read(b"ab\ncd\n", 6, 2), Err("a line of more than 2 bytes".into()));
        assert_eq!(read(b"", 0, 0), Ok(0));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_device_without_an_end_is_refused() {
        let error = read_at_most(Path::new("/dev/zero"), 3 << 20).unwrap_err();
        assert_eq!(error.to_string(), "it holds more than 3 MiB");
    }
}
