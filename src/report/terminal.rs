//! The table a user sees at the end.

mod latencies;
mod sweep;

use crate::clock::Span;
use crate::metric::Metric;
use crate::record::Outcome;
use crate::run_files::{Diverged, Spread, Summary, VariantSummary};
use latencies::latency_tables;
use std::fmt::Write;
use sweep::sweep_table;

/// Whether to use colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextStyle {
    /// Plain text.
    Plain,
    /// ANSI colours.
    Colour,
}

impl TextStyle {
    fn paint(self, code: &str, text: &str) -> String {
        match self {
            TextStyle::Plain => text.to_string(),
            TextStyle::Colour => format!("\x1b[{code}m{text}\x1b[0m"),
        }
    }

    /// In bold.
    pub fn bold(self, text: &str) -> String {
        self.paint("1", text)
    }

    /// Less visible.
    pub fn dim(self, text: &str) -> String {
        self.paint("2", text)
    }

    fn verdict(self, ok: bool) -> String {
        if ok { self.paint("32", "met    ") } else { self.paint("31;1", "NOT MET") }
    }
}

/// All runs of one variant, one per seed.
struct Group<'a> {
    name: &'a str,
    runs: Vec<&'a VariantSummary>,
}

/// The results of a scenario as text, at most 80 columns wide unless a name is longer than that allows.
pub fn results(summary: &Summary, style: TextStyle) -> String {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for run in &summary.variants {
        match groups.iter_mut().find(|group| group.name == run.name) {
            Some(group) => group.runs.push(run),
            None => groups.push(Group { name: &run.name, runs: vec![run] }),
        }
    }
    let mut out = String::new();
    // Whoever reads the numbers must know first that they are not of a whole run.
    abandoned(&mut out, summary, style);
    let seeds = groups.iter().map(|group| group.runs.len()).max().unwrap_or(0);
    if seeds > 1 {
        let _ = writeln!(
            out,
            "{}\n",
            style.dim(&format!("mean ± standard deviation of {seeds} seeds"))
        );
    }
    if summary.swept.is_empty() {
        let columns = (80 - LABEL) / column_width(&groups).min(80 - LABEL);
        for groups in groups.chunks(columns) {
            metrics_table(&mut out, groups, style);
            out.push('\n');
        }
        latency_tables(&mut out, &groups, style);
    } else {
        sweep_table(&mut out, &groups, summary, style);
        out.push('\n');
    }
    divergences(&mut out, summary, style);
    remarks(&mut out, summary);
    expectations(&mut out, summary, style);
    out
}

/// A row of the first table: its label and how to get a cell.
type MetricsRow<'a> = (String, Box<dyn Fn(&Group<'_>) -> String + 'a>);

/// Expectations that are told one by one.
const MOST_EXPECTATIONS: usize = 12;

/// Columns of the labels in the first table.
const LABEL: usize = 22;

