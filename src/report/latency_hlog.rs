//! `latency.hlog`: the latencies of all runs as HdrHistograms.

use super::folder::write_whole;
use super::row_file::FileError;
use crate::clock::Span;
use crate::run_files::{Phase, Phases};
use hdrhistogram::serialization::V2DeflateSerializer;
use hdrhistogram::serialization::interval_log::{IntervalLogWriterBuilder, Tag};
use std::path::Path;
use std::time::Duration;

/// Writes `latency.hlog` in the standard interval-log format: for every run one interval as long
/// as its simulated time, with a histogram of nanoseconds tagged `run.phase` for each phase.
pub fn write_hlog(path: &Path, runs: &[(String, Span, &Phases)]) -> Result<(), FileError> {
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
    write_whole(path, &text)
}
