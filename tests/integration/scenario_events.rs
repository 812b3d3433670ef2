//! What scenarios say of events, and the warnings about those that never happen.

use crate::support::{Workshop, stderr, stdout};
use gruppetto::clock::Span;
use gruppetto::device::{Among, DeviceEffect, Effect, EventConfig, LrEffect, When, Whom};
use gruppetto::scenario::Scenario;

const BASE: &str = r#"name = "t"
stop = { rounds = 50, time = "2h" }

[task]
kind = "quadratic"
clients = 10

[[fleet.class]]
name = "flagship"
share = 0.2
step_time = "10ms"

[[fleet.class]]
name = "budget"
share = 0.8
step_time = "40ms"
"#;

fn events(text: &str) -> Vec<EventConfig> {
    let scenario = Scenario::parse("case.toml", &format!("{BASE}{text}"), &[], None);
    let scenario = scenario.unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(scenario.warnings, [""; 0]);
    scenario.variants[0].plan.events.clone()
}

/// One event of round 3.
fn event(keys: &str) -> EventConfig {
    events(&format!("[[event]]\nround = 3\n{keys}\n")).remove(0)
}

fn seconds(number: u64) -> Span {
    Span::from_nanos(number * 1_000_000_000)
}

#[test]
fn events_stand_in_their_order() {
    let both = events(
        "[[event]]\nat = \"10m\"\nslow = 4.0\nlasting = \"2m\"\n\
         select = { class = \"budget\", fraction = 0.2 }\n\
         [[event]]\nround = 50\noffline = true\n",
    );
    let whom = Whom { among: Among::Class(1), fraction: 0.2 };
    let slow = Effect::Devices(whom, DeviceEffect::Slow(4.0));
    let offline = Effect::Devices(Whom::EVERYONE, DeviceEffect::Offline);
    assert_eq!(
        both,
        [
            EventConfig { when: When::At(seconds(600)), lasting: Some(seconds(120)), effect: slow },
            EventConfig { when: When::Round(50), lasting: None, effect: offline },
        ]
    );
    assert!(events("").is_empty());
    assert!(events("[[event]]\nat = \"0s\"\nleave = true\n").len() == 1, "from the beginning");
}

#[test]
fn every_effect_has_its_own_form() {
    let everyone = |effect| Effect::Devices(Whom::EVERYONE, effect);
    let network = |up, down| everyone(DeviceEffect::Network { up, down });
    for (keys, effect) in [
        ("slow = 0.5", everyone(DeviceEffect::Slow(0.5))),
        ("leave = true", everyone(DeviceEffect::Leave)),
        ("join = true", everyone(DeviceEffect::Join)),
        ("network = 0", network(0.0, 0.0)),
        ("network = 0.5\nselect = \"all\"", network(0.5, 0.5)),
        ("network = { up = 0.25 }", network(0.25, 1.0)),
        ("network = { up = 2, down = 0.1 }", network(2.0, 0.1)),
        ("deadline = \"20s\"", Effect::Deadline(seconds(20))),
        ("lr = 0.1", Effect::Lr(LrEffect::To(0.1))),
        ("lr = { times = 0.5 }", Effect::Lr(LrEffect::Times(0.5))),
    ] {
        assert_eq!(event(keys).effect, effect, "{keys}");
    }
    assert_eq!(event("lr = 1\nlasting = \"3s\"").lasting, Some(seconds(3)));
}

#[test]
fn clients_are_selected_by_class_number_and_part() {
    for (select, among, fraction) in [
        ("{ class = \"flagship\" }", Among::Class(0), 1.0),
        ("{ fraction = 0.05 }", Among::Everyone, 0.05),
        ("{ clients = [9, 0, 4] }", Among::Clients(vec![0, 4, 9]), 1.0),
        ("{ clients = [1, 2], fraction = 0.5 }", Among::Clients(vec![1, 2]), 0.5),
    ] {
        let event = event(&format!("slow = 2\nselect = {select}"));
        let Effect::Devices(whom, _) = event.effect else { panic!("{event:?}") };
        assert_eq!(whom, Whom { among, fraction }, "{select}");
    }
    // Without a [fleet] there is one class.
    let text = "name = \"t\"\nstop.rounds = 5\nclient.work.steps = 1\nserver.close = \"all\"\n\
                [[event]]\nround = 1\nslow = 2\nselect.class = \"device\"\n";
    Scenario::parse("case.toml", text, &[], None).unwrap();
}

#[test]
fn a_variant_may_have_events_of_its_own() {
    let text = format!(
        "{BASE}[[event]]\nround = 1\nslow = 2\n[[variant]]\nname = \"with\"\n\
         [[variant]]\nname = \"without\"\nset = {{ event = [] }}\n"
    );
    let scenario = Scenario::parse("case.toml", &text, &[], None).unwrap();
    let counts: Vec<_> = scenario.variants.iter().map(|v| v.plan.events.len()).collect();
    assert_eq!(counts, [1, 0]);
}

const NEVER: &str = "[[event]]\nround = 51\nslow = 2\n[[event]]\nat = \"2h\"\nlr = 0.01\n";

#[test]
fn an_event_that_never_happens_is_a_warning_with_its_place() {
    let warnings = |text: &str| {
        Scenario::parse("dir/case.toml", &format!("{BASE}{text}"), &[], None).unwrap().warnings
    };
    let [round, time] = &warnings(NEVER)[..] else { panic!("two") };
    assert_eq!(
        *round,
        "\
warning: this event never happens: there is no such round
  --> dir/case.toml:18:9
   |
18 | round = 51
   |         ^^
   = note: [stop] ends the run after round 50"
    );
    assert!(time.starts_with("warning: this event never happens: the run is over by then"));
    assert!(time.contains("dir/case.toml:21:6"), "{time}");
    // Variants share their events.
    let variants =
        "[[variant]]\nname = \"a\"\n[[variant]]\nname = \"b\"\nset = { client.lr = 1 }\n";
    assert_eq!(warnings(&format!("{NEVER}{variants}")).len(), 2);
    let shorter = "[[event]]\nround = 50\nslow = 2\n[[variant]]\nname = \"a\"\n\
                   [[variant]]\nname = \"b\"\nset = { stop.rounds = 9 }\n";
    let [only] = &warnings(shorter)[..] else { panic!("one") };
    assert!(only.contains("after round 9") && only.contains("in variant `b`"), "{only}");
}

#[test]
fn warnings_go_to_stderr_and_the_command_goes_on() {
    let workshop = Workshop::new(&format!("{BASE}{NEVER}").replace("rounds = 50", "rounds = 2"));
    for arguments in [
        &["check", "s.toml"][..],
        &["run", "s.toml", "--out", "out"],
        // Quiet about progress, not about what is odd.
        &["-q", "check", "s.toml"],
        &["-q", "run", "s.toml", "--out", "quiet"],
        &["-q", "theory", "s.toml"],
    ] {
        let output = workshop.call(arguments);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        assert_eq!(stderr(&output).matches("warning: this event never happens").count(), 2);
        assert!(stderr(&output).contains("--> s.toml:18:9"));
        assert!(!stdout(&output).contains("warning"));
    }
}
