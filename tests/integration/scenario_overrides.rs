//! `--set`, `--seed`, the `set` of variants, and the resolved scenario.

use gruppetto::aggregate::WeightingConfig;
use gruppetto::clock::Span;
use gruppetto::data::Init;
use gruppetto::device::{Availability, ComputeConfig};
use gruppetto::policy::{Amount, Close, Redraw, Sample, WorkConfig};
use gruppetto::random::{Dist, Shape};
use gruppetto::scenario::{Override, Scenario, ScenarioError};
use std::fs;

const BASE: &str = r#"
name = "base"
stop.rounds = 5

[server]
close = { deadline = "30s" }

[[fleet.class]]
name = "fast"
step_time = "1ms"

[[fleet.class]]
name = "slow"
step_time = { lognormal = { median = "9ms", sigma = 0.5 } }
"#;

fn set(text: &str, overrides: &[&str]) -> Result<Scenario, ScenarioError> {
    let overrides: Vec<_> =
        overrides.iter().map(|one| Override::parse(one)).collect::<Result<_, _>>()?;
    Scenario::parse("base.toml", text, &overrides, None)
}

fn steps(number: f64) -> WorkConfig {
    WorkConfig::Steps(Amount::Drawn(Dist::fixed(number), Redraw::Round))
}

#[test]
fn set_assigns_at_the_end_of_its_path() {
    let plan = |overrides: &[&str]| set(BASE, overrides).unwrap().variants.remove(0).plan;
    let close = |overrides: &[&str]| plan(overrides).server.close;
    assert_eq!(
        close(&["server.close.deadline=10s"]),
        Close::Deadline(Span::from_nanos(10_000_000_000))
    );
    assert_eq!(
        close(&[" server . close . deadline = 10s "]),
        Close::Deadline(Span::from_nanos(10_000_000_000))
    );
    assert_eq!(
        close(&["server.close={ deadline = \"1h\" }"]),
        Close::Deadline(Span::from_nanos(3_600_000_000_000))
    );
    // One way of closing takes the place of another, and a table that of a single value.
    let first = ["client.work.steps=2", "server.close.first=2", "server.close.of=3"];
    assert_eq!(close(&first), Close::First { first: 2, of: 3 });
    let back = [&first[..], &["server.close=all", "server.close.deadline=1s"]].concat();
    assert_eq!(close(&back), Close::Deadline(Span::from_nanos(1_000_000_000)));
    assert_eq!(plan(&["client.work.epochs=2", "client.work.steps=7"]).client.work, steps(7.0));
    assert_eq!(plan(&["server.sample.fraction=0.5"]).server.sample, Sample::Fraction(0.5));
    // Classes go by name or by number, also into their distributions.
    let by_name = plan(&["fleet.class.slow.jitter=0.5", "fleet.class.0.jitter=0.25"]).fleet.classes;
    assert_eq!([by_name[0].jitter, by_name[1].jitter], [0.25, 0.5]);
    let slower = plan(&["fleet.class.slow.step_time.lognormal.median=1s"]).fleet.classes;
    assert_eq!(slower[1].step_time().unwrap().shape, Shape::Lognormal { median: 1e9, sigma: 0.5 });
    let even = plan(&["fleet.class.slow.step_time.uniform=[\"1s\", \"2s\"]"]).fleet.classes;
    assert_eq!(even[1].step_time().unwrap().shape, Shape::Uniform(1e9, 2e9));
    // A speed takes the place of a step time, and a trace that of times of coming and going.
    let fast = plan(&["fleet.class.fast.speed=4 GFLOPS"]).fleet.classes;
    assert_eq!(fast[0].compute, Some(ComputeConfig::Speed(Dist::fixed(4e9))));
    let coming = [
        "fleet.class.fast.availability.on.exponential.mean=20m",
        "fleet.class.fast.availability.off=5m",
    ];
    let Some(Availability::OnOff { off, .. }) = &plan(&coming).fleet.classes[0].availability else {
        panic!("comes and goes");
    };
    assert_eq!(*off, Dist::fixed(3e11));
    let trace = "fleet.class.fast.availability.trace=traces/six-phones.csv";
    let recorded = plan(&[&coming[..], &[trace]].concat()).fleet.classes;
    assert!(matches!(recorded[0].availability, Some(Availability::Trace(_))));
    // Events are given all at once.
    let events = plan(&["event=[{ round = 2, slow = 4 }, { at = \"1m\", offline = true }]"]).events;
    assert_eq!(events.len(), 2);
    // Text, numbers and later assignments.
    assert_eq!(plan(&["server.weighting=fedavg"]).server.rule.weighting, WeightingConfig::FedAvg);
    assert_eq!(plan(&["client.lr=1e-3"]).client.recipe.common.lr, 1e-3);
    assert_eq!(plan(&["client.lr=1", "client.lr=2"]).client.recipe.common.lr, 2.0);
    assert_eq!(set(BASE, &["name=other", "repeats=3", "record.clients=off"]).unwrap().repeats, 3);
}

