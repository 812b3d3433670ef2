//! What valid scenarios mean: defaults, units, distributions, files.

use flate2::write::GzEncoder;
use gruppetto::aggregate::{
    Moment, OptimizerConfig, Participation, RuleConfig, TauEff, WeightingConfig,
};
use gruppetto::clock::Span;
use gruppetto::compress::{Compression, Packing};
use gruppetto::data::{Centers, Curvature, Init, QuadraticConfig, SyntheticConfig};
use gruppetto::device::Assign;
use gruppetto::metric::{Bound, Metric};
use gruppetto::policy::{
    Amount, Batch, Close, LastBatch, Late, OortConfig, Partial, Redraw, Sample, Scheme, WorkConfig,
};
use gruppetto::random::{Dist, Shape};
use gruppetto::scenario::{
    ExpectBound, Plan, Quantity, RecordClients, Reference, Scenario, Side, Subject,
};
use gruppetto::solver::{LrChange, Schedule, Solver, VarianceReduction};
use std::fs;
use std::io::Write;

fn parse(text: &str) -> Scenario {
    Scenario::parse("case.toml", text, &[], None).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn plan(text: &str) -> Plan {
    parse(text).variants.remove(0).plan
}

/// A scenario with one class of devices and `body` between its head and its fleet.
fn with(body: &str) -> Plan {
    plan(&format!(
        "name = \"t\"\nstop.rounds = 5\n{body}\n[[fleet.class]]\nname = \"d\"\nstep_time = \"1ms\"\n"
    ))
}

/// One class of devices with `keys`.
fn class(keys: &str) -> gruppetto::device::ClassConfig {
    let text = format!("name = \"t\"\nstop.rounds = 5\n[[fleet.class]]\nname = \"d\"\n{keys}\n");
    plan(&text).fleet.classes.remove(0)
}

#[test]
fn what_is_left_out_has_the_documented_default() {
    let scenario = parse(
        "name = \"t\"\nstop.rounds = 5\n[[fleet.class]]\nname = \"d\"\nstep_time = \"1ms\"\n",
    );
    assert_eq!((scenario.name.as_str(), scenario.description.as_str()), ("t", ""));
    assert_eq!((scenario.seed, scenario.repeats), (1, 1));
    assert_eq!(scenario.record_clients, RecordClients::All);
    assert!(scenario.expects.is_empty());
    assert_eq!(scenario.variants.len(), 1);
    assert_eq!(scenario.variants[0].name, "fednova");
    let plan = &scenario.variants[0].plan;
    assert_eq!((plan.stop.rounds, plan.stop.time, plan.stop.target), (Some(5), None, None));
    assert_eq!((plan.task.clients, &plan.task.init), (30, &Init::Zeros));
    let task: &SyntheticConfig = plan.task.as_kind().unwrap_or_else(|| panic!("{:?}", plan.task));
    assert_eq!((task.alpha, task.beta, task.features, task.classes), (1.0, 1.0, 60, 10));
    let shape = Shape::Lognormal { median: 54.6, sigma: 2.0 };
    assert_eq!(task.size, Dist { shape, plus: 50.0, min: None, max: Some(2000.0) });
    assert_eq!((plan.client.batch, plan.client.recipe.common.lr), (Batch::Size(20), 0.02));
    assert_eq!(plan.client.work, WorkConfig::UntilDeadline);
    let server = &plan.server;
    assert_eq!(server.close, Close::Deadline(Span::from_nanos(30_000_000_000)));
    assert_eq!((server.late, server.partial), (Late::Drop, Partial::Keep));
    assert_eq!((server.sample, server.scheme), (Sample::All, Scheme::Uniform));
    assert_eq!(server.evaluate_every, 1);
    assert_eq!(
        server.rule,
        RuleConfig {
            weighting: WeightingConfig::FedNova,
            tau_eff: TauEff::Accumulation,
            participation: Participation::Renormalize
        }
    );
    assert_eq!(plan.fleet.assign, Assign::Random);
    let class = &plan.fleet.classes[0];
    assert_eq!((class.share, class.jitter), (1.0, 0.0));
    assert_eq!((&class.uplink, &class.downlink), (&None, &None));
    assert_eq!((class.step_time(), &class.latency), (Some(&Dist::fixed(1e6)), &Dist::fixed(0.0)));
}

#[test]
fn without_a_fleet_all_devices_are_the_same() {
    let plan = plan("name = \"t\"\nstop.rounds = 5\nclient.work.steps = 3\nserver.close = \"all\"");
    assert_eq!(plan.fleet.classes.len(), 1);
    assert_eq!(plan.fleet.classes[0].name, "device");
    assert_eq!(plan.fleet.classes[0].step_time(), Some(&Dist::fixed(1e6)));
    assert_eq!(plan.client.work, WorkConfig::Steps(Amount::Drawn(Dist::fixed(3.0), Redraw::Round)));
}

#[test]
fn quadratic_defaults_and_explicit_problems() {
    let task = |body: &str| {
        let task = with(body).task;
        task.as_kind::<QuadraticConfig>().unwrap_or_else(|| panic!("{task:?}")).clone()
    };
    let usual = task("task.kind = \"quadratic\"");
    let shape = Shape::Normal { mean: 0.0, std: 0.1 };
    let centers = Centers::Random(Dist { shape, plus: 0.0, min: None, max: None });
    let curvature = Curvature::Identity;
    let expected =
        QuadraticConfig { dim: 10, centers, curvature, weights: None, gradient_noise: 0.0 };
    assert_eq!(usual, expected);
    assert_eq!(with("task.kind = \"quadratic\"").client.batch, Batch::Full);

    let explicit = task(
        "[task]\nkind = \"quadratic\"\nclients = 2\ncenters = [[1, 2.5], [3, 4]]\n\
         curvature = [[[2, 1], [1, 2]], [[1, 0], [0, 1]]]\nweights = [0.25, 0.7500001]",
    );
    assert_eq!(explicit.dim, 2);
    assert_eq!(explicit.centers, Centers::Explicit(vec![vec![1.0, 2.5], vec![3.0, 4.0]]));
    let identity = vec![vec![1.0, 0.0], vec![0.0, 1.0]];
    assert_eq!(
        explicit.curvature,
        Curvature::Full(vec![vec![vec![2.0, 1.0], vec![1.0, 2.0]], identity])
    );
    let weights = explicit.weights.unwrap();
    assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-15, "{weights:?}");

    let diagonal = task("[task]\nkind = \"quadratic\"\nclients = 1\ndim = 2\ncurvature = [[1, 4]]");
    assert_eq!(diagonal.curvature, Curvature::Diagonal(vec![vec![1.0, 4.0]]));
}

