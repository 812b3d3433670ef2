//! A window of the first rounds, for the fastest, some middling and the slowest clients in it.

use super::rough;
use crate::clock::SimTime;
use crate::record::{ClientRow, Outcome, RoundRow};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The window has so many rounds at least.
const ROUNDS: usize = 12;
/// And so many participations, or three of every client.
const PARTS: u64 = 600;
/// Participations that are kept until the clients are chosen.
const KEPT: usize = 4096;
/// Clients of each kind.
const EACH: usize = 4;
/// Participations of one client, and rounds, that are told.
const TOLD: usize = 60;

/// Gathers the window.
#[derive(Clone, Debug)]
pub(super) struct Lanes {
    wanted: u64,
    seen: u64,
    rows: Vec<ClientRow>,
    /// Only clients whose number hashes to so many zeros are kept: a random part, the same for every
    /// variant, however many there are.
    zeros: u32,
    closed: Vec<(u64, SimTime)>,
    is_full: bool,
}

impl Lanes {
    pub(super) fn new(clients: usize) -> Self {
        let wanted = PARTS.min(3 * clients as u64);
        Lanes { wanted, seen: 0, rows: Vec::new(), zeros: 0, closed: Vec::new(), is_full: false }
    }

    pub(super) fn arrived(&mut self, row: &ClientRow) {
        if self.is_full {
            return;
        }
        self.seen += 1;
        if hash(row.client).trailing_zeros() >= self.zeros {
            self.rows.push(*row);
        }
        while self.rows.len() > KEPT {
            self.zeros += 1;
            let zeros = self.zeros;
            self.rows.retain(|row| hash(row.client).trailing_zeros() >= zeros);
        }
    }

    pub(super) fn closed(&mut self, row: &RoundRow) {
        if !self.is_full {
            self.closed.push((row.round, row.closed));
            self.is_full = self.closed.len() >= ROUNDS && self.seen >= self.wanted;
        }
    }

    pub(super) fn json(&self, place: impl Fn(u16) -> usize) -> Value {
        let last = self.rows.iter().map(|row| row.arrived).max().unwrap_or(SimTime::ZERO);
        let to = self.closed.last().map_or(last, |(_, at)| *at);
        let mut clients: BTreeMap<u32, Vec<&ClientRow>> = BTreeMap::new();
        for row in self.rows.iter().filter(|row| row.dispatched < to || to == SimTime::ZERO) {
            clients.entry(row.client).or_default().push(row);
        }
        let mut by_speed: Vec<(f64, Vec<&ClientRow>)> =
            clients.into_values().map(|rows| (pace(&rows), rows)).collect();
        by_speed.sort_by(|one, other| one.0.total_cmp(&other.0));
        let lane = |(index, kind): (usize, &'static str)| {
            let mut rows = by_speed[index].1.clone();
            rows.sort_by_key(|row| row.dispatched);
            let parts: Vec<Value> = rows.iter().take(TOLD).map(|row| part(row)).collect();
            let class = place(rows[0].class);
            json!({ "client": rows[0].client, "class": class, "kind": kind, "parts": parts })
        };
        let every = self.closed.len().div_ceil(TOLD).max(1);
        let closed = self.closed.iter().step_by(every);
        json!({
            "from": 0.0,
            "to": rough(to.seconds()),
            "closed": closed.map(|(round, at)| (round, rough(at.seconds()))).collect::<Vec<_>>(),
            "clients": kinds(by_speed.len()).into_iter().map(lane).collect::<Vec<_>>(),
        })
    }
}

/// Seconds a step takes a client, as far as is seen; whoever never made one is the slowest.
fn pace(rows: &[&ClientRow]) -> f64 {
    let steps: u64 = rows.iter().map(|row| row.tau).sum();
    let working = rows.iter().filter(|row| row.tau > 0);
    let nanos: f64 = working.map(|row| row.compute.nanos() as f64).sum();
    if steps == 0 { f64::INFINITY } else { nanos / steps as f64 }
}

/// Which of `count` clients, from the fastest to the slowest, are shown.
fn kinds(count: usize) -> Vec<(usize, &'static str)> {
    let each = EACH.min(count.div_ceil(3));
    let middle = (count.saturating_sub(each)) / 2;
    let mut all: Vec<(usize, &'static str)> = Vec::new();
    for (from, kind) in
        [(0, "fastest"), (middle, "median"), (count.saturating_sub(each), "slowest")]
    {
        for index in from..(from + each).min(count) {
            if all.iter().all(|(known, _)| *known != index) {
                all.push((index, kind));
            }
        }
    }
    all
}

fn part(row: &ClientRow) -> Value {
    // Where it never closed, the round it was for has made no use of it.
    let outcome = row.outcome.name();
    let known = row.outcome != Outcome::Unfinished;
    json!({
        "round": row.round,
        "at": rough(row.dispatched.seconds()),
        "download": rough(row.download.seconds()),
        "compute": rough(row.compute.seconds()),
        "upload": rough(row.upload.seconds()),
        "outcome": outcome,
        "tau": if known { row.tau } else { 0 },
    })
}

/// Bits that look random: a step of SplitMix64.
fn hash(client: u32) -> u64 {
    let mut z = (u64::from(client) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::kinds;

    #[test]
    fn the_fastest_some_middling_and_the_slowest_are_shown_once() {
        assert_eq!(kinds(0), []);
        assert_eq!(kinds(1), [(0, "fastest")]);
        assert_eq!(kinds(3), [(0, "fastest"), (1, "median"), (2, "slowest")]);
        let many = kinds(100);
        assert_eq!(many.len(), 12);
        assert_eq!((many[0].0, many[4].0, many[11]), (0, 48, (99, "slowest")));
        for count in 0..40 {
            let mut all: Vec<usize> = kinds(count).into_iter().map(|(index, _)| index).collect();
            all.dedup();
            assert!(all.iter().all(|index| *index < count));
            assert_eq!(all.len(), kinds(count).len());
        }
    }
}
