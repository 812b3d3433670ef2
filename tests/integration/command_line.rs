//! The command: exit codes, what goes to which stream, and which folder is touched.

#[cfg(target_os = "linux")]
use crate::support::Tmpfs;
use crate::support::{Workshop, gruppetto, names, rows, stderr, stdout, summary};
use serde_json::Value;
use std::fs;
use std::fs::OpenOptions;
use std::process::{Output, Stdio};

const SMALL: &str = r#"
name = "small"
stop.rounds = 3
task = { kind = "quadratic", clients = 4, dim = 2 }
client.work.steps = { uniform = [1, 9] }
server.close = "all"

[[fleet.class]]
name = "phone"
step_time = "50ms"
jitter = 0.3
"#;

const RUN: [&str; 4] = ["run", "s.toml", "--out", "out"];

fn small() -> Workshop {
    Workshop::new(SMALL)
}

fn run(workshop: &Workshop, arguments: &[&str]) -> Output {
    workshop.call(&[&RUN[..], arguments].concat())
}

fn assert_code(output: &Output, code: i32) {
    assert_eq!(output.status.code(), Some(code), "{}", stderr(output));
}

#[test]
fn exit_codes_tell_how_it_ended() {
    let expect = |bound: &str| format!("{SMALL}\n[[expect]]\nthat = \"rounds\"\n{bound}\n");
    assert_code(&run(&small(), &[]), 0);
    assert_code(&run(&Workshop::new(&expect("at_least = 3")), &[]), 0);

    let missed = Workshop::new(&expect("at_least = 4"));
    let output = run(&missed, &[]);
    assert_code(&output, 3);
    assert!(stdout(&output).contains("NOT MET"));
    let summary = summary(&missed.path("out"));
    assert_eq!(summary["status"], "complete", "it ran to its end");
    assert_eq!(summary["expect"][0]["ok"], false);

    assert_code(&small().call(&["check", "s.toml"]), 0);
    let wrong = Workshop::new(&SMALL.replace("jitter", "jiter"));
    for output in [run(&wrong, &[]), wrong.call(&["check", "s.toml"])] {
        assert_code(&output, 2);
        assert!(stderr(&output).contains("did you mean `jitter`?"));
        assert!(output.stdout.is_empty());
    }
    assert!(!wrong.path("out").exists(), "nothing was run");
}

