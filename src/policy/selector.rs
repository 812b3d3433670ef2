//! Who is asked.

use super::{Close, Scheme, ServerConfig};
use crate::aggregate::{Draw, Participation};
use crate::random::{Purpose, Stream, index, shuffle, stream};
use rand::RngExt;
use std::collections::HashSet;
use std::sync::Arc;

/// A client that is asked, and how often it was drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    /// The client.
    pub client: u32,
    /// Once, or more often with replacement.
    pub times: u32,
}

/// Chooses the clients of each round.
///
/// Clients still busy with an earlier round cannot be asked. Where weights are renormalised over
/// those who arrive, others are asked in their place. Where weights are unbiased, nobody is: the
/// draw is over all clients, and a busy one counts like any other who makes no progress.
pub struct Selector {
    seed: u64,
    clients: usize,
    wanted: usize,
    scheme: Scheme,
    participation: Participation,
    tie_break: TieBreak,
    p: Arc<[f64]>,
    /// Running sums of p_i, for drawing by size.
    cumulative: Vec<f64>,
}

/// In which order those who were chosen are asked, and so who is first among clients that arrive at
/// the same nanosecond.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TieBreak {
    /// By number: nothing depends on it.
    ByNumber,
    /// Drawn anew every round: the first few close the round, and it should not be the same few.
    Drawn,
}

impl Selector {
    /// A selector for clients with shares `p`.
    pub fn new(config: &ServerConfig, seed: u64, p: Arc<[f64]>) -> Self {
        let clients = p.len();
        let wanted = config.wanted(clients);
        let tie_break = match config.close {
            Close::First { .. } => TieBreak::Drawn,
            Close::All | Close::Deadline(_) => TieBreak::ByNumber,
        };
        let cumulative = match config.scheme {
            Scheme::Uniform => Vec::new(),
            Scheme::BySize => running_sums(&p, |_| false),
        };
        let (scheme, participation) = (config.scheme, config.rule.participation);
        Selector { seed, clients, wanted, scheme, participation, tie_break, p, cumulative }
    }

    /// The clients of `round`, by number. `busy` tells who cannot be asked, `free` how many can.
    pub fn select(&self, round: u64, free: usize, busy: impl Fn(u32) -> bool) -> Vec<Asked> {
        match self.participation {
            Participation::Renormalize => self.choose(round, free, busy),
            Participation::Unbiased => {
                let mut asked = self.choose(round, self.clients, |_| false);
                asked.retain(|asked| !busy(asked.client));
                asked
            }
        }
    }

    /// How the clients of a round are drawn.
    pub fn draw(&self) -> Draw {
        match self.scheme {
            Scheme::Uniform => {
                Draw::Uniform { clients: self.clients, asked: self.wanted.min(self.clients) }
            }
            Scheme::BySize => Draw::BySize { asked: self.wanted },
        }
    }

    /// Puts those who were chosen in the order in which they are asked.
    pub fn order(&self, round: u64, asked: &mut [Asked]) {
        if self.tie_break == TieBreak::Drawn {
            shuffle(asked, &mut stream(self.seed, Purpose::Selection, 1, round));
        }
    }

    fn choose(&self, round: u64, free: usize, busy: impl Fn(u32) -> bool) -> Vec<Asked> {
        let everyone = 0..self.clients as u32;
        let once = |client| Asked { client, times: 1 };
        if free == 0 || (self.scheme == Scheme::Uniform && self.wanted >= free) {
            return everyone.filter(|client| !busy(*client)).map(once).collect();
        }
        let mut rng = stream(self.seed, Purpose::Selection, 0, round);
        match self.scheme {
            Scheme::BySize => self.by_size(&mut rng, free, busy),
            Scheme::Uniform => {
                // A few of many are found fastest by trying; many of a few by a random order.
                let mut chosen = if self.wanted <= self.clients / 8 && free >= self.clients / 2 {
                    by_trying(self.clients as u32, self.wanted, &mut rng, busy)
                } else {
                    let free = everyone.filter(|client| !busy(*client)).collect();
                    without_replacement(free, self.wanted, &mut rng)
                };
                chosen.sort_unstable();
                chosen.into_iter().map(once).collect()
            }
        }
    }

    /// Draws with replacement by p_i among those who are free.
    fn by_size(&self, rng: &mut Stream, free: usize, busy: impl Fn(u32) -> bool) -> Vec<Asked> {
        let among_free;
        let sums = if free == self.clients {
            &self.cumulative
        } else {
            among_free = running_sums(&self.p, busy);
            &among_free
        };
        let whole = sums[self.clients - 1];
        let mut drawn: Vec<u32> = (0..self.wanted)
            .map(|_| {
                let at = rng.random::<f64>() * whole;
                // The first client whose sum lies beyond: never one that adds nothing.
                let client = sums.partition_point(|sum| *sum <= at);
                client.min(sums.partition_point(|sum| *sum < whole)) as u32
            })
            .collect();
        drawn.sort_unstable();
        drawn
            .chunk_by(|a, b| a == b)
            .map(|same| Asked { client: same[0], times: same.len() as u32 })
            .collect()
    }
}

