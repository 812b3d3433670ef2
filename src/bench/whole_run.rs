//! A whole run: how much of it is training, what a second worker gives, how soon it starts.

use super::round_timer::RoundTimer;
use super::{Extent, Figure, median, percent};
use crate::actors::ClockMode;
use crate::run::{Error, Options, Run, run};
use crate::run_files::Throughput;
use crate::scenario::Scenario;
use crate::train::DeviceChoice;
use std::path::PathBuf;
use std::time::Instant;

const DEMO: &str = include_str!("../../scenarios/demo.toml");

pub(super) fn figures(extent: Extent) -> Result<Vec<Figure>, Error> {
    let (rounds, repeats) = if extent == Extent::Full { (400, 5) } else { (60, 3) };
    let mut shares = Vec::new();
    let (mut speedups, mut costs) = (Vec::new(), Vec::new());
    let folder = std::env::temp_dir().join(format!("gruppetto-bench-{}", std::process::id()));
    let (mut starts, mut one_by_one) = (Vec::new(), Vec::new());
    for _ in 0..repeats {
        let one = training(rounds, ALL, 1)?;
        let two = training(rounds, ALL, 2)?;
        let alone = training(3 * rounds, BUFFER, 1)?;
        one_by_one.push(alone.seconds / training(3 * rounds, BUFFER, 2)?.seconds);
        shares.push(one.busy / one.seconds);
        speedups.push(one.seconds / two.seconds);
        // With everything that is written, from the first round to the page that explains the run.
        let bare = whole(rounds, None)?;
        let written = whole(rounds, Some(folder.clone()));
        let _ = std::fs::remove_dir_all(&folder);
        costs.push(written? / bare - 1.0);
        starts.push(start_of_demo()?);
    }
    let (share, speedup, cost) = (median(shares), median(speedups), median(costs));
    let asynchronous = median(one_by_one);
    let start = median(starts) * 1e3;
    Ok(vec![
        Figure::new("whole run, 30 clients, 5 epochs: time in training", percent(share))
            .goal("at least 80 %", share >= 0.8),
        Figure::new("  two workers against one", format!("{speedup:.2} x"))
            .goal("at least 1.8", speedup >= 1.8),
        Figure::new("  the same, asynchronous", format!("{asynchronous:.2} x"))
            .goal("at least 1.7", asynchronous >= 1.7),
        Figure::new("  everything written", format!("{:+.1} % time", 100.0 * cost))
            .goal("at most +3 %", cost <= 0.03),
        Figure::new("start to the demo's first round closed", format!("{start:.0} ms"))
            .goal("under 100", start < 100.0),
    ])
}

fn synthetic(rounds: u64, server: &str, record: &str) -> Scenario {
    let text = format!(
        "name = \"whole-run\"\nstop.rounds = {rounds}\n[client]\nwork = {{ epochs = 5 }}\n\
         [server]\n{server}\n[record]\nclients = \"{record}\"\n"
    );
    Scenario::parse("whole-run", &text, &[], None).expect("a fixed scenario")
}

struct Timed {
    /// From the first aggregation to the last.
    seconds: f64,
    busy: f64,
}

/// Everyone takes part in every round.
const ALL: &str = "close = \"all\"\nevaluate_every = 10";
/// Twenty are on their way at any time, and ten of them make a round.
const BUFFER: &str = "close = { buffer = 10 }\nconcurrency = 20\nevaluate_every = 30";

/// The paper's synthetic experiment, closed one way or another.
fn training(rounds: u64, server: &str, threads: usize) -> Result<Timed, Error> {
    let round_timer = RoundTimer::default();
    let summary = run_once(&synthetic(rounds, server, "off"), threads, None, &round_timer)?;
    let Throughput { train_seconds, evaluate_seconds, .. } = summary.variants[0].throughput;
    let busy = train_seconds + evaluate_seconds;
    // Drawing the data is not part of what users wait for round after round.
    Ok(Timed { seconds: round_timer.between_first_and_last(), busy })
}

/// Seconds of a run that trains, from its first aggregation to its end, with what is written to `out`.
fn whole(rounds: u64, out: Option<PathBuf>) -> Result<f64, Error> {
    let record = if out.is_some() { "all" } else { "off" };
    let round_timer = RoundTimer::default();
    run_once(&synthetic(rounds, ALL, record), 1, out, &round_timer)?;
    Ok(round_timer.since_first())
}

/// Seconds from reading the scenario to its first aggregation.
fn start_of_demo() -> Result<f64, Error> {
    let began = Instant::now();
    let text = DEMO.replace("rounds = 1500", "rounds = 1");
    let scenario = Scenario::parse("demo.toml", &text, &[], None).expect("the demo is valid");
    let round_timer = RoundTimer::default();
    // One variant is enough, and what the two of them promise of each other does not matter here.
    let variants = scenario.variants[..1].to_vec();
    let scenario = Scenario { variants, expects: Vec::new(), ..scenario };
    run_once(&scenario, 2, None, &round_timer)?;
    Ok(round_timer.first_after(began))
}

fn run_once(
    scenario: &Scenario,
    threads: usize,
    out: Option<PathBuf>,
    round_timer: &RoundTimer,
) -> Result<Run, Error> {
    let clock_mode = ClockMode::Virtual;
    let options = Options {
        out,
        force: true,
        threads,
        clock_mode,
        timing_only: false,
        device: DeviceChoice::Cpu,
        ..Options::default()
    };
    run(scenario, &options, &round_timer.plugins())
}