fn column_width(groups: &[Group<'_>]) -> usize {
    groups.iter().map(|group| group.name.len() + 2).max().unwrap_or(0).max(18)
}

fn metrics_table(out: &mut String, groups: &[Group<'_>], style: TextStyle) {
    let width = column_width(groups);
    let mut head = format!("{:LABEL$}", "");
    for group in groups {
        let _ = write!(head, "{:>width$}", group.name);
    }
    let _ = writeln!(out, "{}", style.bold(head.trim_end()));
    for (label, cell) in rows(groups) {
        let _ = write!(out, "{label:LABEL$}");
        for group in groups {
            let cell = cell(group);
            // Padding counts characters, not bytes: ± and τ are one column each.
            let pad = width.saturating_sub(cell.chars().count()).max(1);
            let _ = write!(out, "{:pad$}{cell}", "");
        }
        out.push('\n');
    }
}

fn rows<'a>(groups: &[Group<'_>]) -> Vec<MetricsRow<'a>> {
    let mut rows: Vec<MetricsRow<'a>> = Vec::new();
    for metric in Metric::ALL {
        if groups.iter().any(|group| group.runs[0].metrics.get(metric).is_some()) {
            let cell = move |group: &Group<'_>| {
                spread(group, |run| run.metrics.get(metric).unwrap_or(f64::NAN))
            };
            rows.push((label(metric).into(), Box::new(cell)));
        }
    }
    let mut row = |label: &str, cell: Box<dyn Fn(&Group<'_>) -> String + 'a>| {
        rows.push((label.into(), cell));
    };
    row("simulated time", Box::new(|group| duration(mean(group, |run| run.virtual_seconds))));
    row("rounds", Box::new(|group| spread(group, |run| run.rounds as f64)));
    row(
        "local steps τ",
        Box::new(|group| {
            let least = group.runs.iter().map(|run| run.tau.min).min().unwrap_or(0);
            let most = group.runs.iter().map(|run| run.tau.max).max().unwrap_or(0);
            format!("{least}..{most} ({})", number(mean(group, |run| run.tau.mean)))
        }),
    );
    row(
        "χ² of those heard",
        Box::new(|group| {
            if group.runs.iter().any(|run| run.chi2.is_nan()) {
                // With an optimiser that collects updates.
                return "unknown".into();
            }
            // Rounding leaves 1e-16 where the truth is 0.
            spread(group, |run| if run.chi2 < 1e-12 { 0.0 } else { run.chi2 })
        }),
    );
    if groups.iter().any(|group| group.runs.iter().any(|run| run.theory.is_some())) {
        // As a length, so that it stands beside ‖∇F‖.
        let floor = |run: &VariantSummary| run.theory.and_then(|theory| theory.floor);
        row(
            "error floor √(2χ²κ²)",
            Box::new(move |group| match group.runs.iter().all(|run| floor(run).is_some()) {
                true => spread(group, |run| {
                    if run.chi2 < 1e-12 { 0.0 } else { floor(run).unwrap_or(f64::NAN).sqrt() }
                }),
                false => "-".into(),
            }),
        );
    }
    row("never heard", Box::new(|group| percent(mean(group, |run| run.missing_mass))));
    row("wasted work", Box::new(|group| percent(mean(group, |run| run.waste))));
    row(
        "late / no step",
        Box::new(|group| {
            let mean = |i: usize| number(mean(group, |run| run.outcomes[i] as f64));
            format!("{} / {}", mean(1), mean(2))
        }),
    );
    let dropped = |run: &VariantSummary| run.outcomes[Outcome::Dropped as usize];
    if groups.iter().any(|group| group.runs.iter().any(|run| dropped(run) > 0)) {
        row(
            "vanished on the way",
            Box::new(move |group| number(mean(group, |run| dropped(run) as f64))),
        );
    }
    let offline = |run: &VariantSummary| run.outcomes[Outcome::Offline as usize];
    if groups.iter().any(|group| group.runs.iter().any(|run| offline(run) > 0)) {
        row("went offline", Box::new(move |group| number(mean(group, |run| offline(run) as f64))));
    }
    if groups.iter().any(|group| group.runs.iter().any(|run| run.waited.rounds > 0)) {
        row(
            "waited for clients",
            Box::new(|group| duration(mean(group, |run| run.waited.seconds))),
        );
    }
    if groups.iter().any(|group| group.runs.iter().any(|run| run.target.is_some())) {
        row(
            "target reached after",
            Box::new(|group| {
                let times: Vec<f64> =
                    group.runs.iter().filter_map(|run| run.target?.virtual_seconds).collect();
                let mean = duration(times.iter().sum::<f64>() / times.len() as f64);
                match (times.len(), group.runs.len()) {
                    (0, _) => "not reached".into(),
                    (reached, all) if reached < all => format!("{mean} ({reached} of {all})"),
                    _ => mean,
                }
            }),
        );
    }
    rows
}

fn duration(seconds: f64) -> String {
    Span::from_nanos_f64(seconds * 1e9).map_or("-".into(), |span| span.to_string())
}

fn label(metric: Metric) -> &'static str {
    match metric {
        Metric::TrainLoss => "training loss F(x)",
        Metric::GradNorm => "gradient norm ‖∇F‖",
        Metric::TestAccuracy => "test accuracy",
        Metric::TestLoss => "test loss",
        Metric::Distance => "distance ‖x − x*‖",
    }
}

/// A run that ended because its model blew up did not come to the end it was meant to.
fn divergences(out: &mut String, summary: &Summary, style: TextStyle) {
    for run in &summary.variants {
        if let Some(Diverged { round, cause }) = &run.diverged {
            let text = format!("{} diverged in round {round} (seed {})", run.name, run.seed);
            let _ = writeln!(out, "{}\n  {cause}", style.paint("31;1", &text));
            let help = "a smaller learning rate may help; see also `stretch` in gruppetto theory";
            let _ = writeln!(out, "  {help}");
        }
    }
}

