//! No run waits for ever: what can be known is refused, what shows itself on the way ends the run, and a
//! run that waits can be ended and has its rows on disk.

use crate::simulated::Simulated;
use crate::support::{Workshop, stderr, stdout, summary};
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

fn scenario(clients: usize, server: &str, rest: &str) -> String {
    format!(
        "name = \"waiting\"\nstop.rounds = 4\n[task]\nkind = \"quadratic\"\nclients = {clients}\n\
         [client]\nwork = {{ steps = 5 }}\n[server]\n{server}\n{rest}\n"
    )
}

fn fixed(clients: usize, wanted: usize, rest: &str) -> String {
    scenario(
        clients,
        &format!("close = \"all\"\nsample = {{ clients = {wanted} }}"),
        &format!(
            "[[fleet.class]]\nname = \"phone\"\nstep_time = \"10ms\"\n\
             availability = {{ on = \"2s\", off = \"26s\" }}\n{rest}"
        ),
    )
}

/// Refused within a second by `run` and `check`, with these words; nothing was written.
fn refused(workshop: &Workshop, words: &[&str]) {
    for arguments in [&["check", "s.toml"][..], &["run", "s.toml", "--out", "out"]] {
        let began = Instant::now();
        let output = workshop.call(arguments);
        assert!(began.elapsed() < Duration::from_secs(2), "{arguments:?}: {:?}", began.elapsed());
        assert_eq!(output.status.code(), Some(2), "{}{}", stdout(&output), stderr(&output));
        for word in words {
            assert!(stderr(&output).contains(word), "{word}: {}", stderr(&output));
        }
    }
    assert!(!workshop.path("out").exists());
}

#[test]
fn a_first_round_that_never_opens_is_refused() {
    let workshop = Workshop::new(&fixed(20, 10, ""));
    let most = "it takes 10 of the 20 clients at once, and never more than 6 are there at once";
    refused(&workshop, &["variant fednova", most, "seed 1", "ask fewer clients"]);
    // A time to stop at would end the wait, and still open no round.
    let workshop = Workshop::new(&fixed(20, 10, "").replace("rounds = 4", "time = \"1h\""));
    refused(&workshop, &[most]);

    // Sixty periods of which none is another's: the most that are ever there together cannot be looked up.
    let class = |n: u64| {
        let (on, off) = (1009 + 12 * n, 9001 + 6 * n * n);
        format!(
            "[[fleet.class]]\nname = \"c{n}\"\nstep_time = \"1ms\"\n\
             availability = {{ on = \"{on}ms\", off = \"{off}ms\" }}\n"
        )
    };
    let unequal: String = (0..60).map(class).collect();
    let server = "close = \"all\"\nsample = { clients = 40 }";
    let workshop = Workshop::new(&scenario(60, server, &unequal));
    refused(&workshop, &["it takes 40 of the 60 clients at once", "are there on average"]);

    // Two that take turns.
    let two = scenario(
        2,
        "close = \"all\"\nsample = { clients = 2 }",
        "[[fleet.class]]\nname = \"c\"\nstep_time = \"100ms\"\n\
         availability = { trace = \"t.csv\", repeat = \"20s\" }",
    );
    let workshop = Workshop::new(&two);
    let turns = "device,time [s],available\na,0,1\na,10,0\nb,0,0\nb,10,1\n";
    std::fs::write(workshop.path("t.csv"), turns).unwrap();
    refused(&workshop, &["it takes 2 of the 2", "never more than 1 is there at once"]);
    // Nobody is ever there.
    std::fs::write(workshop.path("t.csv"), "device,time [s],available\na,0,0\nb,0,0\n").unwrap();
    refused(&workshop, &["no client is ever there"]);
    // At random, but so rarely that it is never.
    let random = "{ exponential = { mean = \"2s\" } }, off = { exponential = { mean = \"26s\" } }";
    let workshop = Workshop::new(&fixed(20, 20, "").replace("\"2s\", off = \"26s\"", random));
    refused(&workshop, &["it takes 20 of the 20", "1.429 are there on average"]);
}

/// More comings and goings in one period than the server looks at in one go.
#[test]
fn a_long_period_is_looked_at_to_its_end() {
    let text = fixed(200_000, 100_000, "");
    refused(&Workshop::new(&text), &["it takes 100000 of the 200000 clients", "are there at once"]);
}

/// Periods whose common multiple is longer than the clock: what each of them has at most decides.
#[test]
fn periods_that_never_meet_are_looked_at_one_by_one() {
    let classes: String = (0..5)
        .map(|class| {
            format!(
                "[[fleet.class]]\nname = \"c{class}\"\nstep_time = \"10ms\"\nshare = 0.2\n\
                 availability = {{ on = \"2s\", off = \"{}ns\" }}\n",
                26_000_000_011u64 + 9_999_991 * class
            )
        })
        .collect();
    let server = "close = \"all\"\nsample = { clients = 90 }";
    refused(&Workshop::new(&scenario(100, server, &classes)), &["it takes 90 of the 100"]);
}

/// An outage that begins and ends while the server looks ahead hides the instants at which enough clients
/// are there. They come again.
#[test]
fn what_an_outage_hides_comes_again() {
    let text = |event: &str| {
        fixed(20, 4, &format!("[[event]]\nat = \"1ms\"\noffline = true\nlasting = \"{event}\""))
    };
    for lasting in ["1s", "15s", "27s", "29s", "40s"] {
        let run = Simulated::run(&text(lasting), 1);
        assert_eq!(run.summary.variants[0].stopped_by, "rounds", "{lasting}");
    }
}

