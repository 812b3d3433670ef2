//! What `gruppetto check` says of a whole scenario: how many runs, how long, how much memory.

use super::cell_count;
use super::estimate::{Estimate, count, size};
use super::jobs::in_memory;
use crate::clock::Span;
use crate::scenario::Scenario;
use gruppetto_kernels::fma_peak;
use std::fmt::Write;

/// Combinations that are told one by one.
const MOST: usize = 12;
/// With so many runs it is told what they take together.
const WHOLE: usize = 10;
/// What part of its peak a core reaches when it trains.
const EFFICIENCY: f64 = 0.25;
/// Seconds of a participation without its training.
const PARTICIPATION: f64 = 1.5e-6;
/// Seconds of a run without its rounds: set-up, files, page.
const RUN: f64 = 0.01;

/// Everything that is known of a scenario before it is run with so many threads.
pub fn overview(scenario: &Scenario, estimates: &[Estimate], threads: usize) -> String {
    let mut text = String::new();
    let cells = cell_count(scenario);
    let plural = if cells == 1 { "" } else { "s" };
    let _ = writeln!(text, "valid; {cells} run{plural}, from seed {}", scenario.seed);
    if scenario.sweep.is_empty() {
        text.push('\n');
        estimates.iter().for_each(|estimate| text.push_str(&format!("{estimate}\n")));
    } else {
        sweep(&mut text, scenario, estimates);
    }
    if cells >= WHOLE {
        let seconds = |estimate: &Estimate| {
            let operations = peak_of_this_machine() * EFFICIENCY;
            RUN + estimate.client_rounds() * PARTICIPATION + estimate.operations() / operations
        };
        let all: f64 = estimates.iter().map(seconds).sum::<f64>() * scenario.repeats as f64;
        let jobs = threads.min(cells).min(in_memory(scenario, false)).max(1);
        let largest = estimates.iter().map(Estimate::bytes).max().unwrap_or(0);
        let unknown = estimates.iter().any(|estimate| estimate.rounds.is_none());
        let unknown = if unknown { ", if a run takes 100 rounds" } else { "" };
        let took = roughly(all / jobs as f64);
        let _ = writeln!(
            text,
            "all together, {jobs} at a time: {took} here{unknown}, about {} of memory",
            size(largest.saturating_mul(jobs as u64))
        );
    }
    text
}

/// A guess in as many digits as it deserves.
fn roughly(seconds: f64) -> String {
    let unit = match seconds {
        s if s < 5.0 => return "a few seconds".into(),
        s if s < 120.0 => 5.0,
        s if s < 7200.0 => 60.0,
        _ => 3600.0,
    };
    let rounded = (seconds / unit).round() * unit;
    let span = Span::from_nanos_f64(rounded * 1e9);
    span.map_or("far too long".into(), |span| format!("roughly {span}"))
}

/// What is swept, and a line for every combination.
fn sweep(text: &mut String, scenario: &Scenario, estimates: &[Estimate]) {
    let mut factors = Vec::new();
    let mut variants: Vec<&str> = scenario.variants.iter().map(|v| v.variant.as_str()).collect();
    variants.dedup();
    if variants.len() > 1 {
        factors.push(format!("{} variants", variants.len()));
    }
    for key in &scenario.sweep {
        factors.push(format!("{} × {}", key.values.len(), key.key));
    }
    if scenario.repeats > 1 {
        factors.push(format!("{} seeds", scenario.repeats));
    }
    let _ = writeln!(text, "{}\n", factors.join(", "));
    let width = estimates.iter().map(|estimate| estimate.name().chars().count()).max().unwrap_or(0);
    for estimate in estimates.iter().take(MOST) {
        let rounds = match estimate.rounds {
            Some(rounds) => format!(
                "{} client-rounds in {rounds} rounds",
                count(estimate.client_rounds() as u64)
            ),
            None => "until the target is reached".into(),
        };
        let name = estimate.name();
        let fails = if estimate.will_fail() { ", WILL FAIL" } else { "" };
        let _ = writeln!(text, "  {name:width$}  {rounds}, {}{fails}", size(estimate.bytes()));
    }
    if estimates.len() > MOST {
        let _ = writeln!(text, "  and {} more", estimates.len() - MOST);
    }
    let failing = estimates.iter().skip(MOST).filter(|estimate| estimate.will_fail());
    for estimate in failing.take(MOST) {
        let _ = writeln!(text, "  {}: WILL FAIL", estimate.name());
    }
    text.push('\n');
}

/// Operations a second of one core.
fn peak_of_this_machine() -> f64 {
    static PEAK: std::sync::OnceLock<f64> = std::sync::OnceLock::new();
    *PEAK.get_or_init(|| fma_peak().max(1.0) * 1e9)
}