/// Sums of p_i up to each client, without those who are busy.
fn running_sums(p: &[f64], busy: impl Fn(u32) -> bool) -> Vec<f64> {
    let mut sum = 0.0;
    let mut add = |(client, p): (usize, &f64)| {
        sum += if busy(client as u32) { 0.0 } else { *p };
        sum
    };
    p.iter().enumerate().map(&mut add).collect()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aggregate::{RuleConfig, TauEff, Weighting};
    use crate::policy::{Late, Partial, Sample};

    fn selector(close: Close, sample: Sample, scheme: Scheme, p: &[f64]) -> Selector {
        let rule = RuleConfig {
            weighting: Weighting::FedNova,
            tau_eff: TauEff::Accumulation,
            participation: Participation::Renormalize,
        };
        let config = ServerConfig {
            close,
            late: Late::Drop,
            partial: Partial::Keep,
            rule,
            sample,
            scheme,
            evaluate_every: 1,
        };
        Selector::new(&config, 7, p.into())
    }

    #[test]
    fn uniform_asks_each_client_equally_often_and_never_twice() {
        let selector = selector(Close::All, Sample::Fraction(0.3), Scheme::Uniform, &[0.1; 10]);
        let mut counts = [0; 10];
        for round in 0..10_000 {
            let asked = selector.select(round, selector.clients, |_| false);
            assert_eq!(asked.len(), 3);
            assert!(asked.windows(2).all(|pair| pair[0].client < pair[1].client));
            asked.iter().for_each(|asked| counts[asked.client as usize] += 1);
        }
        assert!(counts.iter().all(|n| (2800..3200).contains(n)), "{counts:?}");
    }

    #[test]
    fn a_few_of_many_are_as_evenly_chosen() {
        let p = [0.01; 100];
        let selector = selector(Close::All, Sample::Clients(5), Scheme::Uniform, &p);
        let mut counts = [0; 100];
        for round in 0..20_000 {
            let asked = selector.select(round, selector.clients, |_| false);
            assert!(asked.len() == 5 && asked.windows(2).all(|w| w[0].client < w[1].client));
            asked.iter().for_each(|asked| counts[asked.client as usize] += 1);
        }
        assert!(counts.iter().all(|n| (850..1150).contains(n)), "{counts:?}");
    }

    #[test]
    fn by_size_draws_in_proportion_to_p_with_replacement() {
        let p = [0.6, 0.3, 0.1];
        let selector = selector(Close::All, Sample::Clients(2), Scheme::BySize, &p);
        let (mut counts, mut twice) = ([0u32; 3], 0);
        for round in 0..20_000 {
            let asked = selector.select(round, selector.clients, |_| false);
            assert_eq!(selector.draw(), Draw::BySize { asked: 2 });
            for asked in asked {
                counts[asked.client as usize] += asked.times;
                twice += u32::from(asked.times == 2);
            }
        }
        for (count, p) in counts.iter().zip(p) {
            assert!((f64::from(*count) / 40_000.0 - p).abs() < 0.01, "{counts:?}");
        }
        // 0.36 + 0.09 + 0.01
        assert!((f64::from(twice) / 20_000.0 - 0.46).abs() < 0.02);
    }

    #[test]
    fn busy_clients_are_passed_over() {
        for scheme in [Scheme::Uniform, Scheme::BySize] {
            let selector = selector(Close::All, Sample::Clients(3), scheme, &[0.1; 10]);
            for round in 0..100 {
                let asked = selector.select(round, 5, |client| client % 2 == 0);
                assert!(asked.iter().all(|asked| asked.client % 2 == 1));
                assert!(selector.select(round, 0, |_| true).is_empty());
            }
        }
        let all = selector(Close::All, Sample::All, Scheme::Uniform, &[0.25; 4]);
        let asked: Vec<u32> =
            all.select(0, 3, |client| client == 2).iter().map(|a| a.client).collect();
        assert_eq!(asked, [0, 1, 3]);
    }

    #[test]
    fn busy_clients_do_not_change_the_odds_of_others() {
        // Client 0 holds nearly all the mass; while it is busy the others share the draws by size.
        let p = [1.0 - 3e-17, 2e-17, 1e-17];
        let selector = selector(Close::All, Sample::Clients(3), Scheme::BySize, &p);
        let mut counts = [0u32; 3];
        for round in 0..5000 {
            for asked in selector.select(round, 2, |client| client == 0) {
                counts[asked.client as usize] += asked.times;
            }
        }
        assert_eq!(counts[0], 0);
        assert!((f64::from(counts[1]) / f64::from(counts[2]) - 2.0).abs() < 0.1, "{counts:?}");
    }

    #[test]
    fn unbiased_draws_are_over_everyone_and_busy_ones_are_lost() {
        for scheme in [Scheme::Uniform, Scheme::BySize] {
            let mut selector = selector(Close::All, Sample::Clients(4), scheme, &[0.1; 10]);
            selector.participation = Participation::Unbiased;
            let draws: u32 = (0..5000)
                .flat_map(|round| selector.select(round, 5, |client| client % 2 == 0))
                .map(|asked| asked.times)
                .sum();
            // Half of 4 · 5000 fall on somebody free.
            assert!((9500..10_500).contains(&draws), "{draws}");
            let asked = match selector.draw() {
                Draw::Uniform { asked, .. } | Draw::BySize { asked } => asked,
            };
            assert_eq!(asked, 4, "all four count");
        }
    }

    #[test]
    fn the_first_few_are_not_always_the_same_few() {
        let selector =
            selector(Close::First { first: 1, of: 3 }, Sample::All, Scheme::Uniform, &[0.25; 4]);
        let mut first = [0; 4];
        for round in 0..4000 {
            let mut asked = selector.select(round, 4, |_| false);
            selector.order(round, &mut asked);
            first[asked[0].client as usize] += 1;
        }
        assert!(first.iter().all(|n| (850..1150).contains(n)), "{first:?}");
    }

    #[test]
    fn over_selection_asks_as_many_as_it_says() {
        let close = Close::First { first: 3, of: 5 };
        let selector = selector(close, Sample::All, Scheme::Uniform, &[0.1; 10]);
        assert_eq!(selector.select(0, selector.clients, |_| false).len(), 5);
    }
}
