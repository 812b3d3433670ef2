//! A run that was recorded as a trace, and replayed, is the same run.

use crate::support::{Row, Workshop, names, rows, stderr, stdout};
use std::fs;
use std::path::Path;

/// Forty clients; a test adds a server and devices.
const TASK: &str = r#"
name = "original"
seed = 5
stop.rounds = 25
task = { kind = "quadratic", clients = 40, dim = 10 }
"#;

/// Two kinds of devices, each different from the other, with everything that is drawn.
const JITTERY: &str = r#"
[[fleet.class]]
name = "phone"
share = 0.6
step_time = { lognormal = { median = "50ms", sigma = 0.7 } }
jitter = 0.4
uplink = { lognormal = { median = "2kbps", sigma = 0.5 } }
downlink = "9kbps"
latency = { uniform = ["1ms", "80ms"] }

[[fleet.class]]
name = "server"
share = 0.4
step_time = "3.3333ms"
"#;

/// The same, and they vanish.
fn vanishing() -> String {
    JITTERY.replace("share", "dropout = 0.15\nshare")
}

/// Runs a scenario and records it, then runs it with the devices of the trace instead of `fleet`.
/// Asserts that both are the same to the nanosecond; returns the outcomes that there were.
fn assert_replays(server: &str, fleet: &str) -> Vec<String> {
    assert_replays_with(server, "", fleet)
}

