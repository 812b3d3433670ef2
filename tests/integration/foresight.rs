//! What a client knows when it decides whether another step fits, and what becomes of it.

use crate::support::{Workshop, rows, summary};

/// Steps of 3 s that differ a lot, and a deadline of 10 s.
const JITTERY: &str = r#"
name = "foresight"
stop.rounds = 50
task = { kind = "quadratic", clients = 20, dim = 2 }
server.close = { deadline = "10s" }
[[fleet.class]]
name = "phone"
step_time = "3s"
jitter = 1.0
"#;

/// Late and used updates.
fn late_and_used(foresight: &str) -> [u64; 2] {
    let workshop = Workshop::new(JITTERY);
    let set = format!("client.foresight={foresight}");
    let run = workshop.run("out", &["--timing-only", "--set", &set]);
    let outcomes = &summary(&run)["variants"][0]["outcomes"];
    ["late", "used"].map(|name| outcomes[name].as_u64().unwrap())
}

#[test]
fn who_foresees_every_step_is_never_late_and_who_expects_the_usual_is() {
    let [late, used] = late_and_used("\"exact\"");
    assert!(late == 0 && used > 500, "{late} {used}");
    let [late, used] = late_and_used("\"expected\"");
    assert!(late > 100 && used > 100, "{late} {used}");
    // Without links that take time, the margin may be nothing.
    let [late, used] = late_and_used("\"none\"");
    assert!(late == 0 && used > 500, "{late} {used}");
}

/// A step takes 10 ms, a model of 1,280 bits 128 ms each way. The deadline is 500 ms.
const STEADY: &str = r#"
name = "steady"
stop.rounds = 2
task = { kind = "quadratic", clients = 1, dim = 40 }
server = { close = { deadline = "500ms" }, late = "next" }
[[fleet.class]]
name = "phone"
step_time = "10ms"
uplink = "10kbps"
downlink = "10kbps"
"#;

/// τ, the three legs in ms and the outcome of the first participation.
fn first_round(scenario: &str, set: &[&str]) -> (u64, [u64; 3], String) {
    let workshop = Workshop::new(scenario);
    let sets: Vec<&str> = set.iter().flat_map(|set| ["--set", *set]).collect();
    let run = workshop.run("out", &sets);
    let rows = rows(&run.join("clients.csv"));
    let legs = ["download_ns", "compute_ns", "upload_ns"].map(|leg| rows[0].int(leg) / 1_000_000);
    (rows[0].int("tau"), legs, rows[0].text("outcome").into())
}

#[test]
fn a_margin_that_is_too_small_makes_everybody_late() {
    let margin =
        |margin: &str| first_round(STEADY, &[&format!("client.foresight.margin=\"{margin}\"")]);
    let outcome = |(tau, legs, outcome): (u64, [u64; 3], &str)| (tau, legs, outcome.to_string());
    assert_eq!(first_round(STEADY, &[]), outcome((24, [128, 240, 128], "used")));
    // It works for 500 − 128 − 130 = 242 ms, and leaves its 25th step after 2.
    assert_eq!(margin("130ms"), outcome((24, [128, 242, 128], "used")));
    // 2 ms too late to be counted in its round, but `late = "next"` counts it in the next.
    let two_late = (24, [128, 246, 128], "used");
    assert_eq!(margin("126ms"), outcome(two_late));
    assert_eq!(
        first_round(STEADY, &["client.foresight.margin=\"126ms\"", "server.late=\"drop\""]).2,
        "late"
    );
    // With nine tenths of the time as margin the model is not there: it gives up when the margin begins.
    assert_eq!(margin("450ms"), outcome((0, [50, 0, 0], "no_step")));
    // It left its first step, so there is nothing to send; it has worked all the same.
    assert_eq!(margin("365ms"), outcome((0, [128, 7, 0], "no_step")));
}

/// An event that makes the device slower or its link worse comes unforeseen to who expects the usual.
#[test]
fn who_expects_the_usual_does_not_see_what_is_going_on() {
    let slow = format!("{STEADY}[[event]]\nat = \"0s\"\nslow = 5.0\n");
    // 244 ms for steps of 50 ms: exactly known, four fit. As 10 ms are usual, a fifth is begun at 328 ms.
    assert_eq!(first_round(&slow, &[]).0, 4);
    let expected = ["client.foresight=\"expected\"", "server.late=\"drop\""];
    assert_eq!(first_round(&slow, &expected), (5, [128, 250, 128], "late".into()));
    let link = format!("{STEADY}[[event]]\nat = \"200ms\"\nnetwork = {{ up = 0.5 }}\n");
    // The upload takes 256 ms: 500 − 128 − 256 = 116. It has made seven steps by 200 ms, and four more fit.
    assert_eq!(first_round(&link, &[]), (11, [128, 110, 256], "used".into()));
    assert_eq!(first_round(&link, &expected), (24, [128, 240, 256], "late".into()));
}

/// What is usual for a device with a recording is the mean of its recording.
#[test]
fn who_replays_a_trace_expects_its_mean() {
    let scenario = STEADY.replace(
        "step_time = \"10ms\"\nuplink = \"10kbps\"",
        "trace = { file = \"t.csv\", repeat = true }",
    );
    let workshop = Workshop::new(&scenario);
    // Half of the time 5 ms, half 20 ms a step: (0.5/5 + 0.5/20)⁻¹ = 8 ms; up 15 kbit/s: 85.33 ms.
    let trace = "device,time [s],step_time [ms],up [kbps]\na,0,5,10\na,1,20,20\na,2,,\n";
    std::fs::write(workshop.path("t.csv"), trace).unwrap();
    let tau = |foresight: &str| {
        let set = format!("client.foresight={foresight}");
        let run = workshop.run(&foresight.replace('"', ""), &["--timing-only", "--set", &set]);
        rows(&run.join("clients.csv"))[0].int("tau")
    };
    // From 128 ms in steps of 5 ms, the upload takes 128 ms: (500 − 128 − 128)/5 = 48.8.
    assert_eq!(tau("\"exact\""), 48);
    // A step is begun as long as 8 + 85.34 ms are left: until 406.66 ms; the 56th begins at 403 ms.
    assert_eq!(tau("\"expected\""), 56);
}
