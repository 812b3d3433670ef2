//! The server, without the actor: what it decides when rounds open, updates arrive and rounds
//! close.
//!
//! It holds the model and drives the pure parts: the selector says who is asked, the closing rule
//! when a round ends, the aggregator what the updates make of the model, the meter whose gradients
//! moved it. It never sleeps and never sends; the actor around it does.

mod round;
mod stop;
#[cfg(test)]
mod tests;

pub use round::{Arrival, Request, Round};
pub use stop::stop_reason;

use crate::aggregate::{Aggregator, Applied, Contribution, Weigher};
use crate::clock::{SimTime, TimeOverflow};
use crate::metric::Metrics;
use crate::policy::{Asked, Close, Closing, Partial, Selector, ServerConfig, Stop, Verdict};
use crate::record::{ClientRow, Outcome, RoundRow, StopReason};
use crate::theory::Meter;
use crate::train::{Model, Panicked, Pool, Trainer, evaluate};
use std::sync::{Arc, OnceLock};

/// What an arrival means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// The round goes on.
    Wait,
    /// The round is over.
    CloseRound,
}

/// What training a run needs: the task and who computes it.
#[derive(Clone)]
pub struct Training {
    /// The task.
    pub trainer: Arc<dyn Trainer>,
    /// The workers.
    pub pool: Arc<Pool>,
}

/// A result could not be had.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ServerError {
    /// Time ran out of numbers.
    #[error(transparent)]
    Time(#[from] TimeOverflow),
    /// Local training panicked.
    #[error("training client {client} panicked: {source}")]
    #[allow(missing_docs)]
    Training { client: u32, source: Panicked },
    /// The training of a client panicked whose update was not wanted any more.
    #[error("training a client that came late panicked: {0}")]
    Unwanted(Panicked),
    /// An evaluation panicked.
    #[error("evaluating the model panicked: {0}")]
    Evaluation(Panicked),
}

/// No client is free only from the last nanosecond on.
const ON_THE_WAY: SimTime = SimTime::from_nanos(u64::MAX);

/// The server's state.
pub struct Server {
    config: ServerConfig,
    stop: Stop,
    selector: Selector,
    training: Option<Training>,
    aggregator: Aggregator,
    meter: Meter,
    p: Arc<[f64]>,
    x: Vec<f64>,
    round: Arc<Round>,
    closing: Closing,
    asked: usize,
    /// Since when each client has been free; [`ON_THE_WAY`] while it is not.
    free_since: Vec<SimTime>,
    free: usize,
    /// (client, raw weight) of the updates used so far in this round.
    used: Vec<(u32, f64)>,
    tau: [f64; 3],
}

impl Server {
    /// A server about to open its first round, with the model at `x`.
    pub fn new(
        config: ServerConfig,
        stop: Stop,
        selector: Selector,
        training: Option<Training>,
        p: Arc<[f64]>,
        x: Vec<f64>,
    ) -> Self {
        let weigher = Weigher::new(config.rule, selector.draw());
        Server {
            aggregator: Aggregator::new(weigher, x.len()),
            meter: Meter::new(p.clone()),
            free_since: vec![SimTime::ZERO; p.len()],
            free: p.len(),
            round: Arc::new(Round {
                number: 0,
                opened: SimTime::ZERO,
                deadline: None,
                due: None,
                model: None,
                closed: OnceLock::new(),
            }),
            closing: Closing::open(Close::All, 0, SimTime::ZERO).expect("no deadline, no overflow"),
            asked: 0,
            used: Vec::new(),
            tau: [0.0; 3],
            config,
            stop,
            selector,
            training,
            p,
            x,
        }
    }

    /// Opens the next round and says who is asked.
    pub fn open_round(&mut self, now: SimTime) -> Result<Vec<Asked>, TimeOverflow> {
        let number = self.round.number + 1;
        let busy = |client: u32| self.free_since[client as usize] == ON_THE_WAY;
        let asked = self.selector.select(number, self.free, busy);
        // Somebody still on the way from an earlier round can be passed over, but a round with a
        // deadline is not over because nobody could be asked: the server waits it out.
        let expected = asked.len().max(1);
        self.closing = Closing::open(self.config.close, expected, now)?;
        let deadline = self.closing.deadline();
        let model = self.training.as_ref().map(|_| Arc::new(Model::new(self.x.clone())));
        let due = deadline.filter(|_| self.config.partial == Partial::Keep);
        let closed = OnceLock::new();
        self.round = Arc::new(Round { number, opened: now, deadline, due, model, closed });
        self.aggregator.restart(Weigher::new(self.config.rule, self.selector.draw()));
        self.asked = asked.len();
        self.used.clear();
        self.tau = [f64::INFINITY, 0.0, 0.0];
        Ok(asked)
    }

    /// Puts those asked in the open round in the order in which they are sent off.
    pub fn order(&self, asked: &mut [Asked]) {
        self.selector.order(self.round.number, asked);
    }