#[test]
fn every_distribution_is_read_in_the_base_unit() {
    let plain = |shape| Dist { shape, plus: 0.0, min: None, max: None };
    for (text, dist) in [
        ("\"0.1s\"", Dist::fixed(1e8)),
        ("{ uniform = [\"1ms\", \"2ms\"] }", plain(Shape::Uniform(1e6, 2e6))),
        (
            "{ normal = { mean = \"9ms\", std = \"1us\" }, min = \"1ms\" }",
            Dist { min: Some(1e6), ..plain(Shape::Normal { mean: 9e6, std: 1e3 }) },
        ),
        // Families that only graze zero are kept at a whole nanosecond.
        (
            "{ lognormal = { median = \"25ms\", sigma = 0.2 } }",
            Dist { min: Some(1.0), ..plain(Shape::Lognormal { median: 25e6, sigma: 0.2 }) },
        ),
        (
            "{ exponential = { mean = \"3s\" }, plus = \"1s\", max = \"1m\" }",
            Dist { plus: 1e9, min: Some(1.0), max: Some(6e10), ..plain(Shape::Exponential(3e9)) },
        ),
        (
            "{ pareto = { scale = \"1ms\", shape = 1.5 } }",
            plain(Shape::Pareto { scale: 1e6, shape: 1.5 }),
        ),
        ("{ choice = [\"1ns\", \"1us\"] }", plain(Shape::Choice(vec![1.0, 1e3]))),
    ] {
        assert_eq!(class(&format!("step_time = {text}")).step_time(), Some(&dist), "{text}");
    }
    let links = class(
        "step_time = \"1s\"\nuplink = \"20Mbps\"\ndownlink = \"1.5Gbps\"\nlatency = \"30ms\"",
    );
    assert_eq!(links.uplink, Some(Dist::fixed(2e7)));
    assert_eq!(links.downlink, Some(Dist::fixed(1.5e9)));
    assert_eq!(links.latency, Dist::fixed(3e7));
}

#[test]
fn shares_are_equal_or_normalized() {
    let fleet = |shares: [&str; 3]| {
        let classes: Vec<String> = shares
            .iter()
            .enumerate()
            .map(|(i, share)| {
                format!("[[fleet.class]]\nname = \"c{i}\"\nstep_time = \"1ms\"\n{share}\n")
            })
            .collect();
        let plan = plan(&format!("name = \"t\"\nstop.rounds = 5\n{}", classes.concat()));
        plan.fleet.classes.iter().map(|class| class.share).collect::<Vec<_>>()
    };
    assert_eq!(fleet(["", "", ""]), [1.0 / 3.0; 3]);
    let shares = fleet(["share = 0.3333333", "share = 0.3333333", "share = 0.3333333"]);
    assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-15, "{shares:?}");
}

