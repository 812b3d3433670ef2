//! `[sweep]` and `--sweep`: every combination of values is a run; swept keys are columns everywhere.

use crate::support::{Workshop, header, names, rows, stderr, stdout, summary};
use std::collections::BTreeSet;
use std::fs;

pub const SWEPT: &str = r#"
name = "swept"
repeats = 2
stop.rounds = 4
task = { clients = 6, features = 4, classes = 3, size = 15 }
client = { work = { until = "deadline" } }
[sweep]
server.close.deadline = ["1s", "2s", "3s"]
client.lr = [0.01, 0.1]
[[fleet.class]]
name = "fast"
share = 0.5
step_time = "50ms"
uplink = "100kbps"
[[fleet.class]]
name = "slow"
share = 0.5
step_time = { lognormal = { median = "300ms", sigma = 0.5 } }
dropout = 0.1
[[variant]]
name = "nova"
[[variant]]
name = "avg"
set = { server.weighting = "fedavg" }
"#;

#[test]
fn every_combination_is_run_and_named() {
    let workshop = Workshop::new(SWEPT);
    let out = workshop.run("out", &[]);
    let told = summary(&out);
    let cells = told["variants"].as_array().unwrap();
    assert_eq!(cells.len(), 2 * 3 * 2 * 2);
    let first = &cells[0];
    assert_eq!(first["name"], "nova deadline=1s lr=0.01");
    assert_eq!((&first["variant"], &first["cell"]), (&"nova".into(), &0.into()));
    assert_eq!(first["swept"]["server.close.deadline"], "1s");
    assert_eq!(first["swept"]["client.lr"], 0.01);
    // Seeds change first, then the last key, then the first, then the variant.
    let order: Vec<&str> = cells.iter().map(|cell| cell["name"].as_str().unwrap()).collect();
    let unit = |at: usize| (order[at], cells[at]["seed"].as_u64().unwrap());
    assert_eq!(unit(1), ("nova deadline=1s lr=0.01", 2));
    assert_eq!(unit(2), ("nova deadline=1s lr=0.1", 1));
    assert_eq!(unit(4), ("nova deadline=2s lr=0.01", 1));
    assert_eq!(unit(12), ("avg deadline=1s lr=0.01", 1));
    assert_eq!(told["swept"][0]["label"], "deadline");
    assert_eq!(told["over_seeds"].as_array().unwrap().len(), 12);
    assert_eq!(told["over_seeds"][0]["swept"], first["swept"]);

    // The same values one by one, by --set in a scenario without a sweep, are the same runs.
    let plain = SWEPT.split_once("[sweep]").unwrap();
    let rest = plain.1.split_once("[[fleet.class]]").unwrap().1;
    let alone = Workshop::new(&format!("{}[[fleet.class]]{rest}", plain.0));
    let set = ["--set=server.close.deadline=2s", "--set=client.lr=0.1"];
    let alone = summary(&alone.run("alone", &set));
    let same = cells.iter().filter(|cell| cell["name"] == "avg deadline=2s lr=0.1");
    let same: Vec<_> = same.map(|cell| (&cell["digest"], &cell["model_digest"])).collect();
    let own = alone["variants"].as_array().unwrap().iter().filter(|run| run["name"] == "avg");
    let own: Vec<_> = own.map(|run| (&run["digest"], &run["model_digest"])).collect();
    assert_eq!(same, own);

    // The resolved scenario is the same sweep.
    fs::copy(out.join("scenario.toml"), workshop.path("s.toml")).unwrap();
    assert_eq!(summary(&workshop.run("again", &[]))["scenario_digest"], told["scenario_digest"]);
}

#[test]
fn swept_keys_are_columns_everywhere_and_files_are_named_by_number() {
    let workshop = Workshop::new(SWEPT);
    let out = workshop.run("out", &["--parquet"]);
    for table in ["rounds.csv", "clients.csv", "runs.csv"] {
        let columns = header(&out.join(table));
        let begin = "variant,seed,server.close.deadline,client.lr,";
        assert!(columns.starts_with(begin), "{table}: {columns}");
    }
    let runs = rows(&out.join("runs.csv"));
    assert_eq!(runs.len(), 24);
    assert_eq!((runs[23].text("variant"), runs[23].int("seed")), ("avg", 2));
    assert_eq!(runs[23].text("server.close.deadline"), "3s");
    let told = summary(&out);
    for (row, cell) in runs.iter().zip(told["variants"].as_array().unwrap()) {
        assert_eq!(row.text("digest"), cell["digest"].as_str().unwrap());
        assert_eq!(row.float("train_loss"), cell["metrics"]["train_loss"].as_f64().unwrap());
        assert_eq!(row.int("bytes_up"), cell["bytes"]["up"].as_u64().unwrap());
        let model = format!("model-{}-{}.safetensors", row.text("variant"), cell["cell"]);
        assert!(out.join(&model).exists(), "{model}");
    }
    assert_eq!(names(&out).iter().filter(|name| name.starts_with("model-")).count(), 24);
    for exported in ["runs.parquet", "rounds.parquet", "clients.parquet"] {
        assert!(out.join(exported).exists(), "{exported}");
    }
    // Programs that read the tables tell the combinations apart.
    let compared = stdout(&workshop.call(&["compare", "out", "--csv", "-"]));
    assert_eq!(compared.lines().count(), 1 + 12, "{compared}");
    let board = workshop.call(&["export", "out", "--tensorboard", "board"]);
    assert_eq!(board.status.code(), Some(0), "{}", stderr(&board));
    assert_eq!(names(&workshop.path("board")).len(), 24);
    let which = ["--variant", "avg deadline=2s lr=0.1", "--seed", "2"];
    let record = [&["trace", "record", "out", "--out", "t.csv"][..], &which].concat();
    let record = workshop.call(&record);
    assert_eq!(record.status.code(), Some(0), "{}", stderr(&record));
}

