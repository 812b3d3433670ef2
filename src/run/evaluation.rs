//! How often a run evaluates its model where the scenario leaves that to the program.
//!
//! An evaluation goes over all samples. One after every aggregation may cost more than the training: with
//! many clients that make a few steps each, nine tenths of the time. So without a word about it a run
//! evaluates so rarely that this costs at most a tenth of what training costs, counted in samples, but
//! at least twenty times. All variants of a scenario evaluate after the same rounds, so that they can be
//! compared. The number follows from the scenario alone, not from the machine.

use super::build::BuildError;
use super::estimate::{Estimate, estimate};
use crate::scenario::{EvaluateEvery, Scenario, Variant};
use std::borrow::Cow;

/// The part of the training that evaluations may cost.
const PART: f64 = 0.1;

/// Evaluations that there are at least, if there are as many rounds.
const LEAST: u64 = 20;

/// The scenario with a number of rounds between evaluations wherever it says "auto".
pub fn with_evaluations(scenario: &Scenario) -> Result<Cow<'_, Scenario>, BuildError> {
    let is_auto = |variant: &Variant| variant.plan.evaluate_every == EvaluateEvery::Auto;
    // Nothing to weigh: a target must be seen when it is reached, and tasks without samples are evaluated
    // in no time.
    let free = scenario.variants.iter().all(|variant| {
        variant.plan.stop.target.is_some() || variant.plan.task.problem.without_samples().is_some()
    });
    if free || !scenario.variants.iter().any(is_auto) {
        return Ok(Cow::Borrowed(scenario));
    }
    let every = rounds_between(&estimate(scenario, 1)?);
    let mut settled = scenario.clone();
    for variant in settled.variants.iter_mut().filter(|variant| is_auto(variant)) {
        let aims = variant.plan.stop.target.is_some();
        variant.plan.server.evaluate_every = if aims { 1 } else { every };
    }
    Ok(Cow::Owned(settled))
}

/// Rounds between two evaluations for variants of which this is expected.
fn rounds_between(estimates: &[Estimate]) -> u64 {
    let cheap = estimates.iter().map(|estimate| match estimate.trained {
        trained if trained > 0.0 => (estimate.evaluated / (PART * trained)).ceil() as u64,
        _ => 1,
    });
    let often =
        estimates.iter().filter_map(|estimate| estimate.rounds).map(|rounds| rounds / LEAST);
    cheap.max().unwrap_or(1).min(often.min().unwrap_or(u64::MAX)).max(1)
}
