//! What clients remember with error feedback: whenever they sent something, and only then.

use super::*;

/// From 0 with η = ½ and one step a client moves by half its centre; of two numbers it sends one.
const TWO: &str = r#"
name = "remembered"
stop.rounds = 9
[task]
kind = "quadratic"
clients = 3
centers = [[4.0, 2.0], [2.0, 6.0], [8.0, 10.0]]
[client]
lr = 0.5
work = { steps = 1 }
compression = { top_k = 0.5, error_feedback = true }
[server]
close = { deadline = "10s" }
partial = "discard"
[fleet]
assign = "in-order"
[[fleet.class]]
name = "fast"
step_time = "4s"
[[fleet.class]]
name = "late"
step_time = "11s"
[[fleet.class]]
name = "gone"
step_time = "1s"
dropout = 1.0
"#;

fn remembered(server: &Server) -> [Option<Vec<f64>>; 3] {
    [0, 1, 2].map(|client| {
        server.client_context(client, server.round()).residual.map(|residual| residual.to_vec())
    })
}

#[test]
fn used_or_late_but_not_gone() {
    let (mut server, client_side) = build_from(TWO);
    let arrivals = send_everyone(&mut server, &client_side, SimTime::ZERO);
    let [gone, fast, late] = arrivals.try_into().unwrap_or_else(|_| panic!("three"));
    assert!(gone.lost == Some(Outcome::Dropped) && gone.change.is_none());
    assert!(late.change.is_some(), "who remembers trains even when bound to be late");
    server.arrive(gone).unwrap();
    server.arrive(fast).unwrap();
    // (2, 1) was trained, (2, 0) sent.
    assert_eq!(remembered(&server), [Some(vec![0.0, 1.0]), None, None]);
    server.close_round(second(10)).unwrap();
    // Only the fast one took part: the model moved by what it sent.
    assert_eq!(server.parameters(), [2.0, 0.0]);
    let asked = open(&mut server, second(10));
    assert_eq!(asked.iter().map(|asked| asked.client).collect::<Vec<_>>(), [0, 2]);
    let (row, _) = server.arrive(late).unwrap();
    assert_eq!(row.outcome, Outcome::Late);
    // (1, 3) was trained and (0, 3) sent, though nobody listened.
    let first = [Some(vec![0.0, 1.0]), Some(vec![1.0, 0.0]), None];
    assert_eq!(remembered(&server), first);
    // In the second round the fast one trains (1, 1) from (2, 0), adds (0, 1) and sends (0, 2).
    let round = server.round().clone();
    for asked in asked {
        let request = server.send_off(asked, second(10));
        let context = server.client_context(asked.client, &round);
        let arrival = client_side.set_out(round.clone(), request, context).unwrap();
        server.arrive(arrival).unwrap();
    }
    server.close_round(second(20)).unwrap();
    assert_eq!(server.parameters(), [2.0, 2.0]);
    assert_eq!(remembered(&server), [Some(vec![1.0, 0.0]), Some(vec![1.0, 0.0]), None]);
}

#[test]
fn no_step_is_nothing_sent() {
    let text = TWO.replace("partial = \"discard\"", "");
    let (mut server, client_side) = build_from(&text);
    for arrival in send_everyone(&mut server, &client_side, SimTime::ZERO) {
        let (row, _) = server.arrive(arrival).unwrap();
        assert_eq!(row.outcome == Outcome::Used, row.client == 0);
    }
    assert_eq!(remembered(&server), [Some(vec![0.0, 1.0]), None, None]);
}

#[test]
fn without_error_feedback_nothing_is_remembered_and_the_late_do_not_train() {
    let (mut server, client_side) = build_from(&TWO.replace(", error_feedback = true", ""));
    for arrival in send_everyone(&mut server, &client_side, SimTime::ZERO) {
        assert_eq!(arrival.change.is_some(), arrival.request.asked.client == 0);
        server.arrive(arrival).unwrap();
    }
    assert_eq!(remembered(&server), [None, None, None]);
}

/// A run that does not train remembers nothing: it would be memory for nothing.
#[test]
fn the_schedule_alone_remembers_nothing() {
    let scenario = Scenario::parse("test.toml", TWO, &[], None).unwrap();
    let Built { mut server, client_side, .. } =
        build(&scenario.variants[0].plan, 1, 0, None).unwrap();
    for arrival in send_everyone(&mut server, &client_side, SimTime::ZERO) {
        assert!(arrival.change.is_none());
        server.arrive(arrival).unwrap();
    }
    assert_eq!(remembered(&server), [None, None, None]);
}
