//! Every number of a run that can be had in two ways is had in two ways: what `summary.json`,
//! `rounds.csv` and `latency.hlog` say is computed again from the rows of `clients.csv`.

use crate::outputs::EVERYTHING;
use crate::support::{Row, Workshop, rows, summary};
use base64::Engine;
use gruppetto::scenario::Scenario;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// One variant with one seed, as the files tell it.
struct Run {
    name: String,
    summary: Value,
    rounds: Vec<Row>,
    clients: Vec<Row>,
    /// p, from the clients' numbers of samples.
    p: Vec<f64>,
}

fn runs(folder: &Path) -> Vec<Run> {
    let scenario =
        Scenario::load(folder.join("scenario.toml"), &gruppetto::plugins::Plugins::new()).unwrap();
    let summary = summary(folder);
    let mut runs = Vec::new();
    for run in summary["variants"].as_array().unwrap() {
        let (variant, seed) = (run["name"].as_str().unwrap(), run["seed"].as_u64().unwrap());
        let mine = |file: &str| -> Vec<Row> {
            let rows = rows(&folder.join(file)).into_iter();
            rows.filter(|row| row.text("variant") == variant && row.int("seed") == seed).collect()
        };
        let samples = scenario.variants[0].plan.task.shares(seed).unwrap().samples;
        let all: u32 = samples.iter().sum();
        runs.push(Run {
            name: format!("{variant}-{seed}"),
            summary: run.clone(),
            rounds: mine("rounds.csv"),
            clients: mine("clients.csv"),
            p: samples.iter().map(|n| f64::from(*n) / f64::from(all)).collect(),
        });
    }
    assert_eq!(runs.len(), 4);
    runs
}

/// Whether a client was lost before it came to the end of a phase.
fn ended_in(row: &Row, phase: &str) -> bool {
    let legs = ["download", "compute", "upload", "done"];
    let place = |name: &str| legs.iter().position(|leg| *leg == name).unwrap_or(2);
    place(row.text("phase")) <= place(phase)
}

impl Run {
    fn used(&self) -> impl Iterator<Item = &Row> {
        self.clients.iter().filter(|row| is(row, "used"))
    }

    fn number(&self, pointer: &str) -> f64 {
        let value = self.summary.pointer(pointer).and_then(Value::as_f64);
        value.unwrap_or_else(|| panic!("{}: no number at {pointer}", self.name))
    }

    fn count(&self, pointer: &str) -> u64 {
        let value = self.summary.pointer(pointer).and_then(Value::as_u64);
        value.unwrap_or_else(|| panic!("{}: no count at {pointer}", self.name))
    }

    /// Nanoseconds of every participation that has the phase.
    fn phase(&self, phase: &str) -> Vec<u64> {
        let closed = |round: u64| self.rounds[round as usize - 1].nanos("virtual_seconds");
        let mut back: BTreeMap<u64, u64> = BTreeMap::new();
        let mut by_dispatch: Vec<&Row> = self.clients.iter().collect();
        by_dispatch.sort_by_key(|row| row.int("dispatched_ns"));
        let mut all = Vec::new();
        for row in by_dispatch {
            if is(row, "unfinished") {
                continue;
            }
            let (dispatched, arrived) = (row.int("dispatched_ns"), row.int("arrived_ns"));
            let since = back.insert(row.int("client"), arrived);
            let nanos = match (phase, since) {
                ("idle", Some(since)) => dispatched - since,
                // It takes part for the first time.
                ("idle", None) => continue,
                _ if is(row, "no_step") || ended_in(row, phase) => continue,
                ("download", _) => row.int("download_ns"),
                ("compute", _) => row.int("compute_ns"),
                ("upload", _) => row.int("upload_ns"),
                ("round", _) => arrived - dispatched,
                ("staleness", _) => arrived.saturating_sub(closed(row.int("round"))),
                _ => unreachable!(),
            };
            all.push(nanos);
        }
        all.sort_unstable();
        all
    }
}

const PHASES: [&str; 6] = ["download", "compute", "upload", "round", "staleness", "idle"];

fn is(row: &Row, outcome: &str) -> bool {
    row.text("outcome") == outcome
}

fn assert_close(a: f64, b: f64, relative: f64, what: &str) {
    let error = (a - b).abs();
    assert!(error <= relative * a.abs().max(b.abs()), "{what}: {a}, {b}");
}

/// χ² between p and the effective weights among those heard, and the share of the others, from the
/// definition in the paper's Theorem 2.
fn consistency(p: &[f64], c: &[f64]) -> [f64; 2] {
    let heard: Vec<usize> = (0..p.len()).filter(|i| c[*i] > 0.0).collect();
    let mass: f64 = heard.iter().map(|i| p[*i]).sum();
    let total: f64 = c.iter().sum();
    let distance = |i: &usize| (p[*i] / mass - c[*i] / total).powi(2) / (c[*i] / total);
    let missing: f64 = (0..p.len()).filter(|i| c[*i] == 0.0).map(|i| p[i]).sum();
    [heard.iter().map(distance).sum(), missing]
}

