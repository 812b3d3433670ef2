//! Devices that change, leave and share, worked out by hand.
//!
//! A thousand parameters are 32,000 bits.

use crate::simulated::Simulated;
use crate::support::{self, Workshop};
use gruppetto::record::Outcome;

fn scenario(server: &str, rest: &str) -> String {
    format!(
        "name = \"by-hand\"\nstop.rounds = 2\n[task]\nkind = \"quadratic\"\nclients = 3\ndim = 1000\n\
         [client]\nwork = {{ steps = 2 }}\n[server]\n{server}\n{rest}"
    )
}

/// (client, τ, download, compute, upload, arrived, outcome, phase), times in µs.
type Row = (u64, u64, [u64; 4], String, String);

fn rows(run: &Simulated, round: u64) -> Vec<Row> {
    let names = [
        "round",
        "client",
        "tau",
        "download_ns",
        "compute_ns",
        "upload_ns",
        "arrived_ns",
        "outcome",
        "phase",
    ];
    let all = run.columns("clients.csv", names);
    let of_round = all.iter().filter(|row| row[0] == round.to_string());
    let row = |row: &[String; 9]| {
        let number = |i: usize| row[i].parse::<u64>().unwrap();
        let micros = |i: usize| {
            assert_eq!(number(i) % 1000, 0, "{row:?}");
            number(i) / 1000
        };
        (number(1), number(2), [3, 4, 5, 6].map(micros), row[7].clone(), row[8].clone())
    };
    of_round.map(row).collect()
}

fn row(client: u64, tau: u64, times: [u64; 4], outcome: &str, phase: &str) -> Row {
    (client, tau, times, outcome.into(), phase.into())
}

const SHARED: &str = r#"
[fleet]
assign = "in-order"
server_uplink = "1Mbps"
server_downlink = "100kbps"
[[fleet.class]]
name = "a"
step_time = "100ms"
latency = "10ms"
[[fleet.class]]
name = "b"
step_time = "200ms"
uplink = "20kbps"
latency = "10ms"
[[fleet.class]]
name = "c"
step_time = "50ms"
uplink = "60kbps"
"#;

/// Three models of 32 kbit through 1 Mbit/s take 96 ms. c then uploads from 196 ms on at its
/// 60 kbit/s; from 316 ms on a shares the 100 kbit/s with it; from 516 ms on b takes its 20 of them
/// and leaves 40 to each of the others; c is through at 886 ms, a, with 80 kbit/s from then on, at
/// 976 ms, and b, which never had more than its 20, at 2116 ms.
#[test]
fn uploads_divide_the_servers_link() {
    let run = Simulated::run(&scenario("close = \"all\"", SHARED), 1);
    let expected = [
        row(2, 2, [96_000, 100_000, 690_000, 886_000], "used", "done"),
        row(0, 2, [106_000, 200_000, 670_000, 976_000], "used", "done"),
        row(1, 2, [106_000, 400_000, 1_610_000, 2_116_000], "used", "done"),
    ];
    assert_eq!(rows(&run, 1), expected);
    let times = |mut rows: Vec<Row>| {
        rows.iter_mut().for_each(|row| row.2[3] = 0);
        rows
    };
    assert_eq!(
        times(rows(&run, 2)),
        times(expected.to_vec()),
        "the second round is like the first"
    );
}

/// b leaves at 600 ms, in the middle of its upload. Its share goes to the others: at 600 ms a has
/// sent 13,360 bits of its 32,000 and c 20,560; c, at 50 kbit/s, is through at 828.8 ms, and a, which
/// then has 7200 left and the link to itself, at 900.8 ms.
#[test]
fn a_client_that_leaves_in_the_middle_of_its_upload_makes_room() {
    let event = "[[event]]\nat = \"600ms\"\nselect = { clients = [1] }\nleave = true\n";
    let run = Simulated::run(&scenario("close = \"all\"", &format!("{SHARED}{event}")), 1);
    assert_eq!(
        rows(&run, 1),
        [
            row(1, 0, [106_000, 400_000, 94_000, 600_000], "offline", "upload"),
            row(2, 2, [96_000, 100_000, 632_800, 828_800], "used", "done"),
            row(0, 2, [106_000, 200_000, 594_800, 900_800], "used", "done"),
        ]
    );
    assert_eq!(rows(&run, 2).len(), 2, "it is not asked again");
    assert_eq!(run.summary.variants[0].losses.offline.upload, 1);
}

