//! Behaviour seen from outside the library, one file per kind.

mod any_devices;
mod asynchronous;
mod broken_checkpoints;
mod by_hand;
mod calibrate;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod check_tools;
mod command_line;
mod compression;
mod conservation;
mod cross_check;
mod data_mutations;
mod data_sets;
mod deadline;
#[cfg(feature = "torch")]
mod deep;
#[cfg(feature = "torch")]
mod deep_scenarios;
mod devices;
mod divergence;
mod documented;
mod equivalences;
mod evaluation;
mod examples;
mod expectations;
mod failures;
mod foresight;
mod full_disk;
mod get_data;
mod golden;
mod interrupted_early;
mod key_reference;
mod kill;
mod kill_points;
mod killed;
mod lemma_one;
#[cfg(unix)]
mod libtorch;
mod many_runs;
#[cfg(target_os = "linux")]
mod memory;
#[cfg(feature = "torch")]
mod odd_scripts;
mod opening;
mod output_docs;
mod outputs;
mod plain_server;
mod plugins;
mod predictions;
mod properties;
mod refusals;
mod repeatable;
mod replay;
mod report;
mod resume;
mod resume_plugins;
mod rooms;
mod scenario_devices;
mod scenario_docs;
mod scenario_errors;
mod scenario_events;
mod scenario_hostile;
mod scenario_overrides;
mod scenario_values;
mod selection;
mod shipped;
mod simulated;
mod support;
mod sweeps;
mod tables;
mod theory_and_runs;
mod three_traces;
mod tools;
mod trace_files;
mod trace_fit;
mod trace_import;
mod trace_mutations;
mod trace_pickles;
mod trace_record;
mod trace_synth;
mod waiting;
mod wall_clock;
#[cfg(unix)]
mod watch;
