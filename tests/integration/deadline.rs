//! A deadline, worked out by hand.
//!
//! Ten parameters are 320 bits. At 640 bit/s down and 320 bit/s up with 100 ms of latency a
//! download takes 0.6 s and an upload 1.1 s; with a deadline of 10 s that leaves 8.3 s for steps.

use crate::simulated::Simulated;

fn scenario(work: &str, server: &str, steps: &[&str]) -> String {
    let mut text = format!(
        r#"
name = "by-hand"
stop.rounds = 3
[task]
kind = "quadratic"
clients = {}
dim = 10
[client]
{work}
[server]
close = {{ deadline = "10s" }}
{server}
[fleet]
assign = "in-order"
"#,
        steps.len()
    );
    for (i, step) in steps.iter().enumerate() {
        text += &format!(
            "[[fleet.class]]\nname = \"c{i}\"\nstep_time = \"{step}\"\nuplink = \"320bps\"\n\
             downlink = \"640bps\"\nlatency = \"100ms\"\n"
        );
    }
    text
}

/// (round, client, τ, dispatched, download, compute, upload, arrived, outcome) with times in ms.
fn rows(run: &Simulated) -> Vec<(u64, u64, u64, [u64; 5], String)> {
    let names = [
        "round",
        "client",
        "tau",
        "dispatched_ns",
        "download_ns",
        "compute_ns",
        "upload_ns",
        "arrived_ns",
        "outcome",
    ];
    run.columns("clients.csv", names)
        .iter()
        .map(|row| {
            let number = |i: usize| row[i].parse::<u64>().unwrap();
            let millis = |i: usize| {
                assert_eq!(number(i) % 1_000_000, 0, "to the nanosecond");
                number(i) / 1_000_000
            };
            (number(0), number(1), number(2), [3, 4, 5, 6, 7].map(millis), row[8].clone())
        })
        .collect()
}

#[test]
fn clients_stop_in_time_for_their_upload() {
    // 8 steps of 1 s; 10 of 0.83 s, which arrive on the deadline; 9 s never fit; 83 of 0.1 s.
    let text = scenario("", "", &["1s", "830ms", "9s", "100ms"]);
    let run = Simulated::run(&text, 2);
    let expected = |round: u64| {
        let start = (round - 1) * 10_000;
        let row = |client, tau, compute, arrived: u64, outcome: &str| {
            let upload = if tau > 0 { 1100 } else { 0 };
            let times = [start, 600, compute, upload, start + arrived];
            (round, client, tau, times, outcome.to_string())
        };
        [
            row(2, 0, 0, 600, "no_step"),
            row(0, 8, 8000, 9700, "used"),
            row(1, 10, 8300, 10_000, "used"),
            row(3, 83, 8300, 10_000, "used"),
        ]
    };
    assert_eq!(rows(&run), (1..=3).flat_map(expected).collect::<Vec<_>>());
    let closed = run.columns("rounds.csv", ["virtual_seconds", "arrived", "tau_eff"]);
    let at = |s: &str| [s.into(), "3".into(), "33.666666666666664".to_string()];
    assert_eq!(closed, [at("10.000000000"), at("20.000000000"), at("30.000000000")]);
    let variant = &run.summary.variants[0];
    assert_eq!(variant.outcomes, [9, 0, 3, 0, 0, 0]);
    assert!((variant.missing_mass - 0.25).abs() < 1e-15, "client 2 is never heard");
}

#[test]
fn all_or_nothing_makes_clients_late_and_busy() {
    let work = "work = { steps = [8, 10, 4] }";
    let run = Simulated::run(&scenario(work, "partial = \"discard\"", &["1s", "830ms", "3s"]), 2);
    let row = |round, client, tau, start, compute, arrived, outcome: &str| {
        (round, client, tau, [start, 600, compute, 1100, arrived], outcome.to_string())
    };
    assert_eq!(
        rows(&run),
        [
            row(1, 0, 8, 0, 8000, 9700, "used"),
            row(1, 1, 10, 0, 8300, 10_000, "used"),
            // Client 2 needs 13.7 s: late for round 1, and passed over in round 2.
            row(1, 2, 4, 0, 12_000, 13_700, "late"),
            row(2, 0, 8, 10_000, 8000, 19_700, "used"),
            row(2, 1, 10, 10_000, 8300, 20_000, "used"),
            row(3, 0, 8, 20_000, 8000, 29_700, "used"),
            row(3, 1, 10, 20_000, 8300, 30_000, "used"),
            // In round 3 it is on its way when the run ends: what it did is not heard of.
            (3, 2, 0, [20_000, 600, 9400, 0, 30_000], "unfinished".into()),
        ]
    );
    let variant = &run.summary.variants[0];
    assert_eq!(
        variant.outcomes,
        [6, 1, 0, 1, 0, 0],
        "in round 3 client 2 is on its way when the run ends"
    );
    // One late client computed 12 s for nothing; the six used ones 48.9 s.
    assert!((variant.waste - 12.0 / 60.9).abs() < 1e-12);
}

