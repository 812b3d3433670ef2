//! What comes out of validation. Code past this point never checks again.

use crate::data::TaskConfig;
use crate::device::{EventConfig, FleetConfig};
use crate::metric::Metric;
use crate::policy::{ClientConfig, ServerConfig, Stop};

/// A whole scenario file, overrides applied, every choice made.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// `name`.
    pub name: String,
    /// `description`, or empty.
    pub description: String,
    /// `seed`.
    pub seed: u64,
    /// `repeats`: every variant is run with seed, seed+1, ….
    pub repeats: u64,
    /// At least one; a scenario without `[[variant]]` has one, named after its weighting.
    pub variants: Vec<Variant>,
    /// `[record] clients`.
    pub record_clients: RecordClients,
    /// Who is in `timeline.json.gz`.
    pub record_timeline: RecordClients,
    /// `[[expect]]`.
    pub expects: Vec<Expect>,
    /// The scenario as TOML with overrides applied: enough to repeat the run.
    pub resolved: String,
    /// What is odd about the scenario without being wrong, each with its place.
    pub warnings: Vec<String>,
}

/// One variant: the scenario with its own overrides.
#[derive(Clone, Debug, PartialEq)]
pub struct Variant {
    /// Shown in tables and files.
    pub name: String,
    /// What is run.
    pub plan: Plan,
}

/// Everything one run needs.
#[derive(Clone, Debug, PartialEq)]
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
    /// A metric of `summary.json`.
    pub that: Quantity,
    /// Of which variant (an index into the scenario's variants).
    pub of: usize,
    /// The condition.
    pub bound: ExpectBound,
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
}

/// The condition of an `[[expect]]`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExpectBound {
    /// Which side.
    pub side: Side,
    /// Of what.
    pub of: Reference,
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
