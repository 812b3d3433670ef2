//! The clock that everybody shares, and the futures it hands out.

use super::timers::{InstantPart, Key, Timers};
use super::{SimTime, Span};
use std::cell::RefCell;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

thread_local! {
    /// The virtual clock of this thread's runtime: the park hook must be `Send`, the clock is not.
    static CURRENT: RefCell<Option<Rc<RefCell<Timers>>>> = const { RefCell::new(None) };
}

/// How much real time the wall clock leaves for messages that are due at one instant to be
/// handled before those who sleep until its end.
const WALL_GRACE: Duration = Duration::from_millis(5);

/// The time of a simulation. Cloning gives another handle to the same clock.
#[derive(Clone)]
pub struct Clock(Kind);

#[derive(Clone)]
enum Kind {
    Virtual(Rc<RefCell<Timers>>),
    Wall(Wall),
}

/// Simulated time that runs `speedup` times as fast as the wall's.
#[derive(Clone, Copy)]
struct Wall {
    start: Instant,
    speedup: f64,
}

impl Clock {
    /// A clock that jumps. It serves the runtime of the calling thread, whose park hook must
    /// call [`advance`].
    pub fn virtual_time() -> Self {
        let timers = Rc::new(RefCell::new(Timers::default()));
        CURRENT.set(Some(timers.clone()));
        Clock(Kind::Virtual(timers))
    }

    /// A clock that starts now and runs `speedup` times as fast as the wall's.
    pub fn wall(speedup: f64) -> Self {
        CURRENT.set(None);
        Clock(Kind::Wall(Wall { start: Instant::now(), speedup }))
    }

    /// Whether time really passes.
    pub fn is_wall(&self) -> bool {
        matches!(self.0, Kind::Wall(_))
    }

    /// The present instant.
    pub fn now(&self) -> SimTime {
        match &self.0 {
            Kind::Virtual(timers) => timers.borrow().now(),
            Kind::Wall(wall) => wall.now(),
        }
    }

    /// Sleeps until `at`. Sleepers of one instant wake in the order of their first poll.
    pub fn sleep_until(&self, at: SimTime) -> Sleep {
        self.sleep(at, InstantPart::Transfers)
    }

    /// Sleeps until who arrives at `at` is heard: after everything that moves on at that instant, and in the
    /// order of their `number`.
    pub fn sleep_until_arrival(&self, at: SimTime, number: u64) -> Sleep {
        self.sleep(at, InstantPart::Arrivals(number))
    }

    /// Sleeps until everything that arrives at `at` has arrived: what is lost at an instant is lost after
    /// that.
    pub fn sleep_until_losses_of(&self, at: SimTime) -> Sleep {
        self.sleep(at, InstantPart::Losses)
    }

    /// Sleeps until everything that is due at `at` has happened.
    pub fn sleep_until_end_of(&self, at: SimTime) -> Sleep {
        self.sleep(at, InstantPart::End)
    }

    fn sleep(&self, at: SimTime, part: InstantPart) -> Sleep {
        match &self.0 {
            Kind::Virtual(timers) => {
                Sleep(Waiting::Virtual { timers: timers.clone(), at, part, key: None })
            }
            Kind::Wall(wall) => {
                let grace = match part {
                    InstantPart::Transfers | InstantPart::Arrivals(_) => Duration::ZERO,
                    InstantPart::Losses => WALL_GRACE / 2,
                    InstantPart::End => WALL_GRACE,
                };
                let until = (wall.real(at) + grace).into();
                Sleep(Waiting::Wall(Box::pin(tokio::time::sleep_until(until))))
            }
        }
    }

    /// Makes room for `sleepers` at once.
    pub fn reserve(&self, sleepers: usize) {
        if let Kind::Virtual(timers) = &self.0 {
            timers.borrow_mut().reserve(sleepers);
        }
    }

    /// Completes when nothing can happen any more: nobody has work and nobody sleeps. On the
    /// wall clock that cannot be known, so it never completes.
    pub async fn stalled(&self) {
        match &self.0 {
            Kind::Virtual(timers) => {
                poll_fn(|cx| match timers.borrow_mut().poll_stalled(cx.waker()) {
                    true => Poll::Ready(()),
                    false => Poll::Pending,
                })
                .await
            }
            Kind::Wall(_) => std::future::pending().await,
        }
    }
}

impl Wall {
    fn now(&self) -> SimTime {
        let nanos = self.start.elapsed().as_nanos() as f64 * self.speedup;
        let span = Span::from_nanos_f64(nanos).unwrap_or(Span::from_nanos(u64::MAX));
        SimTime::from_nanos(span.nanos())
    }

    fn real(&self, at: SimTime) -> Instant {
        // A run that outlives its process needs no exact wake.
        const CENTURY: f64 = 3.15e9;
        self.start + Duration::from_secs_f64((at.seconds() / self.speedup).min(CENTURY))
    }
}

/// A wait for an instant. It must stay in the task that polls it first.
pub struct Sleep(Waiting);

enum Waiting {
    Virtual { timers: Rc<RefCell<Timers>>, at: SimTime, part: InstantPart, key: Option<Key> },
    Wall(Pin<Box<tokio::time::Sleep>>),
}

