//! Behaviour seen from outside the library, one file per kind.

mod command_line;
mod cross_check;
mod deadline;
mod failures;
mod full_disk;
mod kill;
mod lemma_one;
mod memory;
mod outputs;
mod properties;
mod refusals;
mod repeatable;
mod scenario_docs;
mod scenario_errors;
mod scenario_hostile;
mod scenario_overrides;
mod scenario_values;
mod shipped;
mod simulated;
mod support;
mod wall_clock;
