//! TiFL: clients of a round are about equally fast (Chai et al., *TiFL: A Tier-based Federated
//! Learning System*, HPDC 2020).
//!
//! Clients are profiled before training, sorted by how long their rounds take and cut into tiers. A
//! round asks clients of one tier, drawn anew each time by the number of its clients, so no client waits
//! for a much slower one, and all are asked equally often. The paper's adaptive way to draw a tier, by
//! its test accuracy, and the credits that limit how often a tier is drawn, are not here.

use super::draw::uniform;
use super::{KeyedRng, Needs, Selector, View};
use crate::random::{Stream, index};

/// The random stream that a tier and its clients are drawn from.
const STREAM: u64 = 4;

/// All clients by speed, cut into tiers.
pub struct Tiers {
    /// Fastest first.
    order: Vec<u32>,
    count: usize,
}

impl Tiers {
    /// `count` tiers of `clients` clients, as equal as can be; of two equally fast clients the one
    /// with the lower number comes first.
    pub fn new(clients: usize, count: usize, profile: impl Fn(u32) -> u64) -> Self {
        let mut order: Vec<u32> = (0..clients as u32).collect();
        order.sort_by_cached_key(|client| (profile(*client), *client));
        Tiers { order, count }
    }

    fn tier(&self, number: usize) -> &[u32] {
        let edge = |number: usize| number * self.order.len() / self.count;
        &self.order[edge(number)..edge(number + 1)]
    }

    /// `wanted` clients of a tier that has as many who are free; where none has, all who are free
    /// of the tier that has most of them (the fastest such tier).
    fn choose(
        &self,
        rng: &mut Stream,
        wanted: usize,
        free: usize,
        available: impl Fn(u32) -> bool,
    ) -> Vec<u32> {
        let all_free = free == self.order.len();
        let free_of = |tier: &[u32]| match all_free {
            true => tier.len(),
            false => tier.iter().filter(|client| available(**client)).count(),
        };
        let free: Vec<usize> = (0..self.count).map(|tier| free_of(self.tier(tier))).collect();
        let enough: Vec<usize> = (0..self.count).filter(|tier| free[*tier] >= wanted).collect();
        let number = match enough[..] {
            [] => (0..self.count).rev().max_by_key(|tier| free[*tier]).unwrap_or(0),
            _ => {
                // By the number of its clients, so that all are asked equally often.
                let sizes = enough.iter().map(|tier| self.tier(*tier).len() as u32);
                let mut left = index(rng, sizes.clone().sum());
                let drawn = sizes.take_while(|size| {
                    let passed = left >= *size;
                    left = left.saturating_sub(*size);
                    passed
                });
                enough[drawn.count()]
            }
        };
        let (tier, free) = (self.tier(number), free[number]);
        let is_available = |at: u32| available(tier[at as usize]);
        let places = uniform(tier.len(), wanted.min(free), free, rng, is_available);
        places.into_iter().map(|at| tier[at as usize]).collect()
    }
}

impl Selector for Tiers {
    fn select(&mut self, view: &View<'_>, rng: &KeyedRng) -> Vec<u32> {
        let available = |client: u32| view.available[client as usize];
        self.choose(&mut rng.stream(STREAM), view.wanted, view.available_count, available)
    }

    fn needs(&self) -> Needs {
        Needs::Availability
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, stream};

    /// Ten clients in three tiers; even ones take 1 s, odd ones 2 s.
    fn ten() -> Tiers {
        Tiers::new(10, 3, |client| 1 + u64::from(client % 2))
    }

    fn choose(tiers: &Tiers, round: u64, wanted: usize, busy: &[u32]) -> Vec<u32> {
        let mut rng = stream(1, Purpose::Selection, 4, round);
        let free = tiers.order.len() - busy.len();
        tiers.choose(&mut rng, wanted, free, |client| !busy.contains(&client))
    }

    #[test]
    fn tiers_are_equal_and_ties_go_by_number() {
        let tiers = ten();
        assert_eq!(tiers.tier(0), [0, 2, 4]);
        assert_eq!(tiers.tier(1), [6, 8, 1]);
        assert_eq!(tiers.tier(2), [3, 5, 7, 9]);
    }

    #[test]
    fn a_round_asks_one_tier_and_tiers_take_equal_turns() {
        let tiers = Tiers::new(100, 5, |client| u64::from(client.reverse_bits()));
        let (mut turns, mut clients) = ([0; 5], [0; 100]);
        for round in 0..10_000 {
            let chosen = choose(&tiers, round, 4, &[]);
            assert_eq!(chosen.len(), 4);
            let of = |client| (0..5).find(|tier| tiers.tier(*tier).contains(client)).unwrap();
            let tier = of(&chosen[0]);
            assert!(chosen.iter().all(|client| of(client) == tier));
            turns[tier] += 1;
            chosen.iter().for_each(|client| clients[*client as usize] += 1);
        }
        assert!(turns.iter().all(|n| (1800..2200).contains(n)), "{turns:?}");
        assert!(clients.iter().all(|n| (300..500).contains(n)), "{clients:?}");
    }

    /// Eleven clients in five tiers: four of two clients, one of three.
    #[test]
    fn all_clients_are_asked_equally_often_though_tiers_differ() {
        let tiers = Tiers::new(11, 5, u64::from);
        let mut asked = [0; 11];
        for round in 0..22_000 {
            choose(&tiers, round, 2, &[])
                .into_iter()
                .for_each(|client| asked[client as usize] += 1);
        }
        // Each in 2 of 11 rounds.
        assert!(asked.iter().all(|count| (3800..4200).contains(count)), "{asked:?}");
    }

    #[test]
    fn a_tier_with_too_few_free_clients_is_passed_over() {
        let tiers = ten();
        let mut turns = [0; 10];
        for round in 0..1000 {
            for client in choose(&tiers, round, 3, &[2, 9]) {
                turns[client as usize] += 1;
            }
        }
        assert_eq!(turns[0] + turns[4] + turns[2] + turns[9], 0, "only two of the first are free");
        assert_eq!(turns[1] + turns[3], 1000, "one or the other in every round: {turns:?}");
        assert!((430..570).contains(&turns[1]), "{turns:?}");
    }

    #[test]
    fn where_no_tier_has_enough_the_fullest_is_asked() {
        let tiers = ten();
        for round in 0..20 {
            let mut chosen = choose(&tiers, round, 4, &[0, 8, 3, 5]);
            chosen.sort_unstable();
            assert_eq!(chosen, [2, 4], "the fastest of three with two");
            assert_eq!(choose(&tiers, round, 3, &[0, 2, 4, 6, 8, 3, 5, 7, 9]), [1]);
        }
    }
}