impl Future for Sleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        match &mut self.get_mut().0 {
            Waiting::Virtual { timers, at, part, key } => {
                let mut timers = timers.borrow_mut();
                match *key {
                    None => *key = Some(timers.ask(*at, *part, cx.waker().clone())),
                    Some(asked) if timers.has_fired(asked) => {
                        *key = None;
                        return Poll::Ready(());
                    }
                    Some(_) => {}
                }
                Poll::Pending
            }
            Waiting::Wall(sleep) => sleep.as_mut().poll(cx),
        }
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        if let Waiting::Virtual { timers, key: Some(key), .. } = &self.0 {
            timers.borrow_mut().forget(*key);
        }
    }
}

/// The runtime's park hook: nothing is left to run, so time moves on.
pub fn advance() {
    // The waker is called outside the borrow: it may run code that looks at the clock.
    let waker = CURRENT.with_borrow(|clock| clock.as_ref()?.borrow_mut().next());
    if let Some(waker) = waker {
        waker.wake();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ARRIVES: InstantPart = InstantPart::Transfers;
    const IS_LOST: InstantPart = InstantPart::Losses;
    const ENDS: InstantPart = InstantPart::End;

    /// Runs tasks that sleep until the given parts of instants and returns the order in which they
    /// woke, with the time each saw.
    fn wake_order(sleeps: &[(u64, InstantPart)]) -> Vec<(usize, u64)> {
        let clock = Clock::virtual_time();
        let runtime =
            tokio::runtime::Builder::new_current_thread().on_thread_park(advance).build().unwrap();
        let woken = Rc::new(RefCell::new(Vec::new()));
        let local = tokio::task::LocalSet::new();
        for (i, &(at, part)) in sleeps.iter().enumerate() {
            let (clock, woken) = (clock.clone(), woken.clone());
            local.spawn_local(async move {
                clock.sleep(SimTime::from_nanos(at), part).await;
                woken.borrow_mut().push((i, clock.now().nanos()));
            });
        }
        runtime.block_on(local.run_until(clock.stalled()));
        woken.take()
    }

    #[test]
    fn ties_wake_in_the_order_asked_part_by_part() {
        let order = wake_order(&[
            (5, ENDS),
            (5, ARRIVES),
            (3, ARRIVES),
            (5, IS_LOST),
            (5, ARRIVES),
            (3, ENDS),
            (4, ARRIVES),
        ]);
        assert_eq!(order, [(2, 3), (5, 3), (6, 4), (1, 5), (4, 5), (3, 5), (0, 5)]);
    }

    #[test]
    fn who_arrives_is_heard_by_its_number_after_what_moves_on() {
        let arrives = InstantPart::Arrivals;
        let order = wake_order(&[
            (5, arrives(9)),
            (5, arrives(2)),
            (5, IS_LOST),
            (5, ARRIVES),
            (4, arrives(7)),
            (5, arrives(4)),
        ]);
        assert_eq!(order, [(4, 4), (3, 5), (1, 5), (5, 5), (0, 5), (2, 5)]);
    }

    #[test]
    fn instants_a_nanosecond_apart_are_different_instants() {
        let far = u64::MAX - 1;
        assert_eq!(wake_order(&[(far + 1, ARRIVES), (far, ARRIVES)]), [(1, far), (0, far + 1)]);
    }

    #[test]
    fn asking_for_the_past_wakes_now() {
        let clock = Clock::virtual_time();
        let runtime =
            tokio::runtime::Builder::new_current_thread().on_thread_park(advance).build().unwrap();
        runtime.block_on(async {
            clock.sleep_until(SimTime::from_nanos(10)).await;
            clock.sleep_until(SimTime::from_nanos(4)).await;
            assert_eq!(clock.now().nanos(), 10);
        });
    }

    #[test]
    fn sleepers_that_give_up_are_forgotten() {
        let clock = Clock::virtual_time();
        let runtime =
            tokio::runtime::Builder::new_current_thread().on_thread_park(advance).build().unwrap();
        runtime.block_on(async {
            for round in 1..=1000 {
                // A deadline that is never reached, because the round ends first.
                let deadline = clock.sleep_until(SimTime::from_nanos(1_000_000));
                let end = clock.sleep_until(SimTime::from_nanos(round));
                tokio::select! {
                    biased;
                    () = deadline => panic!("the round ends first"),
                    () = end => {}
                }
            }
            let Kind::Virtual(timers) = &clock.0 else { unreachable!() };
            assert!(timers.borrow().len() < 200, "{} are left", timers.borrow().len());
            clock.stalled().await;
            assert_eq!(clock.now().nanos(), 1000, "nobody was there to reach the deadlines");
        });
    }

    #[test]
    fn the_wall_clock_keeps_its_pace() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let clock = Clock::wall(100.0);
            let began = Instant::now();
            let at = SimTime::from_nanos(2_000_000_000);
            clock.sleep_until(at).await;
            assert!(began.elapsed() >= Duration::from_millis(20));
            assert!(clock.now() >= at);
        });
    }

    proptest! {
        #[test]
        fn time_never_goes_back(sleeps in proptest::collection::vec((0u64..50, 0usize..3), 1..200)) {
            let parts = [ARRIVES, IS_LOST, ENDS];
            let asked: Vec<_> = sleeps.iter().map(|(at, part)| (*at, parts[*part])).collect();
            let order = wake_order(&asked);
            prop_assert_eq!(order.len(), sleeps.len());
            for (i, now) in &order {
                prop_assert_eq!(sleeps[*i].0, *now);
            }
            for pair in order.windows(2) {
                let key = |(i, now): (usize, u64)| (now, sleeps[i].1, i);
                prop_assert!(key(pair[0]) < key(pair[1]));
            }
        }
    }
}
