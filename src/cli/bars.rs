//! A progress bar for every run.

use crate::actors::{Interrupt, Progress};
use crate::clock::Span;
use crate::metric::Metric;
use crate::policy::Stop;
use crate::report::Ledger;
use crate::run::Observer;
use crate::scenario::{Scenario, Variant};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::time::{Duration, Instant};

/// How often a bar is drawn anew.
const PERIOD: Duration = Duration::from_millis(60);

/// Draws on stderr, and only if it is a terminal.
pub(super) struct Bars {
    width: usize,
    repeats: u64,
    hidden: bool,
    bar: Option<ProgressBar>,
    interrupt: Interrupt,
}

impl Bars {
    pub(super) fn new(scenario: &Scenario, hidden: bool, interrupt: Interrupt) -> Self {
        let width = scenario.variants.iter().map(|variant| variant.name.len()).max().unwrap_or(0);
        Bars { width: width.min(20), repeats: scenario.repeats, hidden, bar: None, interrupt }
    }
}

impl Observer for Bars {
    fn begin(&mut self, variant: &Variant, seed: u64) -> Option<Progress> {
        if self.hidden {
            return None;
        }
        let stop = variant.plan.stop.clone();
        let bar = ProgressBar::with_draw_target(Some(1000), ProgressDrawTarget::stderr());
        let style = ProgressStyle::with_template("{prefix} {bar:16.cyan/dim} {wide_msg}");
        bar.set_style(style.expect("a fixed template").progress_chars("━╸─"));
        let seeds = if self.repeats > 1 { format!(" seed {seed}") } else { String::new() };
        bar.set_prefix(format!("{:width$}{seeds}", variant.name, width = self.width));
        self.bar = Some(bar.clone());
        if bar.is_hidden() {
            return None;
        }
        let (began, mut drawn): (Instant, Option<Instant>) = (Instant::now(), None);
        Some(Box::new(move |ledger: &Ledger| {
            if drawn.is_none_or(|at| at.elapsed() >= PERIOD) {
                drawn = Some(Instant::now());
                let done = part_done(&stop, ledger);
                bar.set_position((1000.0 * done) as u64);
                let pace = pace(ledger.client_rounds(), done, began.elapsed());
                bar.set_message(format!("{}{pace}", message(&stop, ledger)));
            }
        }))
    }

    fn end(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }

    fn interrupt(&self) -> Interrupt {
        self.interrupt.clone()
    }
}

/// How much of the run is done, by whichever condition is nearer.
fn part_done(stop: &Stop, ledger: &Ledger) -> f64 {
    let (rounds, now, _) = ledger.progress();
    let by_rounds = stop.rounds.map_or(0.0, |all| rounds as f64 / all as f64);
    let by_time = stop.time.map_or(0.0, |all| now.seconds() / all.seconds());
    by_rounds.max(by_time).min(1.0)
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

fn message(stop: &Stop, ledger: &Ledger) -> String {
    let (rounds, now, metrics) = ledger.progress();
    let of = stop.rounds.map_or(String::new(), |all| format!("/{all}"));
    let mut text = format!("round {rounds}{of}, {}", Span::from_nanos(now.nanos()));
    for (metric, name) in [(Metric::TestAccuracy, "accuracy"), (Metric::TrainLoss, "loss")] {
        if let Some(value) = metrics.get(metric) {
            text.push_str(&format!(", {name} {value:.3}"));
        }
    }
    text
}
