//! scenario.md, `[[event]]`, and deadlines that follow the clients.

use super::{near, numbers, quadratic};
use crate::simulated::Simulated;

const ONE: &str = "clients = 1\ncenters = [[1.0]]";

fn class(name: &str, step: &str) -> String {
    format!("[[fleet.class]]\nname = \"{name}\"\nstep_time = \"{step}\"\n")
}

/// "What overlaps multiplies: …, and so do factors of `lr`. Of overlapping events that set a … `lr`, the one
/// that began last holds." Rounds open every 10 ms. The rate is ¼, from 10 ms on ½, at 20 ms 0.1, which is
/// over at 30 ms. There it is ½ again, times ½ for good and times 0.2 for 10 ms. Each step leaves 1 − η of
/// the way.
#[test]
fn rates_that_events_set_replace_each_other_and_factors_multiply() {
    let events = "[[event]]\nat = \"20ms\"\nlr = 0.1\nlasting = \"10ms\"\n\
                  [[event]]\nat = \"10ms\"\nlr = 0.5\n\
                  [[event]]\nat = \"30ms\"\nlr.times = 0.5\n\
                  [[event]]\nat = \"30ms\"\nlr.times = 0.2\nlasting = \"10ms\"\n";
    let fleet = class("c", "10ms") + events;
    let client = "lr = 0.25\nwork.steps = 1";
    let run = Simulated::run(&quadratic("rounds = 5", ONE, client, "close = \"all\"", &fleet), 1);
    near(1.0 - run.x("fednova")[0], 0.75 * 0.5 * 0.9 * (1.0 - 0.05) * (1.0 - 0.25));
}

/// "`lr_schedule` goes on over a rate that an event has set": ½ from round 2 on, a tenth of it from round 3 on.
#[test]
fn a_schedule_goes_on_over_the_rate_of_an_event() {
    let client = "lr = 0.25\nlr_schedule = [{ after = 2, times = 0.1 }]\nwork.steps = 1";
    let event = "[[event]]\nround = 2\nlr = 0.5\n";
    let run = Simulated::run(&quadratic("rounds = 3", ONE, client, "close = \"all\"", event), 1);
    near(1.0 - run.x("fednova")[0], 0.75 * 0.5 * 0.95);
}

/// "Of overlapping events that set a `deadline`, …, the one that began last holds, and when it is over the one
/// before it again." Round 2 opens at 8 ms with 5 ms, round 3 at 13 ms with 3 ms, and at 15 ms that is over.
#[test]
fn a_deadline_that_is_over_gives_way_to_the_one_before() {
    let events = "[[event]]\nround = 2\ndeadline = \"5ms\"\n\
                  [[event]]\nat = \"9ms\"\ndeadline = \"3ms\"\nlasting = \"6ms\"\n";
    let client = "work.until = \"deadline\"";
    let text = quadratic(
        "rounds = 5",
        ONE,
        client,
        "close.deadline = \"8ms\"",
        &(class("c", "1ms") + events),
    );
    let ends = numbers(&Simulated::run(&text, 1), "rounds.csv", "virtual_seconds");
    assert_eq!(ends, [0.008, 0.013, 0.016, 0.021, 0.026]);
}

/// "An event with `round` happens when that round is about to open, before it is decided who is asked".
#[test]
fn who_leaves_with_a_round_is_not_asked_in_it() {
    let event = "[[event]]\nround = 2\nselect.clients = [0]\nleave = true\n";
    let clients = "clients = 2\ndim = 1";
    let text = quadratic("rounds = 2", clients, "work.steps = 1", "close = \"all\"", event);
    assert_eq!(numbers(&Simulated::run(&text, 1), "rounds.csv", "asked"), [2.0, 1.0]);
}

/// "… and before the server waits for clients, if it has to". Round 1 closes at 10 ms. Two clients are
/// wanted, and the second is away until 105 ms; by then what began at 10 ms is over.
#[test]
fn what_begins_with_a_round_does_not_wait_for_its_clients() {
    let events = "[[event]]\nround = 2\nslow = 2.0\nlasting = \"50ms\"\n\
                  [[event]]\nat = \"7ms\"\nselect.clients = [1]\noffline = true\nlasting = \"98ms\"\n";
    let fleet = format!(
        "[fleet]\nassign = \"in-order\"\n{}{}{events}",
        class("a", "10ms"),
        class("b", "5ms")
    );
    let clients = "clients = 2\ndim = 1";
    let server = "close = \"all\"\nsample.clients = 2";
    let text = quadratic("rounds = 2", clients, "work.steps = 1", server, &fleet);
    let ends = numbers(&Simulated::run(&text, 1), "rounds.csv", "virtual_seconds");
    assert_eq!(ends, [0.010, 0.115]);
    // If it lasts, the round that opens at 105 ms is twice as slow.
    let text = text.replace("lasting = \"50ms\"", "lasting = \"150ms\"");
    let ends = numbers(&Simulated::run(&text, 1), "rounds.csv", "virtual_seconds");
    assert_eq!(ends, [0.010, 0.125]);
}

/// "a percentile of how long those took who sent an update in the last rounds, used or late, from being asked
/// to being back". One client with a step of 1 s, and from 1 s on of 3 s. Round 2 has the deadline of 1 s
/// that round 1 took and closes empty at 2 s. Round 3 opens at 4 s, when the client is back, and still knows
/// of 1 s alone: "A late update counts in the round in which it comes back; rounds to which nobody came back
/// are passed over." Round 4 opens at 7 s with a deadline of 3 s.
#[test]
fn late_updates_count_in_the_percentile() {
    let fleet = class("c", "1s") + "[[event]]\nat = \"1s\"\nslow = 3.0\n";
    let server = "close.deadline = { percentile = 100, of = 1 }\npartial = \"discard\"";
    let run = Simulated::run(&quadratic("rounds = 4", ONE, "work.steps = 1", server, &fleet), 1);
    assert_eq!(numbers(&run, "rounds.csv", "virtual_seconds"), [1.0, 2.0, 5.0, 10.0]);
    let outcomes = run.columns("clients.csv", ["outcome"]);
    assert_eq!(outcomes, [["used"], ["late"], ["late"], ["used"]]);
}

/// "Clients that were lost or made no step sent nothing, and do not count." The first takes 1 s in rounds 1 and
/// 2, the second 4 s in round 1, and is lost after half a second in round 2. The median of round 1 is 1 s, and
/// so is that of round 2.
#[test]
fn lost_clients_do_not_count_in_the_percentile() {
    let fleet = format!(
        "[fleet]\nassign = \"in-order\"\n{}{}[[event]]\nat = \"4500ms\"\nselect.clients = [1]\n\
         leave = true\n[[event]]\nround = 3\nslow = 2.0\n",
        class("a", "1s"),
        class("b", "4s")
    );
    let server = "close.deadline = { percentile = 50, of = 1 }\npartial = \"discard\"";
    let clients = "clients = 2\ndim = 1";
    let run =
        Simulated::run(&quadratic("rounds = 3", clients, "work.steps = 1", server, &fleet), 1);
    // The third has a deadline of 1 s, not of half a second, though nobody makes it.
    assert_eq!(numbers(&run, "rounds.csv", "virtual_seconds"), [4.0, 5.0, 6.0]);
}
