//! What comes out of validation. Code past this point never checks again.

use crate::data::TaskConfig;
use crate::device::{EventConfig, FleetConfig};
use crate::metric::Metric;
use crate::plugins::ChosenPlugins;
use crate::policy::{ClientConfig, ServerConfig, Stop};
use crate::sweep::{Swept, SweptKey};
use std::path::PathBuf;

/// A whole scenario file, overrides applied, every choice made.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Scenario {
    /// `name`.
    pub name: String,
    /// `description`, or empty.
    pub description: String,
    /// `seed`.
    pub seed: u64,
    /// `repeats`: every variant is run with seed, seed+1, ….
    pub repeats: u64,
    /// What is swept.
    pub sweep: Vec<SweptKey>,
    /// At least one; a scenario without `[[variant]]` has one, named after its weighting. With a sweep, every variant
    /// with every combination of values, in the order of the variants.
    pub variants: Vec<Variant>,
    /// `[record] clients`.
    pub record_clients: RecordClients,
    /// Who is in `timeline.json.gz`.
    pub record_timeline: RecordClients,
    /// `[[expect]]`.
    pub expects: Vec<Expect>,
    /// The scenario as TOML with overrides applied: enough to repeat the run.
    pub resolved: String,
    /// The same without the folders of the files that it names.
    pub(crate) portable: String,
    /// The files and folders that it names, in order.
    pub inputs: Vec<PathBuf>,
    /// What is odd about the scenario without being wrong, each with its place.
    pub warnings: Vec<String>,
}

/// One variant: the scenario with its own overrides and, with a sweep, a combination of values.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Variant {
    /// The label of the combination, shown in tables; without a sweep the name of the variant.
    pub name: String,
    /// The name of the variant.
    pub variant: String,
    /// The values of swept keys.
    pub swept: Swept,
    /// What is run.
    pub plan: Plan,
}

/// Everything one run needs.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Plan {
    /// `[task]`.
    pub task: TaskConfig,
    /// `[client]`.
    pub client: ClientConfig,
    /// `[server]`.
    pub server: ServerConfig,
    /// `[fleet]`.
    pub fleet: FleetConfig,
    /// `[[event]]`.
    pub events: Vec<EventConfig>,
    /// `[stop]`.
    pub stop: Stop,
    /// `[server] evaluate_every`; `server.evaluate_every` is the number that is used.
    pub evaluate_every: EvaluateEvery,
    /// Those of its policies that users bring.
    pub plugins: ChosenPlugins,
}

/// How often a model is evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EvaluateEvery {
    /// So often that it costs little.
    Auto,
    /// After every so many aggregations.
    Rounds(u64),
}

/// Which clients get rows in `clients.csv`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordClients {
    /// Every client.
    All,
    /// A fixed random set of this many.
    Sample(usize),
    /// None.
    Off,
}

/// `[[expect]]`: what must come out.
#[derive(Clone, Debug, PartialEq)]
pub struct Expect {
    /// What is measured.
    pub that: Subject,
    /// Of which variant (an index into the scenario's variants); the first, where it is of all.
    pub of: usize,
    /// The condition.
    pub bound: ExpectBound,
}

/// What is measured of a variant over its seeds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Subject {
    /// The mean of a quantity.
    Mean(Quantity),
    /// How far one quantity goes with another, from run to run.
    Correlation(Quantity, Quantity, Over),
}

/// The runs that a correlation is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Over {
    /// Those of one variant, which differ in their seeds.
    Seeds,
    /// All of the scenario.
    AllRuns,
}

impl Subject {
    /// The quantities it is made of.
    pub fn quantities(self) -> impl Iterator<Item = Quantity> {
        let (one, other) = match self {
            Subject::Mean(one) => (one, None),
            Subject::Correlation(one, other, _) => (one, Some(other)),
        };
        std::iter::once(one).chain(other)
    }
}

impl Scenario {
    /// Whether an `[[expect]]` speaks of the schedule in the words of the theory.
    pub fn asks_for_schedule(&self) -> bool {
        let mut quantities = self.expects.iter().flat_map(|expect| expect.that.quantities());
        quantities.any(|quantity| quantity.is_of_schedule())
    }
}

/// What an `[[expect]]` may speak about, by its name in `summary.json`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Quantity {
    /// A final metric.
    Metric(Metric),
    /// `rounds`.
    Rounds,
    /// `virtual_seconds`.
    VirtualSeconds,
    /// `chi2`.
    Chi2,
    /// `missing_mass`.
    MissingMass,
    /// `waste`.
    Waste,
    /// `diverged`: 1 if the run did, 0 if not.
    Diverged,
    /// `tau_eff`, the mean over the rounds.
    TauEff,
    /// `slowdown`: τ̄/τ_eff.
    Slowdown,
    /// `A` of Theorem 1.
    A,
    /// `fixed_point_gap`: how far from where the theory says it rests a quadratic ended.
    FixedPointGap,
}

impl Quantity {
    /// Those that every task has.
    pub const OF_EVERY_TASK: [Quantity; 9] = [
        Quantity::Rounds,
        Quantity::VirtualSeconds,
        Quantity::Chi2,
        Quantity::MissingMass,
        Quantity::Waste,
        Quantity::Diverged,
        Quantity::TauEff,
        Quantity::Slowdown,
        Quantity::A,
    ];

    /// Its name in scenarios.
    pub fn name(self) -> &'static str {
        match self {
            Quantity::Metric(metric) => metric.name(),
            Quantity::Rounds => "rounds",
            Quantity::VirtualSeconds => "virtual_seconds",
            Quantity::Chi2 => "chi2",
            Quantity::MissingMass => "missing_mass",
            Quantity::Waste => "waste",
            Quantity::Diverged => "diverged",
            Quantity::TauEff => "tau_eff",
            Quantity::Slowdown => "slowdown",
            Quantity::A => "A",
            Quantity::FixedPointGap => "fixed_point_gap",
        }
    }

    /// Whether there is none of it in a run that does not train.
    pub fn is_trained(self) -> bool {
        matches!(self, Quantity::Metric(_) | Quantity::Diverged | Quantity::FixedPointGap)
    }

    fn is_of_schedule(self) -> bool {
        use Quantity::{A, FixedPointGap, Slowdown, TauEff};
        matches!(self, TauEff | Slowdown | A | FixedPointGap)
    }
}

/// The condition of an `[[expect]]`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExpectBound {
    /// Which side.
    pub side: Side,
    /// Of what.
    pub of: Reference,
    /// `times`: what another variant's value is multiplied by.
    pub times: f64,
    /// `within`: how far on the other side is still good enough (absolute difference).
    pub within: f64,
}

/// Which side of a value is expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// `at_least`.
    AtLeast,
    /// `at_most`.
    AtMost,
    /// `equals`: neither side, but for what `within` allows.
    Equals,
}

/// A number, or the same quantity of another variant (an index into the scenario's variants).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reference {
    /// A number.
    Number(f64),
    /// Another variant.
    Variant(usize),
}
