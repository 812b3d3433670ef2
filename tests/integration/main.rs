//! Behaviour seen from outside the library, one file per kind.

mod scenario_errors;