/// The same, with something that only the run has and not the replay.
fn assert_replays_with(server: &str, left_out: &str, fleet: &str) -> Vec<String> {
    let workshop = Workshop::new(&format!("{TASK}{server}\n{left_out}{fleet}"));
    let original = workshop.run("original", &["--timing-only"]);
    let output = workshop.call(&["trace", "record", "original", "--out", "trace.csv.gz"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let class = stdout(&output);
    fs::write(workshop.path("s.toml"), format!("{TASK}{server}\n{class}")).unwrap();
    let replay = workshop.run("replay", &["--timing-only"]);
    let [before, after] = [&original, &replay].map(|run| rows(&run.join("clients.csv")));
    for (index, (one, other)) in before.iter().zip(&after).enumerate() {
        assert_eq!(told(one), told(other), "row {index}\n{server}");
    }
    assert_eq!(before.len(), after.len(), "{server}");
    let rounds = |run: &Path| {
        let rounds = rows(&run.join("rounds.csv"));
        rounds.iter().map(|row| row.text("virtual_seconds").to_string()).collect::<Vec<_>>()
    };
    assert_eq!(rounds(&original), rounds(&replay), "{server}");
    let output = workshop.call(&["trace", "inspect", "trace.csv.gz"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let mut outcomes: Vec<String> = before.iter().map(|row| row.text("outcome").into()).collect();
    outcomes.sort();
    outcomes.dedup();
    outcomes
}

/// What must be the same of a participation. The replay has no dropout: who vanished goes offline.
fn told(row: &Row) -> String {
    let same = "round client version tau accumulation dispatched_ns download_ns compute_ns \
                upload_ns arrived_ns staleness weight phase";
    let cells: Vec<String> =
        same.split(' ').map(|name| format!("{name} {}", row.text(name))).collect();
    format!("{} {}", cells.join(" "), row.text("outcome").replace("dropped", "offline"))
}

#[test]
fn steps_up_to_a_deadline() {
    let server = "server.close.deadline = \"350ms\"\nserver.sample.clients = 25";
    assert_eq!(assert_replays(server, JITTERY), ["no_step", "used"]);
    let work = "server.close.deadline = \"2s\"\nclient.work.steps = { uniform = [1, 60] }";
    assert_eq!(assert_replays(work, JITTERY), ["used"]);
    let follows = "server.close.deadline = { percentile = 60, of = 3 }\n\
                   client.work.steps = { uniform = [1, 60] }";
    assert_eq!(assert_replays(follows, JITTERY), ["no_step", "used"]);
}

/// What clients knew is left out in the replay: the trace has who stopped where, and who came late.
#[test]
fn steps_of_clients_that_do_not_foresee_them() {
    for (foresight, outcomes) in [
        ("\"expected\"", ["late", "no_step", "unfinished", "used"].as_slice()),
        ("{ margin = \"150ms\" }", &["late", "unfinished", "used"]),
    ] {
        let server = "server.close.deadline = \"700ms\"\nserver.sample.clients = 20\n";
        let known = format!("client.foresight = {foresight}\n");
        assert_eq!(assert_replays_with(server, &known, JITTERY), outcomes);
    }
}

#[test]
fn work_that_is_finished_however_long_it_takes() {
    let late = "server = { close.deadline = \"1s\", partial = \"discard\", sample.clients = 20 }\n\
                client.work.steps = { uniform = [5, 60] }";
    assert_eq!(assert_replays(late, JITTERY), ["late", "unfinished", "used"]);
    let first = "server = { close = { first = 10, of = 20 }, late = \"stale\" }\n\
                 client.work.steps = 20";
    assert_eq!(assert_replays(first, JITTERY), ["unfinished", "used"]);
}

#[test]
fn clients_that_are_sent_off_one_by_one() {
    for close in ["{ buffer = 5 }", "{ window = \"700ms\" }"] {
        let server = format!(
            "server = {{ close = {close}, concurrency = 15, scheme = \"by-size\" }}\n\
             client.work.steps = {{ uniform = [5, 30] }}"
        );
        assert_eq!(assert_replays(&server, &vanishing()), ["dropped", "unfinished", "used"]);
    }
}

#[test]
fn clients_that_vanish() {
    let keep = "server = { close.deadline = \"1s\", sample.clients = 25 }";
    assert_eq!(assert_replays(keep, &vanishing()), ["dropped", "used"]);
    let all = "server.close = \"all\"\nclient.work.steps = 9";
    assert_eq!(assert_replays(all, &vanishing()), ["dropped", "used"]);
    // More are on their way than may be asked, and nobody waits for them.
    let busy = "server = { close.deadline = \"300ms\", partial = \"discard\", sample.clients = 30 }\n\
                client.work.steps = 15";
    assert_eq!(assert_replays(busy, &vanishing()), ["dropped", "late", "unfinished", "used"]);
}

#[test]
fn devices_that_change_and_come_and_go() {
    let fleet = r#"
[fleet]
server_downlink = "30kbps"

[[fleet.class]]
name = "phone"
step_time = { lognormal = { median = "50ms", sigma = 0.7 } }
jitter = 0.3
dropout = 0.05
uplink = "2kbps"
latency = "20ms"
availability = { on = { uniform = ["3s", "9s"] }, off = { uniform = ["1s", "4s"] } }
slowdown = { factor = 9.0, every = { uniform = ["1s", "4s"] }, lasting = "500ms" }
thermal = { curve = [["2s", 0.7]], cooling = 1.0 }

[[event]]
round = 4
network = 0
lasting = "1500ms"
select = { fraction = 0.4 }

[[event]]
round = 6
offline = true
lasting = "1s"
select = { fraction = 0.3 }

[[event]]
at = "8s"
slow = 3.0
lasting = "3s"
"#;
    let server = "server = { close.deadline = \"1500ms\", sample.clients = 12 }";
    let outcomes = ["dropped", "late", "no_step", "offline", "unfinished", "used"];
    assert_eq!(assert_replays(server, fleet), outcomes);
    // Events that tell the server what to do are not in the trace, and stay.
    let tighter = "\n[[event]]\nround = 9\ndeadline = \"900ms\"\nlasting = \"5s\"\n";
    let (alone, _) = fleet.split_once("[[event]]").unwrap();
    let seen = assert_replays(&format!("{server}{tighter}"), alone);
    assert!(["late", "no_step", "offline"].iter().all(|one| seen.contains(&one.to_string())));
}

#[test]
fn a_link_without_a_limit_that_breaks_for_a_while() {
    let fleet = "[[fleet.class]]\nname = \"server\"\nstep_time = \"70ms\"\n\
                 [[event]]\nat = \"1s\"\nnetwork = 0\nlasting = \"2s\"\n";
    let server = "client.work.steps = 9\nserver.close = { first = 30, of = 40 }";
    assert_eq!(assert_replays(server, fleet), ["late", "unfinished", "used"]);
    assert_eq!(assert_replays("client.work.steps = 9\nserver.close = \"all\"", fleet), ["used"]);
}

#[test]
fn a_trace_of_a_trace() {
    let trace = Path::new(env!("CARGO_MANIFEST_DIR")).join("traces/outage.csv.gz");
    let fleet = format!(
        "[[fleet.class]]\nname = \"laptop\"\n\
         trace = {{ file = {trace:?}, shift = \"random\", repeat = true }}\n"
    );
    let server = "server = { close.deadline = \"10m\" }\nclient.work.steps = 2000";
    assert_eq!(assert_replays(server, &fleet), ["late", "no_step", "unfinished", "used"]);
}

#[test]
fn connections_that_are_gone_for_good() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("dying.csv");
    // One loses its connection; the other is also away for a while from that instant on.
    fs::write(
        &trace,
        "device,time [s],step_time [ms],up [kbps],down [kbps],available\n\
         x,0,300,2,5,1\nx,21,400,0,0,\ny,0,200,2,5,1\ny,7,,0,0,0\ny,9,,,,1\n",
    )
    .unwrap();
    let fleet = format!(
        "[[fleet.class]]\nname = \"fading\"\nshare = 0.3\ntrace = {trace:?}\n{}",
        "[[fleet.class]]\nname = \"steady\"\nshare = 0.7\nstep_time = \"500ms\"\nlatency = \"30ms\"\n\
         jitter = 0.2\nuplink = \"3kbps\"\ndownlink = \"9kbps\"\ndropout = 0.02\n"
    );
    let gone = "[[event]]\nround = 12\nnetwork = 0\nselect = { fraction = 0.2 }\n";
    for server in [
        "server.close = \"all\"",
        "server.close.deadline = \"8s\"\nserver.sample.clients = 20",
        "server = { close = { buffer = 5 }, concurrency = 15 }",
    ] {
        let server = format!("client.work.steps = 4\n{server}");
        for fleet in [&fleet, &format!("{fleet}{gone}")] {
            let outcomes = assert_replays(&server, fleet);
            assert!(outcomes.contains(&"offline".into()), "{server}: {outcomes:?}");
        }
    }
}

/// A link that is limited and never changes, on devices that leave in the middle of their work: nothing is
/// kept of such a link, and none of it is needed.
#[test]
fn steady_links_of_devices_that_come_and_go() {
    let fleet = "[[fleet.class]]\nname = \"phone\"\nstep_time = \"1s\"\nuplink = \"9kbps\"\n\
                 availability = { on = \"5s\", off = \"5s\" }\n";
    let outcomes = assert_replays("client.work.steps = 2\nserver.close = \"all\"", fleet);
    assert!(outcomes.contains(&"offline".into()), "{outcomes:?}");
}

/// Runs `trace record` with these arguments, which must fail, and returns what it says.
fn refused(workshop: &Workshop, arguments: &[&str], code: i32) -> String {
    let output = workshop.call(&[&["trace", "record"], arguments].concat());
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {}", stderr(&output));
    assert_eq!(stdout(&output), "");
    stderr(&output)
}

#[test]
fn a_folder_of_several_runs_is_asked_which() {
    let variants = "repeats = 2\nserver.close = \"all\"\nclient.work.steps = 3\n\
                    [[variant]]\nname = \"one\"\n[[variant]]\nname = \"two\"\n\
                    set = { client.work.steps = 5 }\n";
    let workshop = Workshop::new(&format!("{TASK}{variants}{JITTERY}"));
    workshop.run("r", &["--timing-only"]);
    for (arguments, said) in [
        (&["r", "--out", "x"][..], "several variants: say --variant, one of one, two"),
        (&["r", "--out", "x", "--variant", "three"], "--variant three: the run has one, two"),
        (&["r", "--out", "x", "--variant", "one"], "several seeds: say --seed, from 5 to 6"),
        (&["r", "--out", "x", "--variant", "one", "--seed", "4"], "--seed 4: the run has 5 to 6"),
    ] {
        let error = refused(&workshop, arguments, 2);
        assert!(error.contains(said), "{error}");
    }
    assert_eq!(names(&workshop.path(".")), ["r", "s.toml"], "nothing is left");
    let record = ["trace", "record", "r", "--out", "-", "--variant", "two", "--seed", "6"];
    let output = workshop.call(&record);
    let text = stdout(&output);
    assert!(text.contains("\n# original, variant two, seed 6\n"), "{}", &text[..200]);
    assert!(text.contains("\nclient-0000,0,") && text.contains("\nclient-0039,0,"));
    assert_eq!(stdout(&workshop.call(&record)), text, "the same again");
    let said = stderr(&output);
    assert!(said.starts_with("original: 40 devices, 1000 participations, "), "{said}");
    let summary = fs::read_to_string(workshop.path("r/summary.json")).unwrap();
    let stopped = summary.replace("\"status\": \"complete\"", "\"status\": \"incomplete\"");
    fs::write(workshop.path("r/summary.json"), stopped).unwrap();
    let output = workshop.call(&record);
    assert!(stderr(&output).contains("note: the run did not come to its end"));
    assert_eq!(stdout(&output), text);
}

#[test]
fn what_is_no_run_or_was_edited_is_refused() {
    let workshop = Workshop::new(
        &format!("{TASK}server.close = \"all\"\n{JITTERY}")
            .replace("server.close", "client.work.steps = 3\nserver.close"),
    );
    let run = workshop.run("r", &["--timing-only"]);
    let csv = run.join("clients.csv");
    let whole = fs::read_to_string(&csv).unwrap();
    let first = whole.lines().nth(1).unwrap().to_string();
    let cell = |place: usize, value: &str| {
        let mut cells: Vec<&str> = first.split(',').collect();
        cells[place] = value;
        whole.replacen(&first, &cells.join(","), 1)
    };
    let second = whole.lines().nth(2).unwrap();
    let twice = whole.replacen(second, &first, 1);
    for (text, said) in [
        (cell(3, "40"), "line 2: column `client`: found `40`, expected a client below 40"),
        (cell(3, "-1"), "expected a whole number"),
        (cell(2, "0"), "column `round`: found `0`, expected a round from 1 on"),
        (cell(2, "99999999999"), "expected a round"),
        (cell(6, "18446744073709551615"), "steps in"),
        (cell(8, "18446744073709551615"), "do not lead to its arrival"),
        (cell(12, "7"), "do not lead to its arrival"),
        (cell(13, "eaten"), "column `outcome`: found `eaten`"),
        (cell(16, "\u{1b}[2J"), "column `phase`: found `�[2J`"),
        (whole.replacen(&first, &format!("{first},"), 1), "found 18 cells, expected 17"),
        (whole.replacen("upload_ns", "upload", 1), "there is no column `upload_ns`"),
        (twice, "and is on its way until"),
        (
            whole.replacen(&format!("{first}\n"), "", 1),
            "it has 999 rows, and summary.json is of a run that wrote 1000",
        ),
        (whole.lines().next().unwrap().to_string(), "it has 0 rows, and summary.json"),
        (String::new(), "there is no column"),
    ] {
        fs::write(&csv, text).unwrap();
        let error = refused(&workshop, &["r", "--out", "x"], 1);
        assert!(error.contains(said), "{said}: {error}");
    }
    fs::remove_file(&csv).unwrap();
    let error = refused(&workshop, &["r", "--out", "x"], 1);
    assert!(error.contains("cannot read r/clients.csv: "), "{error}");
    fs::write(&csv, &whole).unwrap();
    assert!(refused(&workshop, &["r", "--out", "no/x"], 1).contains("no/x: cannot write"));
    let scenario = fs::read_to_string(run.join("scenario.toml")).unwrap();
    for clients in ["{ clients = 5 }", "\"off\""] {
        let some = format!("{scenario}\n[record]\nclients = {clients}\n");
        fs::write(run.join("scenario.toml"), some).unwrap();
        let error = refused(&workshop, &["r", "--out", "x"], 1);
        assert!(error.contains("it does not tell of every client"), "{error}");
    }
    fs::write(run.join("scenario.toml"), format!("{scenario}# edited\n")).unwrap();
    let error = refused(&workshop, &["r", "--out", "x"], 1);
    assert!(error.contains("it is not the scenario that summary.json is of"), "{error}");
    fs::write(run.join("scenario.toml"), "name = 7").unwrap();
    assert!(refused(&workshop, &["r", "--out", "x"], 1).contains("cannot be read any more"));
    let summary = fs::read_to_string(run.join("summary.json")).unwrap();
    fs::write(run.join("summary.json"), "[]").unwrap();
    let error = refused(&workshop, &["r", "--out", "x"], 1);
    assert!(error.contains("r/summary.json: it is not the summary of a run: "), "{error}");
    let anonymous = summary.replacen("\"version\"", "\"other\"", 1);
    fs::write(run.join("summary.json"), anonymous).unwrap();
    let error = refused(&workshop, &["r", "--out", "x"], 1);
    assert!(error.contains("its `version` is not that of a program"), "{error}");
    let error = refused(&workshop, &["nowhere", "--out", "x"], 1);
    assert!(
        error.contains("nowhere: there is no summary.json\n  = help: give the folder"),
        "{error}"
    );
    assert_eq!(names(&workshop.path(".")), ["r", "s.toml"], "nothing is left");
}