#[test]
fn errors_of_an_override_point_into_it() {
    for (text, message, under) in [
        ("server.lr=abc", "`server.lr` leads nowhere", "lr"),
        ("client.lr=abc", "expected a number, found the string \"abc\"", "abc"),
        ("server.close.deadline= 30", "30 has no unit", "30"),
        ("fleet.class.fats.jitter=0", "there is no device class `fats`", "fats"),
        (
            "server.close={ dedline = \"10s\" }",
            "unknown key `dedline` in `server.close`",
            "dedline",
        ),
        ("server.close={ deadline = 10 }", "10 has no unit", "10"),
        ("fleet.server_uplink=9", "9 has no unit", "9"),
        ("event.slow=2", "events have no names that a path could go by", "event"),
        (
            "server.close={ deadline = [1 }",
            "invalid TOML: missing comma between array elements",
            "}",
        ),
    ] {
        let error = set(BASE, &[text]).unwrap_err().to_string();
        let lines: Vec<&str> = error.lines().collect();
        assert_eq!(lines[0], format!("error: {message}"), "{error}");
        assert_eq!(lines[1], format!("  --> --set {text}"), "{error}");
        let begin = lines[2].find('^').unwrap();
        let end = lines[2].rfind('^').unwrap() + 1;
        assert_eq!(lines[1].get(begin..end), Some(under), "{error}");
    }
    for (text, piece) in [
        ("server.deadline=1s", "did you mean `server.close.deadline`?"),
        ("client.learning_rate=1", "did you mean `client.lr`?"),
        ("fleet.class.fats.jitter=0", "did you mean `fast`?"),
        ("fleet.class.7.jitter=0", "one of: fast, slow"),
        ("fleet.server_uplink.x=1", "`fleet.server_uplink.x` leads nowhere"),
        ("fleet.server_link=1Gbps", "did you mean `fleet.server_uplink`?"),
        ("fleet.class.fast.slowdown.facto=2", "did you mean `fleet.class.fast.slowdown.factor`?"),
        ("record.timelin=off", "did you mean `record.timeline`?"),
        ("task.partition.schem=iid", "did you mean `task.partition.scheme`?"),
        ("variant.a.set=1", "a path outside [[variant]]"),
        ("seed", "path=value"),
        ("=5", "a part of the path is empty"),
        ("client..lr=5", "a part of the path is empty"),
        ("client.lr=", "a value after the `=`"),
        ("name=a\nb", "cannot be the name of a scenario"),
        ("client.lr=1\nseed=2", "expected a number"),
        ("client=5", "expected a table, found the number 5"),
    ] {
        let error = set(BASE, &[text]).unwrap_err().to_string();
        assert!(error.contains(piece), "{text}: no `{piece}` in\n{error}");
    }
}

#[test]
fn a_dotted_key_of_a_variant_descends_and_braces_replace() {
    let text = |set: &str| format!("{BASE}\n[[variant]]\nname = \"v\"\nset = {set}\n");
    let plan = |text: &str| set(text, &[]).unwrap().variants.remove(0).plan;
    let base = plan(&BASE.replace("[server]\n", "[server]\nevaluate_every = 4\n"));
    assert_eq!(base.server.evaluate_every, 4);
    let with_four =
        |set: &str| plan(&text(set).replace("[server]\n", "[server]\nevaluate_every = 4\n"));
    assert_eq!(with_four("{ server.weighting = \"fedavg\" }").server.evaluate_every, 4);
    assert_eq!(with_four("{ server = { weighting = \"fedavg\" } }").server.evaluate_every, 1);
    assert_eq!(with_four("{ client.work.steps = 3 }").client.work, steps(3.0));
    assert_eq!(
        with_four("{ fleet.class.budget.jitter = 0.1 }".replace("budget", "slow").as_str())
            .fleet
            .classes[1]
            .jitter,
        0.1
    );
    // The same in the long form.
    let long = format!(
        "{BASE}\n[[variant]]\nname = \"v\"\n[variant.set.server]\nweighting = \"fedavg\"\n"
    );
    assert_eq!(plan(&long).server.rule.weighting, WeightingConfig::FedAvg);
    assert_eq!(plan(&long).server.close, Close::Deadline(Span::from_nanos(30_000_000_000)));
    // What a variant sets stands above `--set`.
    let both = set(&text("{ client.lr = 3 }"), &["client.lr=2", "client.batch=7"]).unwrap();
    assert_eq!(both.variants[0].plan.client.recipe.common.lr, 3.0);
}

#[test]
fn the_seed_of_the_command_line_wins() {
    let seeded = |seed| Scenario::parse("base.toml", BASE, &[], seed);
    assert_eq!(seeded(None).unwrap().seed, 1);
    assert!(seeded(None).unwrap().resolved.contains("seed = 1\n"));
    assert_eq!(seeded(Some(9)).unwrap().seed, 9);
    assert!(seeded(Some(9)).unwrap().resolved.contains("seed = 9\n"));
    let error = seeded(Some(u64::MAX)).unwrap_err().to_string();
    assert!(error.contains("--> --seed 18446744073709551615\n   |         ^^^^"), "{error}");
}