    /// The open round.
    pub fn round(&self) -> &Arc<Round> {
        &self.round
    }

    /// Notes that the client is on its way from now on.
    pub fn send_off(&mut self, asked: Asked) -> Request {
        let since = std::mem::replace(&mut self.free_since[asked.client as usize], ON_THE_WAY);
        self.free -= 1;
        Request { asked, idle: self.round.opened.since(since) }
    }

    /// Takes in an arrival: makes its row and says whether the round is over.
    pub fn arrive(&mut self, arrival: Arrival) -> Result<(ClientRow, Next), ServerError> {
        let mut row = arrival.row();
        let Arrival { round, request: Request { asked, .. }, change, .. } = arrival;
        self.free_since[asked.client as usize] = row.arrived;
        self.free += 1;
        if row.tau == 0 {
            // It sends nothing: the server goes on waiting for it.
            return Ok((row, Next::Wait));
        }
        let verdict = match round.closed.get() {
            Some(closed) => {
                row.staleness = self.round.number - round.number + u64::from(self.is_closed());
                row.superseded = row.arrived.since(*closed);
                Verdict::Late
            }
            None => self.closing.answer(row.arrived),
        };
        if verdict == Verdict::Late {
            row.outcome = Outcome::Late;
            return Ok((row, Next::Wait));
        }
        let contribution = Contribution {
            p: self.p[asked.client as usize],
            times_drawn: asked.times,
            tau: row.tau,
            accumulation: row.accumulation,
        };
        let delta = match change {
            None => Vec::new(),
            Some(ticket) => ticket.wait().map_err(|source| {
                let client = asked.client;
                ServerError::Training { client, source }
            })?,
        };
        row.outcome = Outcome::Used;
        row.raw_weight = self.aggregator.add(&contribution, &delta);
        self.used.push((asked.client, row.raw_weight));
        let tau = row.tau as f64;
        self.tau = [self.tau[0].min(tau), self.tau[1] + tau, self.tau[2].max(tau)];
        let next = match verdict {
            Verdict::CountsAndCloses => Next::CloseRound,
            _ => Next::Wait,
        };
        Ok((row, next))
    }

    /// Closes the open round: moves the model, reads the meter, evaluates when that is due.
    pub fn close_round(
        &mut self,
        now: SimTime,
    ) -> Result<(RoundRow, Option<StopReason>), ServerError> {
        if let Some(panic) = self.training.as_ref().and_then(|training| training.pool.panicked()) {
            return Err(ServerError::Unwanted(panic));
        }
        let Applied { tau_eff, scale } = self.aggregator.apply(&mut self.x);
        for (client, raw) in &self.used {
            self.meter.add(*client as usize, tau_eff * raw * scale);
        }
        let reading = self.meter.read();
        // A round is closed once; the flag is for those who come later.
        let _ = self.round.closed.set(now);
        let arrived = self.used.len();
        let [least, sum, most] = self.tau;
        let row = RoundRow {
            round: self.round.number,
            closed: now,
            asked: self.asked,
            arrived,
            tau_eff,
            tau: if arrived == 0 { [0.0; 3] } else { [least, sum / arrived as f64, most] },
            chi2: reading.chi2,
            missing_mass: reading.missing_mass,
            weight_scale: scale,
            metrics: None,
        };
        let ends = stop_reason(&self.stop, &row);
        let due = ends.is_some() || row.round.is_multiple_of(self.config.evaluate_every);
        let metrics = if due { self.evaluate()? } else { None };
        let row = RoundRow { metrics, ..row };
        let ends = ends.or_else(|| stop_reason(&self.stop, &row));
        Ok((row, ends))
    }

    /// Measures the model as it is; `None` in runs that do not train.
    pub fn evaluate(&self) -> Result<Option<Metrics>, ServerError> {
        let Some(Training { trainer, pool }) = &self.training else {
            return Ok(None);
        };
        let model = Arc::new(Model::new(self.x.clone()));
        evaluate(trainer, pool, &model).map(Some).map_err(ServerError::Evaluation)
    }

    /// Whether rounds close while somebody who was asked may still be about to answer.
    pub fn leaves_some_behind(&self) -> bool {
        matches!(self.config.close, Close::First { .. })
    }

    /// Whether the newest round has closed and no other has opened.
    fn is_closed(&self) -> bool {
        self.round.closed.get().is_some()
    }

    /// The model, which the server has no use for once the run is over.
    pub fn take_parameters(&mut self) -> Vec<f64> {
        std::mem::take(&mut self.x)
    }

    /// Whether `client` is still on its way.
    pub fn is_on_the_way(&self, client: u32) -> bool {
        self.free_since[client as usize] == ON_THE_WAY
    }

    /// The meter.
    pub fn meter(&mut self) -> &mut Meter {
        &mut self.meter
    }

    /// How many clients are still on their way.
    pub fn on_the_way(&self) -> usize {
        self.p.len() - self.free
    }
}
