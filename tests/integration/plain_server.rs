//! The plain server and the plain clients, driven by hand: no actor, no clock, no thread but the
//! workers'.

mod remembered;

use gruppetto::client::ClientSide;
use gruppetto::clock::SimTime;
use gruppetto::participation::Arrival;
use gruppetto::policy::Asked;
use gruppetto::record::{Outcome, StopReason};
use gruppetto::run::{Built, build};
use gruppetto::scenario::Scenario;
use gruppetto::server::{Next, Opening, Server};

const TEXT: &str = r#"
name = "by-hand"
stop.rounds = 2
[task]
kind = "quadratic"
clients = 3
dim = 1
centers = [[1.0], [2.0], [6.0]]
[client]
lr = 0.5
work = { until = "deadline" }
[server]
close = { deadline = "10s" }
[fleet]
assign = "in-order"
[[fleet.class]]
name = "fast"
step_time = "4s"
[[fleet.class]]
name = "slow"
step_time = "9s"
[[fleet.class]]
name = "stuck"
step_time = "11s"
"#;

fn build_from(text: &str) -> (Server, ClientSide) {
    let scenario = Scenario::parse("test.toml", text, &[], None).unwrap();
    let Built { server, client_side, .. } =
        build(&scenario.variants[0].plan, 1, 1, Some(Default::default())).unwrap();
    (server, client_side)
}

fn second(n: u64) -> SimTime {
    SimTime::from_nanos(n * 1_000_000_000)
}

/// Who is asked in a round that opens now.
fn open(server: &mut Server, now: SimTime) -> Vec<Asked> {
    match server.open_round(now).unwrap() {
        Opening::Asked(asked) => asked,
        other => panic!("{other:?}"),
    }
}

/// Everyone asked, on the way, in the order of arrival.
fn send_everyone(server: &mut Server, client_side: &ClientSide, now: SimTime) -> Vec<Arrival> {
    let asked = open(server, now);
    let round = server.round().clone();
    let mut arrivals: Vec<Arrival> = asked
        .into_iter()
        .map(|asked| {
            let request = server.send_off(asked, now);
            client_side
                .set_out(round.clone(), request, server.client_context(asked.client, &round))
                .unwrap()
        })
        .collect();
    arrivals.sort_by_key(|arrival| arrival.way.arrives);
    arrivals
}

#[test]
fn a_round_moves_the_model_by_the_general_rule() {
    let (mut server, client_side) = build_from(TEXT);
    let arrivals = send_everyone(&mut server, &client_side, SimTime::ZERO);
    assert_eq!(server.on_the_way(), 3);
    let outcomes: Vec<_> = arrivals
        .into_iter()
        .map(|arrival| {
            let (row, next) = server.arrive(arrival).unwrap();
            assert_eq!(next, Next::Wait, "the server waits for the one who sends nothing");
            (row.client, row.tau, row.outcome)
        })
        .collect();
    assert_eq!(outcomes, [(2, 0, Outcome::NoStep), (0, 2, Outcome::Used), (1, 1, Outcome::Used)]);
    assert_eq!(server.on_the_way(), 0);
    let (row, ends) = server.close_round(second(10)).unwrap();
    assert_eq!((row.asked, row.arrived, ends), (3, 2, None));
    // From 0 with η = 0.5: Δ_0 = 0.75 after two steps, Δ_1 = 1 after one. Renormalised p = ½ each;
    // τ_eff = 1.5; x = 1.5 · (½·0.75/2 + ½·1/1).
    assert_eq!(row.tau_eff, 1.5);
    assert!((server.take_parameters()[0] - 1.03125).abs() < 1e-15);
    assert!((row.missing_mass - 1.0 / 3.0).abs() < 1e-15);
}

#[test]
fn the_second_round_knows_who_was_idle_and_ends_the_run() {
    let (mut server, client_side) = build_from(TEXT);
    for arrival in send_everyone(&mut server, &client_side, SimTime::ZERO) {
        server.arrive(arrival).unwrap();
    }
    server.close_round(second(10)).unwrap();
    let arrivals = send_everyone(&mut server, &client_side, second(10));
    let idle: Vec<_> =
        arrivals.iter().map(|arrival| arrival.request.idle.unwrap().seconds()).collect();
    // Client 2 gave up at once, client 0 was back at 8 s, client 1 at 9 s.
    assert_eq!(idle, [10.0, 2.0, 1.0]);
    for arrival in arrivals {
        server.arrive(arrival).unwrap();
    }
    let (row, ends) = server.close_round(second(20)).unwrap();
    assert_eq!((row.round, ends), (2, Some(StopReason::Rounds)));
    assert!(row.metrics.is_some(), "the last round is always measured");
}

#[test]
fn an_answer_after_the_close_is_late_by_the_rounds_it_missed() {
    let text = TEXT
        .replace("{ until = \"deadline\" }", "{ steps = 2 }")
        .replace("[fleet]", "partial = \"discard\"\n[fleet]");
    let (mut server, client_side) = build_from(&text);
    let mut arrivals = send_everyone(&mut server, &client_side, SimTime::ZERO);
    let stuck = arrivals.pop().unwrap();
    let slow = arrivals.pop().unwrap();
    assert!(stuck.change.is_none(), "who is bound to be late does not train");
    server.arrive(arrivals.pop().unwrap()).unwrap();
    server.close_round(second(10)).unwrap();
    let asked = open(&mut server, second(10));
    assert_eq!(asked.iter().map(|asked| asked.client).collect::<Vec<_>>(), [0]);
    let (row, next) = server.arrive(slow).unwrap();
    assert_eq!((row.outcome, row.staleness, next), (Outcome::Late, 1, Next::Wait));
    assert_eq!(row.superseded.seconds(), 8.0);
    let (row, _) = server.arrive(stuck).unwrap();
    assert_eq!((row.outcome, row.superseded.seconds()), (Outcome::Late, 12.0));
}

/// A round on the wall clock makes the steps of the virtual clock's when nothing delays it,
/// and fewer when this machine is slower than the device.
#[test]
fn a_walk_without_delays_is_the_itinerary() {
    let text = TEXT.replace(
        "[[fleet.class]]\nname = \"fast\"",
        "[[fleet.class]]\njitter = 0.4\nname = \"fast\"",
    );
    let (mut server, client_side) = build_from(&text);
    let asked = open(&mut server, SimTime::ZERO);
    let round = server.round().clone();
    for asked in asked {
        let request = server.send_off(asked, SimTime::ZERO);
        let way = client_side
            .set_out(round.clone(), request, server.client_context(asked.client, &round))
            .unwrap()
            .way;
        let request = client_side.depart(&round, request, round.number).unwrap();
        let mut wall_round = client_side
            .begin_wall_clock_round(
                round.clone(),
                request,
                server.client_context(asked.client, &round),
            )
            .unwrap();
        while let Some(end) = client_side.next_step(&mut wall_round).unwrap() {
            wall_round.stepped(end, SimTime::ZERO);
        }
        assert_eq!(client_side.way(&mut wall_round).unwrap(), way);
        let mut held_up = client_side
            .begin_wall_clock_round(
                round.clone(),
                request,
                server.client_context(asked.client, &round),
            )
            .unwrap();
        while let Some(end) = client_side.next_step(&mut held_up).unwrap() {
            held_up.stepped(end, second(10));
        }
        assert!(client_side.way(&mut held_up).unwrap().tau <= 1.min(way.tau));
    }
}
