//! Whether what came out is what a scenario said must come out.

use super::correlation::rank_correlation;
use crate::report::number;
use crate::run_files::{ExpectResult, Summary, VariantSummary};
use crate::scenario::{
    Expect, ExpectBound, Over, Plan, Quantity, Reference, Scenario, Side, Subject,
};

/// Judges every `[[expect]]`, on the means over seeds. A run without training has no metrics, so
/// what is expected of them is skipped.
pub fn judge(scenario: &Scenario, runs: &[VariantSummary], timing_only: bool) -> Vec<ExpectResult> {
    let judge = |expect: &Expect| {
        let judged = judge_one(scenario, expect, runs);
        let trained = expect.that.quantities().any(Quantity::is_trained);
        let skipped = timing_only && trained;
        ExpectResult { skipped, ok: judged.ok && !skipped, ..judged }
    };
    scenario.expects.iter().map(judge).collect()
}

/// Whether some run diverged, or ended before its time because no client could come, of which no
/// `[[expect]]` that is met speaks: what was foreseen is a result, anything else is a failure.
pub fn has_failed(scenario: &Scenario, summary: &Summary) -> bool {
    let met = |name: &str, speaks: &dyn Fn(&Expect, &Plan) -> bool| {
        scenario.expects.iter().zip(&summary.expect).any(|(expect, result)| {
            let variant = &scenario.variants[expect.of];
            result.ok && variant.name == name && speaks(expect, &variant.plan)
        })
    };
    summary.variants.iter().any(|run| {
        let diverged =
            run.diverged.is_some() && !met(&run.name, &|expect, _| foresees_divergence(expect));
        diverged || (run.is_abandoned() && !met(&run.name, &foresees_an_early_end))
    })
}

fn foresees_divergence(expect: &Expect) -> bool {
    expect.that == Subject::Mean(Quantity::Diverged) && says_that_it_happens(&expect.bound)
}

/// Whether a bound on rounds or on time cannot be met by a run that comes to its end.
fn foresees_an_early_end(expect: &Expect, plan: &Plan) -> bool {
    let end = match expect.that {
        Subject::Mean(Quantity::Rounds) => plan.stop.rounds.map(|rounds| rounds as f64),
        Subject::Mean(Quantity::VirtualSeconds) => plan.stop.time.map(|time| time.seconds()),
        _ => None,
    };
    match (expect.bound.side, expect.bound.of) {
        (Side::AtMost | Side::Equals, Reference::Number(value)) => {
            end.is_some_and(|end| value + expect.bound.within < end)
        }
        _ => false,
    }
}

/// Whether a bound on `diverged` cannot be met without it.
fn says_that_it_happens(bound: &ExpectBound) -> bool {
    match (bound.side, bound.of) {
        (Side::AtLeast | Side::Equals, Reference::Number(value)) => value - bound.within > 0.0,
        (Side::AtLeast | Side::Equals, Reference::Variant(_)) => true,
        (Side::AtMost, _) => false,
    }
}

fn judge_one(scenario: &Scenario, expect: &Expect, runs: &[VariantSummary]) -> ExpectResult {
    let name = |variant: usize| scenario.variants[variant].name.as_str();
    let measure = |variant: usize| measured(expect.that, name(variant), runs);
    let ExpectBound { side, of, times, within } = expect.bound;
    let value = |reference: &Reference| match reference {
        Reference::Number(value) => Some(*value),
        Reference::Variant(variant) => measure(*variant).map(|value| value * times),
    };
    let words = |reference: &Reference| match reference {
        Reference::Number(value) => given(*value),
        Reference::Variant(variant) => {
            let measured = measure(*variant).map_or("nothing".into(), number);
            match times {
                1.0 => format!("{}'s {measured}", name(*variant)),
                times => format!("{times} times {}'s {measured}", name(*variant)),
            }
        }
    };
    let measured = measure(expect.of);
    let holds = |measured: f64, bound: f64| match side {
        Side::AtLeast => measured >= bound - within,
        Side::AtMost => measured <= bound + within,
        Side::Equals => (measured - bound).abs() <= within,
    };
    let ok = measured.zip(value(&of)).is_some_and(|(measured, bound)| holds(measured, bound));
    let condition = match (side, within) {
        (Side::AtLeast, 0.0) => format!("at least {}", words(&of)),
        (Side::AtMost, 0.0) => format!("at most {}", words(&of)),
        (Side::AtLeast, within) => format!("at least {} less {}", words(&of), given(within)),
        (Side::AtMost, within) => format!("at most {} plus {}", words(&of), given(within)),
        (Side::Equals, within) => format!("within {} of {}", given(within), words(&of)),
    };
    let whose = match expect.that {
        Subject::Correlation(.., Over::AllRuns) => "all runs",
        _ => name(expect.of),
    };
    let that = format!("{} of {whose} {condition}", subject_name(expect.that));
    ExpectResult { that, ok, skipped: false, measured }
}

fn measured(that: Subject, variant: &str, runs: &[VariantSummary]) -> Option<f64> {
    let own = || runs.iter().filter(|run| run.name == variant);
    match that {
        Subject::Mean(that) => {
            let values: Vec<f64> = own().map(|run| quantity(that, run)).collect::<Option<_>>()?;
            // A run that diverged has no number that could be compared.
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            mean.is_finite().then_some(mean)
        }
        Subject::Correlation(one, other, over) => {
            let among = runs.iter().filter(|run| over == Over::AllRuns || run.name == variant);
            let pairs = among.map(|run| Some((quantity(one, run)?, quantity(other, run)?)));
            rank_correlation(&pairs.collect::<Option<Vec<_>>>()?)
        }
    }
}

fn quantity(that: Quantity, run: &VariantSummary) -> Option<f64> {
    match that {
        Quantity::Metric(metric) => run.metrics.get(metric),
        Quantity::Rounds => Some(run.rounds as f64),
        Quantity::VirtualSeconds => Some(run.virtual_seconds),
        // Of nobody there is none; and what is left by rounding is no distance.
        Quantity::Chi2 if run.missing_mass >= 1.0 => None,
        Quantity::Chi2 => Some(if run.chi2 < 1e-12 { 0.0 } else { run.chi2 }),
        Quantity::MissingMass => Some(run.missing_mass),
        Quantity::Waste => Some(run.waste),
        Quantity::Diverged => Some(f64::from(u8::from(run.diverged.is_some()))),
        Quantity::TauEff => run.schedule.map(|schedule| schedule.tau_eff),
        Quantity::Slowdown => run.schedule.map(|schedule| schedule.slowdown),
        Quantity::A => run.schedule.map(|schedule| schedule.a),
        Quantity::FixedPointGap => run.schedule?.fixed_point?.gap,
    }
}

/// A number as somebody would write it in a scenario.
fn given(value: f64) -> String {
    match value.abs() {
        0.0 | 1e-4..1e9 => format!("{value}"),
        _ => format!("{value:e}"),
    }
}

fn subject_name(that: Subject) -> String {
    match that {
        Subject::Mean(that) => that.name().into(),
        Subject::Correlation(one, other, _) => {
            format!("correlation of {} and {}", one.name(), other.name())
        }
    }
}
