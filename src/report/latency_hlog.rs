//! `latency.hlog`: the latencies of all runs as HdrHistograms.

use super::row_file::{FileError, RowFile};
use crate::clock::Span;
use crate::memory;
use crate::run_files::{MOST_TEXT, Phase, Phases, ReadError};
use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::interval_log::{
    IntervalLogIterator, IntervalLogWriterBuilder, LogEntry, Tag,
};
use hdrhistogram::serialization::{Deserializer, V2DeflateSerializer};
use std::path::Path;
use std::time::Duration;

/// The file in the standard interval-log format, to which every run is added when it is over: one interval as
/// long as its simulated time, with a histogram of nanoseconds tagged `run.phase` for each phase.
pub struct LatencyLog(RowFile);

impl LatencyLog {
    /// Creates the file.
    pub fn create(path: &Path) -> Result<Self, FileError> {
        let header = String::from_utf8(written(&[])).expect("a log is text");
        RowFile::create(path, header.trim_end_matches('\n')).map(LatencyLog)
    }

    /// Goes on with a file of which `length` bytes are kept.
    pub fn resume(path: &Path, length: u64) -> Result<Self, FileError> {
        RowFile::resume(path, length).map(LatencyLog)
    }

    /// Adds the [lines](latency_lines) of a run.
    pub fn add(&mut self, lines: &[u8]) -> Result<(), FileError> {
        self.0.push(|out| out.extend_from_slice(lines))
    }

    /// Adds what another log has after its header, of which so many bytes were written.
    pub fn append(&mut self, path: &Path, written: u64) -> Result<(), FileError> {
        self.0.append(path, header_length(), written)
    }

    /// Writes everything gathered; its length.
    pub fn flush(&mut self) -> Result<u64, FileError> {
        self.0.flush()?;
        Ok(self.0.length())
    }

    /// What is written is on the disk when this returns.
    pub fn sync(&self) -> Result<(), FileError> {
        self.0.sync()
    }
}

/// Calls `take` with every histogram of a file, in its order: with the name of its run, and the phase.
pub fn read_latencies(
    path: &Path,
    mut take: impl FnMut(&str, Phase, &Histogram<u64>),
) -> Result<(), ReadError> {
    let read = |source| ReadError::Read { path: path.to_owned(), source };
    let bytes = memory::read_at_most(path, MOST_TEXT).map_err(read)?;
    let mut deserializer = Deserializer::new();
    for entry in IntervalLogIterator::new(&bytes) {
        let entry = entry.map_err(|_| ReadError::broken(path, "it is not a log of latencies"))?;
        let LogEntry::Interval(interval) = entry else { continue };
        let Some((run, phase)) = interval.tag().and_then(|tag| tag.as_str().rsplit_once('.'))
        else {
            continue;
        };
        let phase = Phase::ALL.into_iter().find(|known| known.name() == phase);
        let encoded = BASE64.decode(interval.encoded_histogram()).ok();
        let histogram = encoded.and_then(|bytes| deserializer.deserialize(&mut &bytes[..]).ok());
        if let (Some(phase), Some(histogram)) = (phase, histogram) {
            take(run, phase, &histogram);
        }
    }
    Ok(())
}

fn header_length() -> u64 {
    written(&[]).len() as u64
}

/// The lines of one run.
pub fn latency_lines(run: &str, length: Span, phases: &Phases) -> Vec<u8> {
    written(&[(run, length, phases)]).split_off(header_length() as usize)
}

fn written(runs: &[(&str, Span, &Phases)]) -> Vec<u8> {
    let mut text = Vec::new();
    let mut serializer = V2DeflateSerializer::new();
    let mut log = IntervalLogWriterBuilder::new()
        .add_comment("Gruppetto: simulated latencies in nanoseconds, tagged run.phase")
        // The column of maxima is in milliseconds, as the stock tools print it.
        .with_max_value_divisor(1e6)
        .begin_log_with(&mut text, &mut serializer)
        .expect("writing to memory");
    for (run, length, phases) in runs {
        for phase in Phase::ALL {
            let tag = format!("{run}.{}", phase.name());
            let tag = Tag::new(&tag).expect("run names are plain");
            let length = Duration::from_nanos(length.nanos());
            log.write_histogram(phases.get(phase), Duration::ZERO, length, Some(tag))
                .expect("writing to memory");
        }
    }
    text
}