#[test]
fn bad_usage_is_told_from_failure() {
    let workshop = small();
    for arguments in [
        &[][..],
        &["race", "s.toml"],
        &["run"],
        &["run", "nowhere.toml"],
        &["run", "s.toml", "--speedup", "2"],
        &["run", "s.toml", "--clock", "wall", "--speedup", "0"],
        &["run", "s.toml", "--clock", "wall", "--speedup", "NaN"],
        &["run", "s.toml", "--clock", "sundial"],
        &["run", "s.toml", "--threads", "0"],
        &["run", "s.toml", "--seed", "-1"],
        &["run", "s.toml", "--seed", "9223372036854775808"],
        &["run", "s.toml", "--set", "server"],
        &["run", "s.toml", "--set", "server.colour=red"],
    ] {
        let output = workshop.call(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(!output.stderr.is_empty(), "{arguments:?}");
        assert!(output.stdout.is_empty(), "{arguments:?}");
    }
    assert_eq!(names(&workshop.path("")), ["s.toml"], "nothing was run");
    let output = workshop.call(&["run", "s.toml", "--speedup", "2"]);
    assert!(stderr(&output).contains("--clock wall"));
}

/// Without the feature `mpi`, several processes would run the same into the same folder. Tasks of Slurm that MPI did
/// not start are something else.
#[cfg(not(feature = "mpi"))]
#[test]
fn processes_that_mpirun_started_together_are_refused() {
    let workshop = small();
    let under = |variables: &[(&str, &str)]| {
        let mut command = workshop.command(&["run", "s.toml"]);
        command.envs(variables.iter().copied()).output().unwrap()
    };
    for variables in [
        &[("OMPI_COMM_WORLD_SIZE", "2"), ("OMPI_COMM_WORLD_RANK", "1")][..],
        &[("PMIX_RANK", "0"), ("SLURM_STEP_NUM_TASKS", "4")],
    ] {
        let output = under(variables);
        assert_code(&output, 2);
        assert!(stderr(&output).contains("make mpi"), "{}", stderr(&output));
    }
    assert_eq!(names(&workshop.path("")), ["s.toml"], "nothing was run");
    assert_code(&under(&[("SLURM_ARRAY_TASK_ID", "1"), ("SLURM_NTASKS", "4")]), 0);
}

#[test]
fn an_earlier_run_is_replaced_only_by_force() {
    let workshop = small();
    assert_code(&run(&workshop, &[]), 0);
    let file = workshop.path("out/rounds.csv");
    let before = fs::read(&file).unwrap();
    fs::write(workshop.path("out/notes.md"), "mine").unwrap();
    let own = fs::read(workshop.path("out/model-fednova.safetensors")).unwrap();
    fs::write(workshop.path("out/model-mine.safetensors"), "mine").unwrap();

    let refused = run(&workshop, &["--seed", "2"]);
    assert_code(&refused, 1);
    assert!(stderr(&refused).contains("--force"), "what to do about it");
    assert_eq!(fs::read(&file).unwrap(), before, "left as it was");

    assert_code(&run(&workshop, &["--seed", "2", "--force"]), 0);
    assert_ne!(fs::read(&file).unwrap(), before);
    assert!(workshop.path("out/notes.md").exists(), "not ours");
    assert!(workshop.path("out/model-mine.safetensors").exists(), "no run wrote it");
    assert_ne!(fs::read(workshop.path("out/model-fednova.safetensors")).unwrap(), own);

    // A folder of something else is not ours to touch, even with force.
    fs::create_dir(workshop.path("photos")).unwrap();
    fs::write(workshop.path("photos/1.jpg"), "x").unwrap();
    let output = workshop.call(&["run", "s.toml", "--out", "photos", "--force"]);
    assert_code(&output, 1);
    assert_eq!(names(&workshop.path("photos")), ["1.jpg"]);
}

#[test]
fn the_folder_is_named_after_the_scenario_or_chosen() {
    let workshop = small();
    assert_code(&workshop.call(&["run", "s.toml"]), 0);
    assert!(workshop.path("runs/small/summary.json").exists());
    let output = workshop.call(&["run", "s.toml", "--out", "deep/er/out"]);
    assert_code(&output, 0);
    assert!(stdout(&output).ends_with("written to deep/er/out; see deep/er/out/report.html\n"));
    assert!(workshop.path("deep/er/out/summary.json").exists());
}

#[test]
fn a_folder_that_cannot_be_written_is_named() {
    let workshop = small();
    let output = workshop.call(&["run", "s.toml", "--out", "s.toml/run"]);
    assert_code(&output, 1);
    let said = stderr(&output);
    assert!(said.contains("cannot use the folder s.toml/run"), "{said}");
}

/// Permissions do not stop root; a disk that is read-only does.
#[cfg(target_os = "linux")]
#[test]
fn a_disk_that_is_read_only_is_named() {
    let Some(disk) = Tmpfs::new("size=64k,ro") else {
        return;
    };
    let workshop = small();
    let into =
        |folder: &str| disk.call(":", &workshop.command(&["run", "s.toml", "--out", folder]));
    let out = disk.path().join("run");
    let output = into(out.to_str().unwrap());
    assert_code(&output, 1);
    let said = stderr(&output);
    assert!(said.contains("Read-only file system"), "{said}");
    assert!(said.contains(out.to_str().unwrap()), "{said}");
    // The mount point itself exists and is empty, but nothing can be put there.
    let output = into(disk.path().to_str().unwrap());
    assert_code(&output, 1);
    assert!(stderr(&output).contains("Read-only file system"));
}

#[test]
fn results_go_to_stdout_and_the_rest_to_stderr() {
    let workshop = small();
    let table = run(&workshop, &[]);
    assert!(stdout(&table).contains("training loss"));
    assert!(!stdout(&table).contains('\x1b'), "no colours in a pipe");
    assert_eq!(stderr(&table), "", "no bar without a terminal, no news");

    let json = run(&workshop, &["--json", "--force", "-v"]);
    let printed: Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(printed, summary(&workshop.path("out")));
    assert_ne!(stderr(&json), "", "-v says something, elsewhere");

    let quiet = run(&workshop, &["-q", "--force"]);
    assert_eq!(stderr(&quiet), "");
    assert_eq!(stdout(&quiet), stdout(&table), "quiet about progress only");
}

#[test]
fn logs_say_what_is_asked_for() {
    let workshop = small();
    let lines = |arguments: &[&str], filter: Option<&str>| {
        let mut command = workshop.command(&[&RUN[..], &["--force"], arguments].concat());
        filter.map(|filter| command.env("RUST_LOG", filter));
        let said = stderr(&command.output().unwrap());
        assert!(!said.contains('\x1b'), "no colours in a file: {said}");
        said.lines().map(str::to_string).collect::<Vec<_>>()
    };
    let about = |lines: &[String], what: &str| lines.iter().filter(|l| l.contains(what)).count();

    let verbose = lines(&["-v"], None);
    assert_eq!(about(&verbose, "run begins"), 1, "{verbose:?}");
    assert_eq!(about(&verbose, "round closes"), 3, "{verbose:?}");
    assert_eq!(about(&verbose, "run ends"), 1, "{verbose:?}");

    let info = lines(&[], Some("gruppetto=info"));
    assert_eq!(about(&info, "run begins"), 1, "{info:?}");
    assert_eq!(about(&info, "round closes"), 0, "{info:?}");
    assert_eq!(lines(&["-v"], Some("off")).len(), 0, "RUST_LOG overrides");

    let json = lines(&["-v", "--log-json"], None);
    assert_eq!(json.len(), verbose.len());
    let closed = json
        .iter()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter(|event| event["fields"]["message"] == "round closes")
        .map(|event| event["fields"]["round"].as_u64().unwrap());
    assert_eq!(closed.collect::<Vec<_>>(), [1, 2, 3]);
}

#[test]
fn timing_only_keeps_the_schedule_and_measures_nothing() {
    let workshop = small();
    let trained = workshop.run("trained", &[]);
    let timed = workshop.run("timed", &["--timing-only"]);
    let [a, b] = [&trained, &timed].map(|folder| fs::read(folder.join("clients.csv")).unwrap());
    assert!(a == b, "the same devices at the same times");
    let run = &summary(&timed)["variants"][0];
    for (name, value) in run["metrics"].as_object().unwrap() {
        assert!(value.is_null(), "{name}");
    }
    assert!(names(&timed).iter().all(|name| !name.contains("model")));
    assert_eq!(rows(&timed.join("rounds.csv"))[0].text("train_loss"), "");
}

#[test]
fn seed_and_set_change_what_they_should() {
    let workshop = small();
    let clients = |out: &str, arguments: &[&str]| {
        let folder = workshop.run(out, arguments);
        let seed = summary(&folder)["variants"][0]["seed"].as_u64().unwrap();
        (seed, fs::read_to_string(folder.join("clients.csv")).unwrap())
    };
    let plain = clients("plain", &[]);
    assert_eq!(plain, clients("same", &["--seed", "1", "--threads", "3"]));
    let other = clients("other", &["--seed", "7"]);
    assert_eq!((plain.0, other.0), (1, 7));
    // Not only the column that tells the seed.
    assert_ne!(plain.1.replace(",1,", ","), other.1.replace(",7,", ","));

    let set = ["--set", "stop.rounds=2", "--set", "client.work.steps=4"];
    let folder = workshop.run("set", &set);
    let rows = rows(&folder.join("clients.csv"));
    assert_eq!(rows.len(), 8);
    assert!(rows.iter().all(|row| row.int("tau") == 4));
    let resolved = fs::read_to_string(folder.join("scenario.toml")).unwrap();
    assert!(resolved.contains("seed = 1"), "{resolved}");
}

#[test]
fn readers_that_go_away_do_no_harm() {
    let workshop = small();
    for arguments in [&["run", "s.toml"][..], &["check", "s.toml"], &["--help"]] {
        let mut child = workshop
            .command(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_code(&output, 0);
        assert_eq!(stderr(&output), "", "{arguments:?}");
    }
    let mut child = workshop
        .command(&[&RUN[..], &["-v"]].concat())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stderr.take());
    assert_eq!(child.wait().unwrap().code(), Some(0), "logs into nothing");
    assert_eq!(summary(&workshop.path("out"))["status"], "complete");
}

#[cfg(target_os = "linux")]
#[test]
fn streams_on_a_full_disk_do_not_hide_how_it_ended() {
    let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
    let workshop = small();
    let mut command = workshop.command(&RUN);
    let output = command.stdout(full.try_clone().unwrap()).output().unwrap();
    assert_code(&output, 1);
    assert!(stderr(&output).contains("cannot write to stdout: No space left on device"));
    let mut command = gruppetto();
    let failed = command.args(["run", "nowhere.toml"]).stderr(full).status();
    assert_eq!(failed.unwrap().code(), Some(2), "no panic");
}
