//! `gruppetto calibrate`: this machine as a device.

use super::arguments::{ScenarioArguments, SweepArguments};
use super::{Problem, print};
use crate::cli::ExitCode;
use crate::plugins::Plugins;
use crate::run::{calibrate, check_device};
use crate::train::DeviceChoice;
use clap::Args;
use std::time::Duration;

#[derive(Args)]
pub(super) struct CalibrateArguments {
    #[command(flatten)]
    scenario: ScenarioArguments,
    /// Batch sizes to measure, e.g. 8,32,128 [default: the scenario's]
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..))]
    batch: Vec<u32>,
    /// Seconds for each of them
    #[arg(long, value_name = "S", default_value_t = 3.0)]
    seconds: f64,
    /// Where deep models are computed: cpu, cuda, cuda:N or auto (GPUs if there are any)
    #[arg(long, value_name = "WHERE", default_value = "auto", hide_default_value = true)]
    device: DeviceChoice,
}

/// Does what `gruppetto calibrate` says.
pub(super) fn calibrate_machine(arguments: &CalibrateArguments) -> Result<ExitCode, Problem> {
    let CalibrateArguments { scenario, batch, seconds, device } = arguments;
    if !(0.01..=3600.0).contains(seconds) {
        return Err(Problem::usage("error: --seconds: expected a number from 0.01 to 3600"));
    }
    check_device(*device).map_err(Problem::usage)?;
    let budget = Duration::from_secs_f64(*seconds);
    // `None`: as the scenario says.
    let batches = match &batch[..] {
        [] => vec![None],
        some => some.iter().copied().map(Some).collect(),
    };
    for (place, batch) in batches.into_iter().enumerate() {
        let loaded = scenario.load_with(
            batch.map(|size| format!("client.batch={size}")),
            &SweepArguments::default(),
            &Plugins::new(),
        );
        let loaded = loaded.map_err(Problem::usage)?;
        let plan = &loaded.variants[0].plan;
        let measured = calibrate(plan, loaded.seed, *device, budget)
            .map_err(|error| Problem::usage(format!("error: {error}")))?;
        let between = if place > 0 { "\n" } else { "" };
        print(&format!("{between}{measured}"))?;
    }
    Ok(ExitCode::SUCCESS)
}
