//! What can be known to fail before anything is touched.

use super::build::check_start;
use super::first_round::never_opens;
use crate::device::ClassConfig;
use crate::memory;
use crate::policy::{Amount, Batch, WorkConfig};
use crate::scenario::{Plan, Scenario};
use crate::train::DeviceChoice;

/// More local steps than this in one round are surely a slip of a unit.
const MOST_STEPS: f64 = 1e9;

/// Whether this program and this machine have the device that is asked for.
pub fn check_device(choice: DeviceChoice) -> Result<(), String> {
    if !matches!(choice, DeviceChoice::Cuda(_)) {
        return Ok(());
    }
    #[cfg(feature = "torch")]
    return gruppetto_torch::check_device(choice).map_err(|error| format!("error: {error}"));
    #[cfg(not(feature = "torch"))]
    Err("error: --device cuda: this program was built without libtorch\n  \
         = help: make torch builds one with it"
        .into())
}

/// Looks for reasons why a scenario cannot be run here. `timing_only` runs need no data.
pub fn preflight(scenario: &Scenario, timing_only: bool) -> Result<(), String> {
    let available = memory::available();
    for variant in &scenario.variants {
        let fail = |text: String| Err(format!("error: variant {}: {text}", variant.name));
        let plan = &variant.plan;
        let endless = plan.stop.rounds.is_none() && plan.stop.time.is_none();
        if timing_only && endless {
            return fail(
                "without training it would never end: [stop] has only a target, and nothing is \
                 measured\n  = help: add --set stop.rounds=100"
                    .into(),
            );
        }
        if let Some(steps) = steps_until_deadline(plan)
            && steps > MOST_STEPS
        {
            return fail(format!(
                "the fastest class makes {steps:.1e} local steps before the deadline, more than \
                 {MOST_STEPS:.0e}\n  = help: is the unit of `step_time` or of the deadline right?"
            ));
        }
        if let Some(steps) = steps_of_epochs(plan)
            && steps > MOST_STEPS
        {
            return fail(format!(
                "a usual client makes {steps:.1e} local steps in a round, more than {MOST_STEPS:.0e}\n  \
                 = help: fewer `epochs`, or a larger `batch`"
            ));
        }
        let needed = least_memory(plan, timing_only);
        if let Some(available) = &available
            && needed > available.bytes
        {
            return fail(format!(
                "it needs at least {:.1} GB of memory and {}\n  = help: fewer clients, smaller \
                 samples, or --timing-only",
                needed / 1e9,
                available.describe()
            ));
        }
        if let Some(text) = never_opens(scenario, plan) {
            return fail(text);
        }
        if let (false, Err(error)) = (timing_only, check_start(plan)) {
            return fail(error.to_string());
        }
    }
    Ok(())
}

/// Steps of the fastest class's typical device, where the deadline alone ends the work.
fn steps_until_deadline(plan: &Plan) -> Option<f64> {
    let deadline = plan.server.close.fixed_deadline()?;
    if plan.client.work != WorkConfig::UntilDeadline {
        return None;
    }
    let times = plan.fleet.classes.iter().filter_map(ClassConfig::step_time);
    let steps = times.map(|time| time.typical().max(1.0));
    Some(deadline.nanos() as f64 / steps.fold(f64::INFINITY, f64::min))
}

/// Steps of a typical client in a round, where it passes over its samples.
fn steps_of_epochs(plan: &Plan) -> Option<f64> {
    let WorkConfig::Epochs(amount, _) = &plan.client.work else {
        return None;
    };
    let epochs = match amount {
        Amount::Drawn(dist, _) => dist.typical(),
        Amount::Each(each) => each.iter().copied().fold(0.0, f64::max),
    };
    let samples = plan.task.problem.typical_samples();
    match plan.client.batch {
        Batch::Full => Some(epochs),
        Batch::Size(size) => Some(epochs * (samples / size as f64).max(1.0)),
    }
}

/// Bytes that are needed for certain: bookkeeping of all clients, actors of those who are asked at
/// once, a few copies of the model and, for training, the data.
pub(super) fn least_memory(plan: &Plan, timing_only: bool) -> f64 {
    let clients = plan.task.clients as f64;
    let asked = plan.server.wanted(plan.task.clients) as f64;
    let schedule = 80.0 * clients + 1000.0 * asked;
    if timing_only {
        return schedule;
    }
    let data = plan.task.data_bytes(clients * plan.task.problem.typical_samples());
    let keeps = plan.client.variance_reduction.is_some() || plan.client.packing.error_feedback;
    let state = if keeps { clients } else { 0.0 };
    let evaluation = plan.task.problem.evaluation_bytes();
    schedule
        + data
        + evaluation
        + (4.0 + state) * 8.0 * plan.task.problem.stored_parameters() as f64
}
