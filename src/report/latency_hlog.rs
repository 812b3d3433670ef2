//! `latency.hlog`: the latencies of all runs as HdrHistograms.

use super::row_file::{FileError, RowFile};
use crate::clock::Span;
use crate::run_files::{Phase, Phases};
use hdrhistogram::serialization::V2DeflateSerializer;
use hdrhistogram::serialization::interval_log::{IntervalLogWriterBuilder, Tag};
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

    /// Writes everything gathered; its length.
    pub fn flush(&mut self) -> Result<u64, FileError> {
        self.0.flush()?;
        Ok(self.0.length())
    }
}

/// The lines of one run.
pub fn latency_lines(run: &str, length: Span, phases: &Phases) -> Vec<u8> {
    let header = written(&[]).len();
    written(&[(run, length, phases)]).split_off(header)
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
