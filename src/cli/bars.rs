//! A progress bar for every run.

use crate::clock::{SimTime, Span};
use crate::metric::{Metric, Metrics};
use crate::observer::{Observer, ObserverError};
use crate::plugins::{Plugins, RunContext};
use crate::policy::Stop;
use crate::record::{ClientRow, RoundRow};
use crate::scenario::Scenario;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::time::{Duration, Instant};

/// How often a bar is drawn anew.
const PERIOD: Duration = Duration::from_millis(60);

/// With bars on stderr for every run of a scenario, if that is a terminal. `ranks` other ranks train.
pub(super) fn with_bars(plugins: Plugins, scenario: &Scenario, ranks: usize) -> Plugins {
    let width = scenario.variants.iter().map(|variant| variant.name.len()).max().unwrap_or(0);
    let (width, repeats) = (width.min(20), scenario.repeats);
    plugins.observer(move |&RunContext { variant, seed, stop, replayed_rounds, .. }| {
        let bar = ProgressBar::with_draw_target(Some(1000), ProgressDrawTarget::stderr());
        let style = ProgressStyle::with_template("{prefix} {bar:16.cyan/dim} {wide_msg}");
        bar.set_style(style.expect("a fixed template").progress_chars("━╸─"));
        let seeds = if repeats > 1 { format!(" seed {seed}") } else { String::new() };
        bar.set_prefix(format!("{variant:width$}{seeds}"));
        if bar.is_hidden() {
            return None;
        }
        Some(Box::new(RunProgressBar::new(bar, stop.clone(), replayed_rounds, ranks)))
    })
}

/// The bar of one run, and what it shows.
struct RunProgressBar {
    bar: ProgressBar,
    stop: Stop,
    began: Instant,
    drawn: Option<Instant>,
    rounds: u64,
    /// Rounds up to which nothing is trained, for they were before.
    replayed: u64,
    now: SimTime,
    client_rounds: u64,
    metrics: Metrics,
    /// Other ranks that train.
    ranks: usize,
}

impl RunProgressBar {
    fn new(bar: ProgressBar, stop: Stop, replayed: u64, ranks: usize) -> Self {
        let metrics = Metrics::default();
        let (began, drawn, now) = (Instant::now(), None, SimTime::ZERO);
        let (rounds, client_rounds) = (0, 0);
        RunProgressBar {
            bar,
            stop,
            began,
            drawn,
            rounds,
            replayed,
            now,
            client_rounds,
            metrics,
            ranks,
        }
    }

    /// How much of the run is done, by whichever condition is nearer.
    fn part_done(&self) -> f64 {
        let by_rounds = self.stop.rounds.map_or(0.0, |all| self.rounds as f64 / all as f64);
        let by_time = self.stop.time.map_or(0.0, |all| self.now.seconds() / all.seconds());
        by_rounds.max(by_time).min(1.0)
    }

    fn message(&self) -> String {
        let of = self.stop.rounds.map_or(String::new(), |all| format!("/{all}"));
        let mut text = format!("round {}{of}, {}", self.rounds, Span::from_nanos(self.now.nanos()));
        match self.ranks {
            0 => {}
            1 => text.push_str(", 1 rank trains"),
            ranks => text.push_str(&format!(", {ranks} ranks train")),
        }
        for (metric, name) in [(Metric::TestAccuracy, "accuracy"), (Metric::TrainLoss, "loss")] {
            if let Some(value) = self.metrics.get(metric) {
                text.push_str(&format!(", {name} {value:.3}"));
            }
        }
        text
    }
}

impl Observer for RunProgressBar {
    fn started(&mut self, metrics: &Metrics) -> Result<(), ObserverError> {
        self.metrics = *metrics;
        Ok(())
    }

    fn arrived(&mut self, rows: &[ClientRow]) -> Result<(), ObserverError> {
        self.client_rounds += rows.len() as u64;
        Ok(())
    }

    fn closed(&mut self, round: &RoundRow) -> Result<(), ObserverError> {
        (self.rounds, self.now) = (round.round, round.closed);
        if self.replayed > 0 && self.rounds >= self.replayed {
            // From here on it is trained, and takes longer.
            (self.replayed, self.began, self.client_rounds) = (0, Instant::now(), 0);
        }
        self.metrics = round.metrics.unwrap_or(self.metrics);
        if self.drawn.is_none_or(|at| at.elapsed() >= PERIOD) {
            self.drawn = Some(Instant::now());
            let done = self.part_done();
            self.bar.set_position((1000.0 * done) as u64);
            let text = match self.replayed {
                0 => self.message() + &pace(self.client_rounds, done, self.began.elapsed()),
                all => format!("replaying what was trained before, round {} of {all}", self.rounds),
            };
            self.bar.set_message(text);
        }
        Ok(())
    }
}

impl Drop for RunProgressBar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// How fast it goes, and how long it will take at this pace.
fn pace(client_rounds: u64, done: f64, elapsed: Duration) -> String {
    let seconds = elapsed.as_secs_f64();
    if seconds < 0.5 {
        return String::new();
    }
    let rate = client_rounds as f64 / seconds;
    let rate = match rate {
        rate if rate >= 1e6 => format!("{:.1}M", rate / 1e6),
        rate if rate >= 1e4 => format!("{:.0}k", rate / 1e3),
        rate if rate >= 10.0 => format!("{rate:.0}"),
        rate => format!("{rate:.1}"),
    };
    let left = seconds * (1.0 - done) / done;
    let left = match left {
        // Where only a target ends the run, nobody knows.
        left if !left.is_finite() || done < 1e-3 => String::new(),
        left => format!(", {} left", Span::from_nanos((left.max(1.0).round() * 1e9) as u64)),
    };
    format!(", {rate} client-rounds/s{left}")
}
