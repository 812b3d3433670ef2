//! Drawing some of the clients that are available.

use crate::random::{Stream, index};
use std::collections::HashSet;

/// Sums of p_i up to each client, over those that take part.
pub(super) fn running_sums(p: &[f64], takes_part: impl Fn(u32) -> bool) -> Vec<f64> {
    let mut sum = 0.0;
    let mut add = |(client, p): (usize, &f64)| {
        sum += if takes_part(client as u32) { *p } else { 0.0 };
        sum
    };
    p.iter().enumerate().map(&mut add).collect()
}

/// `wanted` different clients of the `count` for which `available` is true, all equally likely.
/// `wanted` must not exceed `count`.
pub fn draw_uniform(wanted: usize, count: usize, available: &[bool], rng: &mut Stream) -> Vec<u32> {
    uniform(available.len(), wanted, count, rng, |client| available[client as usize])
}

/// The same for clients below `clients` of which a function tells whether they are available.
pub(super) fn uniform(
    clients: usize,
    wanted: usize,
    count: usize,
    rng: &mut Stream,
    available: impl Fn(u32) -> bool,
) -> Vec<u32> {
    // A few of many are found fastest by trying; many of a few by a random order.
    if wanted <= count / 8 {
        return by_trying(clients as u32, wanted, rng, available);
    }
    let items = (0..clients as u32).filter(|client| available(*client)).collect();
    without_replacement(items, wanted, rng)
}

/// `count` different clients below `clients` that are available.
fn by_trying(
    clients: u32,
    count: usize,
    rng: &mut Stream,
    available: impl Fn(u32) -> bool,
) -> Vec<u32> {
    let mut taken = HashSet::with_capacity(count);
    let mut chosen = Vec::with_capacity(count);
    while chosen.len() < count {
        let client = index(rng, clients);
        if available(client) && taken.insert(client) {
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
