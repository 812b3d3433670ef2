//! Who is asked.

use super::{Close, Sample, Scheme, ServerConfig};
use crate::aggregate::Draw;
use crate::random::{Purpose, Stream, index, stream};
use rand::RngExt;
use std::collections::HashSet;

/// A client that is asked, and how often it was drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    /// The client.
    pub client: u32,
    /// Once, or more often with replacement.
    pub times: u32,
}

/// Chooses the clients of each round, among those who are not still busy with an earlier one.
pub struct Selector {
    seed: u64,
    clients: usize,
    wanted: usize,
    scheme: Scheme,
    /// Running sums of p_i, for drawing by size.
    cumulative: Vec<f64>,
}

impl Selector {
    /// A selector for clients with shares `p`.
    pub fn new(config: &ServerConfig, seed: u64, p: &[f64]) -> Self {
        let clients = p.len();
        let wanted = match (config.close, config.sample) {
            (Close::First { of, .. }, _) => of,
            (_, Sample::All) => clients,
            (_, Sample::Clients(count)) => count,
            (_, Sample::Fraction(part)) => ((part * clients as f64).round() as usize).max(1),
        };
        let running = |sum: &mut f64, p: &f64| {
            *sum += p;
            Some(*sum)
        };
        let cumulative = match config.scheme {
            Scheme::Uniform => Vec::new(),
            Scheme::BySize => p.iter().scan(0.0, running).collect(),
        };
        Selector { seed, clients, wanted, scheme: config.scheme, cumulative }
    }

    /// How many clients (or draws) a round asks for when nobody is busy.
    pub fn wanted(&self) -> usize {
        self.wanted
    }

    /// The clients of `round`, by number. `busy` tells who cannot be asked, `free` how many can.
    pub fn select(&self, round: u64, free: usize, busy: impl Fn(u32) -> bool) -> Vec<Asked> {
        let everyone = 0..self.clients as u32;
        let once = |client| Asked { client, times: 1 };
        if free == 0 || (self.scheme == Scheme::Uniform && self.wanted >= free) {
            return everyone.filter(|client| !busy(*client)).map(once).collect();
        }
        let mut rng = stream(self.seed, Purpose::Selection, 0, round);
        match self.scheme {
            Scheme::BySize => self.by_size(&mut rng, busy),
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

    /// How the clients of a round with this many `asked` were drawn.
    pub fn draw(&self, asked: &[Asked]) -> Draw {
        match self.scheme {
            Scheme::Uniform => Draw::Uniform { clients: self.clients, asked: asked.len() },
            Scheme::BySize => {
                Draw::BySize { asked: asked.iter().map(|asked| asked.times as usize).sum() }
            }
        }
    }

    /// Draws with replacement by p_i; a draw that falls on a busy client is drawn again.
    fn by_size(&self, rng: &mut Stream, busy: impl Fn(u32) -> bool) -> Vec<Asked> {
        let whole = self.cumulative[self.clients - 1];
        let mut drawn: Vec<u32> = Vec::with_capacity(self.wanted);
        while drawn.len() < self.wanted {
            let at = rng.random::<f64>() * whole;
            let client = self.cumulative.partition_point(|sum| *sum <= at);
            let client = client.min(self.clients - 1) as u32;
            if !busy(client) {
                drawn.push(client);
            }
        }
        drawn.sort_unstable();
        drawn
            .chunk_by(|a, b| a == b)
            .map(|same| Asked { client: same[0], times: same.len() as u32 })
            .collect()
    }
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
    use crate::aggregate::{Participation, RuleConfig, TauEff, Weighting};
    use crate::policy::{Late, Partial};

    /// Nobody is busy, however many there are.
    const FREE: usize = usize::MAX;

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
        Selector::new(&config, 7, p)
    }

    #[test]
    fn uniform_asks_each_client_equally_often_and_never_twice() {
        let selector = selector(Close::All, Sample::Fraction(0.3), Scheme::Uniform, &[0.1; 10]);
        let mut counts = [0; 10];
        for round in 0..10_000 {
            let asked = selector.select(round, FREE, |_| false);
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
            let asked = selector.select(round, FREE, |_| false);
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
            let asked = selector.select(round, FREE, |_| false);
            assert_eq!(selector.draw(&asked), Draw::BySize { asked: 2 });
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
    fn over_selection_asks_as_many_as_it_says() {
        let close = Close::First { first: 3, of: 5 };
        let selector = selector(close, Sample::All, Scheme::Uniform, &[0.1; 10]);
        assert_eq!(selector.select(0, FREE, |_| false).len(), 5);
    }
}
