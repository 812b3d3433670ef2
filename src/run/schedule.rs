//! What a run's schedule came to in the words of Theorem 1, beside what the run measured: for those
//! whose `[[expect]]`s speak of it.

use super::build::BuildError;
use super::survey::Survey;
use super::theory::{fixed_point, problem};
use crate::run_files::{RestSummary, ScheduleSummary};
use crate::scenario::Plan;
use crate::theory::Averages;
use std::sync::{Arc, Mutex, PoisonError};

/// A survey of a run: one handle observes it, the other is kept.
pub(super) fn survey(plan: &Plan, seed: u64) -> Result<Arc<Mutex<Survey>>, BuildError> {
    let p = plan.task.shares(seed)?.p.into();
    let quadratic = plan.task.problem.quadratic().is_some();
    Ok(Survey::new(p, plan.client.recipe.clone(), quadratic))
}

/// What the survey found; `x` is where the model ended, if there is one.
pub(super) fn conclude(
    plan: &Plan,
    seed: u64,
    survey: &Mutex<Survey>,
    x: Option<&[f64]>,
) -> Option<ScheduleSummary> {
    let survey = survey.lock().unwrap_or_else(PoisonError::into_inner);
    let Averages { tau, tau_eff, a, b, c, .. } = survey.rounds.average()?;
    let rest = problem(plan, seed, survey.shares()).and_then(|problem| {
        let predicted = fixed_point(plan, &problem, &survey)?;
        let gap = x.map(|x| {
            let pairs = x.iter().zip(&predicted.x);
            pairs.map(|(x, predicted)| (x - predicted).powi(2)).sum::<f64>().sqrt()
        });
        let (distance, on_average) = (predicted.distance, predicted.on_average);
        Some(RestSummary { distance, gap: gap.filter(|gap| gap.is_finite()), on_average })
    });
    Some(ScheduleSummary { tau_eff, slowdown: tau / tau_eff, a, b, c, fixed_point: rest })
}