#[test]
fn schemes_have_names_and_tables() {
    let scheme = |text: &str| {
        with(&format!("server = {{ sample = {{ clients = 3 }}, scheme = {text} }}")).server.scheme
    };
    let published = OortConfig::PUBLISHED;
    assert_eq!([scheme("\"oort\""), scheme("{ oort = {} }")], [Scheme::Oort(published); 2]);
    assert_eq!([scheme("\"tiers\""), scheme("{ tiers = {} }")], [Scheme::Tiers(5); 2]);
    assert_eq!(scheme("{ tiers = { count = 7 } }"), Scheme::Tiers(7));
    let given =
        "{ oort = { exploration = 0.5, decay = 0.9, least = 0, alpha = 1, round_time = \"3s\" } }";
    let round_time = Some(Span::from_nanos(3_000_000_000));
    let expected = OortConfig { exploration: 0.5, decay: 0.9, least: 0.0, alpha: 1.0, round_time };
    assert_eq!(scheme(given), Scheme::Oort(expected));
    let little = OortConfig { exploration: 0.1, least: 0.1, ..published };
    assert_eq!(scheme("{ oort = { exploration = 0.1 } }"), Scheme::Oort(little));
}

#[test]
fn server_and_client_choices() {
    let plan = with(
        "[client]\nbatch = \"full\"\nlr = 1\nwork = { epochs = { uniform = [1, 5] }, redraw = \"once\" }\n\
         [server]\nclose = { first = 10, of = 13 }\nscheme = \"by-size\"\nsample = \"all\"\n\
         weighting = \"fedavg\"\ntau_eff = 2.5\nevaluate_every = 7",
    );
    let epochs = Dist { shape: Shape::Uniform(1.0, 5.0), plus: 0.0, min: None, max: None };
    assert_eq!(
        plan.client.work,
        WorkConfig::Epochs(Amount::Drawn(epochs, Redraw::Once), LastBatch::FillsUp)
    );
    assert_eq!((plan.client.batch, plan.client.recipe.common.lr), (Batch::Full, 1.0));
    assert_eq!(plan.server.close, Close::First { first: 10, of: 13 });
    assert_eq!(plan.server.rule.tau_eff, TauEff::Fixed(2.5));
    assert_eq!((plan.server.scheme, plan.server.evaluate_every), (Scheme::BySize, 7));

    let plan = with(
        "task.clients = 3\nclient.work = { steps = [3, 10, 50] }\n[server]\nclose = { deadline = \"1h30m\" }\n\
         partial = \"discard\"\nparticipation = \"unbiased\"\nsample = { fraction = 0.5 }\ntau_eff = \"steps\"",
    );
    assert_eq!(plan.client.work, WorkConfig::Steps(Amount::Each(vec![3.0, 10.0, 50.0])));
    assert_eq!(plan.server.close, Close::Deadline(Span::from_nanos(5_400_000_000_000)));
    assert_eq!(
        (plan.server.partial, plan.server.sample),
        (Partial::Discard, Sample::Fraction(0.5))
    );
    assert_eq!(plan.server.rule.participation, Participation::Unbiased);
}

#[test]
fn laws_of_clients_classes_and_the_server() {
    let scenario = parse(
        "name = \"t\"\nstop = { rounds = 200, divergence = \"off\" }\n\
         [client]\nlr = 0.1\nmomentum = 0.9\nprox = 0.5\nlr_decay = 0.99\nweight_decay = 1e-4\n\
         variance_reduction = \"fednova\"\nwork.steps = 5\n\
         lr_schedule = [{ after = \"50%\", times = 0.1 }, { after = 150, times = 0.5 }]\n\
         [server]\nweighting = \"uniform\"\nparticipation = \"inverse-probability\"\n\
         optimizer = { kind = \"yogi\", lr = 0.3, beta2 = 0.9 }\n\
         [[fleet.class]]\nname = \"a\"\nstep_time = \"1ms\"\n\
         [[fleet.class]]\nname = \"b\"\nstep_time = \"1ms\"\nlr = 0.2\nmomentum = 0.0\n",
    );
    let plan = &scenario.variants[0].plan;
    let recipe = &plan.client.recipe;
    let common = Solver { lr: 0.1, momentum: 0.9, prox: 0.5, lr_decay: 0.99, weight_decay: 1e-4 };
    assert_eq!(recipe.common, common);
    assert_eq!(recipe.classes, [common, Solver { lr: 0.2, momentum: 0.0, ..common }]);
    let changes = [(100, 0.1), (150, 0.5)].map(|(after, times)| LrChange { after, times });
    assert_eq!(*recipe.schedule(), Schedule::new(&changes));
    assert_eq!(plan.client.variance_reduction, Some(VarianceReduction::FedNova));
    assert_eq!(plan.server.rule.weighting, WeightingConfig::Uniform);
    assert_eq!(plan.server.rule.participation, Participation::InverseProbability);
    let moment = Moment::Yogi { beta2: 0.9 };
    let yogi = OptimizerConfig::Adaptive { moment, lr: 0.3, beta1: 0.9, epsilon: 1e-3 };
    assert_eq!(plan.server.optimizer, yogi);
    assert_eq!(plan.stop.divergence, None);

    let plan = with("client.work.steps = 5");
    assert_eq!(plan.client.recipe.common, Solver::sgd(0.02));
    assert_eq!(plan.server.optimizer, OptimizerConfig::PLAIN);
    assert_eq!(plan.stop.divergence, Some(1e4));
}

