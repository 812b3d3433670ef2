//! What happened: the rows that a run leaves behind.

use crate::clock::{SimTime, Span};
use crate::metric::{Gradients, Metric, Metrics};
use std::fmt;
use std::sync::Arc;

/// How a client's participation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// Its update moved the model.
    Used,
    /// It arrived after its round had closed, and was dropped.
    Late,
    /// Not one step fitted before the deadline, so it sent nothing.
    NoStep,
    /// It was still on its way, or its round was still open, when the run ended.
    Unfinished,
    /// It vanished on its way.
    Dropped,
    /// It went offline on its way.
    Offline,
}

/// How far a participation got.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Leg {
    /// It ended during the download.
    Download,
    /// It ended while the client computed.
    Compute,
    /// It ended during the upload.
    Upload,
    /// It came to its end.
    Done,
}

impl Leg {
    /// Every leg of a way.
    pub const ALL: [Leg; 4] = [Leg::Download, Leg::Compute, Leg::Upload, Leg::Done];

    /// The name in `clients.csv` and `summary.json`.
    pub const fn name(self) -> &'static str {
        match self {
            Leg::Download => "download",
            Leg::Compute => "compute",
            Leg::Upload => "upload",
            Leg::Done => "done",
        }
    }
}

/// How a client's participation may end, in numbers.
pub const OUTCOMES: usize = Outcome::ALL.len();

/// Where the time of clients went, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Account {
    pub compute: u128,
    pub transfer: u128,
    pub idle: u128,
    pub offline: u128,
}

impl Account {
    /// All of it.
    pub fn total(&self) -> u128 {
        self.compute + self.transfer + self.idle + self.offline
    }

    /// Adds a participation.
    pub fn take_part(&mut self, row: &ClientRow) {
        self.compute += u128::from(row.compute.nanos());
        self.transfer += u128::from(row.download.nanos()) + u128::from(row.upload.nanos());
    }
}

impl Outcome {
    /// Every outcome, in file order.
    pub const ALL: [Outcome; 6] = [
        Outcome::Used,
        Outcome::Late,
        Outcome::NoStep,
        Outcome::Unfinished,
        Outcome::Dropped,
        Outcome::Offline,
    ];

    /// The name in `clients.csv` and `summary.json`.
    pub const fn name(self) -> &'static str {
        match self {
            Outcome::Used => "used",
            Outcome::Late => "late",
            Outcome::NoStep => "no_step",
            Outcome::Unfinished => "unfinished",
            Outcome::Dropped => "dropped",
            Outcome::Offline => "offline",
        }
    }
}

/// One client's participation in one round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClientRow {
    /// The round it was asked in, from 1.
    pub round: u64,
    /// Who.
    pub client: u32,
    /// Index of its class.
    pub class: u16,
    /// How it ended.
    pub outcome: Outcome,
    /// How far it got.
    pub leg: Leg,
    /// Aggregations between the model it started from and its arrival, beyond its own.
    pub staleness: u64,
    /// Local steps τ.
    pub tau: u64,
    /// ‖a‖₁.
    pub accumulation: f64,
    /// When it was asked.
    pub dispatched: SimTime,
    /// Time of the download.
    pub download: Span,
    /// Time of all steps.
    pub compute: Span,
    /// Time of the upload.
    pub upload: Span,
    /// When it was back with the server (or gave up).
    pub arrived: SimTime,
    /// How long it had been idle since it was last back; `None` if it takes part for the first time.
    pub idle: Option<Span>,
    /// How long before its arrival its model had been replaced by a newer one.
    pub superseded: Span,
    /// Its weight w up to a factor that its round's [`RoundRow::weight_scale`] gives; 0 if unused.
    pub raw_weight: f64,
}

/// One aggregation.
#[derive(Clone, Debug, PartialEq)]
pub struct RoundRow {
    /// From 1.
    pub round: u64,
    /// When it closed.
    pub closed: SimTime,
    /// How long the server had waited for clients before it opened.
    pub waited: Span,
    /// What learning rates were multiplied by.
    pub lr_factor: f64,
    /// Clients asked.
    pub asked: usize,
    /// Updates used.
    pub arrived: usize,
    /// Clients still on their way.
    pub busy: usize,
    /// Effective steps.
    pub tau_eff: f64,
    /// Smallest, mean and largest τ of the updates used; zeros if there were none.
    pub tau: [f64; 3],
    /// χ² of the effective weights so far.
    pub chi2: f64,
    /// Share of the clients never heard so far.
    pub missing_mass: f64,
    /// What turns raw weights into w.
    pub weight_scale: f64,
    /// The evaluation, if one was due.
    pub metrics: Option<Metrics>,
    /// How far the clients' gradients were apart, if that was measured.
    pub gradients: Option<Gradients>,
}

/// What everybody weighed when the run ended.
#[derive(Clone, Debug)]
pub struct Weights {
    /// Shares p_i: what a client should weigh.
    pub p: Arc<[f64]>,
    /// Effective weights ŵ_i: what it has weighed.
    pub effective: Vec<f64>,
    /// Everybody's class.
    pub classes: Arc<[u16]>,
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StopReason {
    /// `[stop] rounds`.
    Rounds,
    /// `[stop] time`.
    Time,
    /// `[stop] target`.
    Target,
    /// No client is there, and none will ever come.
    Deserted,
    /// Everybody who is asked vanishes at that very instant, so that time stands still.
    Unreachable,
    /// The user wanted it to end.
    Interrupted,
    /// The model blew up.
    Diverged(Divergence),
}

/// How a run shows that its model blew up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Divergence {
    /// Parameters are no longer finite numbers.
    Model,
    /// A metric is no longer a finite number.
    Metric(Metric),
    /// The training loss is this much, many times what it was at the start.
    #[allow(missing_docs)]
    Loss { now: f64, start: f64 },
}

impl fmt::Display for Divergence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Divergence::Model => f.write_str("the model has parameters that are not finite"),
            Divergence::Metric(metric) => write!(f, "{metric} is not finite"),
            Divergence::Loss { now, start } => {
                let times = now / start;
                write!(f, "train_loss is {now:.4e}, {times:.1e} times its {start:.4e} at the start")
            }
        }
    }
}

impl StopReason {
    /// The name in `summary.json`.
    pub const fn name(self) -> &'static str {
        match self {
            StopReason::Rounds => "rounds",
            StopReason::Time => "time",
            StopReason::Target => "target",
            StopReason::Deserted => "deserted",
            StopReason::Unreachable => "unreachable",
            StopReason::Interrupted => "interrupted",
            StopReason::Diverged(_) => "diverged",
        }
    }
}
