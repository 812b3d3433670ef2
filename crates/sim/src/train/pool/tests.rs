//! What the pool promises to those who wait, and to those who give up waiting.

use super::*;

fn at(nanos: u64) -> SimTime {
    SimTime::from_nanos(nanos)
}

#[test]
fn results_come_back_whoever_computed_them() {
    for helpers in [0, 1, 6] {
        let pool = Pool::new(helpers, 8).unwrap();
        // Asked for in an order that has nothing to do with that of submission.
        let mut tickets: Vec<_> = (0..500u64)
            .map(|i| (i * 7919 % 500, pool.submit(at(i * 7919 % 500), 1, move || i * i)))
            .collect();
        tickets.sort_by_key(|(when, _)| *when);
        let sum: u64 = tickets.into_iter().map(|(_, ticket)| ticket.wait().unwrap()).sum();
        assert_eq!(sum, (0..500u64).map(|i| i * i).sum::<u64>());
    }
}

#[test]
fn look_ahead_is_bounded_and_waiting_in_the_wrong_order_does_not_lock_up() {
    let begun = Arc::new(AtomicUsize::new(0));
    let pool = Pool::new(2, usize::MAX).unwrap();
    let tickets: Vec<_> = (0..100)
        .map(|i| {
            let begun = begun.clone();
            pool.submit(at(i), 1, move || begun.fetch_add(1, Ordering::SeqCst))
        })
        .collect();
    std::thread::sleep(Duration::from_millis(100));
    assert_eq!(begun.load(Ordering::SeqCst), 3 * AHEAD_PER_THREAD);
    for ticket in tickets.into_iter().rev() {
        ticket.wait().unwrap();
    }
}

#[test]
fn the_costliest_of_the_window_is_begun_first() {
    let order = Arc::new(Mutex::new(Vec::new()));
    let pool = Pool::new(1, 8).unwrap();
    // The first job holds the only helper until the others are in the queue.
    let (open, gate) = bounded::<()>(1);
    let first = pool.submit(at(0), 9, move || gate.recv().is_ok());
    let tickets: Vec<_> = [(1, 2), (2, 7), (3, 1), (4, 7)]
        .map(|(when, cost)| {
            let order = order.clone();
            pool.submit(at(when), cost, move || order.lock().unwrap().push(when))
        })
        .into();
    // Waiting means helping, so nobody waits before all are done.
    open.send(()).unwrap();
    while order.lock().unwrap().len() < 4 {
        std::thread::yield_now();
    }
    assert_eq!(*order.lock().unwrap(), [2, 4, 1, 3]);
    assert!(first.wait().unwrap());
    tickets.into_iter().for_each(|ticket| ticket.wait().unwrap());
}

#[test]
fn a_ticket_thrown_away_frees_its_place() {
    let pool = Pool::new(1, usize::MAX).unwrap();
    for round in 0..50u64 {
        let thrown: Vec<_> = (0..20).map(|i| pool.submit(at(round * 100 + i), 1, || ())).collect();
        let kept = pool.submit(at(round * 100 + 50), 1, || 3);
        if round % 2 == 0 {
            std::thread::sleep(Duration::from_micros(300));
        }
        drop(thrown);
        assert_eq!(kept.wait(), Ok(3));
    }
    let deadline = Instant::now() + Duration::from_secs(5);
    while pool.shared.lock().begun > 0 {
        assert!(Instant::now() < deadline, "places leaked");
        std::thread::yield_now();
    }
}

#[test]
fn a_panic_is_a_result_and_the_thread_lives_on() {
    let pool = Pool::new(1, usize::MAX).unwrap();
    let bad = pool.submit(at(1), 1, || -> u8 { panic!("gradient {} is gone", 3) });
    let good = pool.submit(at(2), 1, || 5);
    assert_eq!(bad.wait(), Err(Panicked("gradient 3 is gone".into())));
    assert_eq!(good.wait(), Ok(5));
    assert_eq!(pool.panicked(), Some(Panicked("gradient 3 is gone".into())));
}

#[test]
fn a_panic_is_not_lost_with_its_ticket() {
    let pool = Pool::new(1, 8).unwrap();
    let (begun, has_begun) = bounded::<()>(1);
    let thrown = pool.submit(at(1), 1, move || {
        begun.send(()).unwrap();
        panic!("nobody hears me");
    });
    has_begun.recv().unwrap();
    drop::<Ticket<()>>(thrown);
    let deadline = Instant::now() + Duration::from_secs(5);
    while pool.panicked().is_none() {
        assert!(Instant::now() < deadline);
        std::thread::yield_now();
    }
}

/// Where other processes train, whoever waits for one result begins no other, and the end of the pool is told.
#[test]
fn jobs_that_wait_for_other_processes_are_left_to_the_helpers() {
    let elsewhere = Elsewhere::default();
    let pool = Pool::elsewhere(1, 8, elsewhere.clone()).unwrap();
    let (release, held) = bounded::<()>(0);
    let caller = std::thread::current().id();
    let first = pool.submit(at(1), 1, move || held.recv().is_ok());
    while pool.shared.lock().begun == 0 {
        std::thread::yield_now();
    }
    let other = pool.submit(at(2), 1, move || std::thread::current().id() == caller);
    std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(20));
        release.send(())
    });
    assert!(first.wait().unwrap());
    while pool.shared.lock().queue.len() == 1 {
        std::thread::yield_now();
    }
    assert!(!other.wait().unwrap(), "the helper was free to do it");
    elsewhere.busy[1].store(7, Ordering::Relaxed);
    assert_eq!(pool.busy(), [Duration::ZERO, Duration::from_nanos(7)]);
    drop(pool);
    assert!(elsewhere.closing.is_set());
}
