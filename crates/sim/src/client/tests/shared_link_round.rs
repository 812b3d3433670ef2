//! Every end of a leg, and what the client does then.

use super::*;
use crate::compress::Parcel;
use crate::device::Direction;
use crate::train::{Pool, Ticket};

fn begin(side: &ClientSide, due: Option<SimTime>) -> Arrival {
    side.begin_shared_link_round(round(due), request())
}

/// `downloaded`, `computed` and `arrives` in milliseconds, and τ.
fn way([downloaded, computed, arrives]: [u64; 3], tau: u64) -> LegTimes {
    let [downloaded, computed, arrives] = [downloaded, computed, arrives].map(ms);
    LegTimes { downloaded, computed, arrives, tau, ends: Leg::Done }
}

#[test]
fn no_time_is_known_at_first() {
    let arrival = begin(&client_side(0.0), None);
    assert_eq!(arrival.way, LegTimes::without_step(SimTime::NEVER, Leg::Done));
    assert_eq!((arrival.lost, arrival.cut_off), (None, false));
}

/// Sent by 100 ms, the model is there at 130 ms; four steps end at 170 ms; the update reaches the
/// server's link at 200 ms, and shares it until 250 ms.
#[test]
fn a_round_from_the_first_leg_to_the_last() {
    let side = client_side(0.0);
    let mut arrival = begin(&side, None);
    let next = side.model_sent(&mut arrival, &context(), ms(100));
    assert_eq!(next, Ok(Some(ms(200))));
    assert_eq!(arrival.way, LegTimes { arrives: SimTime::NEVER, ..way([130, 170, 0], 4) });
    assert_eq!((arrival.leg, arrival.accumulation), (Leg::Done, 4.0));
    update_received(&mut arrival, ms(250));
    assert_eq!(arrival.way, way([130, 170, 250], 4));
    let row = arrival.row();
    let legs = [row.download, row.compute, row.upload].map(|leg| leg.nanos() / 1_000_000);
    assert_eq!(legs, [130, 40, 80]);
}

/// An upload takes 31 ms, so with 200 ms the last step ends at 169 ms at the latest.
#[test]
fn a_client_makes_the_steps_that_fit() {
    let side = client_side(0.0);
    let mut arrival = begin(&side, Some(ms(200)));
    let next = side.model_sent(&mut arrival, &context(), ms(100));
    assert_eq!(next, Ok(Some(ms(190))));
    assert_eq!((arrival.way.tau, arrival.way.computed), (3, ms(160)));
}

/// It gives up when it sees that no step fits: with its model, or when it is due, but not before the
/// model was sent.
#[test]
fn a_client_gives_up_if_no_step_fits() {
    let side = client_side(0.0);
    let (download, compute) = (Leg::Download, Leg::Compute);
    for (due, end, leg) in [(165, 130, compute), (120, 120, download), (90, 100, download)] {
        let mut arrival = begin(&side, Some(ms(due)));
        assert_eq!(side.model_sent(&mut arrival, &context(), ms(100)), Ok(None));
        assert_eq!(arrival.way, LegTimes::without_step(ms(end), leg), "due at {due} ms");
        assert_eq!((arrival.leg, arrival.lost), (leg, None));
    }
}

/// Without foresight and with a margin of 45 ms it leaves its third step at 155 ms, or its first, or it has no
/// model when the margin begins.
#[test]
fn without_foresight_a_client_sends_what_it_has_when_the_margin_begins() {
    let mut side = client_side(0.0);
    side.foresight = Foresight::None { margin: Span::from_nanos(45_000_000) };
    let mut arrival = begin(&side, Some(ms(200)));
    assert_eq!(side.model_sent(&mut arrival, &context(), ms(100)), Ok(Some(ms(185))));
    assert_eq!((arrival.way.tau, arrival.way.computed), (2, ms(155)));
    let mut arrival = begin(&side, Some(ms(180)));
    assert_eq!(side.model_sent(&mut arrival, &context(), ms(100)), Ok(None));
    assert_eq!(arrival.way, LegTimes { ends: Leg::Compute, ..way([130, 135, 135], 0) });
    let mut arrival = begin(&side, Some(ms(170)));
    assert_eq!(side.model_sent(&mut arrival, &context(), ms(100)), Ok(None));
    assert_eq!(arrival.way, LegTimes::without_step(ms(125), Leg::Download));
}

#[test]
fn a_client_gives_up_without_its_model() {
    let mut arrival = begin(&client_side(0.0), Some(ms(80)));
    give_up(&mut arrival, ms(80), Leg::Download);
    assert_eq!(arrival.way, LegTimes::without_step(ms(80), Leg::Download));
    assert_eq!((arrival.leg, arrival.lost, arrival.cut_off), (Leg::Download, None, false));
}

/// The client sees a connection that is lost during the download a latency later.
#[test]
fn a_connection_lost_during_the_download() {
    let side = client_side(0.0);
    for due in [None, Some(ms(131))] {
        let mut arrival = begin(&side, due);
        side.connection_lost(&mut arrival, Direction::Down, ms(100));
        assert_eq!(arrival.way, LegTimes::without_step(ms(130), Leg::Download));
        assert_eq!((arrival.lost, arrival.leg), (Some(Outcome::Offline), Leg::Download));
        assert!(arrival.cut_off);
        assert_eq!(side.steps_to_replan(&arrival, ms(110)), None, "it stays lost");
    }
}

