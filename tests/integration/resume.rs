//! A run that was killed and goes on leaves the same files as one that was not.

use crate::support::{Workshop, stderr};
use flate2::read::GzDecoder;
use serde_json::Value;
use std::fs;
use std::io::Read;
use std::path::Path;

/// Two variants with two seeds: four cells. A test adds a server.
fn scenario(client: &str, server: &str) -> String {
    format!(
        r#"
name = "again"
repeats = 2
stop.rounds = 8
[task]
clients = 8
features = 5
classes = 3
size = {{ uniform = [20, 60] }}
[client]
lr = 0.1
{client}
[server]
{server}
[[fleet.class]]
name = "fast"
share = 0.4
step_time = {{ lognormal = {{ median = "20ms", sigma = 0.3 }} }}
jitter = 0.3
[[fleet.class]]
name = "slow"
share = 0.6
step_time = {{ lognormal = {{ median = "90ms", sigma = 0.6 }} }}
dropout = 0.1
uplink = "9kbps"
latency = "20ms"
availability = {{ on = {{ uniform = ["1s", "4s"] }}, off = {{ uniform = ["200ms", "2s"] }} }}
[[variant]]
name = "one"
[[variant]]
name = "two"
set = {{ client.lr = 0.05 }}
"#
    )
}

/// Everything that a run leaves, without how fast it was.
fn left(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<(String, Vec<u8>)> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| {
            let name = entry.unwrap().file_name().into_string().unwrap();
            let path = folder.join(&name);
            assert!(path.is_file(), "{name} is left over");
            let content = fs::read(&path).unwrap();
            let content = match name.as_str() {
                "summary.json" => without_speed(&content),
                "runs.csv" => crate::support::without_seconds(&content),
                "timeline.json.gz" => {
                    let mut text = Vec::new();
                    GzDecoder::new(&content[..]).read_to_end(&mut text).unwrap();
                    text
                }
                // It has the summary in it; the findings are compared by themselves.
                "report.html" => Vec::new(),
                _ => content,
            };
            (name, content)
        })
        .collect();
    // A process that was killed cannot remove its lock, which holds nothing any more.
    files.retain(|(name, _)| name != "lock");
    files.sort();
    files
}

fn without_speed(summary: &[u8]) -> Vec<u8> {
    let mut summary: Value = serde_json::from_slice(summary).unwrap();
    for run in summary["variants"].as_array_mut().unwrap() {
        run.as_object_mut().unwrap().remove("throughput");
    }
    serde_json::to_vec(&summary).unwrap()
}

fn assert_same(one: &Path, other: &Path, what: &str) {
    let (one, other) = (left(one), left(other));
    let names = |files: &[(String, Vec<u8>)]| files.iter().map(|f| f.0.clone()).collect::<Vec<_>>();
    assert_eq!(names(&one), names(&other), "{what}");
    for ((name, a), (_, b)) in one.iter().zip(&other) {
        assert!(a == b, "{name} differs: {what}");
    }
}

/// How many cells have trained less than they would have from the beginning.
fn from_checkpoints(folder: &Path) -> usize {
    let summary = crate::support::summary(folder);
    let runs = summary["variants"].as_array().unwrap().iter();
    let steps = |run: &Value, name: &str| run["throughput"][name].as_u64().unwrap();
    runs.filter(|run| steps(run, "trained_steps") < steps(run, "local_steps")).count()
}

/// Runs with a checkpoint after every fifth event and ends the process after `event`; whether it came that far.
fn crash(workshop: &Workshop, out: &str, event: u64, more: &[&str]) -> bool {
    let arguments = [&["run", "s.toml", "-q", "--out", out], more].concat();
    let mut command = workshop.command(&arguments);
    command.env("GRUPPETTO_FAULT_AFTER", event.to_string());
    command.env("GRUPPETTO_CHECKPOINT_EVENTS", "5");
    !command.output().unwrap().status.success()
}

fn resume(workshop: &Workshop, out: &str, threads: &str) {
    let arguments = ["run", "s.toml", "-q", "--resume", "--threads", threads, "--out", out];
    let output = workshop.call(&arguments);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
}

