//! The files of a run: all there, with the names that scripts rely on.

use crate::simulated::Simulated;
use crate::support::{Workshop, header, names, rows, stdout, summary};
use gruppetto::run_files::Phase;
use safetensors::SafeTensors;
use serde_json::Value;
use std::fs;
use std::path::Path;

/// Every outcome there is: clients that are in time, cut short or hopeless in one variant, late or
/// never back in the other; and not everybody is asked every time.
pub const EVERYTHING: &str = r#"
name = "everything"
seed = 3
repeats = 2
stop.rounds = 12

[task]
clients = 9
features = 5
classes = 3
size = { uniform = [20, 80] }

[client]
batch = 5
work = { steps = { uniform = [3, 12] } }

[server]
close = { deadline = "2s" }
sample = { clients = 7 }

[[fleet.class]]
name = "fast"
share = 0.4
step_time = { lognormal = { median = "60ms", sigma = 0.3 } }
jitter = 0.1
uplink = "100kbps"
downlink = "1Mbps"
latency = "20ms"

[[fleet.class]]
name = "slow"
share = 0.6
step_time = { lognormal = { median = "700ms", sigma = 1.0 } }
jitter = 0.2
latency = "100ms"

[[variant]]
name = "nova"

[[variant]]
name = "all-or-nothing"
set = { server.weighting = "fedavg", server.partial = "discard" }
"#;

#[test]
fn every_file_is_there_and_nothing_else() {
    let workshop = Workshop::new(EVERYTHING);
    let folder = workshop.run("out", &[]);
    assert_eq!(
        names(&folder),
        [
            "clients.csv",
            "findings.json",
            "latency.hlog",
            "model-all-or-nothing-3.safetensors",
            "model-all-or-nothing-4.safetensors",
            "model-nova-3.safetensors",
            "model-nova-4.safetensors",
            "report.html",
            "rounds.csv",
            "runs.csv",
            "scenario.toml",
            "summary.json",
            "timeline.json.gz",
        ]
    );
    let single = workshop.run("single", &["--set", "repeats=1"]);
    assert!(single.join("model-nova.safetensors").exists());
    let off = workshop.run("off", &["--set", "record.clients=off"]);
    assert!(!off.join("clients.csv").exists());
}

#[test]
fn the_columns_have_their_names() {
    let workshop = Workshop::new(EVERYTHING);
    let folder = workshop.run("out", &[]);
    assert_eq!(
        header(&folder.join("clients.csv")),
        "variant,seed,round,client,class,version,tau,accumulation,dispatched_ns,download_ns,\
         compute_ns,upload_ns,arrived_ns,outcome,staleness,weight,phase"
    );
    let rounds = header(&folder.join("rounds.csv"));
    let columns: Vec<&str> = rounds.split(',').collect();
    for name in [
        "variant",
        "seed",
        "round",
        "virtual_seconds",
        "arrived",
        "tau_eff",
        "chi2",
        "train_loss",
        "grad_norm",
        "test_accuracy",
    ] {
        assert!(columns.contains(&name), "{name} in {rounds}");
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_u64() => "count",
        Value::Number(_) => "number",
        Value::String(_) => "text",
        Value::Array(_) => "list",
        Value::Object(_) => "table",
    }
}

/// Asserts the kinds of `names`, a list of `name:kind`. A number may happen to be whole.
fn assert_kinds(table: &Value, names: &str) {
    for (name, expected) in names.split_whitespace().map(|n| n.split_once(':').unwrap()) {
        let value = table.get(name);
        let value = value.unwrap_or_else(|| panic!("{name} is missing in {table}"));
        let found = kind(value);
        let fits = found == expected || (found, expected) == ("count", "number");
        assert!(fits, "{name} is {value}, not a {expected}");
    }
}

#[test]
fn the_summary_has_its_names_and_kinds() {
    let expect = "[[expect]]\nthat = \"rounds\"\nof = \"nova\"\nat_least = 12\n";
    let workshop = Workshop::new(&format!("{EVERYTHING}{expect}"));
    let folder = workshop.run("out", &[]);
    let summary = summary(&folder);
    assert_kinds(
        &summary,
        "name:text version:text status:text scenario_digest:text variants:list expect:list",
    );
    let expect = &summary["expect"][0];
    assert_kinds(expect, "that:text ok:bool measured:number");
    assert_eq!(expect["ok"], true);
    let runs = summary["variants"].as_array().unwrap();
    let whose: Vec<_> = runs
        .iter()
        .map(|run| (run["name"].as_str().unwrap(), run["seed"].as_u64().unwrap()))
        .collect();
    let (nova, nothing) = ("nova", "all-or-nothing");
    assert_eq!(whose, [(nova, 3), (nova, 4), (nothing, 3), (nothing, 4)]);
    for run in runs {
        assert_kinds(
            run,
            "name:text seed:count status:text rounds:count virtual_seconds:number metrics:table \
             best:table chi2:number missing_mass:number tau:table latency_seconds:table \
             outcomes:table waste:number throughput:table digest:text",
        );
        for metrics in [&run["metrics"], &run["best"]] {
            assert_kinds(
                metrics,
                "train_loss:number grad_norm:number test_accuracy:number test_loss:number \
                 distance:null",
            );
        }
        assert_kinds(&run["tau"], "min:count mean:number max:count");
        for phase in ["download", "compute", "upload", "round", "staleness"] {
            assert_kinds(
                &run["latency_seconds"][phase],
                "count:count mean:number p50:number p90:number p99:number p999:number max:number",
            );
        }
        assert_kinds(&run["outcomes"], "used:count late:count dropped:count");
        assert_kinds(
            &run["throughput"],
            "wall_seconds:number train_seconds:number evaluate_seconds:number local_steps:count trained_steps:count client_rounds:count",
        );
        assert_eq!(run["status"], "complete");
    }
}