#[test]
fn the_first_few_close_the_round_and_the_others_come_late() {
    let text = scenario("work = { steps = [8, 10, 4] }", "", &["1s", "830ms", "3s"])
        .replace("{ deadline = \"10s\" }", "{ first = 2, of = 3 }");
    let run = Simulated::run(&text, 2);
    let closed: Vec<_> = run.columns("rounds.csv", ["virtual_seconds", "asked", "arrived"]);
    let row = |s: &str, asked: &str| [s.to_string(), asked.into(), "2".into()];
    // Round 1 closes with the second arrival; client 2 (13.7 s) is then still on its way, so two
    // are asked in round 2; in round 3 all three are, for it came back at 13.7 s.
    let expected = [row("10.000000000", "3"), row("20.000000000", "2"), row("30.000000000", "3")];
    assert_eq!(closed, expected);
    assert_eq!(run.summary.variants[0].outcomes, [6, 1, 0, 1, 0, 0]);
}

#[test]
fn work_that_ends_first_ends_the_round_early() {
    let run = Simulated::run(&scenario("work = { steps = 2 }", "", &["1s", "2s"]), 1);
    let closed = run.columns("rounds.csv", ["virtual_seconds"]);
    // 0.6 + 4 + 1.1 s each.
    assert_eq!(closed, [["5.700000000"], ["11.400000000"], ["17.100000000"]]);
}

#[test]
fn time_up_in_the_middle_of_a_round_ends_the_run_there() {
    let text = scenario("", "", &["1s", "2s"]).replace("stop.rounds = 3", "stop.time = \"25s\"");
    let run = Simulated::run(&text, 1);
    let variant = &run.summary.variants[0];
    assert_eq!((variant.rounds, variant.virtual_seconds), (2, 25.0));
    assert_eq!((variant.stopped_by.as_str(), variant.outcomes), ("time", [4, 0, 0, 2, 0, 0]));
}

#[test]
fn a_round_whose_deadline_is_the_end_of_the_run_still_counts() {
    // Client 1 never makes a step, so every round waits for its deadline.
    let text = scenario("", "", &["1s", "9s"]).replace("stop.rounds = 3", "stop.time = \"30s\"");
    let variant = &Simulated::run(&text, 1).summary.variants[0];
    assert_eq!((variant.rounds, variant.virtual_seconds), (3, 30.0));
    assert_eq!((variant.stopped_by.as_str(), variant.outcomes), ("time", [3, 0, 3, 0, 0, 0]));
}

#[test]
fn nobody_is_always_first_or_always_passed_over() {
    // Four clients so alike that they arrive at the same nanosecond.
    let text = scenario("work = { steps = 4 }", "", &["1s"; 4])
        .replace("{ deadline = \"10s\" }", "{ first = 2, of = 3 }")
        .replace("stop.rounds = 3", "stop.rounds = 200");
    let run = Simulated::run(&text, 1);
    let mut used = [0; 4];
    for [client, outcome] in run.columns("clients.csv", ["client", "outcome"]) {
        used[client.parse::<usize>().unwrap()] += u32::from(outcome == "used");
    }
    assert!(used.iter().all(|n| (70..130).contains(n)), "{used:?}");
    let asked = run.columns("rounds.csv", ["asked"]);
    assert!(asked.iter().all(|[asked]| asked == "3"), "who arrives now can be asked now");
}

#[test]
fn unbiased_weights_count_the_busy_as_no_progress() {
    let server = "partial = \"discard\"\nparticipation = \"unbiased\"";
    let run = Simulated::run(
        &scenario("work = { steps = [8, 10, 4] }", server, &["1s", "830ms", "3s"]),
        2,
    );
    let rows = run.columns("clients.csv", ["round", "outcome", "weight"]);
    let used = rows.iter().filter(|row| row[1] == "used");
    // FedNova gives each its p_i, in round 2 too, in which client 2 could not be asked.
    assert!(used.clone().count() == 6 && used.clone().all(|row| row[2] == "0.3333333333333333"));
}

#[test]
fn who_gives_up_on_a_shared_link_is_asked_again_in_the_next_round() {
    // Ten clients share 1 kbit/s: no model of 3,200 bits is there within a second.
    let workshop = crate::support::Workshop::new(
        r#"
name = "narrow"
stop.rounds = 4
task = { kind = "quadratic", clients = 10, dim = 100 }
server.close.deadline = "1s"
fleet.server_uplink = "1kbps"
[[fleet.class]]
name = "phone"
step_time = "10ms"
"#,
    );
    let run = workshop.run("out", &["--timing-only"]);
    let clients = crate::support::rows(&run.join("clients.csv"));
    assert_eq!(clients.len(), 40, "everybody, in every round");
    for row in &clients {
        assert_eq!((row.text("outcome"), row.int("download_ns")), ("no_step", 1_000_000_000));
    }
}
