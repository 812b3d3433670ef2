//! Steps that really take time, and those that take longer than they should.

use super::*;

fn begin(side: &ClientSide, due: Option<SimTime>) -> WallClockRound {
    let (round, request) = (round(due), request());
    side.begin_wall_clock_round(round, request, context()).unwrap()
}

#[test]
fn steps_on_time_give_the_planned_round() {
    let side = client_side(0.0);
    let mut wall_round = begin(&side, None);
    let planned = side.planned(&round(None), &request(), &context()).unwrap();
    while let Some(end) = side.next_step(&mut wall_round).unwrap() {
        wall_round.stepped(end, end);
    }
    assert_eq!(side.way(&mut wall_round), Ok(planned.way));
    let arrival = side.end_wall_clock_round(wall_round).unwrap();
    assert_eq!((arrival.way, arrival.lost, arrival.leg), (planned.way, None, Leg::Done));
}

#[test]
fn a_machine_that_is_too_slow_delays_what_follows() {
    let side = client_side(0.0);
    let mut wall_round = begin(&side, None);
    let planned = side.planned(&round(None), &request(), &context()).unwrap().way;
    let mut late = Span::from_nanos(5_000_000);
    while let Some(end) = side.next_step(&mut wall_round).unwrap() {
        wall_round.stepped(end, end.after(late).unwrap());
        late = Span::ZERO;
    }
    let way = side.way(&mut wall_round).unwrap();
    assert_eq!(way.tau, planned.tau);
    assert_eq!(way.arrives.since(planned.arrives), Span::from_nanos(5_000_000));
}

/// Whatever clients know, the wall clock gives the planned round: with steps that differ, and on a device
/// that becomes slower at 60 ms.
#[test]
fn both_clocks_agree_on_what_clients_know() {
    let margin = Span::from_nanos(20_000_000);
    for foresight in [Foresight::Exact, Foresight::Expected, Foresight::None { margin }] {
        for (jitter, slower) in [(0.0, false), (0.8, false), (0.0, true), (0.8, true)] {
            let mut side = client_side(0.0);
            side.foresight = foresight;
            Arc::make_mut(&mut side.fleet).devices[0].jitter = jitter;
            if slower {
                side.script.borrow_mut().push(happening(ms(60), SimTime::NEVER, 3.0, 1.0));
            }
            for due in (20..130).map(ms) {
                let planned = side.planned(&round(Some(due)), &request(), &context()).unwrap();
                let mut wall_round = begin(&side, Some(due));
                while let Some(end) = side.next_step(&mut wall_round).unwrap() {
                    wall_round.stepped(end, end);
                }
                let way = side.way(&mut wall_round).unwrap();
                assert_eq!(way, planned.way, "{foresight:?}, jitter {jitter}, due at {due:?}");
            }
        }
    }
}

#[test]
fn no_step_is_begun_that_does_not_fit() {
    let side = client_side(0.0);
    // Model at 31 ms after the start, a step of 10 ms, an upload of 31 ms: 72 ms.
    for (due, tau) in [(71, 0), (72, 1), (81, 1), (82, 2)] {
        let due = Some(request().at.after(Span::from_nanos(due * 1_000_000)).unwrap());
        let mut wall_round = begin(&side, due);
        while let Some(end) = side.next_step(&mut wall_round).unwrap() {
            wall_round.stepped(end, end);
        }
        assert_eq!(side.way(&mut wall_round).unwrap().tau, tau, "due {due:?}");
    }
}