const ALONE: &str = r#"
[fleet]
assign = "in-order"
[[fleet.class]]
name = "a"
step_time = "1s"
uplink = "32kbps"
"#;

/// Slowed twice as much from 500 ms on, and three times as much again from 1 s on: of the first step
/// 0.5 is done by 500 ms, 0.25 more by 1 s, and the rest takes 1.5 s; the second takes 6 s until at
/// 4 s everything is as before: by then it is 0.25 done. The upload meets a link of half the rate.
#[test]
fn events_stretch_what_they_meet_and_compose() {
    let events = r#"
[[event]]
at = "500ms"
slow = 2.0
lasting = "3500ms"
[[event]]
at = "1s"
slow = 3.0
lasting = "3s"
[[event]]
at = "4s"
network = 0.5
[[event]]
round = 2
network = { up = 0.5 }
"#;
    let run = Simulated::run(&scenario("close = \"all\"", &format!("{ALONE}{events}")), 1);
    let first = row(0, 2, [0, 4_750_000, 2_000_000, 6_750_000], "used", "done");
    assert_eq!(rows(&run, 1)[0], first);
    // The second round opens at 6.75 s, and the event of that round makes it a quarter.
    let second = row(0, 2, [0, 2_000_000, 4_000_000, 12_750_000], "used", "done");
    assert_eq!(rows(&run, 2)[0], second);
}

/// An event of a round reaches those who are still on their way from an earlier one.
#[test]
fn what_begins_with_a_round_reaches_clients_on_their_way() {
    let fleet = r#"
[fleet]
assign = "in-order"
[[fleet.class]]
name = "fast"
share = 0.67
step_time = "1s"
[[fleet.class]]
name = "slow"
share = 0.33
step_time = "3s"
"#;
    let event =
        |effect: &str| format!("[[event]]\nround = 2\nselect = {{ class = \"slow\" }}\n{effect}");
    let text = |effect: &str, rounds: u64| {
        scenario("close = { first = 2, of = 3 }", &format!("{fleet}{}", event(effect)))
            .replace("stop.rounds = 2", &format!("stop.rounds = {rounds}"))
    };
    // At 2 s it has made 2/3 of its first step; at half the speed the rest takes 2 s, the second 6 s.
    let run = Simulated::run(&text("slow = 2.0", 6), 1);
    let slow: Vec<Row> = rows(&run, 1).into_iter().filter(|row| row.0 == 2).collect();
    assert_eq!(slow, [row(2, 2, [0, 10_000_000, 0, 10_000_000], "late", "done")]);
    let run = Simulated::run(&text("offline = true\nlasting = \"1s\"", 3), 1);
    let slow: Vec<Row> = rows(&run, 1).into_iter().filter(|row| row.0 == 2).collect();
    assert_eq!(slow, [row(2, 0, [0, 2_000_000, 0, 2_000_000], "offline", "compute")]);
}

/// Two of three are there in the first 10 s, one for the next 20, and then again two.
#[test]
fn the_server_waits_for_clients_and_says_so() {
    let fleet = r#"
[fleet]
assign = "in-order"
[[fleet.class]]
name = "a"
step_time = "5s"
[[event]]
at = "10s"
select = { clients = [1] }
offline = true
lasting = "20s"
[[event]]
at = "0s"
select = { clients = [2] }
leave = true
"#;
    let server = "close = \"all\"\nsample = { clients = 2 }\nscheme = \"round-robin\"";
    let run = Simulated::run(&scenario(server, fleet), 1);
    let variant = &run.summary.variants[0];
    assert_eq!((variant.waited.rounds, variant.waited.seconds), (1, 20.0));
    let waited = run.columns("rounds.csv", ["virtual_seconds", "asked", "waited_seconds"]);
    let text = |row: [&str; 3]| row.map(String::from);
    assert_eq!(
        waited,
        [text(["10.000000000", "2", "0.000000000"]), text(["40.000000000", "2", "20.000000000"])]
    );
    // Where all are asked, whoever is there will do.
    let all = Simulated::run(&scenario("close = \"all\"", fleet), 1);
    assert_eq!(all.columns("rounds.csv", ["asked"]), [["2".to_string()], ["1".to_string()]]);
}

