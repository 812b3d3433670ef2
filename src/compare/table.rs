//! Runs side by side, for people and for spreadsheets.

use super::ComparedVariant;
use crate::clock::Span;
use crate::metric::Metric;
use crate::report::{TextStyle, number};
use crate::run_files::Spread;
use std::fmt::Write;

/// Characters of a line.
const WIDTH: usize = 80;

/// A column of the comparison.
struct ComparisonColumn {
    head: &'static str,
    cells: Vec<String>,
    /// Which cells are the best of all.
    best: Vec<bool>,
}

/// A table for the terminal. What does not fit into a line is left out, and that is said.
pub fn text(entries: &[ComparedVariant], style: TextStyle) -> String {
    let named = |entry: &ComparedVariant| match entry.run.is_empty() {
        true => entry.variant.clone(),
        false => format!("{} {}", entry.run, entry.variant),
    };
    let label = |entry: &ComparedVariant| format!("{} {}", cut(&named(entry)), entry.remark());
    let labels: Vec<String> =
        entries.iter().map(|entry| label(entry).trim_end().to_string()).collect();
    let label = labels.iter().map(|label| label.chars().count()).max().unwrap_or(0).max(8);
    let mut columns = columns(entries);
    let width = |column: &ComparisonColumn| {
        let cells = column.cells.iter().map(|cell| cell.chars().count()).max().unwrap_or(0);
        cells.max(column.head.chars().count()) + 2
    };
    let all = columns.len();
    while label + columns.iter().map(width).sum::<usize>() > WIDTH && columns.len() > 1 {
        columns.pop();
    }
    let mut out = String::new();
    let mut head = format!("{:label$}", "");
    for column in &columns {
        let _ = write!(head, "{:>width$}", column.head, width = width(column));
    }
    let _ = writeln!(out, "{}", style.bold(&head));
    for (row, name) in labels.iter().enumerate() {
        let pad = label - name.chars().count();
        let _ = write!(out, "{name}{:pad$}", "");
        for column in &columns {
            let cell = &column.cells[row];
            let pad = width(column) - cell.chars().count();
            let cell = if column.best[row] { style.bold(cell) } else { cell.clone() };
            let _ = write!(out, "{:pad$}{cell}", "");
        }
        out.push('\n');
    }
    if entries.iter().any(|entry| entry.is_unfinished) {
        let _ = writeln!(out, "{}", style.dim("* did not come to its end: what there is of it"));
    }
    if columns.len() < all {
        let _ = writeln!(out, "{}", style.dim("there is more: --csv and --html have all of it"));
    }
    out
}

/// Every figure, one line for each entry.
pub fn csv(entries: &[ComparedVariant]) -> String {
    let mut out = String::from("run,variant,seeds");
    let spread = |name: &str| format!(",{name},{name}_std");
    Metric::ALL.iter().for_each(|metric| out.push_str(&spread(metric.name())));
    for name in ["virtual_seconds", "rounds", "target_seconds", "waste", "chi2", "missing_mass"] {
        out.push_str(&spread(name));
    }
    out.push_str(",status\n");
    for entry in entries {
        let _ = write!(out, "{},{},{}", quoted(&entry.run), quoted(&entry.variant), entry.seeds);
        let metrics = Metric::ALL.into_iter().map(|metric| entry.metric(metric));
        let others = [entry.virtual_seconds, entry.rounds].map(Some).into_iter().chain([
            entry.to_target,
            Some(entry.waste),
            Some(entry.chi2),
            Some(entry.missing_mass),
        ]);
        for value in metrics.chain(others) {
            for value in [value.map(|value| value.mean), value.and_then(|value| value.std)] {
                out.push(',');
                if let Some(value) = value.filter(|value| value.is_finite()) {
                    let _ = write!(out, "{value}");
                }
            }
        }
        let _ = writeln!(out, ",{}", entry.status());
    }
    out
}

/// A name as a cell. Spreadsheets would take one that begins like a formula for one, so it gets an apostrophe.
fn quoted(name: &str) -> String {
    let formula = name.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let name = if formula { format!("'{name}") } else { name.to_string() };
    match name.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", name.replace('"', "\"\"")),
        false => name,
    }
}

/// The columns, the most telling first.
fn columns(entries: &[ComparedVariant]) -> Vec<ComparisonColumn> {
    let mut all = Vec::new();
    let mut add = |head, values: Vec<Option<Spread>>, show: &dyn Fn(Spread) -> String, better| {
        if values.iter().any(Option::is_some) {
            let cell = |value: &Option<Spread>| value.map_or("–".into(), show);
            let cells = values.iter().map(cell).collect();
            all.push(ComparisonColumn { head, cells, best: best(&values, better) });
        }
    };
    let of = |of: &dyn Fn(&ComparedVariant) -> Option<Spread>| {
        entries.iter().map(of).collect::<Vec<_>>()
    };
    let seconds = |spread: Spread| {
        Span::from_nanos_f64(spread.mean * 1e9).map_or("–".into(), |span| span.to_string())
    };
    let percent = |spread: Spread| format!("{:.1} %", 100.0 * spread.mean);
    add("accuracy", of(&|e| e.metric(Metric::TestAccuracy)), &shown, Some(f64::max));
    add("loss", of(&|e| e.metric(Metric::TrainLoss)), &shown, Some(f64::min));
    add("distance", of(&|e| e.metric(Metric::Distance)), &shown, Some(f64::min));
    add("to target", of(&|e| e.to_target), &seconds, Some(f64::min));
    add("time", of(&|e| Some(e.virtual_seconds)), &seconds, None);
    // Rounding leaves less than this where the truth is 0.
    let chi2 = |spread: Spread| match spread.mean {
        mean if mean.is_nan() => "unknown".into(),
        mean if mean < 1e-12 => number(0.0),
        mean => number(mean),
    };
    add("χ²", of(&|e| Some(e.chi2)), &chi2, Some(f64::min));
    add("waste", of(&|e| Some(e.waste)), &percent, Some(f64::min));
    add("never heard", of(&|e| Some(e.missing_mass)), &percent, None);
    add("rounds", of(&|e| Some(e.rounds)), &|spread| number(spread.mean), None);
    all
}

/// The mean, and with several seeds their standard deviation.
fn shown(Spread { mean, std }: Spread) -> String {
    match std {
        None => number(mean),
        Some(std) => format!("{} ±{std:.3}", number(mean)),
    }
}

/// Which are the best, where some are better than others.
fn best(values: &[Option<Spread>], better: Option<fn(f64, f64) -> f64>) -> Vec<bool> {
    let known = || values.iter().flatten().map(|value| value.mean).filter(|mean| mean.is_finite());
    let best = better.and_then(|better| known().reduce(better));
    let differ = known().any(|mean| Some(mean) != best);
    let is_best = |value: &Option<Spread>| differ && value.map(|value| value.mean) == best;
    values.iter().map(is_best).collect()
}

/// A name that leaves room for numbers.
fn cut(name: &str) -> String {
    const LONGEST: usize = 30;
    match name.chars().count() > LONGEST {
        true => {
            let tail: Vec<char> = name.chars().rev().take(LONGEST - 1).collect();
            format!("…{}", tail.into_iter().rev().collect::<String>())
        }
        false => name.into(),
    }
}
