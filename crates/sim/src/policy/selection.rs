//! How many clients are asked and which of them may be; which ones, a [`Selector`] says.

#[cfg(test)]
mod tests;

use super::selector::{Drawing, Feedback, Needs, Selector};
use super::{Columns, KeyedRng, ServerConfig, Ties};
use crate::aggregate::{Draw, Participation};
use crate::clock::SimTime;
use crate::random::{Purpose, shuffle, stream};
use std::sync::Arc;

/// A client that is asked, and how often it was drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    /// The client.
    pub client: u32,
    /// Once, or more often with replacement.
    pub times: u32,
}

/// A selector asked for a client that cannot be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SelectionError {
    /// There is no such client.
    #[error(
        "the selector asked for client {client}, but there are {clients} clients, counted from 0"
    )]
    #[allow(missing_docs)]
    NoSuchClient { client: u32, clients: usize },
    /// The client is not available.
    #[error("the selector asked for client {client}, which is not available; look at `available`")]
    #[allow(missing_docs)]
    NotAvailable { client: u32 },
    /// Too many clients.
    #[error("the selector asked for {found} clients where {wanted} were wanted")]
    #[allow(missing_docs)]
    TooMany { found: usize, wanted: usize },
}

/// The stream that the order of asking is drawn from.
const ORDER: u64 = 1;

/// Chooses the clients of each round.
///
/// Clients still busy with an earlier round cannot be asked. Where weights are renormalised over
/// the updates that arrive, others are asked in their place. Where weights are unbiased, none is:
/// the draw is over all clients, and a busy one counts like any other that makes no progress.
pub struct Selection {
    seed: u64,
    clients: usize,
    wanted: usize,
    asks_all: bool,
    selector: Box<dyn Selector>,
    participation: Participation,
    ties: Ties,
    /// Where the draw is over all clients: all of them, as if they were available.
    all: Option<Columns>,
    /// Who was drawn from all of them the last time, and in which round.
    drawn: (u64, Vec<Asked>),
    /// Whether the time before it was the same.
    is_settled: bool,
}

impl Selection {
    /// Asks as many clients with shares `p` as `config` says, by `selector`.
    pub fn new(
        config: &ServerConfig,
        seed: u64,
        selector: Box<dyn Selector>,
        p: Arc<[f64]>,
    ) -> Self {
        let clients = p.len();
        let unbiased = config.rule.participation == Participation::Unbiased;
        let all = unbiased.then(|| Columns::new(p, selector.needs()));
        Selection {
            seed,
            clients,
            wanted: config.wanted(clients),
            asks_all: config.asks_all(),
            selector,
            participation: config.rule.participation,
            ties: config.close.character().ties,
            all,
            drawn: (0, Vec::new()),
            is_settled: false,
        }
    }

    /// Where the draw is over all clients, and was the same the last two times for one round: who was
    /// drawn. It will not change while the round waits.
    pub fn settled_draw(&self) -> Option<&[Asked]> {
        self.is_settled.then_some(&self.drawn.1)
    }

    /// What the selector looks at.
    pub fn needs(&self) -> Needs {
        self.selector.needs()
    }

    /// A participation ended.
    pub fn heard(&mut self, feedback: &Feedback) {
        if let Some(all) = &mut self.all {
            all.hear(feedback);
        }
        self.selector.heard(feedback);
    }

    /// The clients of `round`, by number.
    pub fn select(
        &mut self,
        round: u64,
        now: SimTime,
        columns: &Columns,
    ) -> Result<Vec<Asked>, SelectionError> {
        let Some(all) = self.all.take() else {
            return self.choose(round, now, self.wanted, columns);
        };
        let asked = self.choose(round, now, self.wanted, &all);
        self.all = Some(all);
        let drawn = (round, asked?);
        let asked: Vec<Asked> =
            drawn.1.iter().filter(|asked| columns.is_available(asked.client)).copied().collect();
        self.is_settled = asked.is_empty() && drawn == self.drawn;
        self.drawn = drawn;
        Ok(asked)
    }

    /// Clients to take the places of those that came back, where they are sent off one by one: as
    /// many as `on_the_way` leaves room for. `draw` numbers the draws of a run.
    pub fn refill(
        &mut self,
        draw: u64,
        now: SimTime,
        on_the_way: usize,
        columns: &Columns,
    ) -> Result<Vec<Asked>, SelectionError> {
        match self.wanted.saturating_sub(on_the_way) {
            0 => Ok(Vec::new()),
            wanted => self.choose(draw, now, wanted, columns),
        }
    }

    /// Clients asked at a time.
    pub fn wanted(&self) -> usize {
        self.wanted
    }

    /// Clients that must be there before a round can open: as many as are asked, but where all are
    /// asked, or all are drawn from, one will do.
    pub fn needed(&self) -> usize {
        match self.participation {
            Participation::Unbiased => 1,
            _ if self.asks_all => 1,
            _ => self.wanted.min(self.clients),
        }
    }

    /// How the clients of a round are drawn. Where that is unknown, inverse probabilities begin with
    /// a uniform draw and follow what is heard.
    pub fn draw(&self) -> Draw {
        let clients = self.clients;
        match self.selector.drawing() {
            Drawing::BySize => Draw::BySize { clients, asked: self.wanted },
            Drawing::Uniform | Drawing::Unknown => {
                Draw::Uniform { clients, asked: self.wanted.min(clients) }
            }
        }
    }

    /// Puts those that were chosen in the order in which they are asked.
    pub fn order(&self, round: u64, asked: &mut [Asked]) {
        if self.ties == Ties::Drawn {
            shuffle(asked, &mut stream(self.seed, Purpose::Selection, ORDER, round));
        }
    }

    fn choose(
        &mut self,
        round: u64,
        now: SimTime,
        wanted: usize,
        columns: &Columns,
    ) -> Result<Vec<Asked>, SelectionError> {
        if columns.available_count() == 0 {
            return Ok(Vec::new());
        }
        let rng = KeyedRng::new(self.seed, Purpose::Selection, round);
        let mut chosen = self.selector.select(&columns.view(round, now, wanted), &rng);
        if chosen.len() > wanted {
            return Err(SelectionError::TooMany { found: chosen.len(), wanted });
        }
        for &client in &chosen {
            if client as usize >= self.clients {
                return Err(SelectionError::NoSuchClient { client, clients: self.clients });
            }
            if !columns.is_available(client) {
                return Err(SelectionError::NotAvailable { client });
            }
        }
        chosen.sort_unstable();
        let same = chosen.chunk_by(|a, b| a == b);
        Ok(same.map(|same| Asked { client: same[0], times: same.len() as u32 }).collect())
    }
}
