//! How many cells run side by side.

use super::preflight::least_memory;
use super::{Cell, Options};
use crate::actors::ClockMode;
use crate::memory;
use crate::scenario::Scenario;
use crate::train::DeviceChoice;

/// What part of the memory that is left cells may fill together, by what each needs for certain.
const PART: f64 = 0.6;

/// As many as was asked for; else as many as there are threads, for a cell with one thread waits for nothing. Fewer if
/// they would not fit into memory. What users bring may not be made for several cells at once: such cells come one by
/// one unless it is asked otherwise.
pub(super) fn jobs(scenario: &Scenario, cells: &[Cell<'_>], options: &Options) -> usize {
    let fits = options.threads.min(cells.len()).max(1);
    match options.jobs {
        _ if options.clock_mode != ClockMode::Virtual => 1,
        Some(jobs) => jobs.clamp(1, cells.len().max(1)),
        None if fits == 1 || brings_its_own(scenario) || trains_on_gpu(scenario, options) => 1,
        None => fits.min(in_memory(scenario, options.timing_only)),
    }
}

fn brings_its_own(scenario: &Scenario) -> bool {
    let mut plans = scenario.variants.iter().map(|variant| &variant.plan);
    plans.any(|plan| plan.task.kind == "plugin" || !plan.plugins.is_empty())
}

/// A model on a GPU has it for itself.
fn trains_on_gpu(scenario: &Scenario, options: &Options) -> bool {
    let mut plans = scenario.variants.iter().map(|variant| &variant.plan);
    let is_deep = plans.any(|plan| plan.task.problem.depends_on_processor());
    !options.timing_only && is_deep && options.device != DeviceChoice::Cpu && has_gpu()
}

#[cfg(feature = "torch")]
fn has_gpu() -> bool {
    gruppetto_torch::check_device(DeviceChoice::Cuda(None)).is_ok()
}

#[cfg(not(feature = "torch"))]
fn has_gpu() -> bool {
    false
}

/// How many of the largest cells fit into the memory that is left.
pub(super) fn in_memory(scenario: &Scenario, timing_only: bool) -> usize {
    let needs = scenario.variants.iter().map(|variant| least_memory(&variant.plan, timing_only));
    let largest = needs.fold(1.0, f64::max);
    let left = memory::available().map_or(f64::MAX, |available| available.bytes);
    ((left * PART / largest) as usize).max(1)
}
