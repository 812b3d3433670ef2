//! When a round opens and who is asked: one rule, whatever else the scenario says.

use crate::simulated::Simulated;

fn scenario(clients: &str, server: &str, rest: &str) -> String {
    format!(
        "name = \"opening\"\nstop.rounds = 4\n[task]\nkind = \"quadratic\"\n{clients}\n[server]\n{server}\n{rest}\n"
    )
}

/// (closed after ms, asked) of every round.
fn rounds(text: &str) -> Vec<(f64, String)> {
    let run = Simulated::run(text, 2);
    let columns = run.columns("rounds.csv", ["virtual_seconds", "asked"]);
    columns
        .into_iter()
        .map(|[seconds, asked]| ((seconds.parse::<f64>().unwrap() * 1e3).round(), asked))
        .collect()
}

/// Something that makes presence known, but never happens.
const NEVER: &str =
    "[[event]]\nat = \"1h\"\nselect = { clients = [0] }\noffline = true\nlasting = \"1s\"";

fn times(rounds: &[(f64, String)]) -> Vec<f64> {
    rounds.iter().map(|(ms, _)| *ms).collect()
}

#[test]
fn an_event_that_never_happens_changes_nothing() {
    let clients = "clients = 2\n[client]\nwork = { steps = [6, 10] }";
    for (server, closes, asked) in [
        // The second client is busy when the second round opens: it counts as there, and is passed over.
        ("close = { first = 1, of = 2 }", [6.0, 12.0, 18.0, 24.0], ["2", "1", "2", "1"]),
        // Both are busy at 4 ms: the round waits for the first at 6 ms, the third for the second at 10.
        (
            "close = { deadline = \"4ms\" }\npartial = \"discard\"",
            [4.0, 10.0, 14.0, 18.0],
            ["2", "1", "1", "1"],
        ),
    ] {
        let plain = rounds(&scenario(clients, server, ""));
        assert_eq!(times(&plain), closes, "{server}");
        assert_eq!(plain.iter().map(|(_, asked)| asked.as_str()).collect::<Vec<_>>(), asked);
        assert_eq!(rounds(&scenario(clients, server, NEVER)), plain, "{server}");
    }
}

#[test]
fn everybody_who_is_back_at_the_instant_can_be_asked() {
    // Four equal clients are all busy when the deadline passes, and back in the same nanosecond.
    let clients = "clients = 4\n[client]\nwork = { steps = 6 }";
    let server = "close = { deadline = \"4ms\" }\npartial = \"discard\"";
    for rest in ["", NEVER] {
        let rounds = rounds(&scenario(clients, server, rest));
        assert_eq!(times(&rounds), [4.0, 10.0, 16.0, 22.0]);
        assert!(rounds.iter().all(|(_, asked)| asked == "4"), "{rounds:?}");
    }
}

#[test]
fn a_late_client_that_is_back_as_its_successor_closes_is_asked_next() {
    // Asked in turn, two at a time. Client 1 is late in round 1 and back at 12 ms; round 2 closes at that
    // instant with the answers of clients 2 and 3.
    let clients = "clients = 4\n[client]\nwork = { steps = [4, 12, 8, 8] }";
    let server = "close = { deadline = \"8ms\" }\npartial = \"discard\"\nscheme = \"round-robin\"\n\
                  sample = { clients = 2 }";
    // Round 1 ends at 8 ms, at its deadline; round 2 asks clients 2 and 3 until 16 ms, round 3 asks 0 and 1.
    let rounds = rounds(&scenario(clients, server, ""));
    assert_eq!(times(&rounds)[..2], [8.0, 16.0]);
    let all = "clients = 3\n[client]\nwork = { steps = [4, 8, 4] }";
    let server = "close = { deadline = \"4ms\" }\npartial = \"discard\"\nsample = \"all\"";
    // Client 1 is back at 8 ms, when round 2 closes as the others have answered: round 3 asks all three.
    for rest in ["", NEVER] {
        let rounds = self::rounds(&scenario(all, server, rest));
        let asked: Vec<&str> = rounds.iter().map(|(_, asked)| asked.as_str()).collect();
        assert_eq!((times(&rounds), asked), (vec![4.0, 8.0, 12.0, 16.0], vec!["3", "2", "3", "2"]));
    }
}

