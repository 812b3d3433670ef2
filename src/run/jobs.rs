//! How many cells run side by side.

use super::estimate::Estimate;
use super::{Cell, Options};
use crate::actors::ClockMode;
use crate::memory;
use crate::scenario::Scenario;
use crate::train::DeviceChoice;

/// What part of the memory that is left cells may fill together.
const PART: f64 = 0.8;

/// As many as was asked for; else as many as there are threads, for a cell with one thread waits for nothing. Fewer if
/// they would not fit into memory. What users bring may not be made for several cells at once: such cells come one by
/// one unless it is asked otherwise.
pub(super) fn jobs(
    scenario: &Scenario,
    cells: &[Cell<'_>],
    options: &Options,
    estimates: impl FnOnce() -> Vec<Estimate>,
) -> usize {
    let fits = options.threads.min(cells.len()).max(1);
    match options.jobs {
        _ if options.clock_mode != ClockMode::Virtual => 1,
        Some(jobs) => jobs.clamp(1, cells.len().max(1)),
        None if fits == 1 || brings_its_own(scenario) || trains_on_gpu(scenario, options) => 1,
        None => fits.min(in_memory(&estimates())),
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
pub(super) fn in_memory(estimates: &[Estimate]) -> usize {
    let largest = estimates.iter().map(Estimate::bytes).max().unwrap_or(0).max(1);
    let left = memory::available().map_or(f64::MAX, |available| available.bytes);
    ((left * PART / largest as f64) as usize).max(1)
}
