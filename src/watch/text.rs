//! The dashboard as plain text, for pipes and files.

use super::display;
use super::event::time;
use super::measure::Measure;
use super::state::State;
use super::view::View;
use crate::report::number;
use std::fmt::Write;

/// Lines of the histogram.
const BARS: usize = 8;
/// Columns of its longest bar.
const LONGEST: u64 = 40;
/// Runs that are listed.
const MOST_RUNS: usize = 50;
/// Events that are listed.
const EVENTS: usize = 8;

/// Everything that is known, at a glance.
pub(super) fn snapshot(state: &State) -> String {
    let view = View::default();
    let mut out = String::new();
    let mut title = vec![state.name().to_string(), display::status(state)];
    title.extend(display::title(state, &view));
    let _ = writeln!(out, "{}", title.join(" · "));
    for note in display::notes(state) {
        let _ = writeln!(out, "({note})");
    }
    runs(&mut out, state, view.measure(state));
    if let Some(run) = view.run(state) {
        let name = display::run_name(state, run);
        let _ = writeln!(out, "\n{name}: {}", display::latency_heading(state, run));
        for line in display::latency_lines(run) {
            let _ = writeln!(out, "  {line}");
        }
        let _ = writeln!(out, "\n{name}: {}", display::tau_heading(run));
        let bars = run.taus.bars(BARS);
        let most = bars.iter().map(|bar| bar.count).max().unwrap_or(0).max(1);
        for bar in &bars {
            let range = if bar.from == bar.to {
                bar.from.to_string()
            } else {
                format!("{}..{}", bar.from, bar.to)
            };
            let length = (u128::from(bar.count) * u128::from(LONGEST)).div_ceil(u128::from(most));
            let _ = writeln!(out, "  {range:>12} {} {}", "#".repeat(length as usize), bar.count);
        }
        let _ = writeln!(out, "\n{name}: {}", display::arrivals_heading(run));
        for line in [display::heard(run), display::outcomes(run)] {
            if !line.is_empty() {
                let _ = writeln!(out, "  {line}");
            }
        }
        let _ = writeln!(out, "\n{name}: last events");
        for event in run.events.last(EVENTS) {
            let _ = writeln!(out, "  {event}");
        }
    }
    // A folder may come from anywhere: nothing in it may talk to a terminal.
    out.chars().map(|c| if c.is_control() && c != '\n' { '\u{fffd}' } else { c }).collect()
}

/// A line for every run.
fn runs(out: &mut String, state: &State, measure: Option<Measure>) {
    if state.runs.is_empty() {
        return;
    }
    let names: Vec<String> = state.runs.iter().map(|run| display::run_name(state, run)).collect();
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0).clamp(7, 30);
    let title = measure.map_or("", Measure::title);
    let _ = writeln!(
        out,
        "\n{:width$}  {:>9}  {:>9}  {title:>15}  {:>9}",
        "run", "rounds", "time", "χ²"
    );
    let more = state.runs.len().saturating_sub(MOST_RUNS);
    if more > 0 {
        let _ = writeln!(out, "({more} earlier ones)");
    }
    for (run, name) in state.runs.iter().zip(&names).skip(more) {
        let value = measure.and_then(|measure| run.curve(measure).last());
        let value = value.map_or("-".into(), number);
        let chi2 =
            run.chi2().map_or("-".into(), |chi2| number(if chi2 < 1e-12 { 0.0 } else { chi2 }));
        let (rounds, time) = (run.round(), time(run.seconds()));
        let _ = writeln!(out, "{name:width$}  {rounds:>9}  {time:>9}  {value:>15}  {chi2:>9}");
    }
}
