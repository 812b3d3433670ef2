//! Bytes to read: a file or some memory, gunzipped if its content says so, never without bound.

use super::error::TraceError;
use flate2::read::MultiGzDecoder;
use std::fs::File;
use std::io::{self, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Something that can be read, more than once.
#[derive(Clone, Debug)]
pub struct Input {
    path: PathBuf,
    bytes: Option<Arc<[u8]>>,
}

/// What reading from an [`Input`] gives, gunzipped.
pub(super) type Bytes = BufReader<Box<dyn Read + Send>>;

impl Input {
    /// A file, or a folder for formats that take one.
    pub fn file(path: impl Into<PathBuf>) -> Self {
        Input { path: path.into(), bytes: None }
    }

    /// Bytes in memory, under a name for messages.
    pub fn bytes(name: &str, bytes: impl Into<Arc<[u8]>>) -> Self {
        Input { path: name.into(), bytes: Some(bytes.into()) }
    }

    /// Its name.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether this is a folder.
    pub(super) fn is_folder(&self) -> bool {
        self.bytes.is_none() && self.path.is_dir()
    }

    /// Whether reading it a second time gives the same: not of pipes.
    pub(super) fn can_be_read_twice(&self) -> bool {
        self.bytes.is_some() || self.path.metadata().map_or(true, |known| known.is_file())
    }

    /// Starts reading. What begins like gzip is gunzipped: names are often wrong.
    pub(super) fn open(&self) -> Result<Bytes, TraceError> {
        let mut raw: Box<dyn Read + Send> = match &self.bytes {
            Some(bytes) => Box::new(Cursor::new(bytes.clone())),
            None => Box::new(File::open(&self.path).map_err(|error| self.broken(&error))?),
        };
        let mut start = Vec::new();
        raw.by_ref().take(2).read_to_end(&mut start).map_err(|error| self.broken(&error))?;
        let zipped = start == [0x1f, 0x8b];
        let whole = Cursor::new(start).chain(BufReader::with_capacity(1 << 16, raw));
        let plain: Box<dyn Read + Send> = match zipped {
            true => Box::new(UpTo { inner: MultiGzDecoder::new(whole), left: MOST_UNZIPPED }),
            false => Box::new(whole),
        };
        Ok(BufReader::with_capacity(1 << 16, plain))
    }

    /// An error of the system while reading this.
    pub(super) fn broken(&self, error: &io::Error) -> TraceError {
        TraceError::io(&self.path, "read", error)
    }

    /// Something wrong with what is in it.
    pub(super) fn wrong(&self, what: impl Into<String>) -> TraceError {
        TraceError::new(&self.path, what)
    }
}

/// Bytes that come out of a gzipped file at most: a few megabytes can hold gigabytes. A file that is not
/// gzipped takes as much of the disk.
const MOST_UNZIPPED: u64 = 16 << 30;

/// Refuses to read on after so many bytes.
struct UpTo<R> {
    inner: R,
    left: u64,
}

impl<R: Read> Read for UpTo<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.left = self.left.checked_sub(count as u64).ok_or_else(|| {
            io::Error::new(io::ErrorKind::FileTooLarge, "it unzips to more than 16 GiB")
        })?;
        Ok(count)
    }
}

/// Refuses to read on when one record gets too long: a few kilobytes of gzip can hold gigabytes
/// of one line.
pub(super) struct Metered<R> {
    inner: R,
    meter: Meter,
    limit: u64,
}

/// Where a [`Metered`] reader is.
#[derive(Clone, Default)]
pub(super) struct Meter(Arc<[AtomicU64; 3]>);

impl Meter {
    /// A new record begins.
    pub(super) fn next_record(&self) {
        self.0[0].store(0, Relaxed);
    }

    /// Bytes read so far.
    pub(super) fn bytes(&self) -> u64 {
        self.0[1].load(Relaxed)
    }

    /// The line that is being read, from 1.
    pub(super) fn line(&self) -> u64 {
        self.0[2].load(Relaxed) + 1
    }
}

impl<R> Metered<R> {
    /// At most `limit` bytes in a record.
    pub(super) fn new(inner: R, limit: u64) -> (Self, Meter) {
        let meter = Meter::default();
        (Metered { inner, meter: meter.clone(), limit }, meter)
    }
}

impl<R: Read> Read for Metered<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let [record, bytes, lines] = &*self.meter.0;
        if record.load(Relaxed) > self.limit {
            let what = format!("one record takes more than {} bytes", self.limit);
            return Err(io::Error::new(io::ErrorKind::InvalidData, what));
        }
        let count = self.inner.read(buffer)?;
        // One thread reads; a plain load and store are enough, and cheaper.
        record.store(record.load(Relaxed) + count as u64, Relaxed);
        bytes.store(bytes.load(Relaxed) + count as u64, Relaxed);
        let ends = buffer[..count].iter().filter(|byte| **byte == b'\n').count();
        lines.store(lines.load(Relaxed) + ends as u64, Relaxed);
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::{Compression, write::GzEncoder};
    use std::io::Write;

    fn read(bytes: &[u8]) -> io::Result<Vec<u8>> {
        let mut all = Vec::new();
        Input::bytes("x", bytes).open().unwrap().read_to_end(&mut all)?;
        Ok(all)
    }

    #[test]
    fn gzip_is_known_by_its_content() {
        let mut zip = GzEncoder::new(Vec::new(), Compression::fast());
        zip.write_all(b"hello").unwrap();
        let zipped = zip.finish().unwrap();
        assert_eq!(read(&zipped).unwrap(), b"hello");
        assert_eq!(read(&[&zipped[..], &zipped].concat()).unwrap(), b"hellohello");
        assert!(read(&zipped[..10]).is_err(), "cut off");
        for plain in [&b""[..], b"\x1f", b"ab", b"hello"] {
            assert_eq!(read(plain).unwrap(), plain);
        }
    }

    #[test]
    fn a_record_without_end_is_refused() {
        let (mut reader, meter) = Metered::new(io::repeat(b'\n').take(1 << 20), 1000);
        let mut buffer = [0; 100];
        for _ in 0..50 {
            meter.next_record();
            assert_eq!(reader.read(&mut buffer).unwrap(), 100);
        }
        assert_eq!((meter.bytes(), meter.line()), (5000, 5001));
        let error = reader.read_to_end(&mut Vec::new()).unwrap_err();
        assert!(error.to_string().contains("more than 1000 bytes"), "{error}");
    }
}
