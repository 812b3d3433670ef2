//! Ways worked out by hand, and steady devices by both ways.

use super::*;
use crate::device::{
    Alternation, ClientSet, Compute, Device, Effort, Foresight, Happening, LegTimes, NO_LIMIT,
    Point, SteadyLegs, TraceCursor, Wire,
};
use crate::random::{Dist, Purpose};
use proptest::prelude::*;

const MS: u64 = 1_000_000;
const EFFORT: Effort = Effort { samples: 4.0, flops: 2e6 };
const ONCE: TraceCursor = TraceCursor { track: 0, shift: 0, period: 0 };

fn at(nanos: u64) -> SimTime {
    SimTime::from_nanos(nanos)
}

fn nominal(step: u64, up: u64, down: u64) -> SteadyInterval {
    let [up, down] = [up, down].map(LinkRate::bps);
    SteadyInterval { step: Span::from_nanos(step), up, down, until: SimTime::NEVER }
}

fn speed(at: u64, step: u64) -> Point {
    Point { at, compute: Some(Compute::Step(step as f64)), up: None, down: None }
}

fn still(jitter: f32) -> Device {
    let span = Span::from_nanos;
    Device { step: span(10 * MS), download: Span::ZERO, upload: Span::ZERO, jitter, class: 0 }
}

/// A round over a profile with a model of 1000 bits each way and a latency of 1 ms.
fn walk<'a>(
    mut profile: SpeedProfile<'a>,
    trip: RoundTask,
    warmth: Option<Warmth<'a>>,
) -> (LegTimes, bool) {
    let mut pace = Pace::new(&still(0.0), 1, 0, 0);
    let mut view = DeviceView {
        profile: &mut profile,
        pace: &mut pace,
        warmth,
        latency: Span::from_nanos(MS),
        payload: Payload { down: 1000, up: 1000 },
        share: LinkRate::UNLIMITED,
        usual: UsualDevice { step: Span::from_nanos(10 * MS), up: LinkRate::UNLIMITED },
    };
    trip.legs(&mut view).unwrap()
}

fn trip(start: u64, steps: Option<u64>, due: Option<u64>) -> RoundTask {
    RoundTask { start: at(start), steps, due: due.map(at), foresight: Foresight::Exact }
}

#[test]
fn a_step_across_two_changes_of_speed_takes_the_right_time() {
    let points = [speed(0, 10 * MS), speed(5 * MS, 20 * MS), speed(10 * MS, 5 * MS)];
    let profile =
        SpeedProfile::new(1, 0, nominal(1, NO_LIMIT, NO_LIMIT), EFFORT).recorded(&points, ONCE);
    // From 1 ms: 0.4 of it by 5 ms, 0.25 more by 10 ms, and 0.35 of 5 ms are left.
    let (way, _) = walk(profile, trip(0, Some(1), None), None);
    assert_eq!(way.downloaded, at(MS));
    assert_eq!(way.computed, at(10 * MS + 1_750_000));
    assert_eq!(way.arrives, at(11 * MS + 1_750_000));
}

#[test]
fn a_recording_begins_again_and_may_be_entered_in_the_middle() {
    // 10 ms a step for 30 ms, then 20 ms a step for 30 ms, again and again.
    let points = [speed(0, 10 * MS), speed(30 * MS, 20 * MS)];
    let trace_cursor = TraceCursor { track: 0, shift: 25 * MS, period: 60 * MS };
    let profile = SpeedProfile::new(1, 0, nominal(1, NO_LIMIT, NO_LIMIT), EFFORT)
        .recorded(&points, trace_cursor);
    // The model is there at 26 ms of the recording: 0.4 of a step by 30, the rest by 42, one by 62
    // of which 2 ms are of the next time round: at 60 it is 0.9 done, and 1 ms more does it.
    let (way, _) = walk(profile, trip(0, Some(2), None), None);
    assert_eq!(way.computed, at((61 - 25) * MS));
}

#[test]
fn samples_and_operations_become_steps() {
    let computes = [Compute::Sample(2.5e6), Compute::Flops(2e8), Compute::Step(1e7)];
    for compute in computes {
        let points = [Point { at: 0, compute: Some(compute), up: None, down: None }];
        let mut profile =
            SpeedProfile::new(1, 0, nominal(1, NO_LIMIT, NO_LIMIT), EFFORT).recorded(&points, ONCE);
        assert_eq!(profile.interval(at(3)).step, Span::from_nanos(10 * MS), "{compute:?}");
    }
}

#[test]
fn a_transfer_across_changes_and_an_outage_takes_the_right_time() {
    let rate = |at: u64, up: u64| Point { at, compute: None, up: Some(up), down: None };
    // 1000 bits: 200 in 2 ms at 100 kbit/s, nothing for 5 ms, then 800 at 300 kbit/s.
    let points = [rate(0, 100_000), rate(2 * MS, 0), rate(7 * MS, 300_000)];
    let mut profile =
        SpeedProfile::new(1, 0, nominal(1, NO_LIMIT, NO_LIMIT), EFFORT).recorded(&points, ONCE);
    let through = transfer(&mut profile, Direction::Up, at(0), 1000).unwrap();
    assert_eq!(through, Transfer::Through(at(7 * MS + 2_666_667)));
    let gone = [rate(0, 100_000), rate(2 * MS, 0)];
    let mut profile =
        SpeedProfile::new(1, 0, nominal(1, NO_LIMIT, NO_LIMIT), EFFORT).recorded(&gone, ONCE);
    let broken = transfer(&mut profile, Direction::Up, at(0), 1000).unwrap();
    assert_eq!(broken, Transfer::Broken(at(2 * MS)));
}

