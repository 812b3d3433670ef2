//! What is written is read again, and so is what other versions write.

use super::by_name::device_time::{nanos, seconds};
use super::*;
use crate::metric::{Metric, Metrics};
use crate::record::{Account, Outcome};
use crate::run_files::{Latencies, LatencySummary, Phase};
use proptest::prelude::*;

/// With something in every key.
fn full() -> Summary {
    let mut metrics = Metrics::default();
    metrics.set(Metric::TrainLoss, 0.1 + 0.2);
    metrics.set(Metric::TestAccuracy, f64::NAN);
    let mut latency_seconds = Latencies::default();
    let latency = LatencySummary { count: 3, mean: f64::NAN, p50: 0.25, ..Default::default() };
    latency_seconds.set(Phase::Upload, latency);
    let mut outcomes = [0; Outcome::ALL.len()];
    outcomes[Outcome::NoStep as usize] = 7;
    let account =
        Account { compute: 1, transfer: 123_456_789_012_345_678_901, ..Account::default() };
    let run = VariantSummary {
        name: "nova".into(),
        seed: u64::MAX,
        status: Status::Diverged,
        stopped_by: "diverged".into(),
        diverged: Some(Diverged { round: 3, cause: "it blew up".into() }),
        virtual_seconds: 12.000000001,
        start: metrics,
        metrics,
        target: Some(TargetReached { reached: true, rounds: Some(2), virtual_seconds: None }),
        chi2: f64::INFINITY,
        theory: Some(TheorySummary { kappa2: 1.0 / 3.0, floor: None, ..Default::default() }),
        schedule: Some(ScheduleSummary {
            fixed_point: Some(RestSummary { gap: Some(1e-300), ..Default::default() }),
            ..Default::default()
        }),
        latency_seconds,
        outcomes,
        // Classes are in the scenario's order, not in that of their names.
        time: vec![("watch".into(), account), ("phone".into(), Account::default())],
        ..Default::default()
    };
    Summary {
        swept: Vec::new(),
        part: None,
        name: "full".into(),
        version: "0.1.0".into(),
        status: Status::Interrupted,
        timing_only: true,
        wall_clock: true,
        error: Some("disk full".into()),
        scenario_digest: "00ff".into(),
        inputs: BTreeMap::from([("/data/t.csv".into(), "ff".into())]),
        processor: "a".into(),
        files: FilesSummary { scenario: Some("aa".into()), rounds: Some(3), clients: None },
        over_seeds: OverSeeds::of(std::slice::from_ref(&run)),
        variants: vec![run],
        expect: vec![ExpectResult { that: "x".into(), measured: Some(0.5), ..Default::default() }],
    }
}

#[test]
fn what_is_read_is_written_the_same_again() {
    let json = full().to_json();
    let read = Summary::parse(Path::new("summary.json"), json.as_bytes()).unwrap();
    assert_eq!(read.to_json(), json);
    let run = &read.variants[0];
    assert_eq!(run.seed, u64::MAX);
    assert_eq!(run.metrics.get(Metric::TrainLoss), Some(0.1 + 0.2));
    assert_eq!(run.metrics.get(Metric::TestAccuracy), None, "not finite");
    assert!(run.chi2.is_nan() && run.latency_seconds.get(Phase::Upload).mean.is_nan());
    assert_eq!(run.latency_seconds.get(Phase::Upload).p50, 0.25);
    assert_eq!(run.outcomes[Outcome::NoStep as usize], 7);
    assert_eq!(run.time[0].0, "watch");
    assert_eq!(run.time[0].1.compute, 1);
    assert!(run.latency_over_seeds.is_none());
}

#[test]
fn unknown_keys_are_ignored_and_missing_ones_have_defaults() {
    let text = r#"{"name": "a", "status": "incomplete", "new": {"x": [1]},
                   "variants": [{"name": "x", "seed": 1, "chi2": null, "tau": {"min": 1},
                                 "outcomes": {"used": 2, "eaten": 3}, "new": 1}]}"#;
    let read = Summary::parse(Path::new("summary.json"), text.as_bytes()).unwrap();
    assert_eq!((read.status, read.version.as_str()), (Status::Incomplete, ""));
    let run = &read.variants[0];
    assert!(run.chi2.is_nan() && run.latency_seconds.is_empty());
    assert_eq!((run.tau.min, run.tau.max, run.outcomes[0]), (1, 0, 2));
}

#[test]
fn what_is_no_summary_is_refused_with_what_is_missing() {
    for (text, missing) in [
        ("{}", "missing field `name`"),
        (r#"{"name": "a", "status": "complete"}"#, "missing field `variants`"),
        (r#"{"name": "a", "status": "eaten", "variants": []}"#, "unknown variant `eaten`"),
        ("[]", "invalid length 0"),
        ("", "EOF"),
    ] {
        let error = Summary::parse(Path::new("r/summary.json"), text.as_bytes()).unwrap_err();
        let error = error.to_string();
        assert!(error.starts_with("r/summary.json: it is not the summary of a run: "), "{error}");
        assert!(error.contains(missing), "{error}");
    }
}

#[test]
fn statuses_are_written_by_their_names() {
    for status in [Status::Complete, Status::Incomplete, Status::Diverged, Status::Interrupted] {
        assert_eq!(serde_json::to_value(status).unwrap(), status.name());
    }
}

proptest! {
    /// Device time is kept in nanoseconds and written in seconds: reading must not change the file.
    #[test]
    fn device_time_is_read_as_it_was_written(time in 0u128..1 << 100) {
        prop_assert_eq!(seconds(nanos(seconds(time))), seconds(time));
    }

    #[test]
    fn device_time_below_weeks_is_read_exactly(time in 0u128..1 << 50) {
        prop_assert_eq!(nanos(seconds(time)), time);
    }
}
