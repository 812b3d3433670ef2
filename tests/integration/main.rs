//! Behaviour seen from outside the library, one file per kind.

mod deadline;
mod failures;
mod lemma_one;
mod memory;
mod properties;
mod repeatable;
mod scenario_docs;
mod scenario_errors;
mod scenario_hostile;
mod scenario_overrides;
mod scenario_values;
mod shipped;
mod simulated;