/// A recording of a device without an uplink, replayed again and again: an earlier version looked for one in every
/// repetition until the clock ended, for minutes.
#[test]
fn a_link_that_is_down_in_all_of_a_recording_is_gone_for_good() {
    let rate = |at: u64, up: u64| Point { at, compute: None, up: Some(up), down: Some(1000) };
    let points = [rate(0, 0), rate(2, 0), rate(7, 300_000)];
    let again = |period| {
        let trace_cursor = TraceCursor { track: 0, shift: 1, period };
        SpeedProfile::new(1, 0, nominal(1, NO_LIMIT, NO_LIMIT), EFFORT)
            .recorded(&points, trace_cursor)
    };
    // Begun again after 5 ns, it never comes to the link that works.
    let broken = transfer(&mut again(5), Direction::Up, at(3), 1000).unwrap();
    assert_eq!(broken, Transfer::Broken(at(3)));
    let through = transfer(&mut again(5), Direction::Down, at(3), 10).unwrap();
    assert_eq!(through, Transfer::Through(at(3 + 10 * MS)));
    let through = transfer(&mut again(10), Direction::Up, at(3), 0).unwrap();
    assert_eq!(through, Transfer::Through(at(3)));
    assert!(matches!(transfer(&mut again(10), Direction::Up, at(3), 1), Ok(Transfer::Through(_))));
}

#[test]
fn what_overlaps_multiplies_and_concerns_those_it_selects() {
    let happening = |from, until, slow, up| Happening {
        whom: ClientSet::of(2, [1]),
        from: at(from),
        until: at(until),
        slow,
        up,
        down: 1.0,
    };
    let script = [happening(10, 30, 2.0, 0.5), happening(20, 40, 3.0, 0.5)];
    let profile = |client| SpeedProfile::new(1, client, nominal(100, 1000, 1000), EFFORT);
    let mut other = profile(0).scripted(&script);
    assert_eq!(other.interval(at(25)), nominal(100, 1000, 1000));
    let mut concerned = profile(1).scripted(&script);
    let seen: Vec<(u64, LinkRate, u64)> = [0, 10, 20, 30, 40]
        .map(|t| concerned.interval(at(t)))
        .map(|s| (s.step.nanos(), s.up, s.until.nanos()))
        .to_vec();
    let expected =
        [(100, 1000, 10), (200, 500, 20), (600, 250, 30), (300, 500, 40), (100, 1000, u64::MAX)];
    assert_eq!(seen, expected.map(|(step, up, until)| (step, LinkRate::bps(up), until)));
}

#[test]
fn slow_episodes_stretch_steps_exactly() {
    let law = Alternation::new(Purpose::Slowdown, Dist::fixed(4e6), Dist::fixed(6e6));
    let first = law.first(1, 0);
    let profile = || SpeedProfile::new(1, 0, nominal(10 * MS, NO_LIMIT, NO_LIMIT), EFFORT);
    let (way, _) = walk(profile().slowed(&law, 3.0, first), trip(0, Some(5), None), None);
    // Work done by `computed`: full speed when undisturbed, a third of it in an episode.
    let (mut done, mut now, mut episode) = (0.0, MS, law.at(1, 0, first, at(MS)));
    while episode.until < way.computed {
        done += (episode.until.nanos() - now) as f64 / if episode.on { 3.0 } else { 1.0 };
        now = episode.until.nanos();
        episode = law.next(1, 0, episode);
    }
    done += (way.computed.nanos() - now) as f64 / if episode.on { 3.0 } else { 1.0 };
    // Every step ends on a whole nanosecond.
    assert!((0.0..5.0).contains(&(done - 50e6)), "{done}");
}

#[test]
fn warm_devices_are_slower_and_cool_down() {
    let thermal = Thermal { curve: vec![(Span::from_nanos(20 * MS), 0.5)], cooling: 2.0 };
    let profile = || SpeedProfile::new(1, 0, nominal(10 * MS, NO_LIMIT, NO_LIMIT), EFFORT);
    let cold = Warmth::after(&thermal, Span::ZERO, SimTime::ZERO);
    let (way, _) = walk(profile(), trip(0, Some(4), None), Some(cold));
    assert_eq!(way.computed, at(MS + (10 + 10 + 20 + 20) * MS));
    // 60 ms of work, then 25 ms of rest that take back 50: 10 ms short of being warm.
    let warm = Warmth::after(&thermal, Span::from_nanos(60 * MS), at(100 * MS));
    let (way, _) = walk(profile(), trip(124 * MS, Some(2), None), Some(warm));
    assert_eq!(way.computed, at((125 + 10 + 20) * MS));
    // A step that begins cold and ends warm: 5 ms at full speed, 5 ms of work at half of it.
    let nearly = Warmth::after(&thermal, Span::from_nanos(15 * MS), at(MS));
    let (way, _) = walk(profile(), trip(0, Some(1), None), Some(nearly));
    assert_eq!(way.computed, at((1 + 5 + 10) * MS));
}

