//! `gruppetto bench`: the speed figures of this machine.
//!
//! Machines are noisy, so what counts are ratios of things measured side by side: the kernel
//! against NumPy and against the core's own peak, two workers against one, rows written against
//! rows not written, a step with momentum against one without. Absolute rates are for orientation.

mod aggregate;
mod checkpoints;
mod compress;
mod devices;
mod engine;
mod kernel;
mod laws;
mod many_runs;
mod round_timer;
mod steps;
#[cfg(feature = "torch")]
mod torch;
mod whole_run;

use std::fmt::Display;

/// How much is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Everything, a million live clients included.
    Full,
    /// A taste of everything, in a few seconds.
    Quick,
}

/// A part of the benchmark that can be measured by itself, in the order of measuring.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum BenchPart {
    /// SGD steps, against NumPy and the core's peak, and what momentum and the like add
    Kernel,
    /// A whole run with training, workers, and what writing it down costs
    Run,
    /// Many runs side by side
    Runs,
    /// What checkpoints cost
    Checkpoints,
    /// Actors and clock without training
    Engine,
    /// Traces, availability and shared links
    Devices,
    /// Deep models, against a bare loop and PyTorch
    Torch,
    /// Adding updates up, and compressing them
    Aggregate,
}

/// A line of the report.
pub struct Figure {
    what: String,
    measured: String,
    /// What the project holds itself to, and whether it was met.
    goal: Option<(String, bool)>,
}

impl Figure {
    fn new(what: impl Into<String>, measured: impl Display) -> Self {
        Figure { what: what.into(), measured: measured.to_string(), goal: None }
    }

    fn goal(mut self, goal: impl Display, met: bool) -> Self {
        self.goal = Some((goal.to_string(), met));
        self
    }
}

/// Measures `parts`, or everything if none is named, and prints each figure as soon as it is there.
pub fn bench(
    extent: Extent,
    parts: &[BenchPart],
    print: &mut dyn FnMut(&str),
) -> Result<(), crate::run::Error> {
    let wanted = |part| parts.is_empty() || parts.contains(&part);
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split(' ').next().unwrap_or("unknown").to_string();
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let isa = gruppetto_kernels::Isa::detect();
    print(&format!("{cores} cores, load {load}, kernels for {isa}\n\n"));
    let mut show = |figures: Vec<Figure>| {
        for Figure { what, measured, goal } in figures {
            let goal = goal.map_or(String::new(), |(goal, met)| {
                format!("  {} {goal}", if met { "ok," } else { "BELOW" })
            });
            print(&format!("{what:48}{measured:>12}{goal}\n"));
        }
    };
    if wanted(BenchPart::Kernel) {
        show(kernel::figures(extent));
        show(laws::figures(extent));
        show(kernel::quadratics(extent));
    }
    if wanted(BenchPart::Run) {
        show(whole_run::figures(extent)?);
    }
    if wanted(BenchPart::Runs) {
        show(many_runs::figures(extent)?);
    }
    if wanted(BenchPart::Checkpoints) {
        show(checkpoints::figures(extent)?);
    }
    if wanted(BenchPart::Engine) {
        show(engine::figures(extent)?);
    }
    if wanted(BenchPart::Devices) {
        show(devices::figures(extent)?);
    }
    #[cfg(feature = "torch")]
    if wanted(BenchPart::Torch) {
        torch::figures(extent, &mut show)?;
    }
    #[cfg(not(feature = "torch"))]
    if parts.contains(&BenchPart::Torch) {
        show(vec![Figure::new("deep models", "not in this program: `make torch` builds one")]);
    }
    // Last: the engine measures its memory, and these vectors should not be part of it.
    if wanted(BenchPart::Aggregate) {
        show(aggregate::figures(extent));
        show(compress::figures(extent));
    }
    Ok(())
}

/// A rate in millions a second.
fn millions(rate: f64) -> String {
    format!("{:.3} M/s", rate / 1e6)
}

/// A share or a difference.
fn percent(part: f64) -> String {
    format!("{:.0} %", 100.0 * part)
}

/// The middle of several measurements.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