/// What trainers say of how they trained: the same remark of several runs once.
fn remarks(out: &mut String, summary: &Summary) {
    let mut said: Vec<(&str, Vec<&str>)> = Vec::new();
    for run in &summary.variants {
        for remark in &run.remarks {
            match said.iter_mut().find(|(text, _)| text == remark) {
                Some((_, whose)) if whose.contains(&run.name.as_str()) => {}
                Some((_, whose)) => whose.push(&run.name),
                None => said.push((remark, vec![&run.name])),
            }
        }
    }
    for (remark, whose) in said {
        for line in wrapped(&format!("{}: {remark}", whose.join(", ")), 80) {
            let _ = writeln!(out, "{line}");
        }
    }
}

/// A run that ended because there was nobody to ask did not come to the end it was meant to either.
fn abandoned(out: &mut String, summary: &Summary, style: TextStyle) {
    for run in &summary.variants {
        let why = match run.stopped_by.as_str() {
            "deserted" => {
                "too few clients are there for another round, and enough will never come\n  \
                 availability, traces and events say who is there, or has no connection any\n  \
                 more; sample, how many it takes"
            }
            "unreachable" => {
                "everybody who is asked vanishes at that very instant: time stands still\n  \
                 dropout = 1.0 with steps that take no time?"
            }
            _ => continue,
        };
        let after = duration(run.virtual_seconds);
        let rounds = run.rounds;
        let text = format!(
            "{} ended early, after {after} and {rounds} rounds (seed {})",
            run.name, run.seed
        );
        let _ = writeln!(out, "{}\n  {why}\n", style.paint("31;1", &text));
    }
}

fn expectations(out: &mut String, summary: &Summary, style: TextStyle) {
    // A sweep may have hundreds: those that were met are counted.
    let (met, told): (Vec<_>, Vec<_>) = match summary.expect.len() > MOST_EXPECTATIONS {
        true => summary.expect.iter().partition(|expect| expect.ok || expect.skipped),
        false => (Vec::new(), summary.expect.iter().collect()),
    };
    if !met.is_empty() {
        let _ = writeln!(out, "{}  {} expectations", style.verdict(true), met.len());
    }
    for expect in told {
        if expect.skipped {
            let _ = writeln!(out, "skipped  {} (nothing was trained)", expect.that);
            continue;
        }
        let measured = expect.measured.map_or("nothing".into(), number);
        let text = format!("{} (measured {measured})", expect.that);
        let mut lines = wrapped(&text, 71).into_iter();
        let first = lines.next().unwrap_or_default();
        let _ = writeln!(out, "{}  {first}", style.verdict(expect.ok));
        lines.for_each(|line| {
            let _ = writeln!(out, "         {line}");
        });
    }
}

/// Cuts a text at spaces into lines of at most `width` characters, where words allow.
pub fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.into()),
        }
    }
    lines
}

fn mean(group: &Group<'_>, of: impl Fn(&VariantSummary) -> f64) -> f64 {
    group.runs.iter().map(|run| of(run)).sum::<f64>() / group.runs.len() as f64
}

/// The mean, and with several seeds their standard deviation.
fn spread(group: &Group<'_>, of: impl Fn(&VariantSummary) -> f64) -> String {
    let values: Vec<f64> = group.runs.iter().map(|run| of(run)).collect();
    let Spread { mean, std } = Spread::of(&values);
    match std {
        None => number(mean),
        Some(std) => format!("{} ±{}", number(mean), two_digits(std)),
    }
}

/// Four significant digits, for people.
pub fn number(value: f64) -> String {
    match value.abs() {
        v if !v.is_finite() => "diverged".into(),
        0.0 => "0".into(),
        v if v >= 1e6 => format!("{value:.3e}"),
        v if v >= 1000.0 => format!("{value:.0}"),
        v if v < 1e-4 => format!("{value:.2e}"),
        v if v.fract() == 0.0 => format!("{value:.0}"),
        v => {
            let digits = (3 - v.log10().floor() as i32).max(0) as usize;
            format!("{value:.digits$}")
        }
    }
}

fn two_digits(value: f64) -> String {
    if value == 0.0 {
        return "0".into();
    }
    if (1e-3..100.0).contains(&value) { format!("{value:.3}") } else { format!("{value:.1e}") }
}

fn percent(part: f64) -> String {
    if part == 0.0 { "0 %".into() } else { format!("{:.1} %", 100.0 * part) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_four_digits() {
        for (value, text) in [
            (0.0, "0"),
            (0.81234, "0.8123"),
            (12.3456, "12.35"),
            (200.0, "200"),
            (1234.5, "1234"),
            (3.2e-9, "3.20e-9"),
            (f64::NAN, "diverged"),
        ] {
            assert_eq!(number(value), text);
        }
    }
}
