//! Who is asked.

#[cfg(test)]
mod tests;

use super::{Close, Sample, Scheme, ServerConfig};
use crate::aggregate::{Draw, Participation};
use crate::random::{Purpose, Stream, index, shuffle, stream};
use rand::RngExt;
use std::cell::Cell;
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
    asks_all: bool,
    scheme: Scheme,
    participation: Participation,
    tie_break: TieBreak,
    p: Arc<[f64]>,
    /// Running sums of p_i, for drawing by size.
    cumulative: Vec<f64>,
    /// Whose turn it is.
    turn: Cell<u32>,
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
            _ => TieBreak::ByNumber,
        };
        let cumulative = match config.scheme {
            Scheme::Uniform | Scheme::RoundRobin => Vec::new(),
            Scheme::BySize => running_sums(&p, |_| false),
        };
        let (scheme, participation) = (config.scheme, config.rule.participation);
        let turn = Cell::new(0);
        let asks_all = config.sample == Sample::All && !matches!(config.close, Close::First { .. });
        Selector {
            seed,
            clients,
            wanted,
            asks_all,
            scheme,
            participation,
            tie_break,
            p,
            cumulative,
            turn,
        }
    }

    /// The clients of `round`, by number. `busy` tells who cannot be asked, `free` how many can.
    pub fn select(&self, round: u64, free: usize, busy: impl Fn(u32) -> bool) -> Vec<Asked> {
        match self.participation {
            Participation::Renormalize | Participation::InverseProbability => {
                self.choose(round, self.wanted, free, busy)
            }
            Participation::Unbiased => {
                let mut asked = self.choose(round, self.wanted, self.clients, |_| false);
                asked.retain(|asked| !busy(asked.client));
                asked
            }
        }
    }

    /// Clients to take the places of those who came back, where they are sent off one by one: as
    /// many as `on_the_way` leaves room for. `draw` numbers the draws of a run.
    pub fn refill(
        &self,
        draw: u64,
        on_the_way: usize,
        free: usize,
        busy: impl Fn(u32) -> bool,
    ) -> Vec<Asked> {
        let wanted = self.wanted.saturating_sub(on_the_way);
        if wanted == 0 { Vec::new() } else { self.choose(draw, wanted, free, busy) }
    }

    /// Clients asked at a time.
    pub fn wanted(&self) -> usize {
        self.wanted
    }

    /// Clients that must be there before a round can open: as many as are asked, but where all are
    /// asked, or all are drawn from, whoever is there will do.
    pub fn needed(&self) -> usize {
        match self.participation {
            Participation::Unbiased => 1,
            _ if self.asks_all => 1,
            _ => self.wanted.min(self.clients),
        }
    }

    /// How the clients of a round are drawn.
    pub fn draw(&self) -> Draw {
        match self.scheme {
            // In turn everybody is asked as often as when drawn.
            Scheme::Uniform | Scheme::RoundRobin => {
                Draw::Uniform { clients: self.clients, asked: self.wanted.min(self.clients) }
            }
            Scheme::BySize => Draw::BySize { clients: self.clients, asked: self.wanted },
        }
    }

    /// Puts those who were chosen in the order in which they are asked.
    pub fn order(&self, round: u64, asked: &mut [Asked]) {
        if self.tie_break == TieBreak::Drawn {
            shuffle(asked, &mut stream(self.seed, Purpose::Selection, 1, round));
        }
    }

    fn choose(
        &self,
        round: u64,
        wanted: usize,
        free: usize,
        busy: impl Fn(u32) -> bool,
    ) -> Vec<Asked> {
        let everyone = 0..self.clients as u32;
        let once = |client| Asked { client, times: 1 };
        if free == 0 {
            return Vec::new();
        }
        if self.scheme != Scheme::BySize && wanted >= free {
            return everyone.filter(|client| !busy(*client)).map(once).collect();
        }
        let mut rng = stream(self.seed, Purpose::Selection, 0, round);
        match self.scheme {
            Scheme::BySize => self.by_size(&mut rng, wanted, free, busy),
            Scheme::RoundRobin => {
                // Where the last turn ended; who is busy when its turn comes is passed over.
                let from = self.turn.get();
                let turn = (from..self.clients as u32).chain(0..from);
                let mut chosen: Vec<u32> =
                    turn.filter(|client| !busy(*client)).take(wanted).collect();
                if let Some(last) = chosen.last() {
                    self.turn.set((last + 1) % self.clients as u32);
                }
                chosen.sort_unstable();
                chosen.into_iter().map(once).collect()
            }
            Scheme::Uniform => {
                // A few of many are found fastest by trying; many of a few by a random order.
                let mut chosen = if wanted <= free / 8 {
                    by_trying(self.clients as u32, wanted, &mut rng, busy)
                } else {
                    let free = everyone.filter(|client| !busy(*client)).collect();
                    without_replacement(free, wanted, &mut rng)
                };
                chosen.sort_unstable();
                chosen.into_iter().map(once).collect()
            }
        }
    }

    /// Draws with replacement by p_i among those who are free.
    fn by_size(
        &self,
        rng: &mut Stream,
        wanted: usize,
        free: usize,
        busy: impl Fn(u32) -> bool,
    ) -> Vec<Asked> {
        let among_free;
        let sums = if free == self.clients {
            &self.cumulative
        } else {
            among_free = running_sums(&self.p, busy);
            &among_free
        };
        let whole = sums[self.clients - 1];
        let mut drawn: Vec<u32> = (0..wanted)
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
