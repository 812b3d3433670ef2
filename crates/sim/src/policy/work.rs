//! How much a client is to do: the trait, and the work that a scenario configures.

use super::{Amount, KeyedRng, LastBatch, Redraw, WorkConfig};
use crate::clock::{SimTime, Span};

/// Decides how much a client is to do.
///
/// Called on the thread of the simulation when a client is sent off, once a participation.
pub trait Work: Send {
    /// The work of a client that is sent off now.
    fn amount(&mut self, ask: &WorkAsked, rng: &KeyedRng) -> WorkAmount;

    /// What a client does in a typical round, for `check` and for schemes that profile clients;
    /// `None` where that is unknown.
    fn typical(&self, ask: &WorkAsked, rng: &KeyedRng) -> Option<WorkAmount> {
        let _ = (ask, rng);
        None
    }
}

/// A client that is sent off.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct WorkAsked {
    /// The client.
    pub client: u32,
    /// The round it is sent off in, from 1.
    pub round: u64,
    /// When.
    pub now: SimTime,
    /// When its update has to be back; `None` where rounds have no deadline.
    pub deadline: Option<SimTime>,
    /// How long one of its steps takes when nothing disturbs it.
    pub step: Span,
    /// Its training samples; 0 where a task has none.
    pub samples: u32,
    /// Samples in one of its steps.
    pub batch: usize,
}

/// An amount of work.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum WorkAmount {
    /// So many local steps; at least 1.
    Steps(u64),
    /// So many passes over the local data: ⌊E·n_i/B⌋ steps, at least 1.
    Epochs(f64),
    /// As many steps as the deadline allows.
    UntilDeadline,
}

impl WorkAmount {
    /// Local steps of a client; `None`: as many as the deadline allows.
    pub fn steps(self, ask: &WorkAsked) -> Option<u64> {
        match self {
            WorkAmount::Steps(steps) => Some(steps.max(1)),
            WorkAmount::Epochs(epochs) => {
                Some(of_epochs(epochs, f64::from(ask.samples) / ask.batch as f64))
            }
            WorkAmount::UntilDeadline => None,
        }
    }
}

/// The steps of so many passes over so many batches.
fn of_epochs(epochs: f64, batches: f64) -> u64 {
    // A part in 10⁹ is forgiven so that 0.1 of 50 is 5.
    at_least_one((epochs * batches * (1.0 + 1e-9)).floor())
}

/// At least one step: a client that takes part does something.
fn at_least_one(steps: f64) -> u64 {
    steps.max(1.0) as u64
}

impl WorkConfig {
    /// The built-in work of this configuration; `None` for a plug-in.
    pub fn init(&self) -> Option<Box<dyn Work>> {
        match self {
            WorkConfig::Plugin => None,
            other => Some(Box::new(ConfiguredWork(other.clone()))),
        }
    }
}

/// Steps or epochs, given or drawn; or until the deadline.
struct ConfiguredWork(WorkConfig);

impl ConfiguredWork {
    /// `typical`: in no particular round.
    fn work(&self, ask: &WorkAsked, rng: &KeyedRng, typical: bool) -> WorkAmount {
        let amount = |amount: &Amount| -> f64 {
            let (dist, redraw) = match amount {
                Amount::Each(amounts) => return amounts[ask.client as usize],
                Amount::Drawn(dist, redraw) => (dist, redraw),
            };
            match redraw {
                _ if dist.is_fixed() => dist.typical(),
                Redraw::Once => dist.sample(&mut rng.once(0)),
                Redraw::Round if typical => dist.typical(),
                Redraw::Round => dist.sample(&mut rng.stream(0)),
            }
        };
        match &self.0 {
            WorkConfig::UntilDeadline | WorkConfig::Plugin => WorkAmount::UntilDeadline,
            WorkConfig::Steps(steps) => WorkAmount::Steps(at_least_one(amount(steps).round())),
            WorkConfig::Epochs(epochs, last) => {
                let batches = f64::from(ask.samples) / ask.batch as f64;
                let of_an_epoch = match last {
                    LastBatch::FillsUp => batches,
                    LastBatch::Counts => batches.ceil(),
                };
                WorkAmount::Steps(of_epochs(amount(epochs), of_an_epoch))
            }
        }
    }
}

impl Work for ConfiguredWork {
    fn amount(&mut self, ask: &WorkAsked, rng: &KeyedRng) -> WorkAmount {
        self.work(ask, rng, false)
    }

    fn typical(&self, ask: &WorkAsked, rng: &KeyedRng) -> Option<WorkAmount> {
        Some(self.work(ask, rng, true))
    }
}
