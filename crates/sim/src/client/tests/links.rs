//! The client's link, seen from the server.

use super::*;
use crate::device::LinkRate;
use crate::device::{Direction, Transfer};

#[test]
fn a_link_that_does_not_change_is_constant() {
    let side = client_side(0.0);
    for direction in [Direction::Down, Direction::Up] {
        let cap = side.link_cap(0, direction, ms(5));
        assert_eq!(cap, LinkCap { rate: LinkRate::bps(1_000_000), until: SimTime::NEVER });
        assert!(cap.is_constant() && !cap.is_gone());
        assert_eq!(cap.change(), None);
    }
}

/// Half the rate from 1 s to 2 s. What the server sends meets the client's link 30 ms later, so for
/// the server the link changes 30 ms earlier.
#[test]
fn a_change_counts_a_latency_earlier_on_the_way_down() {
    let side = client_side(0.0);
    side.script.borrow_mut().push(happening(ms(1000), ms(2000), 1.0, 0.5));
    for (direction, ahead) in [(Direction::Down, 30), (Direction::Up, 0)] {
        let cap = |now| side.link_cap(0, direction, ms(now));
        let before = LinkCap { rate: LinkRate::bps(1_000_000), until: ms(1000 - ahead) };
        assert_eq!([cap(0), cap(999 - ahead)], [before; 2]);
        assert!(!before.is_constant() && !before.is_gone());
        assert_eq!(before.change(), Some(ms(1000 - ahead)));
        let during = LinkCap { rate: LinkRate::bps(500_000), until: ms(2000 - ahead) };
        assert_eq!([cap(1000 - ahead), cap(1999 - ahead)], [during; 2]);
        assert!(cap(2000 - ahead).is_constant());
    }
}

#[test]
fn a_link_is_gone_when_it_does_not_come_back() {
    let side = client_side(0.0);
    side.script.borrow_mut().push(happening(ms(1000), ms(2000), 1.0, 0.0));
    let away = side.link_cap(0, Direction::Up, ms(1500));
    assert_eq!(away, LinkCap { rate: LinkRate::NONE, until: ms(2000) });
    assert!(!away.is_gone() && !away.is_constant());
    side.script.borrow_mut().push(happening(ms(1000), SimTime::NEVER, 1.0, 0.0));
    assert!(side.link_cap(0, Direction::Up, ms(1500)).is_gone());
    assert!(!side.link_cap(0, Direction::Up, ms(500)).is_gone());
}

/// A link that is the client's alone: 1,000 bits take 1 ms, and wait while there is no connection.
/// A transfer that never ends is seen to be broken when the connection goes.
#[test]
fn transfers_on_a_link_of_the_clients_own() {
    let side = client_side(0.0);
    let end = |direction, now| side.transfer(0, direction, ms(now)).unwrap();
    assert_eq!(end(Direction::Down, 7), Transfer::Through(ms(8)));
    side.script.borrow_mut().push(happening(ms(100), ms(200), 1.0, 0.0));
    assert_eq!(end(Direction::Up, 150), Transfer::Through(ms(201)));
    assert_eq!(end(Direction::Down, 120), Transfer::Through(ms(171)));
    side.script.borrow_mut().push(happening(ms(100), SimTime::NEVER, 1.0, 0.0));
    assert_eq!(end(Direction::Up, 50), Transfer::Through(ms(51)));
    assert_eq!(end(Direction::Up, 150), Transfer::Broken(ms(150)));
    assert_eq!(end(Direction::Down, 150), Transfer::Broken(ms(150)));
}