#[test]
fn compressions_and_what_clients_remember() {
    let packing = |text: &str| {
        with(&format!("client = {{ work.steps = 5, compression = {text} }}")).client.packing
    };
    let plain = |compression| Packing { compression, error_feedback: false };
    let fed_back = |compression| Packing { compression, error_feedback: true };
    assert_eq!(with("client.work.steps = 5").client.packing, Packing::default());
    assert_eq!(packing("\"none\""), plain(Compression::None));
    assert_eq!(packing("\"fp16\""), plain(Compression::Fp16));
    assert_eq!(packing("{ fp16 = true }"), plain(Compression::Fp16));
    assert_eq!(packing("{ fp16 = true, error_feedback = true }"), fed_back(Compression::Fp16));
    assert_eq!(packing("{ top_k = 0.1 }"), plain(Compression::TopK(0.1)));
    assert_eq!(packing("{ top_k = 1, error_feedback = false }"), plain(Compression::TopK(1.0)));
    assert_eq!(packing("{ error_feedback = true, top_k = 1 }"), fed_back(Compression::TopK(1.0)));
    assert_eq!(packing("{ quantize = 2 }"), plain(Compression::Quantize(2)));
    assert_eq!(packing("{ quantize = 16 }"), plain(Compression::Quantize(16)));
}

#[test]
fn stop_target_record_and_expect() {
    let scenario = parse(
        "name = \"t\"\ndescription = \"two\\nlines\"\nseed = 0\nrepeats = 3\nclient.work.steps = 2\n\
         record.clients = { clients = 9 }\n\
         [stop]\ntime = \"6h\"\ntarget = { metric = \"test_accuracy\", at_least = 0.8 }\n\
         [[variant]]\nname = \"nova\"\n[[variant]]\nname = \"avg\"\nset = { server.weighting = \"fedavg\" }\n\
         [[expect]]\nthat = \"test_accuracy\"\nof = \"nova\"\nat_least = \"avg\"\n\
         [[expect]]\nthat = \"waste\"\nof = \"avg\"\nat_most = 0.5\n\
         [[expect]]\nthat = \"rounds\"\nof = \"avg\"\nequals = 10\nwithin = 1\n",
    );
    assert_eq!((scenario.seed, scenario.repeats), (0, 3));
    assert_eq!(scenario.record_clients, RecordClients::Sample(9));
    let stop = &scenario.variants[0].plan.stop;
    assert_eq!(stop.time, Some(Span::from_nanos(21_600_000_000_000)));
    let target = stop.target.unwrap();
    assert_eq!((target.metric, target.bound), (Metric::TestAccuracy, Bound::AtLeast(0.8)));
    let [first, second, third] = &scenario.expects[..] else { panic!() };
    assert_eq!(first.that, Subject::Mean(Quantity::Metric(Metric::TestAccuracy)));
    assert_eq!(
        (first.of, &first.bound),
        (
            0,
            &ExpectBound {
                side: Side::AtLeast,
                of: Reference::Variant(1),
                times: 1.0,
                within: 0.0
            }
        )
    );
    assert_eq!((second.that, second.of), (Subject::Mean(Quantity::Waste), 1));
    assert_eq!(
        third.bound,
        ExpectBound { side: Side::Equals, of: Reference::Number(10.0), times: 1.0, within: 1.0 }
    );
    // Only what a variant sets differs.
    let [nova, avg] = &scenario.variants[..] else { panic!() };
    assert_eq!(avg.plan.server.rule.weighting, WeightingConfig::FedAvg);
    let mut same = avg.plan.clone();
    same.server.rule.weighting = WeightingConfig::FedNova;
    assert_eq!(same, nova.plan);
}

