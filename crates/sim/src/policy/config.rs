//! What a scenario can say about rounds and work, validated.

use super::{Character, Drawing, Sending};
use crate::aggregate::{OptimizerConfig, RuleConfig};
use crate::clock::Span;
use crate::compress::Packing;
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

    /// Whether every round asks everybody.
    pub fn asks_all(&self) -> bool {
        self.sample == Sample::All && self.close.asked().is_none()
    }
}

/// When a round closes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Close {
    /// When everyone asked has answered.
    All,
    /// At a fixed time after it opened, or earlier if everyone asked has answered.
    Deadline(Span),
    /// At a percentile of how long clients took in the last rounds; the first round waits for all.
    Adaptive(Adaptive),
    /// When the first `first` of `of` asked have answered (over-selection).
    #[allow(missing_docs)]
    First { first: usize, of: usize },
    /// When so many updates have arrived, from whichever version of the model (FedBuff; one is
    /// FedAsync).
    Buffer(usize),
    /// At fixed intervals, with whatever has arrived.
    Window(Span),
    /// As a plug-in says, of which this is known.
    Plugin(Character),
}

/// A deadline that follows the clients.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Adaptive {
    /// Above 0, up to 100.
    pub percentile: f64,
    /// Rounds that are looked at.
    pub of: usize,
}

impl Close {
    /// Whether clients are sent off one by one, as others come back, instead of round by round.
    pub fn is_asynchronous(self) -> bool {
        self.character().sending == Sending::OneByOne
    }

    /// Whether a deadline ends a round, and with it the work of its clients.
    pub fn has_deadline(self) -> bool {
        self.character().deadline
    }

    /// Whether clients can work until the deadline: every round has one. A plug-in's policy is trusted
    /// until it gives none.
    pub fn limits_work(self) -> bool {
        self.has_deadline() && self.adaptive().is_none()
    }

    /// The deadline, if it is the same in every round.
    pub fn fixed_deadline(self) -> Option<Span> {
        match self {
            Close::Deadline(after) => Some(after),
            _ => None,
        }
    }

    /// How the deadline follows the clients, if it does.
    pub fn adaptive(self) -> Option<Adaptive> {
        match self {
            Close::Adaptive(adaptive) => Some(adaptive),
            _ => None,
        }
    }

    /// How many clients a round asks, if that is part of the policy.
    pub fn asked(self) -> Option<usize> {
        match self {
            Close::First { of, .. } => Some(of),
            _ => None,
        }
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

/// How clients are chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scheme {
    /// Without replacement, all equally likely.
    Uniform,
    /// With replacement, with probability p_i.
    BySize,
    /// In turn, by number.
    RoundRobin,
    /// By how much and how fast each brought so far (Oort).
    Oort(OortConfig),
    /// So many tiers of equally fast clients, one of them in each round (TiFL).
    Tiers(usize),
    /// As a plug-in says, which draws like this.
    Plugin(Drawing),
}

/// How Oort weighs what it knows (Lai et al., OSDI 2021).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OortConfig {
    /// The part of the clients of the first round that is drawn from those never heard.
    pub exploration: f64,
    /// What that part is multiplied by from round to round.
    pub decay: f64,
    /// What it does not fall below.
    pub least: f64,
    /// How much clients are avoided that take longer than the preferred round.
    pub alpha: f64,
    /// How long a round should take; `None`: it follows the clients heard.
    pub round_time: Option<Span>,
}

impl OortConfig {
    /// As published.
    pub const PUBLISHED: OortConfig =
        OortConfig { exploration: 0.9, decay: 0.98, least: 0.2, alpha: 2.0, round_time: None };
}
