//! The results of a sweep: a row for every combination.

use super::{Group, TextStyle, duration, label, mean, number, percent};
use crate::metric::Metric;
use crate::run_files::{Spread, Summary, VariantSummary};
use std::fmt::Write;

/// Columns of the labels at most.
const LABEL: usize = 38;
/// Columns of a figure.
const CELL: usize = 14;
/// Rows that are printed: the rest is in `runs.csv`.
const MOST: usize = 100;

/// One row a combination: the metric that matters most, the time to the target, χ² and waste.
pub(super) fn sweep_table(
    out: &mut String,
    groups: &[Group<'_>],
    summary: &Summary,
    style: TextStyle,
) {
    let aims = summary.variants.iter().any(|run| run.target.is_some());
    let metric = [Metric::TestAccuracy, Metric::Distance, Metric::TrainLoss]
        .into_iter()
        .find(|metric| summary.variants.iter().any(|run| run.metrics.get(*metric).is_some()));
    let mut columns: Vec<Column<'_>> = Vec::new();
    if let Some(metric) = metric {
        let cell = move |group: &Group<'_>| {
            brief(group, |run| run.metrics.get(metric).unwrap_or(f64::NAN))
        };
        columns.push((short(metric), Box::new(cell)));
    }
    match aims {
        true => columns.push(("to target", Box::new(to_target))),
        false => columns.push((
            "simulated",
            Box::new(|group| duration(mean(group, |run| run.virtual_seconds))),
        )),
    }
    columns.push(("χ²", Box::new(|group| brief(group, chi2))));
    let width = groups.iter().map(|group| group.name.chars().count()).max().unwrap_or(0);
    let width = width.min(LABEL) + 2;
    let mut head = format!("{:width$}", "");
    for (title, _) in &columns {
        let _ = write!(head, "{title:>CELL$}");
    }
    let _ = writeln!(out, "{}", style.bold(head.trim_end()));
    for group in groups.iter().take(MOST) {
        let name: String = group.name.chars().take(LABEL).collect();
        let cut = if group.name.chars().count() > LABEL { "…" } else { "" };
        let _ = write!(out, "{:width$}", format!("{name}{cut}"));
        for (_, cell) in &columns {
            let _ = write!(out, "{:>CELL$}", cell(group));
        }
        out.push('\n');
    }
    if groups.len() > MOST {
        let _ = writeln!(out, "and {} more, in runs.csv", groups.len() - MOST);
    }
    if let Some(metric) = metric {
        let _ = writeln!(out, "\n{}", style.dim(&format!("{}: {}", short(metric), label(metric))));
    }
    let waste = summary.variants.iter().map(|run| run.waste).fold(0.0, f64::max);
    let _ = writeln!(out, "{}", style.dim(&format!("wasted work: up to {}", percent(waste))));
}

/// A title, and how to get a cell.
type Column<'a> = (&'static str, Box<dyn Fn(&Group<'_>) -> String + 'a>);

fn short(metric: Metric) -> &'static str {
    match metric {
        Metric::TestAccuracy => "accuracy",
        Metric::TestLoss => "test loss",
        Metric::TrainLoss => "loss",
        Metric::GradNorm => "gradient",
        Metric::Distance => "distance",
    }
}

fn chi2(run: &VariantSummary) -> f64 {
    // Rounding leaves 1e-16 where the truth is 0.
    if run.chi2 < 1e-12 { 0.0 } else { run.chi2 }
}

/// The mean and, with several seeds, the standard deviation, in few digits.
fn brief(group: &Group<'_>, of: impl Fn(&VariantSummary) -> f64) -> String {
    let values: Vec<f64> = group.runs.iter().map(|run| of(run)).collect();
    let Spread { mean, std } = Spread::of(&values);
    match std.filter(|std| *std > 0.0) {
        _ if mean.is_nan() => "–".into(),
        Some(std) => format!("{} ±{}", number(mean), super::two_digits(std)),
        None => number(mean),
    }
}

fn to_target(group: &Group<'_>) -> String {
    let times: Vec<f64> = group.runs.iter().filter_map(|run| run.target?.virtual_seconds).collect();
    let mean = duration(times.iter().sum::<f64>() / times.len() as f64);
    match (times.len(), group.runs.len()) {
        (0, _) => "not reached".into(),
        (reached, all) if reached < all => format!("{mean} ({reached}/{all})"),
        _ => mean,
    }
}
