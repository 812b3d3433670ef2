//! Whether what came out is what a scenario said must come out.

use crate::report::{ExpectResult, Summary, VariantSummary, number};
use crate::scenario::{Expect, ExpectBound, Quantity, Reference, Scenario, Side};

/// Judges every `[[expect]]`, on the means over seeds. A run without training has no metrics, so
/// what is expected of them is skipped.
pub fn judge(scenario: &Scenario, runs: &[VariantSummary], timing_only: bool) -> Vec<ExpectResult> {
    let judge = |expect: &Expect| {
        let judged = judge_one(scenario, expect, runs);
        let trained = matches!(expect.that, Quantity::Metric(_) | Quantity::Diverged);
        let skipped = timing_only && trained;
        ExpectResult { skipped, ok: judged.ok && !skipped, ..judged }
    };
    scenario.expects.iter().map(judge).collect()
}

/// Whether some run diverged of which no `[[expect]]` that is met speaks: a divergence that was
/// foreseen is a result, any other is a failure.
pub fn has_failed(scenario: &Scenario, summary: &Summary) -> bool {
    let foreseen = |name: &str| {
        scenario.expects.iter().zip(&summary.expect).any(|(expect, result)| {
            expect.that == Quantity::Diverged
                && result.ok
                && scenario.variants[expect.of].name == name
        })
    };
    summary.variants.iter().any(|run| run.diverged.is_some() && !foreseen(&run.name))
}

fn judge_one(scenario: &Scenario, expect: &Expect, runs: &[VariantSummary]) -> ExpectResult {
    let name = |variant: usize| scenario.variants[variant].name.as_str();
    let measure = |variant: usize| mean(expect.that, name(variant), runs);
    let value = |reference: &Reference| match reference {
        Reference::Number(value) => Some(*value),
        Reference::Variant(variant) => measure(*variant),
    };
    let words = |reference: &Reference| match reference {
        Reference::Number(value) => format!("{value}"),
        Reference::Variant(variant) => {
            let measured = measure(*variant).map_or("nothing".into(), number);
            format!("{}'s {measured}", name(*variant))
        }
    };
    let measured = measure(expect.of);
    let ExpectBound { side, of, within } = expect.bound;
    let holds = |measured: f64, bound: f64| match side {
        Side::AtLeast => measured >= bound - within,
        Side::AtMost => measured <= bound + within,
        Side::Equals => (measured - bound).abs() <= within,
    };
    let ok = measured.zip(value(&of)).is_some_and(|(measured, bound)| holds(measured, bound));
    let condition = match (side, within) {
        (Side::AtLeast, 0.0) => format!("at least {}", words(&of)),
        (Side::AtMost, 0.0) => format!("at most {}", words(&of)),
        (Side::AtLeast, within) => format!("at least {} less {within}", words(&of)),
        (Side::AtMost, within) => format!("at most {} plus {within}", words(&of)),
        (Side::Equals, within) => format!("within {within} of {}", words(&of)),
    };
    let that = format!("{} of {} {condition}", quantity_name(expect.that), name(expect.of));
    ExpectResult { that, ok, skipped: false, measured }
}

fn mean(that: Quantity, variant: &str, runs: &[VariantSummary]) -> Option<f64> {
    let values: Vec<f64> = runs
        .iter()
        .filter(|run| run.name == variant)
        .map(|run| quantity(that, run))
        .collect::<Option<_>>()?;
    // A run that diverged has no number that could be compared.
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    mean.is_finite().then_some(mean)
}

fn quantity(that: Quantity, run: &VariantSummary) -> Option<f64> {
    match that {
        Quantity::Metric(metric) => run.metrics.get(metric),
        Quantity::Rounds => Some(run.rounds as f64),
        Quantity::VirtualSeconds => Some(run.virtual_seconds),
        Quantity::Chi2 => Some(run.chi2),
        Quantity::MissingMass => Some(run.missing_mass),
        Quantity::Waste => Some(run.waste),
        Quantity::Diverged => Some(f64::from(u8::from(run.diverged.is_some()))),
    }
}

fn quantity_name(that: Quantity) -> &'static str {
    match that {
        Quantity::Metric(metric) => metric.name(),
        Quantity::Rounds => "rounds",
        Quantity::VirtualSeconds => "virtual_seconds",
        Quantity::Chi2 => "chi2",
        Quantity::MissingMass => "missing_mass",
        Quantity::Waste => "waste",
        Quantity::Diverged => "diverged",
    }
}