#[test]
fn a_client_decides_by_what_it_knows() {
    // 1 Mbit/s: the upload takes 1 ms of latency and 1 ms. Due at 40 ms.
    let profile = || SpeedProfile::new(1, 0, nominal(10 * MS, 1_000_000, NO_LIMIT), EFFORT);
    let (way, _) = walk(profile(), trip(0, None, Some(40 * MS)), None);
    assert_eq!((way.tau, way.arrives), (3, at(33 * MS)));
    // From 30 ms on the link is ten times slower: it did not know, and comes late.
    let mut worse = Happening {
        whom: ClientSet::Everyone,
        from: at(32 * MS),
        until: SimTime::NEVER,
        slow: 1.0,
        up: 0.1,
        down: 1.0,
    };
    let script = [worse.clone()];
    let (way, _) = walk(profile().scripted(&script), trip(0, None, Some(40 * MS)), None);
    assert_eq!((way.tau, way.arrives), (3, at(42 * MS)));
    // From 15 ms on it is known when the third step would begin: there is no time for it.
    worse.from = at(15 * MS);
    let script = [worse];
    let (way, _) = walk(profile().scripted(&script), trip(0, None, Some(40 * MS)), None);
    assert_eq!((way.tau, way.arrives), (2, at(32 * MS)));
}

#[test]
fn whoever_loses_its_connection_for_good_is_lost_there() {
    let gone = |down, up, from: u64| Happening {
        whom: ClientSet::Everyone,
        from: at(from * MS),
        until: SimTime::NEVER,
        slow: 1.0,
        up,
        down,
    };
    let profile = || SpeedProfile::new(1, 0, nominal(10 * MS, 1_000_000, 1_000_000), EFFORT);
    let script = [gone(0.0, 0.0, 1)];
    let (way, broken) = walk(profile().scripted(&script), trip(0, Some(2), None), None);
    assert!(broken);
    assert_eq!((way.tau, way.arrives), (0, at(MS)));
    let script = [gone(0.0, 0.0, 23)];
    let (way, broken) = walk(profile().scripted(&script), trip(0, Some(2), None), None);
    assert!(broken);
    assert_eq!((way.tau, way.computed, way.arrives), (2, at(22 * MS), at(23 * MS)));
    // In time for a deadline it gives up instead of waiting for what never comes.
    let script = [gone(0.0, 1.0, 1)];
    let (way, broken) = walk(profile().scripted(&script), trip(0, Some(2), Some(MS)), None);
    assert!(!broken);
    assert_eq!((way.tau, way.arrives), (0, at(MS)));
}

proptest! {
    /// A steady device comes out the same by the short way and by the long one.
    #[test]
    fn a_steady_course_is_the_steady_device(
        step in 1u64..500, jitter in prop_oneof![Just(0.0f32), 0.0f32..0.5], latency in 0u64..50,
        rates in (1u64..9_000_000_000, 1u64..9_000_000_000), bits in 0u64..2000,
        steps in proptest::option::of(1u64..40), due in 100u64..9000, margin in 0u64..500,
        which in 0usize..3,
    ) {
        let wire = Wire { up: rates.0, down: rates.1, latency: Span::from_nanos(latency) };
        let wired = |rate: u64| {
            let nanos = (u128::from(bits) * 1_000_000_000).div_ceil(u128::from(rate)) as u64;
            Span::from_nanos(latency + nanos)
        };
        let device = Device {
            step: Span::from_nanos(step),
            download: wired(wire.down),
            upload: wired(wire.up),
            jitter,
            class: 0,
        };
        let margin = Span::from_nanos(margin);
        let foresight = [Foresight::Exact, Foresight::Expected, Foresight::None { margin }][which];
        let trip = RoundTask { foresight, ..trip(77, steps, Some(due)) };
        let mut pace = Pace::new(&device, 1, 2, 3);
        let short = trip.legs(&mut SteadyLegs { device: &device, pace: &mut pace }).unwrap();
        let interval = SteadyInterval { step: device.step, up: LinkRate::bps(wire.up), down: LinkRate::bps(wire.down), until: SimTime::NEVER };
        let mut pace = Pace::new(&device, 1, 2, 3);
        let mut view = DeviceView {
            profile: &mut SpeedProfile::new(1, 2, interval, EFFORT),
            pace: &mut pace,
            warmth: None,
            latency: wire.latency,
            payload: Payload { down: bits, up: bits },
            share: LinkRate::UNLIMITED,
            usual: UsualDevice { step: device.step, up: interval.up },
        };
        prop_assert_eq!(short, trip.legs(&mut view).unwrap());
    }
}
