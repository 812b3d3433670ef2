//! The engine alone: actors, clock, policy and recording, without training.

use super::round_timer::RoundTimer;
use super::{Extent, Figure, median, millions};
use crate::actors::ClockMode;
use crate::run::{Error, Options, run};
use crate::scenario::Scenario;
use crate::train::DeviceChoice;
use std::path::PathBuf;

pub(super) fn figures(extent: Extent) -> Result<Vec<Figure>, Error> {
    let full = extent == Extent::Full;
    let (repeats, rounds) = if full { (5, 1500) } else { (3, 150) };
    // Side by side, so that both see the same machine.
    let folder = std::env::temp_dir().join(format!("gruppetto-bench-{}", std::process::id()));
    let (mut bare, mut jittered, mut costs) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..repeats {
        let off = rate(1000, rounds, 0.0, None)?;
        let all = rate(1000, rounds, 0.0, Some(folder.clone()));
        // Whatever became of it, the rows are not kept.
        let _ = std::fs::remove_dir_all(&folder);
        costs.push(off / all? - 1.0);
        bare.push(off);
        jittered.push(rate(1000, rounds, 0.1, None)?);
    }
    let (bare, cost) = (median(bare), median(costs));
    let mut figures = vec![
        Figure::new("client-rounds, 1,000 clients, timing only", millions(bare))
            .goal("at least 0.8", bare >= 0.8e6),
        Figure::new("  everything written", format!("{:+.0} % time", 100.0 * cost))
            .goal("at most +10 %", cost <= 0.1),
        Figure::new("  20 steps with jitter each", millions(median(jittered))),
    ];
    let clients = if full { 1_000_000 } else { 100_000 };
    let before = resident("VmRSS");
    let many = rate(clients, 5, 0.0, None)?;
    let figure = Figure::new(format!("  {clients} clients, all live"), millions(many));
    figures.push(if full { figure.goal("at least 0.4", many >= 0.4e6) } else { figure });
    if let (Some(before), Some(peak)) = (before, resident("VmHWM")) {
        let bytes = 1024.0 * (peak - before) / clients as f64;
        let figure = Figure::new("  memory per live client", format!("{bytes:.0} B"));
        figures.push(figure.goal("at most 1200", bytes <= 1200.0));
    }
    Ok(figures)
}

/// Client-rounds per second from the first aggregation to the end, with everything that is written to
/// `out`: rows, timeline, report.
fn rate(clients: usize, rounds: u64, jitter: f64, out: Option<PathBuf>) -> Result<f64, Error> {
    let record = if out.is_some() { "all" } else { "off" };
    let text = format!(
        r#"
name = "engine"
stop.rounds = {rounds}
[task]
kind = "quadratic"
clients = {clients}
[client]
work = {{ steps = 20 }}
[server]
close = "all"
[record]
clients = "{record}"
[[fleet.class]]
name = "phone"
step_time = {{ lognormal = {{ median = "25ms", sigma = 0.2 }} }}
jitter = {jitter}
latency = {{ uniform = ["1ms", "60ms"] }}
"#
    );
    let scenario = Scenario::parse("engine", &text, &[], None).expect("a fixed scenario");
    let clock_mode = ClockMode::Virtual;
    let options = Options {
        out,
        force: true,
        threads: 1,
        clock_mode,
        timing_only: true,
        device: DeviceChoice::Cpu,
        ..Options::default()
    };
    let round_timer = RoundTimer::default();
    run(&scenario, &options, &round_timer.plugins())?;
    Ok(clients as f64 * (rounds - 1) as f64 / round_timer.since_first())
}

/// A line of /proc/self/status in kB; `None` where there is no such file.
fn resident(name: &str) -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with(name))?;
    line.split_whitespace().nth(1)?.parse().ok()
}
