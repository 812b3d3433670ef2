//! What a scenario can say about rounds and work, validated.

use super::{Close, Scheme};
use crate::aggregate::{OptimizerConfig, RuleConfig};
use crate::clock::Span;
use crate::compress::Packing;
use crate::device::Foresight;
use crate::metric::{Bound, Metric};
use crate::random::Dist;
use crate::solver::{Recipe, VarianceReduction};

/// `[stop]`: the first one reached ends the run. At least one is given.
#[derive(Clone, Debug, PartialEq)]
pub struct Stop {
    /// Aggregations.
    pub rounds: Option<u64>,
    /// Simulated time.
    pub time: Option<Span>,
    /// A metric's value.
    pub target: Option<Target>,
    /// A training loss of this many times its value at the start is a divergence; `None`: only
    /// one that is no number is.
    pub divergence: Option<f64>,
}

/// A metric and the value to be reached.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Target {
    /// Which metric.
    pub metric: Metric,
    /// Which side of which value.
    pub bound: Bound,
}

/// `[client]`.
#[derive(Clone, Debug, PartialEq)]
pub struct ClientConfig {
    /// Samples per local step.
    pub batch: Batch,
    /// Everybody's local update law, round by round.
    pub recipe: Recipe,
    /// Variance reduction, if any.
    pub variance_reduction: Option<VarianceReduction>,
    /// What becomes of an update on its way up.
    pub packing: Packing,
    /// How many local steps a client sets out to make.
    pub work: WorkConfig,
    /// What a client knows when it decides whether another step fits.
    pub foresight: Foresight,
}

/// Samples per local step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Batch {
    /// That many (or all a client has, if it has fewer).
    Size(usize),
    /// All: deterministic gradient descent.
    Full,
}

impl Batch {
    /// As a number; all samples are `usize::MAX`.
    pub fn size(self) -> usize {
        match self {
            Batch::Size(size) => size,
            Batch::Full => usize::MAX,
        }
    }

    /// Samples in one step of a client that has so many; 1 where a task has none.
    pub fn of(self, samples: Option<u32>) -> usize {
        let own = samples.map_or(1, |samples| samples as usize);
        match self {
            Batch::Size(size) => size.min(own),
            Batch::Full => own,
        }
    }
}

/// How many local steps a client sets out to make.
#[derive(Clone, Debug, PartialEq)]
pub enum WorkConfig {
    /// As many as the deadline allows: τ emerges.
    UntilDeadline,
    /// Passes over the local data, of so many steps and at least 1; B = n_i where a client has
    /// fewer samples than a batch.
    Epochs(Amount, LastBatch),
    /// Steps, rounded to a whole number and at least 1.
    Steps(Amount),
    /// As a plug-in says.
    Plugin,
}

/// What becomes of the samples that are left over at the end of an epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LastBatch {
    /// They begin the next one: τ = ⌊E·n_i/B⌋ (section 2 of the paper).
    FillsUp,
    /// They count as a batch, as PyTorch's loaders do: τ = ⌊E·⌈n_i/B⌉⌋.
    Counts,
}

/// An amount of work: drawn, or given per client.
#[derive(Clone, Debug, PartialEq)]
pub enum Amount {
    /// Drawn for each client.
    Drawn(Dist, Redraw),
    /// One number per client.
    Each(Vec<f64>),
}

/// When drawn work is drawn again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Redraw {
    /// Every round.
    Round,
    /// Never: a client keeps its first draw.
    Once,
}

/// `[server]`.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerConfig {
    /// When a round closes.
    pub close: Close,
    /// What becomes of work that arrives after its round closed.
    pub late: Late,
    /// What work from an older model is worth.
    pub staleness: Staleness,
    /// Work staler than this is dropped.
    pub max_staleness: Option<u64>,
    /// Clients kept busy where they are sent off one by one.
    pub concurrency: usize,
    /// What becomes of work cut short by the deadline.
    pub partial: Partial,
    /// How updates are combined.
    pub rule: RuleConfig,
    /// What becomes of what they come to.
    pub optimizer: OptimizerConfig,
    /// How many clients are asked each round.
    pub sample: Sample,
    /// How they are chosen.
    pub scheme: Scheme,
    /// Aggregations between evaluations.
    pub evaluate_every: u64,
}

impl ServerConfig {
    /// How many clients a round asks (or, by size, how often it draws) when nobody is busy.
    pub fn wanted(&self, clients: usize) -> usize {
        if let Some(asked) = self.close.asked() {
            return asked;
        }
        match self.sample {
            _ if self.close.is_asynchronous() => self.concurrency.min(clients),
            Sample::All => clients,
            Sample::Clients(count) => count,
            Sample::Fraction(part) => ((part * clients as f64).round() as usize).max(1),
        }
    }

    /// Whether every round asks every client.
    pub fn asks_all(&self) -> bool {
        self.sample == Sample::All && self.close.asked().is_none()
    }
}

/// What becomes of work that arrives after its round closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Late {
    /// It is dropped.
    Drop,
    /// It counts in the next aggregation, as if made in its round.
    Next,
    /// It counts in the next aggregation, less the staler it is.
    Stale,
}

/// What an update is worth that was made from an older model (Xie et al., FedAsync).
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum Staleness {
    /// As much as any.
    Constant,
    /// (1 + s)^−a.
    Polynomial(f64),
    /// 1 up to b, then 1/(a(s − b) + 1).
    Hinge { a: f64, b: f64 },
}

impl Staleness {
    /// What an update is worth after `staleness` aggregations that it has missed.
    pub fn discount(self, staleness: u64) -> f64 {
        let s = staleness as f64;
        match self {
            Staleness::Constant => 1.0,
            Staleness::Polynomial(a) => (1.0 + s).powf(-a),
            Staleness::Hinge { b, .. } if s <= b => 1.0,
            Staleness::Hinge { a, b } => 1.0 / (a * (s - b) + 1.0),
        }
    }
}

/// What becomes of work cut short by the deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Partial {
    /// A client stops in time for its upload and sends the steps it made.
    Keep,
    /// All or nothing: a client finishes its work however long it takes.
    Discard,
}

/// How many clients are asked each round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sample {
    /// Everyone.
    All,
    /// This many.
    Clients(usize),
    /// This part of all clients, rounded, at least one.
    Fraction(f64),
}