#[test]
fn a_run_that_everybody_leaves_ends() {
    let fleet = "[[fleet.class]]\nname = \"a\"\nstep_time = \"5s\"\n[[event]]\nat = \"12s\"\nleave = true\n";
    for server in ["close = \"all\"", "close = { buffer = 2 }\nconcurrency = 3"] {
        let run = Simulated::run(
            &scenario(server, fleet).replace("stop.rounds = 2", "stop.rounds = 9"),
            1,
        );
        let variant = &run.summary.variants[0];
        assert_eq!(variant.stopped_by, "deserted", "{server}");
        assert_eq!(variant.outcomes.iter().sum::<u64>(), 6, "{server}");
    }
}

#[test]
fn a_run_in_which_nobody_can_be_reached_ends() {
    let fleet = "[[fleet.class]]\nname = \"a\"\nstep_time = \"5s\"\nuplink = \"1Mbps\"\n\
                 downlink = \"1Mbps\"\n[[event]]\nat = \"12s\"\nnetwork = 0\n";
    for server in ["close = \"all\"", "close = { buffer = 2 }\nconcurrency = 3"] {
        let run = Simulated::run(
            &scenario(server, fleet).replace("stop.rounds = 2", "stop.time = \"1h\""),
            1,
        );
        let variant = &run.summary.variants[0];
        assert_eq!(variant.stopped_by, "deserted", "{server}");
        assert!((12.0..30.0).contains(&variant.virtual_seconds), "{server}");
        // Who has lost its connection for good is found out once, and not asked again.
        assert_eq!(variant.outcomes[Outcome::Offline as usize], 3, "{server}");
    }
    // Everybody is lost at the very instant at which it is asked, again and again.
    let fleet = "[[fleet.class]]\nname = \"a\"\nstep_time = \"1ns\"\ndropout = 1.0\n";
    let text = scenario("close = \"all\"", fleet).replace("steps = 2", "steps = 1");
    let run = Simulated::run(&text.replace("stop.rounds = 2", "stop.time = \"1h\""), 1);
    assert_eq!(run.summary.variants[0].stopped_by, "unreachable");
}

#[test]
fn deadlines_and_rates_change_with_rounds() {
    let fleet = "[[fleet.class]]\nname = \"a\"\nstep_time = \"1s\"\n";
    let events = "[[event]]\nround = 2\ndeadline = \"3s\"\nlasting = \"4s\"\n[[event]]\nat = \"11s\"\nlr = 0.002\n";
    let text = scenario("close = { deadline = \"10s\" }", &format!("{fleet}{events}"))
        .replace("work = { steps = 2 }", "work = { until = \"deadline\" }")
        .replace("stop.rounds = 2", "stop.rounds = 4");
    let run = Simulated::run(&text, 1);
    let closed = run.columns("rounds.csv", ["virtual_seconds", "tau_max"]);
    // Rounds 2 and 3 open within the 4 s.
    let expected = [
        ("10.000000000", "10"),
        ("13.000000000", "3"),
        ("16.000000000", "3"),
        ("26.000000000", "10"),
    ];
    let told: Vec<_> =
        closed.iter().map(|[at, tau]| (at.as_str(), tau.trim_end_matches(".0"))).collect();
    assert_eq!(told, expected);
    // x moves towards the mean of the centres by 1 − (1 − η)^τ in every round.
    let still: f64 = (1.0 - 0.02f64).powi(13) * (1.0 - 0.002f64).powi(13);
    let distance =
        run.summary.variants[0].metrics.get(gruppetto::metric::Metric::Distance).unwrap();
    let start = run.summary.variants[0].start.get(gruppetto::metric::Metric::Distance).unwrap();
    assert!((distance / start - still).abs() < 1e-9, "{} is not {still}", distance / start);
}

/// Looking ahead for clients that come after the end of the run, or never, must not cost time that
/// has not been: everybody's adds up to the length of the run.
#[test]
fn waiting_in_vain_is_accounted_for() {
    let fleet = |more: &str| {
        format!(
            "[[fleet.class]]\nname = \"a\"\nstep_time = \"1s\"\navailability = {{ on = \"7s\", off = \"40s\" }}\n{more}"
        )
    };
    let gone = "[[event]]\nround = 2\noffline = true\n";
    for (more, stop) in [("", "stop.time = \"1m\""), (gone, "stop.rounds = 9")] {
        for server in ["close = \"all\"\nsample = { clients = 1 }", "close = \"each\""] {
            let text = scenario(server, &fleet(more)).replace("stop.rounds = 2", stop);
            let run = Simulated::run(&text, 1);
            let variant = &run.summary.variants[0];
            let length = 3 * (variant.virtual_seconds * 1e9).round() as u128;
            assert_eq!(variant.time[0].1.total(), length, "{server} {more}");
        }
    }
}

