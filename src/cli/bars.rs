//! A progress bar for every run that is under way, and one for all of them.

use crate::clock::{SimTime, Span};
use crate::metric::{Metric, Metrics};
use crate::observer::{Observer, ObserverError};
use crate::plugins::{Plugins, RunContext};
use crate::policy::Stop;
use crate::record::{ClientRow, RoundRow};
use crate::scenario::Scenario;
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// How often a bar is drawn anew.
const PERIOD: Duration = Duration::from_millis(60);

/// With a bar on stderr for every run that is under way and, where there are several, one for all of them, if that is
/// a terminal. `ranks` other ranks train; `cells` are to be run.
pub(super) fn with_bars(
    plugins: Plugins,
    scenario: &Scenario,
    (cells, ranks): (usize, usize),
) -> (Plugins, Arc<WholeBar>) {
    let width = scenario.variants.iter().map(|variant| variant.name.len()).max().unwrap_or(0);
    let (width, repeats) = (width.min(30), scenario.repeats);
    let whole = Arc::new(WholeBar::new(cells));
    let shared = whole.clone();
    let plugins =
        plugins.observer(move |&RunContext { variant, seed, stop, replayed_rounds, .. }| {
            if shared.bars.is_hidden() {
                return None;
            }
            let bar = shared.add(ProgressBar::new(1000));
            let style = ProgressStyle::with_template("{prefix} {bar:16.cyan/dim} {wide_msg}");
            bar.set_style(style.expect("a fixed template").progress_chars("━╸─"));
            let seeds = if repeats > 1 { format!(" seed {seed}") } else { String::new() };
            bar.set_prefix(format!("{variant:width$}{seeds}"));
            let whole = shared.clone();
            Some(Box::new(RunProgressBar::new(bar, whole, stop.clone(), (replayed_rounds, ranks))))
        });
    (plugins, whole)
}

/// The bars of a scenario, and the one for all its runs.
pub(super) struct WholeBar {
    bars: MultiProgress,
    /// Where there are several runs.
    all: Option<ProgressBar>,
    cells: usize,
    over: AtomicUsize,
    began: Instant,
}

impl WholeBar {
    fn new(cells: usize) -> Self {
        let bars = MultiProgress::with_draw_target(ProgressDrawTarget::stderr());
        let all = (cells > 1 && !bars.is_hidden()).then(|| {
            let all = bars.add(ProgressBar::new(1000 * cells as u64));
            let style = ProgressStyle::with_template("{bar:30.green/dim} {wide_msg}");
            all.set_style(style.expect("a fixed template").progress_chars("━╸─"));
            all.set_message(format!("0 of {cells} runs"));
            all
        });
        WholeBar { bars, all, cells, over: AtomicUsize::new(0), began: Instant::now() }
    }

    /// Above the one for all.
    fn add(&self, bar: ProgressBar) -> ProgressBar {
        match &self.all {
            Some(all) => self.bars.insert_before(all, bar),
            None => self.bars.add(bar),
        }
    }

    /// A run has done so many thousandths more, or is over.
    fn advance(&self, thousandths: u64, is_over: bool) {
        let over = self.over.fetch_add(usize::from(is_over), Ordering::Relaxed);
        let Some(all) = &self.all else { return };
        all.inc(thousandths);
        let done = all.position() as f64 / (1000 * self.cells) as f64;
        let left = self.began.elapsed().as_secs_f64() * (1.0 - done) / done;
        let left = match left.is_finite() && done > 0.01 {
            true => format!(", {} left", Span::from_nanos((left.max(1.0).round() * 1e9) as u64)),
            false => String::new(),
        };
        let over = over + usize::from(is_over);
        all.set_message(format!("{over} of {} runs{left}", self.cells));
    }

    /// Nothing is under way any more.
    pub(super) fn clear(&self) {
        if let Some(all) = &self.all {
            all.finish_and_clear();
        }
    }
}

/// The bar of one run, and what it shows.
struct RunProgressBar {
    bar: ProgressBar,
    whole: Arc<WholeBar>,
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
    fn new(
        bar: ProgressBar,
        whole: Arc<WholeBar>,
        stop: Stop,
        (replayed, ranks): (u64, usize),
    ) -> Self {
        let metrics = Metrics::default();
        let (began, drawn, now) = (Instant::now(), None, SimTime::ZERO);
        let (rounds, client_rounds) = (0, 0);
        RunProgressBar {
            bar,
            whole,
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
            let position = (1000.0 * done) as u64;
            self.whole.advance(position.saturating_sub(self.bar.position()), false);
            self.bar.set_position(position);
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
        self.whole.advance(1000u64.saturating_sub(self.bar.position()), true);
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