#[test]
fn the_resolved_scenario_repeats_the_run() {
    let workshop = Workshop::new(EVERYTHING);
    let changes = ["--seed=21", "--set=server.close.deadline=3s", "--threads=1"];
    let first = workshop.run("first", &changes);
    fs::copy(first.join("scenario.toml"), workshop.path("s.toml")).unwrap();
    let again = workshop.run("again", &["--threads=3"]);
    for name in names(&first) {
        // These tell how long the machine took.
        if !["summary.json", "runs.csv", "report.html"].contains(&name.as_str()) {
            let [a, b] = [&first, &again].map(|folder| fs::read(folder.join(&name)).unwrap());
            assert!(a == b, "{name} differs");
        }
    }
    let [a, b] = [summary(&first), summary(&again)];
    assert_eq!(a["scenario_digest"], b["scenario_digest"]);
    assert_eq!(a["variants"][1]["seed"], 22);
    for run in 0..4 {
        assert_eq!(a["variants"][run]["digest"], b["variants"][run]["digest"]);
    }
    assert_ne!(a["variants"][0]["digest"], a["variants"][1]["digest"]);
}

/// Name and shape of every tensor, by name.
fn tensors(path: &Path) -> Vec<(String, Vec<usize>)> {
    let bytes = fs::read(path).unwrap();
    let file = SafeTensors::deserialize(&bytes).unwrap();
    let mut tensors: Vec<_> =
        file.tensors().into_iter().map(|(name, view)| (name, view.shape().to_vec())).collect();
    tensors.sort();
    tensors
}

#[test]
fn models_have_their_tensors_and_can_be_started_from() {
    let workshop = Workshop::new(EVERYTHING);
    let once = ["--set", "repeats=1"];
    let folder = workshop.run("out", &once);
    let model = folder.join("model-nova.safetensors");
    assert_eq!(tensors(&model), [("bias".to_string(), vec![3]), ("weight".into(), vec![3, 5])]);
    // It is the final model: a run that starts there and hardly moves measures the same.
    let init = format!("task.init={{ file = {:?} }}", model.to_str().unwrap());
    let still = ["--set", &init, "--set", "client.lr=1e-12"];
    let again = workshop.run("again", &[&once[..], &still].concat());
    let loss = |folder: &Path| {
        let loss = &summary(folder)["variants"][0]["metrics"]["train_loss"];
        loss.as_f64().unwrap()
    };
    let (last, start) = (loss(&folder), loss(&again));
    assert!((last - start).abs() < 1e-6, "{last} and {start}");
}

const QUADRATIC: &str = r#"
name = "quadratic"
stop.rounds = 4
task = { kind = "quadratic", clients = 3, dim = 7 }
client.work.steps = 2
server.close = "all"
server.evaluate_every = 3
"#;

#[test]
fn a_quadratic_has_x_and_a_distance() {
    let workshop = Workshop::new(QUADRATIC);
    let folder = workshop.run("out", &[]);
    let model = folder.join("model-fednova.safetensors");
    assert_eq!(tensors(&model), [("x".to_string(), vec![7])]);
    assert_kinds(
        &summary(&folder)["variants"][0]["metrics"],
        "train_loss:number grad_norm:number distance:number test_accuracy:null test_loss:null",
    );
    // Evaluated every third round and at the end; in between the cells are empty.
    let evaluated: Vec<bool> = rows(&folder.join("rounds.csv"))
        .iter()
        .map(|row| !row.text("distance").is_empty())
        .collect();
    assert_eq!(evaluated, [false, false, true, true]);
}

#[test]
fn the_printed_summary_is_the_written_one() {
    let workshop = Workshop::new(QUADRATIC);
    let output = workshop.call(&["run", "s.toml", "--json"]);
    let written = fs::read_to_string(workshop.path("runs/quadratic/summary.json")).unwrap();
    assert_eq!(stdout(&output), written);
}

/// Four clients, two of them in turn in each of four rounds of a second: each is asked twice, and was idle for a
/// second in between. Before it is first asked a client is not back from anywhere.
#[test]
fn idle_is_the_time_between_being_back_and_being_asked_again() {
    let run = Simulated::run(
        "name = \"idle\"\nstop.rounds = 4\ntask = { kind = \"quadratic\", clients = 4 }\n\
         client.work.steps = 2\n\
         server = { close = \"all\", scheme = \"round-robin\", sample = { clients = 2 } }\n\
         [[fleet.class]]\nname = \"phone\"\nstep_time = \"500ms\"\n",
        1,
    );
    let idle = run.summary.variants[0].latency_seconds.get(Phase::Idle);
    assert_eq!((idle.count, idle.max), (4, 1.0));
    assert!((idle.mean - 1.0).abs() < 1e-3, "{}", idle.mean);
}

/// The model takes a second, the deadline is half of that: the client is in the middle of its download.
#[test]
fn who_gives_up_in_the_middle_of_its_download_says_so() {
    for links in ["", "[fleet]\nserver_uplink = \"1Gbps\"\n"] {
        let text = format!(
            "name = \"slow\"\nstop.rounds = 1\ntask = {{ kind = \"quadratic\", clients = 1, dim = 10 }}\n\
             server.close.deadline = \"500ms\"\n{links}[[fleet.class]]\nname = \"phone\"\n\
             step_time = \"10ms\"\ndownlink = \"320bps\"\n"
        );
        let rows =
            Simulated::run(&text, 1).columns("clients.csv", ["outcome", "phase", "accumulation"]);
        assert_eq!(rows, [["no_step", "download", "0.0"]], "{links}");
    }
}
