//! Who is asked.

mod draw;
mod oort;
#[cfg(test)]
mod tests;
mod tiers;

use super::{Close, Sample, Scheme, ServerConfig};
use crate::aggregate::{Draw, Participation};
use crate::clock::Span;
use crate::random::{Purpose, Stream, shuffle, stream};
use draw::{running_sums, uniform};
use oort::Oort;
use rand::RngExt;
use std::cell::Cell;
use std::sync::Arc;
use tiers::Tiers;

/// A client that is asked, and how often it was drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    /// The client.
    pub client: u32,
    /// Once, or more often with replacement.
    pub times: u32,
}

/// What came of asking a client.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Feedback {
    /// The round it was asked in.
    pub round: u64,
    /// From being asked to being back.
    pub duration: Span,
    /// ‖d_i‖ of its normalised gradient: 0 if it made no step, 1 if nothing is trained; `None` if
    /// its update was not looked at.
    pub norm: Option<f64>,
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
    method: Method,
    participation: Participation,
    tie_break: TieBreak,
    p: Arc<[f64]>,
}

/// How clients are chosen, with what has to be known for it.
enum Method {
    Uniform,
    /// Running sums of p_i.
    BySize(Vec<f64>),
    /// Whose turn it is.
    RoundRobin(Cell<u32>),
    Oort(Oort),
    Tiers(Tiers),
}

/// Random streams of [`Purpose::Selection`], by what is drawn from them in a round.
#[repr(u64)]
enum Drawn {
    /// Who is asked.
    Clients = 0,
    /// In which order.
    Order = 1,
    /// Who is asked of those whose worth is known.
    Known = 2,
    /// Who is asked of the others.
    Untried = 3,
    /// A tier and who is asked of it.
    Tier = 4,
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
    /// A selector for clients with shares `p`. `profile` tells how long a client's round takes as
    /// far as is known beforehand; only schemes that profile clients ask.
    pub fn new(
        config: &ServerConfig,
        seed: u64,
        p: Arc<[f64]>,
        profile: impl Fn(u32) -> u64,
    ) -> Self {
        let clients = p.len();
        let tie_break = match config.close {
            Close::First { .. } => TieBreak::Drawn,
            _ => TieBreak::ByNumber,
        };
        let method = match config.scheme {
            Scheme::Uniform => Method::Uniform,
            Scheme::BySize => Method::BySize(running_sums(&p, |_| false)),
            Scheme::RoundRobin => Method::RoundRobin(Cell::new(0)),
            Scheme::Oort(oort) => Method::Oort(Oort::new(oort, p.clone())),
            Scheme::Tiers(count) => Method::Tiers(Tiers::new(clients, count, profile)),
        };
        Selector {
            seed,
            clients,
            wanted: config.wanted(clients),
            asks_all: config.sample == Sample::All && !matches!(config.close, Close::First { .. }),
            method,
            participation: config.rule.participation,
            tie_break,
            p,
        }
    }

    /// Whether it matters to the choice what comes of asking a client.
    pub fn listens(&self) -> bool {
        matches!(self.method, Method::Oort(_))
    }

    /// A client is back.
    pub fn heard(&mut self, client: u32, feedback: Feedback) {
        if let Method::Oort(oort) = &mut self.method {
            oort.heard(client, feedback);
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
        match self.method {
            Method::BySize(_) => Draw::BySize { clients: self.clients, asked: self.wanted },
            // In turn and by tiers everybody is asked as often as when drawn. What Oort does nobody
            // can tell: inverse probabilities begin here and follow what is heard.
            _ => Draw::Uniform { clients: self.clients, asked: self.wanted.min(self.clients) },
        }
    }

    /// Puts those who were chosen in the order in which they are asked.
    pub fn order(&self, round: u64, asked: &mut [Asked]) {
        if self.tie_break == TieBreak::Drawn {
            shuffle(asked, &mut self.stream(Drawn::Order, round));
        }
    }

    fn stream(&self, drawn: Drawn, round: u64) -> Stream {
        stream(self.seed, Purpose::Selection, drawn as u64, round)
    }

    fn choose(
        &self,
        round: u64,
        wanted: usize,
        free: usize,
        busy: impl Fn(u32) -> bool,
    ) -> Vec<Asked> {
        if free == 0 {
            return Vec::new();
        }
        let everyone = 0..self.clients as u32;
        let mut chosen: Vec<u32> = match &self.method {
            Method::BySize(sums) => {
                let rng = &mut self.stream(Drawn::Clients, round);
                return self.by_size(sums, rng, wanted, free, busy);
            }
            Method::Tiers(tiers) => {
                tiers.choose(&mut self.stream(Drawn::Tier, round), wanted, free, busy)
            }
            _ if wanted >= free => everyone.filter(|client| !busy(*client)).collect(),
            Method::RoundRobin(turn) => {
                // Where the last turn ended; who is busy when its turn comes is passed over.
                let from = turn.get();
                let order = (from..self.clients as u32).chain(0..from);
                let chosen: Vec<u32> = order.filter(|client| !busy(*client)).take(wanted).collect();
                if let Some(last) = chosen.last() {
                    turn.set((last + 1) % self.clients as u32);
                }
                chosen
            }
            Method::Uniform => {
                let rng = &mut self.stream(Drawn::Clients, round);
                uniform(self.clients, wanted, free, rng, busy)
            }
            Method::Oort(oort) => {
                let rngs = [Drawn::Known, Drawn::Untried].map(|drawn| self.stream(drawn, round));
                oort.choose(round, rngs, wanted, free, busy)
            }
        };
        chosen.sort_unstable();
        chosen.into_iter().map(|client| Asked { client, times: 1 }).collect()
    }

    /// Draws with replacement by p_i among those who are free.
    fn by_size(
        &self,
        of_all: &[f64],
        rng: &mut Stream,
        wanted: usize,
        free: usize,
        busy: impl Fn(u32) -> bool,
    ) -> Vec<Asked> {
        let among_free;
        let sums = if free == self.clients {
            of_all
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
