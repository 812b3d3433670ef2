//! What scenarios say of devices: speeds, traces, coming and going, slow episodes, warmth.

use gruppetto::clock::Span;
use gruppetto::device::{
    Assign, Availability, ClassConfig, ComputeConfig, Repeat, Slowdown, Thermal,
};
use gruppetto::random::{Dist, Shape};
use gruppetto::scenario::Scenario;
use std::fs;
use std::sync::Arc;

fn parse(text: &str) -> Scenario {
    // In the folder of the tests: traces lie in their own.
    let name = "tests/integration/case.toml";
    Scenario::parse(name, text, &[], None).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn class(keys: &str) -> ClassConfig {
    let text = format!("name = \"t\"\nstop.rounds = 5\n[[fleet.class]]\nname = \"d\"\n{keys}\n");
    parse(&text).variants.remove(0).plan.fleet.classes.remove(0)
}

const SIX: &str = "\"../../traces/six-phones.csv\"";

fn minutes(number: u64) -> Span {
    Span::from_nanos(number * 60_000_000_000)
}

#[test]
fn what_is_left_out_does_not_change() {
    let class = class("step_time = \"1ms\"");
    assert_eq!((class.trace, class.availability), (None, None));
    assert_eq!((class.slowdown, class.thermal), (None, None));
}

#[test]
fn speeds_are_read_in_operations_per_second() {
    let speed = |text: &str| match class(&format!("speed = {text}")).compute {
        Some(ComputeConfig::Speed(dist)) => dist,
        other => panic!("{other:?}"),
    };
    assert_eq!(speed("\"4 GFLOPS\""), Dist::fixed(4e9));
    assert_eq!(speed("\"0.5TFLOPS\""), Dist::fixed(5e11));
    let shape = Shape::Lognormal { median: 4e9, sigma: 0.3 };
    assert_eq!(
        speed("{ lognormal = { median = \"4 GFLOPS\", sigma = 0.3 }, max = \"9 GFLOPS\" }"),
        Dist { shape, plus: 0.0, min: Some(1.0), max: Some(9e9) }
    );
}

#[test]
fn the_servers_links_are_whole_bits_per_second() {
    let links = |keys: &str| {
        let text = format!(
            "name = \"t\"\nstop.rounds = 5\n[fleet]\n{keys}\n\
             [[fleet.class]]\nname = \"d\"\nstep_time = \"1s\"\n"
        );
        let fleet = parse(&text).variants.remove(0).plan.fleet;
        (fleet.server_uplink, fleet.server_downlink)
    };
    assert_eq!(links(""), (None, None));
    assert_eq!(links("server_uplink = \"1Gbps\""), (Some(1_000_000_000), None));
    assert_eq!(links("server_downlink = \"1.6bps\""), (None, Some(2)));
}

#[test]
fn a_trace_tells_what_the_class_does_not() {
    let plain = class(&format!("trace = {SIX}"));
    let replay = plain.trace.as_ref().unwrap();
    assert_eq!((replay.trace.len(), replay.repeat), (6, Repeat::Never));
    assert_eq!((replay.shifted, replay.assign), (false, Assign::InOrder));
    assert_eq!((plain.compute, plain.uplink, plain.availability), (None, None, None));

    let chosen = class(&format!(
        "trace = {{ file = {SIX}, devices = \"flagship\", repeat = true, shift = \"random\", \
         assign = \"random\" }}\njitter = 0.1\nlatency = \"30ms\""
    ));
    let replay = chosen.trace.unwrap();
    assert_eq!((replay.trace.len(), replay.repeat), (2, Repeat::AtItsEnd));
    assert_eq!((replay.shifted, replay.assign), (true, Assign::Random));
    assert_eq!(chosen.jitter, 0.1);

    // What it tells of some devices only is still to be said of the others.
    let partly = class(
        "trace = { file = \"broken/speeds.csv\", repeat = \"24h\" }\nuplink = \"1Mbps\"\n\
         downlink = \"2Mbps\"",
    );
    assert_eq!(partly.trace.unwrap().repeat, Repeat::Every(minutes(24 * 60)));
    assert_eq!(partly.uplink, Some(Dist::fixed(1e6)));
    let there = class("trace = \"broken/presence.csv\"\nstep_time = \"1s\"");
    assert!(there.trace.unwrap().trace.tells_availability());
    assert_eq!(there.compute, Some(ComputeConfig::StepTime(Dist::fixed(1e9))));
}

#[test]
fn a_trace_is_read_once_for_all_variants() {
    let scenario = parse(&format!(
        "name = \"t\"\nstop.rounds = 5\n[[fleet.class]]\nname = \"a\"\ntrace = {SIX}\n\
         [[fleet.class]]\nname = \"b\"\nstep_time = \"1s\"\navailability = {{ trace = {SIX} }}\n\
         [[fleet.class]]\nname = \"c\"\ntrace = {{ file = {SIX}, devices = \"budget\" }}\n\
         [[variant]]\nname = \"v\"\n[[variant]]\nname = \"w\"\nset = {{ client.lr = 0.1 }}\n"
    ));
    let traces: Vec<_> = scenario
        .variants
        .iter()
        .flat_map(|variant| &variant.plan.fleet.classes)
        .map(|class| match &class.availability {
            Some(Availability::Trace(replay)) => &replay.trace,
            _ => &class.trace.as_ref().unwrap().trace,
        })
        .collect();
    let shared = |i: usize, j: usize| Arc::ptr_eq(traces[i], traces[j]);
    assert!(shared(0, 1) && shared(0, 3) && shared(0, 4) && shared(2, 5));
    assert!(!shared(0, 2), "other devices of the same file");
}

#[test]
fn devices_come_and_go() {
    let availability = |text: &str| {
        class(&format!("step_time = \"1s\"\navailability = {text}")).availability.unwrap()
    };
    assert_eq!(availability("\"always\""), Availability::Always);
    let on = Dist { min: Some(1e6), ..dist(Shape::Exponential(1.2e12)) };
    assert_eq!(
        availability("{ on = { exponential = { mean = \"20m\" } }, off = \"40m\" }"),
        Availability::OnOff { on, off: Dist::fixed(2.4e12) }
    );
    let text = format!("{{ trace = {SIX}, devices = \"budget\", shift = \"random\" }}");
    let Availability::Trace(replay) = availability(&text) else { panic!() };
    assert_eq!((replay.trace.len(), replay.shifted), (4, true));
    // Above what the class's own trace says.
    let both = class(&format!("trace = {SIX}\navailability = \"always\""));
    assert_eq!(both.availability, Some(Availability::Always));
}

fn dist(shape: Shape) -> Dist {
    Dist { shape, plus: 0.0, min: None, max: None }
}

#[test]
fn devices_slow_down_and_get_warm() {
    let class = class(
        "step_time = \"1s\"\n\
         slowdown = { factor = 4, every = { uniform = [\"5m\", \"10m\"] }, lasting = \"1m\" }\n\
         thermal = { curve = [[\"0s\", 1], [\"2m\", 0.7], [\"10m\", 0.5]] }",
    );
    let every = dist(Shape::Uniform(3e11, 6e11));
    let slowdown = Slowdown { factor: 4.0, every, lasting: Dist::fixed(6e10) };
    assert_eq!(class.slowdown, Some(slowdown));
    let curve = vec![(Span::ZERO, 1.0), (minutes(2), 0.7), (minutes(10), 0.5)];
    assert_eq!(class.thermal, Some(Thermal { curve, cooling: 1.0 }));
}

/// A trace says itself what is wrong with it, and the scenario where it is named.
#[test]
fn errors_of_a_trace_carry_its_own_words() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("s.toml");
    let text = "name = \"t\"\nstop.rounds = 5\n[[fleet.class]]\nname = \"d\"\ntrace = \"t.csv\"\n";
    fs::write(&file, text).unwrap();
    for (trace, pieces) in [
        (
            "device,time [s],step_time [ms]\na,0,1\na,5\n",
            &["line 3: found 2 cells, expected 3", "keep its comma"][..],
        ),
        (
            "device,time [s],step_time [ms]\na,5,1\na,5,2\n",
            &["in the trace, line 3: found 5 s, expected a time after 5 s", "help: sort the rows"],
        ),
        ("device,time [s],speed [GHz]\na,5,1\n", &["line 1: ", "GHz", "a header looks like"]),
        ("\u{1f}\u{8b}", &["line 1"]),
    ] {
        fs::write(folder.path().join("t.csv"), trace).unwrap();
        let error =
            Scenario::load(&file, &gruppetto::plugins::Plugins::new()).unwrap_err().to_string();
        let flat = error.split_whitespace().collect::<Vec<_>>().join(" ");
        for piece in [&["s.toml:5:9"][..], pieces].concat() {
            assert!(flat.contains(piece), "no `{piece}` in\n{error}");
        }
    }
}