/// Only downloads share a link: what a round does to uplinks reaches uploads all the same.
#[test]
fn events_of_rounds_reach_uploads_that_share_nothing() {
    let fleet = r#"
[fleet]
assign = "in-order"
server_uplink = "1000Gbps"
[[fleet.class]]
name = "fast"
share = 0.67
step_time = "1s"
downlink = "32Mbps"
[[fleet.class]]
name = "slow"
share = 0.33
step_time = "500ms"
downlink = "32Mbps"
uplink = "8kbps"
[[event]]
round = 2
network = { up = 0.5, down = 1.0 }
"#;
    let text = scenario("close = { first = 2, of = 3 }", fleet)
        .replace("stop.rounds = 2", "stop.rounds = 6");
    let run = Simulated::run(&text, 1);
    // It uploads 4 s at 8 kbit/s from 1.001 s on; from 2.001 s on three quarters are left, and take 6 s.
    let slow: Vec<Row> = rows(&run, 1).into_iter().filter(|row| row.0 == 2).collect();
    assert_eq!(slow, [row(2, 2, [1_000, 1_000_000, 7_000_000, 8_001_000], "late", "done")]);
}

/// Of two deadlines the one that began last holds, whichever was written with a time.
#[test]
fn the_event_that_began_last_holds() {
    let fleet = "[[fleet.class]]\nname = \"a\"\nstep_time = \"1s\"\n";
    let events =
        "[[event]]\nat = \"10s\"\ndeadline = \"5s\"\n[[event]]\nround = 2\ndeadline = \"3s\"\n";
    let text = scenario("close = { deadline = \"8s\" }", &format!("{fleet}{events}"))
        .replace("work = { steps = 2 }", "work = { until = \"deadline\" }")
        .replace("stop.rounds = 2", "stop.rounds = 3");
    let run = Simulated::run(&text, 1);
    let closed = run.columns("rounds.csv", ["virtual_seconds"]);
    assert_eq!(closed, [["8.000000000"], ["11.000000000"], ["16.000000000"]]);
}

/// Windows close whether anybody is there or not, so clients that join with a round do join.
#[test]
fn clients_may_join_with_a_window() {
    let fleet = "[[fleet.class]]\nname = \"a\"\nstep_time = \"1s\"\n\
                 availability = { on = \"7s\", off = \"1s\" }\n\
                 [[event]]\nround = 5\njoin = true\n";
    let server = "close = { window = \"3s\" }\nconcurrency = 2";
    let text = scenario(server, fleet).replace("stop.rounds = 2", "stop.rounds = 9");
    let run = Simulated::run(&text, 1);
    assert_eq!(run.summary.variants[0].stopped_by, "rounds");
    let arrived = run.columns("rounds.csv", ["arrived"]);
    assert!(arrived[..4].iter().all(|[count]| count == "0"), "{arrived:?}");
    assert!(arrived[4..].iter().any(|[count]| count != "0"), "{arrived:?}");
}

/// Client 1 is asked at first, client 0 once more at 60 ms; nobody has a connection when they are done with their
/// steps, so both arrive 20 ms after it is back. Client 1 was asked first, and is heard first, whichever links the
/// server shares.
#[test]
fn clients_that_arrive_together_are_heard_in_the_order_asked() {
    for shared in ["", "server_uplink = \"1000Gbps\"", "server_downlink = \"1000Gbps\""] {
        let text = format!(
            "name = \"together\"\nstop.rounds = 3\ntask = {{ kind = \"quadratic\", clients = 2, dim = 1 }}\n\
             client.work.steps = 1\nserver = {{ close = \"each\", concurrency = 2 }}\n\
             [fleet]\nassign = \"in-order\"\n{shared}\n\
             [[fleet.class]]\nname = \"a\"\nstep_time = \"40ms\"\nuplink = \"1600bps\"\n\
             [[fleet.class]]\nname = \"b\"\nstep_time = \"200ms\"\nuplink = \"1600bps\"\n\
             [[event]]\nat = \"80ms\"\nnetwork = {{ up = 0 }}\nlasting = \"920ms\"\n"
        );
        let workshop = Workshop::new(&text);
        let rows = support::rows(&workshop.run("out", &[]).join("clients.csv"));
        let told: Vec<(u64, u64)> =
            rows.iter().map(|row| (row.int("client"), row.int("arrived_ns") / 1_000_000)).collect();
        assert_eq!(told[..3], [(0, 60), (1, 1020), (0, 1020)], "{shared}");
    }
}
