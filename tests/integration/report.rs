//! What a run leaves to look at: the page, what it is drawn from, and the timeline.

use crate::outputs::EVERYTHING;
use crate::support::{Workshop, rows, stderr, stdout, summary};
use flate2::read::GzDecoder;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::Path;

/// Everything that may happen to a client, without rounds.
const LIVELY: &str = r#"
name = "lively"
seed = 2
stop.rounds = 60
task = { kind = "quadratic", clients = 12, dim = 3 }
client.work.steps = { uniform = [2, 9] }
server = { close = { buffer = 3 }, concurrency = 8 }
record.timeline = "all"

[[fleet.class]]
name = "phone"
step_time = { lognormal = { median = "100ms", sigma = 0.6 } }
uplink = "1kbps"
downlink = "1kbps"
dropout = 0.1
availability = { on = { uniform = ["3s", "9s"] }, off = { uniform = ["1s", "4s"] } }

[[event]]
at = "5s"
slow = 3.0
lasting = "4s"

[[event]]
round = 20
network = 0.5
lasting = "2s"
"#;

/// When it begins and ends, and its name.
type Slice<'a> = (u64, u64, &'a str);

fn findings(folder: &Path) -> Value {
    serde_json::from_slice(&fs::read(folder.join("findings.json")).unwrap()).unwrap()
}

/// The data in a page.
fn told(page: &Path) -> Value {
    let text = fs::read_to_string(page).unwrap();
    let (_, rest) = text.split_once("<script type=\"application/json\" id=\"data\">").unwrap();
    serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
}

fn sum(list: &Value, of: impl Fn(&Value) -> u64) -> u64 {
    list.as_array().unwrap().iter().map(of).sum()
}

#[test]
fn the_page_tells_what_the_files_tell() {
    for scenario in [EVERYTHING, LIVELY] {
        let workshop = Workshop::new(scenario);
        let folder = workshop.run("out", &[]);
        let page = told(&folder.join("report.html"));
        let told = &page["folders"][0];
        assert_eq!(told["summary"], summary(&folder));
        assert_eq!(told["runs"], findings(&folder)["runs"]);
        let all = rows(&folder.join("rounds.csv"));
        for (run, summary) in told["runs"]
            .as_array()
            .unwrap()
            .iter()
            .zip(told["summary"]["variants"].as_array().unwrap())
        {
            assert_eq!((&run["variant"], &run["seed"]), (&summary["name"], &summary["seed"]));
            for outcome in ["used", "late", "no_step", "unfinished"] {
                let found = sum(&run["outcomes"], |class| class[outcome].as_u64().unwrap());
                assert_eq!(Some(found), summary["outcomes"][outcome].as_u64(), "{outcome}");
            }
            for (reason, leg) in [("dropped", "compute"), ("offline", "upload")] {
                let found = sum(&run["outcomes"], |class| class[reason][leg].as_u64().unwrap());
                assert_eq!(Some(found), summary["losses"][reason][leg].as_u64());
            }
            let used =
                sum(&run["tau"], |class| sum(&class["bins"], |bin| bin[2].as_u64().unwrap()));
            assert_eq!(Some(used), summary["outcomes"]["used"].as_u64());
            let everybody = run["latency"].as_array().unwrap().iter();
            for phase in everybody.filter(|phase| phase["class"].is_null()) {
                let known = &summary["latency_seconds"][phase["phase"].as_str().unwrap()];
                for name in ["count", "p50", "p99", "max"] {
                    assert_eq!(phase[name], known[name], "{phase}");
                }
            }
            let mut own = all.iter().filter(|row| {
                row.text("variant") == run["variant"].as_str().unwrap()
                    && Some(row.int("seed")) == run["seed"].as_u64()
            });
            let last = own.next_back().unwrap();
            for metric in ["train_loss", "distance"] {
                let curve = run["curves"]["values"][metric].as_array();
                let shown = curve.map(|curve| curve.last().unwrap().as_f64().unwrap());
                assert_eq!(shown, last.text(metric).parse().ok(), "{metric}");
            }
            let heard = run["heard"]["points"].as_array().unwrap();
            for column in [0, 1] {
                let all: f64 = heard.iter().map(|point| point[column].as_f64().unwrap()).sum();
                assert!((all - 1.0).abs() < 1e-4, "{all}");
            }
        }
    }
}

