//! How fast this machine takes the local steps of a scenario, as a device of a scenario.

use super::build::trainer;
use super::build::{BuildError, start};
use crate::policy::Batch;
use crate::scenario::Plan;
use crate::solver::Correction;
use crate::train::{DeviceChoice, Job, Model};
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Shorter than this is not told apart from the clock's own time: then several steps are timed at
/// once.
const SHORTEST: Duration = Duration::from_micros(20);

/// Step times that were measured, one after the other, in one thread.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Calibration {
    model: &'static str,
    batch: usize,
    /// Seconds of a step, smallest first.
    steps: Vec<f64>,
    /// How many were timed at once.
    at_once: u64,
    /// Floating-point operations of a step.
    flops: f64,
}

/// Measures steps of a plan's model for about `budget`.
pub fn calibrate(
    plan: &Plan,
    seed: u64,
    device: DeviceChoice,
    budget: Duration,
) -> Result<Calibration, BuildError> {
    let trainer = trainer(plan, seed, device)?;
    let samples = plan.task.shares(seed)?.samples;
    // Whoever has most: its batches are as large as they get.
    let client = (0..samples.len()).max_by_key(|client| samples[*client]).unwrap_or(0);
    let all = samples.get(client).map_or(1, |samples| *samples as usize);
    let batch = match plan.client.batch {
        Batch::Size(size) => size.min(all),
        Batch::Full => all,
    };
    let job = Job {
        model: Arc::new(Model::new(start(plan, seed, &*trainer)?)),
        client: client as u32,
        round: 1,
        solver: plan.client.recipe.solver(0, 1.0),
        correction: Correction::default(),
    };
    let mut run = trainer.begin(job);
    let mut time = |steps: u64| {
        let began = Instant::now();
        run.steps(steps);
        began.elapsed()
    };
    // What is met for the first time takes longer.
    let (began, mut count) = (Instant::now(), 1);
    while began.elapsed() < budget / 5 || time(count) < SHORTEST {
        if time(count) < SHORTEST {
            count *= 2;
        }
    }
    let (began, mut steps) = (Instant::now(), Vec::new());
    while steps.len() < 5 || (began.elapsed() < budget && steps.len() < 100_000) {
        steps.push(time(count).as_secs_f64() / count as f64);
    }
    steps.sort_by(f64::total_cmp);
    Ok(Calibration {
        model: plan.task.problem.model(),
        batch,
        steps,
        at_once: count,
        flops: plan.task.flops(batch),
    })
}

impl Calibration {
    /// The step time that this part of all steps does not exceed.
    fn quantile(&self, part: f64) -> f64 {
        self.steps[((self.steps.len() - 1) as f64 * part).round() as usize]
    }

    /// How steps scatter around their median: half of what lies between the 16th and the 84th
    /// percentile of their logarithm, which a few interruptions do not change.
    fn sigma(&self) -> f64 {
        0.5 * (self.quantile(0.84) / self.quantile(0.16)).ln()
    }
}

impl fmt::Display for Calibration {
    /// A class of a scenario, with what was measured in comments.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let micros = |seconds: f64| format!("{:.3}us", 1e6 * seconds);
        let [low, median, high] = [0.1, 0.5, 0.9].map(|part| self.quantile(part));
        // A device is told by its mean and its relative standard deviation; here both of a log-normal
        // with this median, which a few interruptions do not change.
        let sigma = self.sigma().clamp(0.0, 1.0);
        let mean = median * (0.5 * sigma * sigma).exp();
        let gflops = self.flops / mean / 1e9;
        let Calibration { model, batch, .. } = self;
        writeln!(f, "# {model}, batches of {batch}, one thread of this machine:")?;
        writeln!(
            f,
            "# {} a step at the median, p10 {}, p90 {}",
            micros(median),
            micros(low),
            micros(high)
        )?;
        writeln!(f, "# {:.3} MFLOP a step, {gflops:.3} GFLOPS", self.flops / 1e6)?;
        writeln!(f, "[[fleet.class]]\nname = \"this-machine\"")?;
        writeln!(f, "step_time = \"{}\"", micros(mean))?;
        match self.at_once {
            1 => writeln!(f, "jitter = {:.3}", (sigma * sigma).exp_m1().sqrt())?,
            _ => writeln!(f, "# steps are too short to tell how much they differ")?,
        }
        writeln!(f, "# or, whatever the model and the batch: speed = \"{gflops:.3} GFLOPS\"")
    }
}
