//! outputs.md: `latency_seconds` and `latency.hlog`. `idle` is in `outputs.rs`, the column `staleness` in
//! `asynchronous.rs`.

use super::quadratic;
use crate::simulated::Simulated;
use gruppetto::run_files::{LatencySummary, Phase};
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};

const TWO: &str = "clients = 2\ndim = 1";

fn classes(steps: [&str; 2]) -> String {
    let mut text = "[fleet]\nassign = \"in-order\"\n".to_string();
    for (i, step) in steps.iter().enumerate() {
        text += &format!("[[fleet.class]]\nname = \"c{i}\"\nstep_time = \"{step}\"\n");
    }
    text
}

fn latency(run: &Simulated, phase: Phase) -> LatencySummary {
    run.summary.variants[0].latency_seconds.get(phase)
}

/// "of `staleness`, how long an update's model had been out of date". The fast client's updates of seconds 1
/// and 2 are of the newest model; the slow one's of second 3 is of the first, which was replaced at 1 s.
#[test]
fn staleness_is_how_long_a_model_had_been_replaced() {
    let server = "close = \"each\"\nconcurrency = 2";
    let text = quadratic("rounds = 3", TWO, "work.steps = 1", server, &classes(["1s", "3s"]));
    let staleness = latency(&Simulated::run(&text, 1), Phase::Staleness);
    assert_eq!((staleness.count, staleness.max, staleness.p50), (3, 2.0, 0.0));
}

/// "Histograms have three significant digits: percentiles and means in `latency_seconds` are theirs, counts
/// and maxima are exact". Their cells around 1 and 2 s are 2²⁰ ns wide: a percentile is the upper end of its
/// cell, a mean counts the middle of each.
#[test]
fn percentiles_and_means_are_those_of_the_histogram() {
    let steps = [1_234_567_891u64, 1_999_999_999];
    let text = quadratic(
        "rounds = 1",
        TWO,
        "work.steps = 1",
        "close = \"all\"",
        &classes(["1234567891ns", "1999999999ns"]),
    );
    let compute = latency(&Simulated::run(&text, 1), Phase::Compute);
    assert_eq!((compute.count, compute.max), (2, 1.999999999));
    let cell = |nanos: u64| nanos >> 20 << 20;
    let upper_end = (cell(steps[0]) + (1 << 20) - 1) as f64 / 1e9;
    let middles = steps.map(|nanos| (cell(nanos) + (1 << 19)) as f64 / 1e9);
    assert_eq!(compute.p50, upper_end);
    assert!((compute.mean - (middles[0] + middles[1]) / 2.0).abs() < 1e-9, "{compute:?}");
    // So neither is what a sum of the times would give, but both are within a thousandth.
    let exact = (steps[0] + steps[1]) as f64 / 2e9;
    let off = (compute.mean - exact).abs() / exact;
    assert!(off > 1e-9 && off < 1e-3 && compute.p50 != 1.234567891, "{off}");
}

/// "a client that was lost counts in what it came to the end of, one that made no step in `idle` alone". The
/// first has its model after half a second and leaves at 1 s, in the middle of its step; the second never
/// makes one, gives up at once and is idle for the rest of every round but the last.
#[test]
fn who_is_lost_or_makes_no_step_counts_in_what_it_came_to_the_end_of() {
    let fleet = "[fleet]\nassign = \"in-order\"\n\
                 [[fleet.class]]\nname = \"lost\"\nstep_time = \"900ms\"\ndownlink = \"64bps\"\n\
                 [[fleet.class]]\nname = \"slow\"\nstep_time = \"1h\"\n\
                 [[event]]\nat = \"1s\"\nselect.clients = [0]\nleave = true\n";
    let text = quadratic("rounds = 3", TWO, "work.steps = 1", "close.deadline = \"2s\"", fleet);
    let run = Simulated::run(&text, 1);
    let count = |phase| latency(&run, phase).count;
    let counts = Phase::ALL.map(count);
    // Download, compute, upload, round, staleness, idle.
    assert_eq!(counts, [1, 0, 0, 0, 0, 2]);
    assert_eq!((latency(&run, Phase::Download).max, latency(&run, Phase::Idle).max), (0.5, 2.0));
}

/// "`latency.hlog` is an HdrHistogram interval log with a tag per variant and phase (the first line says who
/// wrote it; there is no version line, and readers do not ask for one)."
#[test]
fn the_log_of_latencies_has_no_version_line_and_can_be_read() {
    let text = quadratic("rounds = 2", TWO, "work.steps = 1", "close = \"all\"", "");
    let log = Simulated::run(&text, 1).file("latency.hlog");
    let first = "#Gruppetto: simulated latencies in nanoseconds, tagged run.phase";
    assert_eq!(log.lines().next(), Some(first));
    assert!(!log.to_lowercase().contains("format version"), "{log}");
    let mut tags = Vec::new();
    for entry in IntervalLogIterator::new(log.as_bytes()) {
        let LogEntry::Interval(interval) = entry.unwrap() else { continue };
        tags.push(interval.tag().unwrap().as_str().to_string());
        let bytes = base64_decoded(interval.encoded_histogram());
        let histogram: Histogram<u64> = Deserializer::new().deserialize(&mut &bytes[..]).unwrap();
        assert_eq!(histogram.sigfig(), 3);
    }
    assert_eq!(tags, Phase::ALL.map(|phase| format!("fednova.{}", phase.name())));
}

/// The log has its histograms in base 64.
fn base64_decoded(text: &str) -> Vec<u8> {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut bytes, mut bits, mut held) = (Vec::new(), 0u32, 0);
    for digit in text.bytes().filter(|byte| *byte != b'=') {
        let value = DIGITS.iter().position(|known| *known == digit).unwrap() as u32;
        (bits, held) = (bits << 6 | value, held + 6);
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held) as u8);
            bits &= (1 << held) - 1;
        }
    }
    bytes
}