#[test]
fn outcomes_and_work_add_up() {
    let workshop = Workshop::new(EVERYTHING);
    let mut seen: BTreeMap<&str, u64> = BTreeMap::new();
    for run in runs(&workshop.run("out", &[])) {
        for outcome in ["used", "late", "no_step", "unfinished"] {
            let rows = run.clients.iter().filter(|row| is(row, outcome)).count() as u64;
            assert_eq!(run.count(&format!("/outcomes/{outcome}")), rows, "{outcome}");
            *seen.entry(outcome).or_default() += rows;
        }
        // Whoever was asked has a row, those too who were not back at the end.
        let asked: u64 = run.rounds.iter().map(|row| row.int("asked")).sum();
        assert_eq!(asked, run.clients.len() as u64);
        assert_eq!(run.count("/throughput/client_rounds"), asked);
        let steps: u64 = run.clients.iter().map(|row| row.int("tau")).sum();
        assert_eq!(run.count("/throughput/local_steps"), steps);

        let compute = |used: bool| -> u64 {
            let over = run.clients.iter().filter(|row| !is(row, "unfinished"));
            let rows = over.filter(|row| is(row, "used") == used);
            rows.map(|row| row.int("compute_ns")).sum()
        };
        let (kept, lost) = (compute(true) as f64, compute(false) as f64);
        assert_close(run.number("/waste"), lost / (lost + kept), 1e-12, "waste");

        let taus: Vec<u64> = run.used().map(|row| row.int("tau")).collect();
        assert_eq!(run.count("/tau/min"), *taus.iter().min().unwrap());
        assert_eq!(run.count("/tau/max"), *taus.iter().max().unwrap());
        let mean = taus.iter().sum::<u64>() as f64 / taus.len() as f64;
        assert_close(run.number("/tau/mean"), mean, 1e-12, "mean tau");

        assert_eq!(run.count("/rounds"), 12);
        assert_eq!(run.rounds.len(), 12);
        let end = run.rounds.last().unwrap().float("virtual_seconds");
        assert_eq!(run.number("/virtual_seconds"), end);
    }
    for (outcome, count) in seen {
        assert!(count > 0, "the scenario should show {outcome}");
    }
}

#[test]
fn every_row_adds_up() {
    let workshop = Workshop::new(EVERYTHING);
    for run in runs(&workshop.run("out", &[])) {
        let mut opened = 0;
        for round in &run.rounds {
            let number = round.int("round");
            let asked = run.clients.iter().filter(|row| row.int("round") == number);
            asked.for_each(|row| assert_eq!(row.int("dispatched_ns"), opened));
            opened = round.nanos("virtual_seconds");
        }
        for row in &run.clients {
            let phases: u64 =
                ["download_ns", "compute_ns", "upload_ns"].map(|phase| row.int(phase)).iter().sum();
            assert_eq!(row.int("arrived_ns") - row.int("dispatched_ns"), phases);
            assert_eq!(row.int("version") + 1, row.int("round"));
            assert_eq!(row.float("accumulation"), row.int("tau") as f64, "plain SGD");
            assert_eq!(row.int("tau") == 0, is(row, "no_step") || is(row, "unfinished"));
            assert_eq!(row.float("weight") > 0.0, is(row, "used"));
            assert_eq!(row.int("staleness") > 0, is(row, "late"));
        }
    }
}

#[test]
fn weights_steps_and_consistency_follow_from_the_rows() {
    let workshop = Workshop::new(EVERYTHING);
    for run in runs(&workshop.run("out", &[])) {
        let mut c = vec![0.0; run.p.len()];
        for round in &run.rounds {
            let used: Vec<&Row> =
                run.used().filter(|row| row.int("round") == round.int("round")).collect();
            assert_eq!(round.int("arrived"), used.len() as u64);
            let weights: f64 = used.iter().map(|row| row.float("weight")).sum();
            assert_close(weights, 1.0, 1e-12, "sum of weights");

            let taus: Vec<f64> = used.iter().map(|row| row.float("tau")).collect();
            let least = taus.iter().copied().fold(f64::INFINITY, f64::min);
            let most = taus.iter().copied().fold(0.0, f64::max);
            assert_eq!(round.float("tau_min"), least);
            assert_eq!(round.float("tau_max"), most);
            let mean = taus.iter().sum::<f64>() / taus.len() as f64;
            assert_close(round.float("tau_mean"), mean, 1e-12, "mean tau");

            let share = |row: &Row| run.p[row.int("client") as usize];
            let mass: f64 = used.iter().map(|row| share(row)).sum();
            let steps: f64 = used.iter().map(|row| share(row) * row.float("tau")).sum();
            let tau_eff = round.float("tau_eff");
            assert_close(tau_eff, steps / mass, 1e-12, "effective steps");
            for row in &used {
                let expected = match run.name.starts_with("nova") {
                    true => share(row) / mass,
                    false => share(row) * row.float("tau") / steps,
                };
                assert_close(row.float("weight"), expected, 1e-12, "weight");
                c[row.int("client") as usize] += tau_eff * row.float("weight");
            }
            let [chi2, missing] = consistency(&run.p, &c);
            assert!((round.float("chi2") - chi2).abs() < 1e-9 * (1.0 + chi2));
            assert!((round.float("missing_mass") - missing).abs() < 1e-9);
        }
        let [chi2, missing] = consistency(&run.p, &c);
        assert!(chi2 > 1e-3, "{}: there is something to see", run.name);
        assert_close(run.number("/chi2"), chi2, 1e-9, "chi2");
        assert!((run.number("/missing_mass") - missing).abs() < 1e-9);
    }
}

