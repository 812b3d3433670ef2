//! What a run's schedule came to in the words of Theorem 1, beside what the run measured: for those
//! whose `[[expect]]`s speak of it.

use super::build::BuildError;
use super::survey::Survey;
use super::theory::{fixed_point, problem};
use crate::data::TaskKind;
use crate::report::Ledger;
use crate::run_files::{RestSummary, ScheduleSummary};
use crate::scenario::Plan;
use crate::theory::Averages;
use std::sync::{Arc, Mutex, PoisonError};

/// Has a run surveyed.
pub(super) fn listen(
    plan: &Plan,
    seed: u64,
    ledger: &mut Ledger,
) -> Result<Arc<Mutex<Survey>>, BuildError> {
    let p = plan.task.shares(seed)?.p.into();
    let quadratic = matches!(plan.task.kind, TaskKind::Quadratic(_));
    let survey = Survey::new(p, plan.client.recipe.clone(), quadratic);
    ledger.listen(Box::new(survey.clone()));
    Ok(survey)
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