/// Bytes by hand: 3 · (4 + 1) parameters of 4 bytes.
#[test]
fn bytes_are_counted() {
    let workshop = Workshop::new(SWEPT);
    let out = workshop.run("out", &["--repeats", "1"]);
    let clients = rows(&out.join("clients.csv"));
    for cell in summary(&out)["variants"].as_array().unwrap() {
        let own = clients.iter().filter(|row| {
            let lr = cell["swept"]["client.lr"].to_string();
            row.text("variant") == cell["variant"]
                && row.text("server.close.deadline") == cell["swept"]["server.close.deadline"]
                && row.text("client.lr") == lr
        });
        let own: Vec<_> = own.collect();
        let count = |is: &dyn Fn(&crate::support::Row) -> bool| {
            60 * own.iter().filter(|row| is(row)).count() as u64
        };
        let (down, up) = (
            count(&|row| row.text("phase") != "download"),
            count(&|row| row.text("phase") == "done" && row.int("tau") > 0),
        );
        let used = count(&|row| row.text("outcome") == "used");
        assert_eq!(cell["bytes"]["down"], down);
        assert_eq!(cell["bytes"]["up"], up);
        assert_eq!(cell["bytes"]["up_wasted"], up - used);
        assert_eq!(cell["bytes"]["down_wasted"], down - used);
        assert!(used > 0);
    }
}

#[test]
fn arguments_sweep_like_the_table() {
    let workshop = Workshop::new(&SWEPT.replace("client.lr = [0.01, 0.1]\n", ""));
    // Another key, other values for one that is there, other seeds.
    let arguments =
        ["--sweep=client.lr=0.01, 0.1", "--sweep=server.close.deadline=1s,2s,3s", "--repeats=2"];
    let one = summary(&workshop.run("one", &arguments));
    let labels: BTreeSet<&str> =
        one["variants"].as_array().unwrap().iter().map(|v| v["name"].as_str().unwrap()).collect();
    assert_eq!(labels.len(), 12);
    // Values that are tables keep their commas.
    let tables = "--sweep=client.work={ steps = 3 },{ epochs = { uniform = [1, 2] } }";
    let out = workshop.run("tables", &[tables, "--sweep=server.close=\"all\"", "--repeats=1"]);
    let runs = rows(&out.join("runs.csv"));
    assert_eq!(runs.len(), 4);
    assert_eq!(runs[1].text("client.work"), "{ epochs = { uniform = [1 2] } }");
    assert_eq!(runs[1].text("server.close"), "all");
}

#[test]
fn an_expectation_holds_for_every_combination() {
    let expect = "[[expect]]\nthat = \"rounds\"\nof = \"nova\"\nequals = \"avg\"\nwithin = 0\n\
                  [[expect]]\nthat = \"chi2\"\nof = \"avg\"\nat_least = 1e9\n";
    let workshop = Workshop::new(&format!("{SWEPT}{expect}"));
    let output = workshop.call(&["run", "s.toml", "--out", "out"]);
    assert_eq!(output.status.code(), Some(3));
    let told = summary(&workshop.path("out"));
    let expects = told["expect"].as_array().unwrap();
    assert_eq!(expects.len(), 12);
    assert!(expects[..6].iter().all(|expect| expect["ok"] == true));
    let that = expects[1]["that"].as_str().unwrap();
    let pair = "rounds of nova deadline=1s lr=0.1 within 0 of avg deadline=1s lr=0.1's 4";
    assert_eq!(that, pair);
    assert!(expects[6..].iter().all(|expect| expect["ok"] == false));
}