/// A client that is due before it sees the loss gives up like any other, and can be asked again.
#[test]
fn a_connection_lost_just_before_the_client_is_due() {
    let side = client_side(0.0);
    for due in [120, 130] {
        let mut arrival = begin(&side, Some(ms(due)));
        side.connection_lost(&mut arrival, Direction::Down, ms(100));
        assert_eq!(arrival.way, LegTimes::without_step(ms(due), Leg::Download));
        assert_eq!((arrival.lost, arrival.leg, arrival.cut_off), (None, Leg::Download, false));
    }
}

/// During the upload the loss is seen at once, even if the client is due.
#[test]
fn a_connection_lost_during_the_upload() {
    let side = client_side(0.0);
    let mut arrival = begin(&side, Some(ms(220)));
    assert_eq!(
        side.model_sent(&mut arrival, &context(), ms(100)),
        Ok(Some(ms(200))),
        "the fourth step ends in time"
    );
    side.connection_lost(&mut arrival, Direction::Up, ms(230));
    assert_eq!(arrival.way, LegTimes { ends: Leg::Upload, ..way([130, 170, 230], 0) });
    assert_eq!((arrival.lost, arrival.leg), (Some(Outcome::Offline), Leg::Upload));
    assert!(arrival.cut_off);
    assert_eq!(arrival.accumulation, 0.0);
}

#[test]
fn steps_are_planned_again_until_they_are_done() {
    let side = client_side(0.0);
    let mut arrival = begin(&side, None);
    assert_eq!(side.steps_to_replan(&arrival, ms(50)), None, "there is no model yet");
    side.model_sent(&mut arrival, &context(), ms(100)).unwrap();
    for (now, replan) in [(110, true), (130, true), (169, true), (170, false), (180, false)] {
        let expected = replan.then_some(ms(100));
        assert_eq!(side.steps_to_replan(&arrival, ms(now)), expected, "at {now} ms");
    }
}

/// From 150 ms on a step takes twice as long: the two steps before stay, the two after end at
/// 190 ms. As many steps as before are the same steps: their training goes on.
#[test]
fn a_slower_device_plans_its_steps_again() {
    let side = client_side(0.0);
    let mut arrival = begin(&side, None);
    side.model_sent(&mut arrival, &context(), ms(100)).unwrap();
    arrival.change = Some(Box::new(ticket(&Pool::new(0, 8).unwrap())));
    side.script.borrow_mut().push(happening(ms(150), SimTime::NEVER, 2.0, 1.0));
    let sent = side.steps_to_replan(&arrival, ms(150)).unwrap();
    let next = side.model_sent(&mut arrival, &context(), sent);
    assert_eq!(next, Ok(Some(ms(220))));
    assert_eq!((arrival.way.tau, arrival.way.computed), (4, ms(190)));
    assert!(arrival.change.is_some());
}

/// The same with 220 ms: only three steps fit now, so what was trained is of no use.
#[test]
fn fewer_steps_are_trained_anew() {
    let side = client_side(0.0);
    let mut arrival = begin(&side, Some(ms(220)));
    side.model_sent(&mut arrival, &context(), ms(100)).unwrap();
    assert_eq!(arrival.way.tau, 4);
    arrival.change = Some(Box::new(ticket(&Pool::new(0, 8).unwrap())));
    side.script.borrow_mut().push(happening(ms(150), SimTime::NEVER, 2.0, 1.0));
    side.model_sent(&mut arrival, &context(), ms(100)).unwrap();
    assert_eq!((arrival.way.tau, arrival.way.computed), (3, ms(170)));
    assert!(arrival.change.is_none(), "there is no trainer here to begin anew");
}

fn ticket(pool: &Pool) -> Ticket<Option<Parcel>> {
    pool.submit(SimTime::ZERO, 1, || Some(Parcel { update: vec![1.0], residual: None }))
}

/// If it had the links to itself, the client would be back at 102 ms: 31 ms for each transfer and
/// 40 ms for the steps. It vanishes before that, and at the same moment however often it is asked.
#[test]
fn a_client_vanishes_as_if_it_were_alone() {
    let (round, request) = (round(None), request());
    let vanishes =
        |dropout, now| client_side(dropout).vanishes_at(now, &round, &request, &context()).unwrap();
    assert_eq!(vanishes(0.0, SimTime::ZERO), None);
    let at = vanishes(1.0, SimTime::ZERO).unwrap();
    assert!(at < ms(102), "{at}");
    assert_eq!(vanishes(1.0, at), Some(at));
    // Planned again after that moment, it vanishes now.
    let later = SimTime::from_nanos((at.nanos() + ms(102).nanos()) / 2);
    assert_eq!(vanishes(1.0, later), Some(later));
}

#[test]
fn a_time_past_the_end_of_the_clock_is_an_error() {
    let side = client_side(0.0);
    let mut arrival = begin(&side, None);
    let late = SimTime::from_nanos(u64::MAX - ms(80).nanos());
    assert_eq!(side.model_sent(&mut arrival, &context(), late), Err(TimeOverflow));
    assert_eq!(arrival.way.downloaded, SimTime::NEVER, "nothing was planned");
}