/// Loads what was resolved, in another folder, and compares everything else.
fn assert_round_trip(scenario: &Scenario) {
    let mut again = Scenario::parse("/nowhere/else.toml", &scenario.resolved, &[], None)
        .unwrap_or_else(|error| panic!("{error}\n{}", scenario.resolved));
    assert_eq!(again.resolved, scenario.resolved, "resolving twice changes nothing");
    again.resolved.clone_from(&scenario.resolved);
    assert_eq!(&again, scenario);
}

/// Goes on with the last class of the base.
const CHANGES: &str = r#"
trace = { file = "traces/six-phones.csv", devices = "budget", repeat = "24h" }
[fleet.class.slowdown]
factor = 2
every = { exponential = { mean = "10m" } }
lasting = "1m"
[fleet.class.thermal]
curve = [["2m", 0.7], ["10m", 0.5]]
[[event]]
round = 2
network = { up = 0.5 }
[event.select]
clients = [3, 1]
[[event]]
at = "1m"
lr.times = 0.5
[[variant]]
name = "a"
[[variant]]
name = "b"
set = { event = [{ at = "2s", join = true, select = { fraction = 0.5 } }], fleet.class.slow.trace = "traces/six-phones.csv" }
"#;

#[test]
fn the_resolved_scenario_is_the_same_scenario() {
    let variants = "[[variant]]\nname = \"a\"\nset = { server.weighting = \"fedavg\", server.close = { deadline = \"9s\" }, fleet.class.slow.jitter = 0.1 }\n\
        [[variant]]\nname = \"b\"\n[variant.set.client.work]\nsteps = { uniform = [1, 5] }\n\
        [[variant]]\nname = \"c\"\nset = { server = { weighting = \"fedavg\" } }\n\
        [[expect]]\nthat = \"chi2\"\nof = \"a\"\nat_most = \"b\"\n[[expect]]\nthat = \"waste\"\nof = \"b\"\nequals = 1e-7\nwithin = 0.1\n";
    let quadratic = "name = \"q\"\ndescription = \"quotes \\\" and\\nlines \\\\ ½\"\nclient.work = { steps = [3, 10] }\n[stop]\nrounds = 7\n[stop.target]\nmetric = \"distance\"\nat_most = 1e-300\n\
        [task]\nkind = \"quadratic\"\nclients = 2\ncenters = [[1, 2], [0.1, -4e21]]\ncurvature = [[1, 2], [3, 4]]\nweights = [0.3, 0.7]\n[server.close]\nfirst = 1\nof = 2\n[record]\nclients = \"off\"\n";
    for (text, overrides) in [
        (BASE.to_string(), &[][..]),
        (
            BASE.to_string(),
            &["server.close.deadline=10s", "fleet.class.slow.uplink=3Mbps", "client.lr=0.1"],
        ),
        (
            BASE.to_string(),
            &["server.close.first=2", "server.close.of=3", "client.work.steps=3", "seed=77"],
        ),
        (format!("{BASE}{variants}"), &["server.evaluate_every=3"]),
        (
            format!("{}{CHANGES}", BASE.replace("step_time = {", "# {")),
            &["fleet.server_uplink=1Gbps"],
        ),
        (quadratic.to_string(), &[]),
        (quadratic.to_string(), &["task.init.normal=0.5", "name=renamed"]),
    ] {
        let scenario = set(&text, overrides).unwrap_or_else(|error| panic!("{error}\n{text}"));
        assert_round_trip(&scenario);
    }
}

#[test]
fn the_resolved_scenario_finds_its_files() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("s.toml");
    fs::write(folder.path().join("t.csv"), "t\n20ms\n30ms\n").unwrap();
    fs::write(folder.path().join("x.safetensors"), "").unwrap();
    fs::create_dir(folder.path().join("traces")).unwrap();
    let trace = "device,time [s],up [Mbps],available\na,0,1,1\na,9,2,0\nb,0,3,0\n";
    fs::write(folder.path().join("traces/t.csv"), trace).unwrap();
    let text = "name = \"t\"\nstop.rounds = 5\ntask.init.file = \"x.safetensors\"\n[[fleet.class]]\nname = \"d\"\n\
        step_time = { empirical = \"t.csv\", column = \"t\" }\n\
        trace = { file = \"traces/t.csv\" }\navailability = { trace = \"traces/t.csv\" }\n\
        [[variant]]\nname = \"v\"\nset = { task.init.file = \"./x.safetensors\", fleet.class.d.trace = \"traces/t.csv\" }\n";
    fs::write(&file, text).unwrap();
    let scenario = Scenario::load(&file, &gruppetto::plugins::Plugins::new()).unwrap();
    let expected = Init::File(folder.path().join("x.safetensors"));
    assert_eq!(scenario.variants[0].plan.task.init, expected);
    assert_round_trip(&scenario);
}