#[test]
fn what_cannot_be_swept_is_refused_with_its_place() {
    let with = |sweep: &str| {
        SWEPT.replace(
            "server.close.deadline = [\"1s\", \"2s\", \"3s\"]\nclient.lr = [0.01, 0.1]",
            sweep,
        )
    };
    for (sweep, more, said) in [
        ("seed = [1, 2]", &[][..], "`seed` cannot be swept"),
        ("record.clients = [\"all\"]", &[], "`record` cannot be swept"),
        ("client.lr = 0.1", &[], "expected client.lr = [first, second, …]"),
        ("client.lr = []", &[], "`client.lr` has no values"),
        ("client.lr = [0.1, 0.1]", &[], "`0.1` is there twice"),
        ("client.learning = [1, 2]", &[], "`client.learning` leads nowhere"),
        ("client.lr = [0.1, 0]", &[], "note: in the sweep, with lr=0"),
        ("client.lr = [0.1]\nclient.\"lr\" = [0.2]", &[], "duplicate key"),
        ("client.lr = [0.1]\n\"client.lr\" = [0.2]", &[], "`client.lr` is swept twice"),
        (
            "server.close = [\"all\"]\n\"server.close.deadline\" = [\"1s\"]",
            &[],
            "set the same thing",
        ),
        (
            "server.weighting = [\"fedavg\"]",
            &[],
            "`server.weighting` is set by variant `avg` and by",
        ),
        (
            "client.lr = [0.1]",
            &["--set=client.lr=0.2"],
            "`client.lr` is set by --set and by the sweep",
        ),
        ("client.lr = [0.1]", &["--set=sweep.client.lr=0.2"], "help: --sweep KEY=V1,V2"),
        ("client.lr = [0.1]", &["--sweep=client.lr"], "nothing is assigned"),
        ("client.lr = [0.1]", &["--sweep=client.lr=1,,2"], "nothing is assigned"),
        ("client.lr = [0.1]", &["--sweep=client.lr={a"], "invalid TOML"),
        ("client.lr = [0.1]", &["--part=3/2"], "expected a number from 1 to 2"),
    ] {
        let workshop = Workshop::new(&with(sweep));
        let output = workshop.call(&[&["run", "s.toml", "--out", "out"], more].concat());
        let error = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{sweep}: {error}");
        assert!(error.contains(said), "{sweep}: {error}");
        assert!(!workshop.path("out").exists(), "{sweep}");
    }
    let many: Vec<String> = (1..=101).map(|n| n.to_string()).collect();
    let many = many.join(", ");
    let workshop = Workshop::new(&with(&format!("client.lr = [{many}]\nclient.batch = [{many}]")));
    let error = stderr(&workshop.call(&["check", "s.toml"]));
    assert!(error.contains("101 × 101 combinations are too many"), "{error}");
}

#[test]
fn check_tells_how_many_how_long_and_how_much() {
    let workshop = Workshop::new(SWEPT);
    let text = stdout(&workshop.call(&["check", "s.toml", "--repeats", "5"]));
    assert!(text.contains("valid; 60 runs, from seed 1"), "{text}");
    assert!(
        text.contains("2 variants, 3 × server.close.deadline, 2 × client.lr, 5 seeds"),
        "{text}"
    );
    assert!(text.contains("all together, ") && text.contains(" of memory"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
}

/// Files that are swept are looked for beside the scenario, and belong to its digest, however the key is written.
#[test]
fn swept_files_are_inputs() {
    let trace = |step: &str| format!("device,time[s],step_time[s]\na,0,{step}\nb,0,1\n");
    let plain = SWEPT.replace(
        "server.close.deadline = [\"1s\", \"2s\", \"3s\"]\nclient.lr = [0.01, 0.1]\n",
        "KEY = [\"one.csv\", \"two.csv\"]\n",
    );
    let plain = plain.replace("step_time = \"50ms\"\n", "");
    let mut digests = BTreeSet::new();
    for key in
        ["fleet.class.fast.trace", "\"fleet.class.fast.trace\"", "fleet.class.fast.\"trace\""]
    {
        let workshop = Workshop::new(&plain.replace("KEY", key));
        fs::create_dir(workshop.path("elsewhere")).unwrap();
        for (name, step) in [("one.csv", "0.1"), ("two.csv", "0.2")] {
            fs::write(workshop.path(name), trace(step)).unwrap();
        }
        let run = |out: &str| {
            let mut command = workshop.command(&["run", "../s.toml", "-q", "--out", out]);
            let output = command.current_dir(workshop.path("elsewhere")).output().unwrap();
            assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
            summary(&workshop.path("elsewhere").join(out))
        };
        let told = run("out");
        assert_eq!(told["inputs"].as_object().unwrap().len(), 2, "{key}: {}", told["inputs"]);
        assert_eq!(told["swept"][0]["key"], "fleet.class.fast.trace");
        let digest = |run: &serde_json::Value| run["scenario_digest"].as_str().unwrap().to_string();
        digests.insert(told["variants"][0]["digest"].to_string());
        fs::write(workshop.path("two.csv"), trace("0.3")).unwrap();
        assert_ne!(digest(&run("other")), digest(&told), "{key}");
    }
    assert_eq!(digests.len(), 1, "the same runs");
}