#[test]
fn a_run_that_crashed_goes_on_and_leaves_the_same_files() {
    let work = "work = { steps = { uniform = [1, 12] } }";
    for (client, server) in [
        ("", "close = { deadline = \"1s\" }"),
        ("variance_reduction = \"fednova\"\nmomentum = 0.5", "close = \"all\"\nsample.clients = 5"),
        (
            "compression = { top_k = 0.4, error_feedback = true }",
            "close = { buffer = 3 }\nconcurrency = 5\noptimizer = { kind = \"adam\" }",
        ),
        ("variance_reduction = \"scaffold\"", "close = { first = 3, of = 6 }\nlate = \"stale\""),
        ("", "close = \"all\"\nscheme = \"oort\"\nsample.clients = 3"),
    ] {
        let client =
            if server.contains("deadline") { client.into() } else { format!("{client}\n{work}") };
        let workshop = Workshop::new(&scenario(&client, server));
        let whole = workshop.run("whole", &["-q"]);
        let mut resumed = 0;
        for (turn, event) in [1, 17, 48, 90, 131, 170].into_iter().enumerate() {
            let out = format!("crashed-{event}");
            if !crash(&workshop, &out, event, &[]) {
                assert!(turn > 2, "it came to its end before event {event}");
                continue;
            }
            // Some crash again while they go on.
            if turn % 2 == 1 {
                crash(&workshop, &out, 25, &["--resume"]);
            }
            resume(&workshop, &out, ["1", "2", "7"][turn % 3]);
            let what = format!("crashed at event {event}: {client} {server}");
            assert_same(&whole, &workshop.path(&out), &what);
            resumed += from_checkpoints(&workshop.path(&out));
        }
        assert!(resumed >= 3, "{resumed} cells went on from a checkpoint");
    }
}

/// A run that takes long: jobs of half a second each.
fn long() -> String {
    "name = \"long\"\nstop.rounds = 1000\n[task]\nkind = \"quadratic\"\nclients = 4\ndim = 2000\n\
     [client]\nlr = 0.01\nwork = { steps = 200000 }\n[server]\nclose = \"all\"\n"
        .into()
}

