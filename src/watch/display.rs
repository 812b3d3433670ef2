//! The texts that the screen and the plain-text snapshot have in common.

use super::event::time;
use super::run::WatchedRun;
use super::spread::SHOWN;
use super::state::State;
use super::view::{ShownRun, View};
use crate::record::Outcome;
use crate::report::number;
use crate::run_files::Status;
use std::time::Duration;

/// Rows are written five times a second, but a round may take a while to compute.
const PATIENCE: Duration = Duration::from_secs(10);

/// Columns of a latency.
const WIDTH: usize = 8;

/// How it goes.
pub(super) fn status(state: &State) -> String {
    let Some(summary) = &state.summary else {
        return "waiting".into();
    };
    match (&summary.error, summary.status, state.silent) {
        (Some(_), ..) => "failed".into(),
        (None, Status::Incomplete, _) if state.is_gone => "killed".into(),
        (None, Status::Incomplete, Some(silent)) if silent >= PATIENCE => {
            format!("no news for {}", time(silent.as_secs_f64().floor()))
        }
        (None, Status::Incomplete, _) => "running".into(),
        (None, status, _) => status.name().into(),
    }
}

/// The name of a run, with its seed where that tells it from others.
pub(super) fn run_name(state: &State, run: &WatchedRun) -> String {
    match state.has_seeds() {
        true => format!("{} seed {}", run.variant, run.seed),
        false => run.variant.clone(),
    }
}

/// The parts of the title after the scenario's name and its status.
pub(super) fn title(state: &State, view: &View) -> Vec<String> {
    let Some(run) = view.run(state) else {
        return vec!["no rows yet".into()];
    };
    let chosen = match view.choice {
        ShownRun::Newest => "",
        ShownRun::Number(_) => " (chosen)",
    };
    vec![
        format!("round {}", run.round()),
        time(run.seconds()),
        // Last, because it may be long: of the rest, nothing should be cut off.
        format!("{}, seed {}{chosen}", run.variant, run.seed),
    ]
}

/// Whose latencies these are.
pub(super) fn latency_heading(state: &State, run: &WatchedRun) -> String {
    let count = run.percentiles()[0].count;
    match (run.over.is_some(), state.clients_skipped) {
        (true, _) => format!("latency of {count} clients' rounds"),
        (false, 0) => format!("latency of {count} clients' rounds so far"),
        // The others lie too far back.
        (false, _) => format!("latency of {count} clients' rounds, not all"),
    }
}

/// A line with the names of the percentiles and one for every phase.
pub(super) fn latency_lines(run: &WatchedRun) -> Vec<String> {
    let mut lines = vec![format!(
        "{:8}{:>WIDTH$}{:>WIDTH$}{:>WIDTH$}{:>WIDTH$}",
        "", "p50", "p90", "p99", "max"
    )];
    for (phase, of) in SHOWN.into_iter().zip(run.percentiles()) {
        let cell = |seconds| if of.count == 0 { "-".into() } else { time(seconds) };
        let [p50, p90, p99, max] = [of.p50, of.p90, of.p99, of.max].map(cell);
        let name = phase.name();
        lines.push(format!("{name:8}{p50:>WIDTH$}{p90:>WIDTH$}{p99:>WIDTH$}{max:>WIDTH$}"));
    }
    lines
}

/// Local steps: how far they are apart.
pub(super) fn tau_heading(run: &WatchedRun) -> String {
    match run.taus.range() {
        Some((least, mean, most)) => {
            format!("local steps τ: {least} to {most}, mean {}", number(mean))
        }
        None => "local steps τ".into(),
    }
}

/// Who came back in the last round.
pub(super) fn arrivals_heading(run: &WatchedRun) -> String {
    match run.recent.back() {
        Some((asked, arrived)) => format!("arrivals: last {arrived} of {asked}"),
        None => "arrivals".into(),
    }
}

/// χ² and how busy clients are.
pub(super) fn heard(run: &WatchedRun) -> String {
    // Rounding leaves 1e-16 where the truth is 0.
    let chi2 = run.chi2().map(|chi2| if chi2 < 1e-12 { 0.0 } else { chi2 });
    let chi2 = chi2.map_or("-".into(), number);
    let busy = run.busy().map_or(String::new(), |busy| format!(" · mean busy {busy:.1}"));
    format!("χ² {chi2}{busy}")
}

/// What became of clients.
pub(super) fn outcomes(run: &WatchedRun) -> String {
    let some = Outcome::ALL.into_iter().zip(run.outcomes()).filter(|(_, count)| *count > 0);
    let parts: Vec<String> = some
        .map(|(outcome, count)| format!("{} {count}", outcome.name().replace('_', " ")))
        .collect();
    parts.join(", ")
}

/// What one should know about the figures.
pub(super) fn notes(state: &State) -> Vec<String> {
    let mut notes = Vec::new();
    let megabytes = |bytes: u64| number((bytes as f64 / 1e5).ceil() / 10.0);
    if let Some(error) = state.error() {
        notes.push(format!("failed: {}", error.lines().next().unwrap_or_default()));
    }
    if state.is_gone {
        notes.push("no process runs it any more: gruppetto run with --resume goes on".into());
    }
    notes.extend(foreign_rows(state));
    if state.rounds_skipped > 0 {
        notes.push(format!("rounds.csv: {} MB not read", megabytes(state.rounds_skipped)));
    }
    if state.clients_skipped > 0 {
        notes.push(format!("clients.csv: {} MB not read", megabytes(state.clients_skipped)));
    }
    if !state.has_clients && !state.runs.is_empty() {
        notes.push("no clients.csv: nothing about single clients".into());
    }
    notes
}

/// A file that is not of the run that the summary is of: it has another number of rows.
fn foreign_rows(state: &State) -> Option<String> {
    let summary = state.summary.as_ref().filter(|run| run.status == Status::Complete)?;
    let files = &summary.files;
    let skipped = [state.rounds_skipped, state.clients_skipped];
    let written = [("rounds.csv", files.rounds), ("clients.csv", files.clients)];
    let whole = written.into_iter().zip(state.rows).zip(skipped);
    let mut whole = whole.filter(|(_, skipped)| *skipped == 0 && !state.is_behind);
    whole.find_map(|(((file, written), rows), _)| {
        let written = written.filter(|written| *written != rows)?;
        Some(format!("{file} has {rows} rows, and summary.json is of a run that wrote {written}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run_files::Summary;

    #[test]
    fn a_run_that_says_nothing_for_long_may_be_dead() {
        let summary = Some(Summary::default());
        let mut state = State { summary, silent: Some(Duration::from_secs(2)), ..State::default() };
        assert_eq!(status(&state), "running");
        state.silent = Some(Duration::from_secs(125));
        assert_eq!(status(&state), "no news for 2m 05s");
        let error = Some("disk full".into());
        state.summary = Some(Summary { error, ..Summary::default() });
        assert_eq!(status(&state), "failed");
        state.summary = Some(Summary { status: Status::Complete, ..Summary::default() });
        assert_eq!(status(&state), "complete");
        assert_eq!(status(&State::default()), "waiting");
    }

    #[test]
    fn what_was_not_read_is_said() {
        let state = State { clients_skipped: 3_210_000, has_clients: true, ..State::default() };
        assert_eq!(notes(&state), ["clients.csv: 3.300 MB not read"]);
    }
}
