//! Drawing some of those who are free.

use crate::random::{Stream, index};
use std::collections::HashSet;

/// Sums of p_i up to each client, without those who are busy.
pub(super) fn running_sums(p: &[f64], busy: impl Fn(u32) -> bool) -> Vec<f64> {
    let mut sum = 0.0;
    let mut add = |(client, p): (usize, &f64)| {
        sum += if busy(client as u32) { 0.0 } else { *p };
        sum
    };
    p.iter().enumerate().map(&mut add).collect()
}

/// `wanted` of the `free` clients below `clients` that are not busy, all equally likely.
pub(super) fn uniform(
    clients: usize,
    wanted: usize,
    free: usize,
    rng: &mut Stream,
    busy: impl Fn(u32) -> bool,
) -> Vec<u32> {
    // A few of many are found fastest by trying; many of a few by a random order.
    if wanted <= free / 8 {
        return by_trying(clients as u32, wanted, rng, busy);
    }
    let free = (0..clients as u32).filter(|client| !busy(*client)).collect();
    without_replacement(free, wanted, rng)
}

/// `count` different clients below `clients` that are not busy.
fn by_trying(clients: u32, count: usize, rng: &mut Stream, busy: impl Fn(u32) -> bool) -> Vec<u32> {
    let mut taken = HashSet::with_capacity(count);
    let mut chosen = Vec::with_capacity(count);
    while chosen.len() < count {
        let client = index(rng, clients);
        if !busy(client) && taken.insert(client) {
            chosen.push(client);
        }
    }
    chosen
}

/// The first `count` of a random order of `items`.
fn without_replacement(mut items: Vec<u32>, count: usize, rng: &mut Stream) -> Vec<u32> {
    for i in 0..count {
        let other = i + index(rng, (items.len() - i) as u32) as usize;
        items.swap(i, other);
    }
    items.truncate(count);
    items
}