fn wait_for(what: impl Fn() -> bool) {
    let began = std::time::Instant::now();
    while !what() {
        assert!(began.elapsed().as_secs() < 60, "it never came");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

/// A disk that forgets a bit must not give another result: what has changed is refused.
#[test]
fn a_checkpoint_that_has_changed_is_refused() {
    let client = "variance_reduction = \"scaffold\"\nwork = { steps = 3 }";
    let workshop = Workshop::new(&scenario(client, "close = \"all\"\nevaluate_every = 1"));
    assert!(crash(&workshop, "out", 30, &["--jobs=1"]));
    let cell = workshop.path("out/cells/0");
    let names = crate::support::names(&cell);
    let files = names.iter().filter(|name| !name.starts_with('.'));
    for name in files.clone() {
        let whole = fs::read(cell.join(name)).unwrap();
        assert!(whole.len() > 16, "{name}");
        // One bit in the middle, and near the end.
        for place in [whole.len() / 2, whole.len() - 9] {
            let mut bytes = whole.clone();
            bytes[place] ^= 1;
            fs::write(cell.join(name), &bytes).unwrap();
            let output = workshop.call(&["run", "s.toml", "-q", "--out", "out", "--resume"]);
            let said = stderr(&output);
            assert_eq!(output.status.code(), Some(1), "{name}: {said}");
            assert!(said.contains(name.as_str()), "{said}");
        }
        fs::write(cell.join(name), whole).unwrap();
    }
    assert!(files.count() >= 3, "{names:?}");
    resume(&workshop, "out", "2");
    assert_same(&workshop.run("whole", &["-q"]), &workshop.path("out"), "after all that");
}

/// Devices come from a trace: with another one in its place the schedule would be another.
#[test]
fn a_run_goes_on_elsewhere_but_not_with_other_files() {
    let text = scenario("work = { steps = 3 }", "close = \"all\"").replace(
        "step_time = { lognormal = { median = \"20ms\", sigma = 0.3 } }",
        "trace = \"t.csv\"",
    );
    let text = text.replace("jitter = 0.3\n", "");
    let workshop = Workshop::new(&text);
    let trace = "device,time[s],step_time[s]\na,0,0.01\nb,0,0.02\nc,0,0.03\nd,0,0.04\n";
    fs::write(workshop.path("t.csv"), trace).unwrap();
    assert!(crash(&workshop, "out", 60, &[]));
    fs::write(workshop.path("t.csv"), trace.replace("0.04", "0.05")).unwrap();
    let refused = workshop.call(&["run", "s.toml", "-q", "--out", "out", "--resume"]);
    assert_eq!(refused.status.code(), Some(2), "{}", stderr(&refused));
    assert!(
        stderr(&refused).contains("t.csv has changed since the run began"),
        "{}",
        stderr(&refused)
    );
    // Another folder with the same files is the same scenario.
    fs::write(workshop.path("t.csv"), trace).unwrap();
    fs::create_dir(workshop.path("moved")).unwrap();
    for file in ["s.toml", "t.csv"] {
        fs::rename(workshop.path(file), workshop.path("moved").join(file)).unwrap();
    }
    let resumed = workshop.call(&["run", "moved/s.toml", "-q", "--out", "out", "--resume"]);
    assert_eq!(resumed.status.code(), Some(0), "{}", stderr(&resumed));
    let whole = workshop.call(&["run", "moved/s.toml", "-q", "--out", "whole"]);
    assert_eq!(whole.status.code(), Some(0), "{}", stderr(&whole));
    for file in ["rounds.csv", "clients.csv", "findings.json"] {
        let [a, b] = ["out", "whole"].map(|run| fs::read(workshop.path(run).join(file)).unwrap());
        assert!(a == b, "{file}");
    }
}

/// A signal is seen in the middle of a job, and leaves a checkpoint.
#[cfg(unix)]
#[test]
fn a_signal_ends_a_run_at_once_with_a_checkpoint() {
    let workshop = Workshop::new(&long());
    let csv = workshop.path("out/rounds.csv");
    let arguments = ["run", "s.toml", "-q", "--out", "out", "--set", "server.evaluate_every=1"];
    let child = workshop.command(&arguments).stdout(std::process::Stdio::null()).spawn().unwrap();
    wait_for(|| fs::read_to_string(&csv).unwrap_or_default().lines().count() > 2);
    let began = std::time::Instant::now();
    let id = child.id().to_string();
    std::process::Command::new("kill").args(["-TERM", &id]).status().unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    assert!(began.elapsed().as_secs_f64() < 2.0, "{:?}", began.elapsed());
    let rounds = crate::support::summary(&workshop.path("out"))["variants"][0]["rounds"].as_u64();
    assert!(workshop.path("out/cells/0/checkpoint.safetensors").exists());
    // It goes on, and the rounds that were made are not trained again.
    let child = workshop
        .command(&[
            "run",
            "s.toml",
            "-q",
            "--out",
            "out",
            "--resume",
            "--set",
            "server.evaluate_every=1",
        ])
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let more = rounds.unwrap() as usize + 2;
    wait_for(|| fs::read_to_string(&csv).unwrap_or_default().lines().count() > more);
    std::process::Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(130));
    let summary = crate::support::summary(&workshop.path("out"));
    let run = &summary["variants"][0]["throughput"];
    let [trained, made] = ["trained_steps", "local_steps"].map(|name| run[name].as_u64().unwrap());
    assert!(trained + 4 * 200_000 * rounds.unwrap() <= made + 4 * 200_000, "{trained} of {made}");
}

#[test]
fn a_folder_in_which_a_run_goes_on_is_refused() {
    let workshop = Workshop::new(&long());
    let mut child = workshop.command(&["run", "s.toml", "-q", "--out", "out"]).spawn().unwrap();
    wait_for(|| workshop.path("out/rounds.csv").exists());
    for more in ["--force", "--resume", "-q"] {
        let output = workshop.call(&["run", "s.toml", "--out", "out", more]);
        assert_eq!(output.status.code(), Some(1));
        let said = stderr(&output);
        assert!(said.contains(&format!("process {} on ", child.id())), "{more}: {said}");
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let output = workshop.call(&["run", "s.toml", "--out", "out"]);
    assert!(stderr(&output).contains("--resume"), "{}", stderr(&output));
}

/// Killed, refused or failing before it has anything to go on from, a run that should replace another leaves it.
#[test]
fn a_finished_run_is_there_until_its_successor_is() {
    let workshop = Workshop::new(&scenario("", "close = { deadline = \"1s\" }"));
    let first = workshop.run("out", &["-q"]);
    let before = left(&first);
    let refused =
        ["run", "s.toml", "--out", "out", "--force", "--set", "task.init={ file = \"no\" }"];
    assert_eq!(workshop.call(&refused).status.code(), Some(2));
    let same = |what: &str| assert!(left(&first) == before, "{what}");
    same("refused");
    let mut command = workshop.command(&["run", "s.toml", "-q", "--out", "out", "--force"]);
    command.env("GRUPPETTO_FAULT_AFTER", "9").env("GRUPPETTO_CHECKPOINT_EVENTS", "1000");
    assert!(!command.output().unwrap().status.success());
    same("killed before a checkpoint");
    fs::write(workshop.path("s.toml"), long()).unwrap();
    let mut child =
        workshop.command(&["run", "s.toml", "-q", "--out", "out", "--force"]).spawn().unwrap();
    wait_for(|| workshop.path(".out.new/rounds.csv").exists());
    child.kill().unwrap();
    child.wait().unwrap();
    same("killed");
    // With its first checkpoint it takes the place.
    let mut command = workshop.command(&["run", "s.toml", "-q", "--out", "out", "--force"]);
    command.env("GRUPPETTO_FAULT_AFTER", "3").env("GRUPPETTO_CHECKPOINT_EVENTS", "2");
    assert!(!command.output().unwrap().status.success());
    assert_eq!(crate::support::summary(&first)["name"], "long");
    assert!(first.join("cells/0/checkpoint.safetensors").exists());
    assert!(!workshop.path(".out.new").exists() && !workshop.path(".out.old").exists());
}

#[test]
fn only_the_same_run_goes_on() {
    let workshop = Workshop::new(&scenario("", "close = { deadline = \"1s\" }"));
    assert!(crash(&workshop, "out", 30, &["--jobs=1"]));
    let refused = |arguments: &[&str], said: &str| {
        let output =
            workshop.call(&[&["run", "s.toml", "--resume", "--out", "out"], arguments].concat());
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(stderr(&output).contains(said), "{}", stderr(&output));
    };
    refused(&["--set", "client.lr=0.2"], "lr");
    refused(&["--timing-only"], "without --timing-only");
    refused(&["--clock", "wall"], "virtual time");
    refused(&["--force"], "cannot be used with");
    resume(&workshop, "out", "2");
    // What is complete stays as it is, for scripts that always say --resume; what is not there begins.
    let before = fs::read(workshop.path("out/summary.json")).unwrap();
    resume(&workshop, "out", "2");
    assert!(fs::read(workshop.path("out/summary.json")).unwrap() == before);
    resume(&workshop, "new", "2");
    assert_same(&workshop.path("out"), &workshop.path("new"), "begun by --resume");
}

/// A checkpoint that is not whole is named.
#[test]
fn a_broken_checkpoint_is_named() {
    let workshop = Workshop::new(&scenario("", "close = { deadline = \"1s\" }"));
    assert!(crash(&workshop, "out", 30, &["--jobs=1"]));
    let file = workshop.path("out/cells/0/checkpoint.safetensors");
    let bytes = fs::read(&file).unwrap();
    for broken in [&bytes[..bytes.len() / 2], b"", b"rubbish"] {
        fs::write(&file, broken).unwrap();
        let output = workshop.call(&["run", "s.toml", "--resume", "--out", "out"]);
        assert_eq!(output.status.code(), Some(1));
        assert!(stderr(&output).contains("checkpoint.safetensors"), "{}", stderr(&output));
    }
}