#[test]
fn measured_columns_are_read_beside_the_scenario() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("s.toml");
    fs::write(
        folder.path().join("phones.csv"),
        "id, ms,link\n1, 20.0001234567,3Mbps\n2,40,500kbps\n",
    )
    .unwrap();
    let load = |step: &str, uplink: &str| {
        let text = format!(
            "name = \"t\"\nstop.rounds = 5\n[[fleet.class]]\nname = \"d\"\nstep_time = {step}\nuplink = {uplink}\n"
        );
        fs::write(&file, text).unwrap();
        Scenario::load(&file, &gruppetto::plugins::Plugins::new())
    };
    let step = "{ empirical = \"phones.csv\", column = \"ms\", unit = \"ms\" }";
    let link = "{ empirical = \"phones.csv\", column = \"link\", max = \"1Mbps\" }";
    let scenario = load(step, link).unwrap();
    let class = &scenario.variants[0].plan.fleet.classes[0];
    let Shape::Choice(steps) = &class.step_time().unwrap().shape else { panic!("{class:?}") };
    assert!((steps[0] - 20_000_123.456_7).abs() < 1e-6 && steps[1] == 4e7, "{steps:?}");
    let uplink = class.uplink.as_ref().unwrap();
    assert_eq!((&uplink.shape, uplink.max), (&Shape::Choice(vec![3e6, 5e5]), Some(1e6)));

    for (step, pieces) in [
        ("{ empirical = \"fones.csv\", column = \"ms\" }", &["cannot read the file", "5:27"][..]),
        (
            "{ empirical = \"phones.csv\", column = \"mss\" }",
            &["no column `mss`", "id, ms, link", "did you mean `ms`?"],
        ),
        (
            "{ empirical = \"phones.csv\", column = \"ms\" }",
            &["line 2 of the file: `20.0001234567`", "`unit = \"ms\"`"],
        ),
        (
            "{ empirical = \"phones.csv\", column = \"link\" }",
            &["line 2 of the file: `3Mbps`", "a duration"],
        ),
        (
            "{ empirical = \"phones.csv\", column = \"ms\", unit = \"Mbps\" }",
            &["`Mbps` is not a unit here"],
        ),
        ("{ empirical = \"s.toml\", column = \"ms\" }", &["no column"]),
        ("{ empirical = \".\", column = \"ms\" }", &["cannot read the file"]),
    ] {
        let error = load(step, link).unwrap_err().to_string();
        for piece in pieces {
            assert!(error.contains(piece), "no `{piece}` in\n{error}");
        }
    }
    // Rows of 0 are measurements that failed.
    fs::write(folder.path().join("phones.csv"), "ms\n20\n0\n40\n0.0\n").unwrap();
    let error = load(step, "\"1Mbps\"").unwrap_err().to_string();
    assert!(
        error.contains("2 rows of the column are 0") && error.contains("`missing = 0`"),
        "{error}"
    );
    assert!(!error.contains("`min`"), "{error}");
    let drawn = |step: &str| {
        let scenario = load(step, "\"1Mbps\"").unwrap();
        let dist = scenario.variants[0].plan.fleet.classes[0].step_time().cloned();
        dist.unwrap().shape
    };
    let skips = "{ empirical = \"phones.csv\", column = \"ms\", unit = \"ms\", missing = 0 }";
    assert_eq!(drawn(skips), Shape::Choice(vec![2e7, 4e7]));
    fs::write(folder.path().join("phones.csv"), "ms\n0\n0\n").unwrap();
    let error = load(skips, "\"1Mbps\"").unwrap_err().to_string();
    assert!(error.contains("all 2 rows of the column are left out as missing"), "{error}");
    let mut packed = GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(b"ms\n7\n").unwrap();
    fs::write(folder.path().join("phones.csv.gz"), packed.finish().unwrap()).unwrap();
    assert_eq!(drawn(&step.replace("phones.csv", "phones.csv.gz")), Shape::Choice(vec![7e6]));
    fs::write(folder.path().join("phones.csv"), "ms\n").unwrap();
    assert!(load(step, "\"1Mbps\"").unwrap_err().to_string().contains("the file has no rows"));
    fs::write(folder.path().join("phones.csv"), "ms\n1\n1,2,3\n").unwrap();
    assert!(load(step, "\"1Mbps\"").unwrap_err().to_string().contains("cannot read the file"));
}
