//! How much work it is: groups that change sides are what a change of the level costs.

use super::*;
use crate::random::{Dist, Purpose, Shape, stream};

/// `flips` so far.
fn flips(link: &Link) -> u64 {
    link.level.flips
}

fn caps(count: u64) -> Vec<u64> {
    let dist = Dist { shape: Shape::Lognormal { median: 5e6, sigma: 0.7 }, ..Dist::fixed(0.0) };
    (0..count).map(|i| dist.sample(&mut stream(1, Purpose::Device, i, 0)) as u64).collect()
}

/// Lets `ends` transfers finish, each followed by a new one. Every end, and the flips it took.
fn churn(capacity: u64, caps: &[u64], at_once: usize) -> (Vec<(u64, Flow)>, u64) {
    let mut link = Link::new(capacity);
    for (i, cap) in caps[..at_once].iter().enumerate() {
        link.start(at(0), 1_000_000 + i as u64, *cap);
    }
    let mut ends = Vec::new();
    for cap in &caps[at_once..] {
        let now = link.next().unwrap().unwrap();
        ends.push((now.nanos(), link.finish(now).unwrap()));
        link.start(now, 1_000_000, *cap);
    }
    ends.extend(drain(&mut link));
    (ends, flips(&link))
}

/// A whole fleet starts at one instant: the level moves once.
#[test]
fn a_start_of_many_at_once_flips_each_at_most_once() {
    let caps = caps(5000);
    let sum: u64 = caps.iter().sum();
    for part in [1, 2, 10] {
        let mut link = Link::new(sum / part);
        for cap in &caps {
            link.start(at(0), 1_000_000, *cap);
        }
        assert_eq!(flips(&link), 0, "before anybody asks");
        link.next().unwrap();
        assert!(flips(&link) <= 5000, "{}", flips(&link));
        if part > 1 {
            assert!(flips(&link) > 0, "a level in the middle is not met by chance");
        }
    }
}

#[test]
fn coming_and_going_flips_few() {
    let caps = caps(20_000);
    let sum: u64 = caps[..2000].iter().sum();
    for part in [1, 2, 4, 20] {
        let (_, flips) = churn(sum / part, &caps, 2000);
        // 20,000 starts and as many ends.
        assert!(flips < 20_000, "{flips}");
    }
}

#[test]
fn the_same_again_is_the_same() {
    let caps = caps(4000);
    let capacity = caps[..500].iter().sum::<u64>() / 2;
    let once = churn(capacity, &caps, 500);
    assert_eq!(once.0.len(), 4000);
    assert_eq!(once, churn(capacity, &caps, 500));
}

/// A level that goes up and down around the cap of a thousand: one flip each time, not a thousand.
#[test]
fn a_level_around_the_cap_of_many() {
    let mut link = Link::new(1_000_000_000);
    for i in 0..1000 {
        link.start(at(0), 1_000_000_000 + i, 1_000_000);
    }
    link.next().unwrap();
    let before = flips(&link);
    for i in 1..=1000 {
        let other = link.start(at(i * 1000), 1_000_000, FREE);
        link.next().unwrap();
        link.cancel(at(i * 1000 + 500), other);
        link.next().unwrap();
    }
    let flips = flips(&link) - before;
    assert!((1000..=4000).contains(&flips), "{flips}");
}