/// Unbiased participation draws from all clients, one of which has left for good.
#[test]
fn a_draw_that_can_never_be_asked_ends_the_run() {
    let server = "close = \"all\"\nparticipation = \"unbiased\"\nsample = { clients = 1 }";
    let rest = "[[fleet.class]]\nname = \"a\"\nstep_time = \"100ms\"\n\
                availability = { on = \"10s\", off = \"10s\" }\n\
                [[event]]\nat = \"5s\"\nselect = { clients = [0] }\nleave = true\n";
    let text = scenario(3, server, rest).replace("rounds = 4", "rounds = 100");
    let began = Instant::now();
    assert_eq!(Simulated::run(&text, 1).summary.variants[0].stopped_by, "deserted");
    assert!(began.elapsed() < Duration::from_secs(2));
}

const LEFT: &str = "[[fleet.class]]\nname = \"a\"\nstep_time = \"10ms\"\n\
                    [[event]]\nround = 3\nleave = true\n";

#[test]
fn a_run_that_everybody_leaves_says_so_first_and_fails() {
    let text = scenario(3, "close = \"all\"", LEFT);
    let workshop = Workshop::new(&text);
    let output = workshop.call(&["run", "s.toml", "--out", "out"]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let text_of = stdout(&output);
    let said = text_of.find("fednova ended early, after 100.0ms and 2 rounds").expect(&text_of);
    assert!(said < text_of.find("training loss").unwrap(), "{text_of}");
    assert_eq!(summary(&workshop.path("out"))["variants"][0]["stopped_by"], "deserted");

    // Whoever foresees it has a result; a bound that a whole run would meet as well foresees nothing.
    for (expect, code) in [
        ("that = \"rounds\", of = \"fednova\", at_most = 3", 0),
        ("that = \"rounds\", of = \"fednova\", at_most = 4", 1),
        ("that = \"rounds\", of = \"fednova\", at_least = 2", 1),
        ("that = \"rounds\", of = \"fednova\", at_most = 1", 1),
    ] {
        let workshop = Workshop::new(&format!("expect = [{{ {expect} }}]\n{text}"));
        let output = workshop.call(&["run", "s.toml", "--out", "out"]);
        assert_eq!(output.status.code(), Some(code), "{expect}: {}", stderr(&output));
    }
}

fn start(workshop: &Workshop, arguments: &[&str]) -> Child {
    let all = [&["run", "s.toml", "--out", "out", "-q"], arguments].concat();
    workshop.command(&all).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

fn lines(workshop: &Workshop, name: &str) -> usize {
    let text = std::fs::read_to_string(workshop.path("out").join(name)).unwrap_or_default();
    text.lines().count()
}

/// Ends the run by a signal; how long it took to go, and its exit code.
fn terminate(mut child: Child) -> (Duration, Option<i32>) {
    let began = Instant::now();
    let id = i32::try_from(child.id()).unwrap().to_string();
    std::process::Command::new("kill").args(["-TERM", &id]).status().unwrap();
    let code = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status.code();
        }
        if began.elapsed() > Duration::from_secs(20) {
            child.kill().unwrap();
            panic!("it does not end");
        }
        sleep(Duration::from_millis(5));
    };
    (began.elapsed(), code)
}

/// Waits until a file of the run has so many lines.
fn until(workshop: &Workshop, name: &str, wanted: usize) {
    let began = Instant::now();
    while lines(workshop, name) < wanted {
        assert!(began.elapsed() < Duration::from_secs(10), "{name}: {}", lines(workshop, name));
        sleep(Duration::from_millis(10));
    }
}

/// So many are wanted that they come after days of real time, but not so many that it is hopeless.
#[test]
fn a_run_that_waits_can_be_ended() {
    let random = "{ exponential = { mean = \"2s\" } }, off = { exponential = { mean = \"26s\" } }";
    let text = fixed(40, 17, "").replace("\"2s\", off = \"26s\"", random);
    let workshop = Workshop::new(&text);
    let child = start(&workshop, &[]);
    sleep(Duration::from_millis(700));
    let (took, code) = terminate(child);
    assert_eq!(code, Some(130));
    assert!(took < Duration::from_secs(1), "{took:?}");
    assert_eq!(summary(&workshop.path("out"))["status"], "interrupted");
}

/// On the wall clock: one round, then nobody for an hour.
#[test]
fn rows_do_not_wait_for_the_next_round() {
    let rest = "[[fleet.class]]\nname = \"a\"\nstep_time = \"10ms\"\n\
                [[event]]\nat = \"60ms\"\noffline = true\nlasting = \"1h\"\n";
    let text = scenario(3, "close = \"all\"", rest);
    let workshop = Workshop::new(&text);
    let child = start(&workshop, &["--clock", "wall"]);
    until(&workshop, "rounds.csv", 2);
    until(&workshop, "clients.csv", 4);
    let (took, code) = terminate(child);
    assert_eq!(code, Some(130));
    assert!(took < Duration::from_secs(1), "{took:?}");
}

/// Without rounds: everybody who is asked is lost, so that there is never an aggregation. Rows are written all the same,
/// and do not gather in memory.
#[test]
fn a_run_without_aggregations_can_be_ended() {
    let rest = "[[fleet.class]]\nname = \"a\"\nstep_time = \"100ms\"\n\
                availability = { on = \"10s\", off = \"10s\" }\n";
    let text = scenario(3, "close = { buffer = 2 }", rest).replace("steps = 5", "steps = 1000");
    let workshop = Workshop::new(&text);
    let child = start(&workshop, &[]);
    until(&workshop, "clients.csv", 1000);
    let (took, code) = terminate(child);
    assert_eq!(code, Some(130));
    assert!(took < Duration::from_secs(2), "{took:?}");
}