#[test]
fn events_are_where_they_happened() {
    let workshop = Workshop::new(LIVELY);
    let folder = workshop.run("out", &[]);
    let rounds = rows(&folder.join("rounds.csv"));
    let opened = rounds[18].float("virtual_seconds");
    let events = &findings(&folder)["runs"][0]["events"];
    assert_eq!((&events[0]["at"], &events[0]["until"]), (&5.0.into(), &9.0.into()));
    assert_eq!(events[0]["what"], "slow × 3: everyone");
    assert_eq!(events[1]["at"].as_f64(), Some(opened), "round 20 opens when round 19 closes");
}

#[test]
fn pages_are_made_again_and_of_several_runs() {
    let workshop = Workshop::new(LIVELY);
    let folder = workshop.run("one", &[]);
    workshop.run("two", &["--seed", "7"]);
    let page = fs::read(folder.join("report.html")).unwrap();
    fs::remove_file(folder.join("report.html")).unwrap();
    let output = workshop.call(&["report", "one"]);
    assert_eq!(stdout(&output), "written to one/report.html\n", "{}", stderr(&output));
    // It says which folder it was given, and is the same else.
    let [before, after] = [page, fs::read(folder.join("report.html")).unwrap()];
    assert!(before.len().abs_diff(after.len()) < 200);
    let output = workshop.call(&["report", "one", "two", "--out", "both.html"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let both = told(&workshop.path("both.html"));
    assert_eq!(both["folders"].as_array().unwrap().len(), 2);
    assert_eq!(both["folders"][1]["runs"][0]["seed"], 7);
    for (arguments, code, said) in [
        (&["one", "two"][..], 2, "--out report.html"),
        (&["nowhere"], 1, "nowhere: there is no summary.json"),
        (&["one", "--out", "no/where.html"], 1, "cannot write no/where.html"),
    ] {
        let output = workshop.call(&[&["report"], arguments].concat());
        assert_eq!(output.status.code(), Some(code));
        assert!(stderr(&output).contains(said), "{}", stderr(&output));
    }
    fs::write(folder.join("findings.json"), "{").unwrap();
    let output = workshop.call(&["report", "one"]);
    assert!(stderr(&output).contains("run the scenario again"), "{}", stderr(&output));
}

/// Every slice is closed by its own length; on every track they follow each other or lie in each other.
#[test]
fn the_timeline_is_whole_and_in_order() {
    let workshop = Workshop::new(LIVELY);
    let folder = workshop.run("out", &[]);
    let mut text = String::new();
    let file = fs::File::open(folder.join("timeline.json.gz")).unwrap();
    GzDecoder::new(file).read_to_string(&mut text).unwrap();
    let timeline: Value = serde_json::from_str(&text).unwrap();
    let events = timeline["traceEvents"].as_array().unwrap();
    let clients = rows(&folder.join("clients.csv"));
    let nanos = |value: &Value| (value.as_f64().unwrap() * 1000.0).round() as u64;
    let mut tracks: BTreeMap<(u64, u64), Vec<Slice>> = BTreeMap::new();
    let mut arrows: BTreeMap<u64, Vec<(&str, u64)>> = BTreeMap::new();
    for event in events {
        let kind = event["ph"].as_str().unwrap();
        let track = || (event["pid"].as_u64().unwrap(), event["tid"].as_u64().unwrap());
        match kind {
            "X" => {
                let (from, took) = (nanos(&event["ts"]), nanos(&event["dur"]));
                let name = event["name"].as_str().unwrap();
                tracks.entry(track()).or_default().push((from, from + took, name));
            }
            "s" | "t" | "f" => {
                let id = event["id"].as_u64().unwrap();
                arrows.entry(id).or_default().push((kind, nanos(&event["ts"])));
            }
            "M" | "i" | "C" => {}
            other => panic!("{other}"),
        }
    }
    // Waiting and being offline fill what is between participations and after the last, and are as long
    // in all as the accounts say.
    let run = &summary(&folder)["variants"][0];
    let end = (run["virtual_seconds"].as_f64().unwrap() * 1e9).round() as u64;
    let mut rest = BTreeMap::from([("waiting", 0), ("offline", 0)]);
    for ((_, client), slices) in tracks.iter().filter(|((process, _), _)| *process > 1) {
        let mut until = 0;
        for &(from, to, name) in slices {
            if name.starts_with("round") || rest.contains_key(name) {
                assert_eq!(from, until, "{name} of client {client}");
                until = to;
            }
            if let Some(sum) = rest.get_mut(name) {
                *sum += to - from;
            }
        }
        assert!(until.abs_diff(end) <= 1000, "client {client} is told to the end");
    }
    for (name, account) in [("waiting", "idle_seconds"), ("offline", "offline_seconds")] {
        let told = run["time"]["phone"][account].as_f64().unwrap();
        assert!((rest[name] as f64 / 1e9 - told).abs() < 1e-6, "{name}: {rest:?} {told}");
    }
    let mut parts = 0;
    for ((process, _), slices) in &tracks {
        let mut open: Vec<(u64, u64)> = Vec::new();
        for &(from, to, name) in slices {
            while open.last().is_some_and(|(_, end)| *end <= from) {
                open.pop();
            }
            if let Some((begin, end)) = open.last() {
                assert!(*begin <= from && to <= *end, "{name} {from}..{to} in {begin}..{end}");
            }
            open.push((from, to));
            parts += usize::from(name.starts_with("round") && *process > 1);
        }
    }
    assert_eq!(parts, clients.len(), "as many slices as participations");
    assert_eq!(arrows.len(), clients.len());
    for (arrow, row) in arrows.values().zip(&clients) {
        let [dispatched, arrived] = ["dispatched_ns", "arrived_ns"].map(|name| row.int(name));
        assert_eq!(arrow[..], [("s", dispatched), ("t", dispatched), ("f", arrived)]);
    }
    let named = |name: &str| events.iter().filter(|event| event["name"] == name).count();
    assert_eq!(named("aggregation"), 60);
    assert!(named("waiting") > 0 && named("offline") > 0 && named("steps") > 60);
    let rounds = tracks[&(1, 0)].len();
    assert_eq!(rounds, 60, "the server's rounds");
}

#[test]
fn a_timeline_can_be_bounded_or_left_out() {
    let workshop = Workshop::new(&LIVELY.replace("\"all\"", "{ clients = 3 }"));
    let folder = workshop.run("some", &[]);
    let mut text = String::new();
    let file = fs::File::open(folder.join("timeline.json.gz")).unwrap();
    GzDecoder::new(file).read_to_string(&mut text).unwrap();
    let tracks = text.matches("\"thread_name\"").count();
    assert_eq!(tracks, 1 + 3, "the server's and those of three clients");
    let folder = workshop.run("none", &["--set", "record.timeline=off"]);
    assert!(!folder.join("timeline.json.gz").exists());
}

/// The first signal ends a run in order.
#[cfg(unix)]
#[test]
fn a_run_that_is_interrupted_leaves_everything_it_had() {
    for signal in ["-INT", "-TERM"] {
        let workshop = Workshop::new(&LIVELY.replace("rounds = 60", "rounds = 100000000"));
        let arguments = ["run", "s.toml", "--out", "out", "--timing-only"];
        let child = workshop.command(&arguments).stderr(std::process::Stdio::piped()).spawn();
        let child = child.unwrap();
        let csv = workshop.path("out/rounds.csv");
        while fs::metadata(&csv).map_or(0, |file| file.len()) < 10_000 {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        let id = child.id().to_string();
        assert!(std::process::Command::new("kill").args([signal, &id]).status().unwrap().success());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(130), "{}", stderr(&output));
        assert!(stderr(&output).contains("ending; once more to end at once"));
        let folder = workshop.path("out");
        let summary = summary(&folder);
        assert_eq!(summary["status"], "interrupted");
        assert_eq!(summary["variants"][0]["stopped_by"], "interrupted");
        let all = rows(&folder.join("rounds.csv"));
        assert_eq!(Some(all.len() as u64), summary["variants"][0]["rounds"].as_u64());
        assert_eq!(told(&folder.join("report.html"))["folders"][0]["summary"], summary);
    }
}