#[test]
fn percentiles_are_those_of_the_rows() {
    let vanishing =
        EVERYTHING.replace("100kbps", "2kbps").replace("jitter", "dropout = 0.3\njitter");
    let workshop = Workshop::new(&vanishing);
    for run in runs(&workshop.run("out", &[])) {
        let lost_in = |leg: &str| run.clients.iter().any(|row| row.text("phase") == leg);
        assert!(lost_in("compute") && lost_in("upload"), "{}: some are lost on the way", run.name);
        for phase in PHASES {
            let sorted = run.phase(phase);
            let at = |name: &str| format!("/latency_seconds/{phase}/{name}");
            assert_eq!(run.count(&at("count")), sorted.len() as u64, "{phase}");
            for (name, part) in
                [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p999", 0.999), ("max", 1.0)]
            {
                let rank = (part * sorted.len() as f64).ceil() as usize;
                let exact = sorted[rank - 1] as f64 / 1e9;
                let what = format!("{} of {phase} of {}", name, run.name);
                assert_close(run.number(&at(name)), exact, 1e-3, &what);
            }
            let mean = sorted.iter().sum::<u64>() as f64 / sorted.len() as f64 / 1e9;
            assert_close(run.number(&at("mean")), mean, 1e-3, "mean");
        }
    }
}

#[test]
fn the_latency_log_can_be_read_back() {
    let workshop = Workshop::new(EVERYTHING);
    let folder = workshop.run("out", &[]);
    let log = fs::read(folder.join("latency.hlog")).unwrap();
    let mut intervals = BTreeMap::new();
    for entry in IntervalLogIterator::new(&log) {
        if let LogEntry::Interval(interval) = entry.unwrap() {
            let tag = interval.tag().unwrap().as_str().to_string();
            assert!(intervals.insert(tag, interval).is_none());
        }
    }
    assert_eq!(intervals.len(), 4 * PHASES.len());
    for run in runs(&folder) {
        for phase in PHASES {
            let interval = &intervals[&format!("{}.{phase}", run.name)];
            let end = run.number("/virtual_seconds");
            assert!((interval.duration().as_secs_f64() - end).abs() < 1e-3);
            let packed = base64::engine::general_purpose::STANDARD
                .decode(interval.encoded_histogram())
                .unwrap();
            let histogram: Histogram<u64> =
                Deserializer::new().deserialize(&mut &packed[..]).unwrap();
            let sorted = run.phase(phase);
            assert_eq!(histogram.len(), sorted.len() as u64);
            for exact in [sorted[0], sorted[sorted.len() - 1]] {
                assert!(histogram.count_at(exact) > 0, "{exact} in {phase}");
            }
            let (max, exact) = (histogram.max(), sorted[sorted.len() - 1]);
            assert!(histogram.equivalent(max, exact), "{max}, {exact}");
            // In the log itself the maximum stands in milliseconds.
            assert!((interval.max() - max as f64 / 1e6).abs() < 1e-3);
        }
    }
}

/// The first round closes at 2 s. The second is open when time is up, with one update in hand.
const OUT_OF_TIME: &str = r#"
name = "out-of-time"
stop.time = "3s"
task = { kind = "quadratic", clients = 2, dim = 2 }
client.work.steps = 1
server.close = { deadline = "2s" }

[fleet]
assign = "in-order"
[[fleet.class]]
name = "in-time"
step_time = "500ms"
[[fleet.class]]
name = "hopeless"
step_time = "5s"
"#;

#[test]
fn the_work_of_a_round_that_never_closed_was_not_used() {
    let workshop = Workshop::new(OUT_OF_TIME);
    let folder = workshop.run("out", &[]);
    let run = &summary(&folder)["variants"][0];
    assert_eq!(run["stopped_by"], "time");
    assert_eq!((run["rounds"].as_u64(), run["virtual_seconds"].as_f64()), (Some(1), Some(3.0)));
    let expected = [("used", 1), ("no_step", 2), ("unfinished", 1)];
    for (outcome, count) in expected {
        assert_eq!(run["outcomes"][outcome], count, "{outcome}");
        let clients = rows(&folder.join("clients.csv"));
        assert_eq!(clients.iter().filter(|row| is(row, outcome)).count(), count);
        assert!(clients.iter().all(|row| (row.float("weight") > 0.0) == is(row, "used")));
    }
    assert_eq!(run["throughput"]["client_rounds"], 4);
    assert_eq!(run["waste"], 0.5, "one of two steps moved the model");
}