#[test]
fn unbiased_rounds_wait_for_one_of_those_drawn() {
    let clients = "clients = 2\n[client]\nwork = { steps = 6 }";
    let server = "close = { deadline = \"4ms\" }\npartial = \"discard\"\nparticipation = \"unbiased\"\n\
                  sample = { clients = 1 }";
    for rest in ["", NEVER] {
        let rounds = rounds(&scenario(clients, server, rest));
        assert!(rounds.iter().all(|(_, asked)| asked == "1"), "{rounds:?}");
    }
}

/// A hundred thousand clients that come and go, all offline for half a day: the server waits until
/// they are back, and does not give up because of the many comings and goings meanwhile.
#[test]
fn a_long_outage_is_waited_out() {
    let clients = "clients = 100000\n[client]\nwork = { steps = 5 }";
    let server = "close = \"all\"\nsample = { clients = 100 }";
    let fleet = "[[fleet.class]]\nname = \"phone\"\nstep_time = \"10ms\"\n\
                 availability = { on = { exponential = { mean = \"20s\" } }, off = { exponential = { mean = \"40s\" } } }\n\
                 [[event]]\nat = \"1ms\"\noffline = true\nlasting = \"12h\"";
    let rounds = rounds(&scenario(clients, server, fleet));
    let half_a_day = 12.0 * 3600.0 * 1e3;
    assert_eq!(rounds[1], (half_a_day + 51.0, "100".into()), "{rounds:?}");
}

/// Twenty clients of which ten are wanted at once. With fixed periods they never are, and one look at a
/// period decides; at random they are, after days.
#[test]
fn rare_is_told_from_never() {
    let text = |on: &str, off: &str, wanted: u32| {
        scenario(
            "clients = 20\n[client]\nwork = { steps = 5 }",
            &format!("close = \"all\"\nsample = {{ clients = {wanted} }}"),
            &format!(
                "[[fleet.class]]\nname = \"phone\"\nstep_time = \"10ms\"\n\
                 availability = {{ on = {on}, off = {off} }}"
            ),
        )
    };
    let random = |mean: &str| format!("{{ exponential = {{ mean = \"{mean}\" }} }}");
    let stopped = |text: &str| Simulated::run(text, 1).summary.variants[0].stopped_by.clone();
    assert_eq!(stopped(&text("\"2s\"", "\"26s\"", 10)), "deserted");
    assert_eq!(stopped(&text(&random("2s"), &random("26s"), 10)), "rounds");
    assert_eq!(stopped(&text(&random("2s"), &random("26s"), 20)), "deserted");
}

/// Two of three clients leave for good by their trace. An event after the end of the run, which could only
/// take clients away, keeps nobody waiting for them.
#[test]
fn an_absence_that_is_still_to_come_brings_nobody() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("t.csv");
    let rows = "device,time [s],available\na,0,1\nb,0,1\nb,5,0\nc,0,1\nc,5,0\n";
    std::fs::write(&trace, rows).unwrap();
    let fleet = format!(
        "[fleet]\nassign = \"in-order\"\n[[fleet.class]]\nname = \"c\"\nstep_time = \"100ms\"\n\
         availability = {{ trace = {trace:?} }}\n"
    );
    for server in ["close = \"all\"\nsample = { clients = 2 }", "close = { window = \"1s\" }"] {
        let text = |rest: &str| {
            scenario(
                "clients = 3\n[client]\nwork = { steps = 10 }",
                server,
                &format!("{fleet}{rest}"),
            )
            .replace("stop.rounds = 4", "stop.time = \"60s\"")
        };
        let plain = rounds(&text(""));
        assert_eq!(plain.len(), 60, "{server}");
        assert_eq!(rounds(&text(NEVER)), plain, "{server}");
    }
}

/// When a client vanishes on a shared link does not depend on whether anything is scripted.
#[test]
fn an_event_that_never_happens_moves_no_dropout() {
    let text = "name = \"d\"\nstop.rounds = 20\ntask = { kind = \"quadratic\", dim = 2, clients = 1 }\n\
                server.close.deadline = \"5s\"\nfleet.server_downlink = \"200bps\"\n\
                [[fleet.class]]\nname = \"c\"\nstep_time = \"20ms\"\ndownlink = \"100bps\"\ndropout = 0.5\n";
    let rows = |text: &str| Simulated::run(text, 1).file("clients.csv");
    let plain = rows(text);
    assert!(plain.contains(",dropped,"), "{plain}");
    assert_eq!(rows(&format!("{text}[[event]]\nat = \"1h\"\nslow = 2.0\n")), plain);
}
