//! From a TOML file to a [`Scenario`] that cannot be wrong.

mod plan;

pub use plan::{Expect, ExpectBound, Plan, Quantity, RecordClients, Reference, Scenario, Variant};
