//! A sweep: runs side by side against one after the other, files and page included.

use super::{Extent, Figure, median};
use crate::plugins::Plugins;
use crate::run::{Error, Options, run};
use crate::scenario::{Override, Scenario};
use std::time::Instant;

/// Sixteen runs.
const SWEEP: &str = r#"
name = "sixteen"
repeats = 4
task = { kind = "synthetic", clients = 30 }
client = { work = { until = "deadline" } }
server.close.deadline = "5s"
sweep.client.lr = [0.01, 0.02]
sweep.client.momentum = [0.0, 0.5]
[[fleet.class]]
name = "fast"
share = 0.5
step_time = "25ms"
[[fleet.class]]
name = "slow"
share = 0.5
step_time = { lognormal = { median = "200ms", sigma = 0.5 } }
"#;

pub(super) fn figures(extent: Extent) -> Result<Vec<Figure>, Error> {
    let (rounds, repeats) = if extent == Extent::Full { (150, 5) } else { (20, 3) };
    let stop = Override::parse(&format!("stop.rounds={rounds}")).expect("a key of the language");
    let scenario = Scenario::parse("sixteen.toml", SWEEP, &[stop], None).expect("a scenario");
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
    let mut ratios = Vec::new();
    for _ in 0..repeats {
        let alone = seconds(&scenario, 1)?;
        ratios.push(alone / seconds(&scenario, cores)?);
    }
    let ratio = median(ratios);
    let goal = 0.95 * cores.min(16) as f64;
    Ok(vec![
        Figure::new(format!("16 runs on {cores} cores, against one"), format!("{ratio:.2} x"))
            .goal(format!("at least {goal:.1}"), ratio >= goal),
    ])
}

/// How long all runs take on so many threads.
fn seconds(scenario: &Scenario, threads: usize) -> Result<f64, Error> {
    let folder = std::env::temp_dir().join(format!("gruppetto-bench-{}", std::process::id()));
    let options = Options {
        out: Some(folder.clone()),
        force: true,
        threads,
        jobs: Some(threads),
        ..Options::default()
    };
    let began = Instant::now();
    run(scenario, &options, &Plugins::new())?;
    let seconds = began.elapsed().as_secs_f64();
    let _ = std::fs::remove_dir_all(folder);
    Ok(seconds)
}
