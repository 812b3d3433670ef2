//! From a trace to classes of devices that a scenario can draw from.
//!
//! A trace says what some devices were like; classes with distributions say what any number of
//! devices might be like. Devices are told apart by how fast they compute, as a mixture of
//! lognormals; links and availability are then those of each class.
//!
//! ```text
//!   Recordings ──one line each──► Summary ──► classes (EM on the logarithm, K by BIC)
//!                                    │              │ how much a device belongs to each
//!                                    └──────────────┴──► Fit ──► [[fleet.class]] blocks
//! ```

mod classes;
mod display;
mod quality;
mod summary;

pub use quality::Quality;

use super::inspect::Weights;
use super::{ComputeColumn, Input, Recordings, TraceError};
use classes::Component;
use serde::Serialize;
use summary::Summary;

/// How to fit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FitOptions {
    /// How many classes; chosen by how well they explain the devices if not given.
    pub classes: Option<usize>,
    /// Samples in a step. A trace of sample times needs it, no other takes it.
    pub batch: Option<u64>,
}

/// Classes of devices, and how well they describe the trace.
#[derive(Clone, Debug, Serialize)]
pub struct Fit {
    /// The trace.
    pub file: String,
    /// Devices that were fitted.
    pub devices: usize,
    /// Devices that say nothing (or nothing sensible) of their compute speed.
    pub left_out: u64,
    /// Devices that are never there: nobody meets them.
    pub never_there: usize,
    /// Samples in a step, if step times are made from sample times.
    pub batch: Option<u64>,
    /// The Bayesian information criterion of one class, two, …: the lowest is best. Empty if the
    /// number of classes was given.
    pub bic: Vec<f64>,
    /// From fast to slow.
    pub classes: Vec<FitClass>,
    /// Standard deviation of the logarithm of compute speed within devices, which classes of
    /// constant devices do not have.
    pub within: f64,
    /// The same of the links.
    pub within_links: f64,
    /// The part of the time in which links are 0, which is no rate to fit.
    pub unconnected: f64,
    /// Quantiles of the trace beside those of the classes.
    pub quality: Vec<Quality>,
}

/// A class of devices.
#[derive(Clone, Debug, Serialize)]
pub struct FitClass {
    /// Its name.
    pub name: String,
    /// The part of all devices.
    pub share: f64,
    /// Time of a local step.
    pub step_time: Option<Lognormal>,
    /// Floating-point operations per second.
    pub speed: Option<Lognormal>,
    /// From client to server.
    pub uplink: Option<Lognormal>,
    /// From server to client.
    pub downlink: Option<Lognormal>,
    /// When devices are there.
    pub availability: Option<Presence>,
}

/// `median · exp(sigma · z)`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Lognormal {
    /// Half of all devices lie below.
    pub median: f64,
    /// The unit of `median`: ms, Mbps or GFLOPS.
    pub unit: &'static str,
    /// Standard deviation of the logarithm; 0 if all devices are the same.
    pub sigma: f64,
}

/// Windows in which devices are there, both with exponential lengths.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Presence {
    /// How long they last on average, s.
    pub on: f64,
    /// How long devices are away in between, s.
    pub off: f64,
    /// How many there were in the trace.
    pub windows: f64,
}

/// Fits classes to a trace.
pub fn fit(input: &Input, options: &FitOptions) -> Result<Fit, TraceError> {
    let recordings = Recordings::read(input)?;
    let column = recordings.columns().compute;
    let batch = batch(input, column, options.batch)?;
    let (mut devices, mut left_out, mut never_there) = (Vec::new(), 0, 0);
    let mut windows = [Weights::default(), Weights::default()];
    for recording in recordings {
        let summary = Summary::of(&recording?, batch, &mut windows);
        if summary.on == 0.0 && summary.off > 0.0 {
            never_there += 1;
        } else if column.is_none() || summary.compute.is_some() {
            devices.push(summary);
        } else {
            left_out += 1;
        }
    }
    if devices.is_empty() {
        let what = match left_out {
            0 if never_there > 0 => format!("none of its {never_there} devices is ever available"),
            0 => "there is no device in it".to_string(),
            n => format!("none of its {n} devices tells a compute speed that a device can have"),
        };
        return Err(input.wrong(what).help("`gruppetto trace inspect` says what is in a trace"));
    }
    let logs: Vec<f64> = devices.iter().filter_map(|device| device.compute).collect();
    let found = match (column, options.classes) {
        (None, None | Some(1)) => classes::one(),
        (None, Some(asked)) => {
            let error = input.wrong(format!("nothing tells {asked} classes apart"));
            return Err(error.help("classes differ in compute speed, which this trace lacks"));
        }
        (Some(_), asked) => classes::find(&logs, asked).map_err(|distinct| {
            let asked = asked.unwrap_or(1);
            let values = if distinct == 1 { "value" } else { "different values" };
            let error = input
                .wrong(format!("{asked} classes of devices whose speeds have {distinct} {values}"));
            error.help(format!("ask for {distinct} or fewer with --classes"))
        })?,
    };
    let mut components = found.components;
    if column == Some(ComputeColumn::Speed) {
        components.reverse();
    }
    let classes = describe(&devices, &components, column);
    let quality = quality::compare(&devices, &classes, column, &windows);
    let mean = |of: fn(&Summary) -> f64| devices.iter().map(of).sum::<f64>() / devices.len() as f64;
    Ok(Fit {
        file: input.path().display().to_string(),
        devices: devices.len(),
        left_out,
        never_there,
        batch: options.batch,
        bic: found.bic,
        classes,
        within: mean(|device| device.within).sqrt(),
        within_links: mean(|device| device.within_links).sqrt(),
        unconnected: mean(|device| device.unconnected),
        quality,
    })
}

/// How many samples a step has, where that counts.
fn batch(
    input: &Input,
    column: Option<ComputeColumn>,
    asked: Option<u64>,
) -> Result<f64, TraceError> {
    match (column, asked) {
        (Some(ComputeColumn::Sample), Some(batch)) => Ok(batch as f64),
        (Some(ComputeColumn::Sample), None) => Err(input
            .wrong("it tells the time of a sample, and a class needs the time of a step")
            .help("say how many samples a step has, as `batch` in [client]: --batch 20")),
        (_, None) => Ok(1.0),
        (_, Some(_)) => {
            let error = input.wrong("--batch goes with a trace of `sample_time`");
            Err(error.help("leave it out: this trace does not tell the time of a sample"))
        }
    }
}

/// What the devices of each class are like; one counts as much as it belongs to the class.
fn describe(
    devices: &[Summary],
    components: &[Component],
    column: Option<ComputeColumn>,
) -> Vec<FitClass> {
    let parts: Vec<Vec<f64>> = devices
        .iter()
        .map(|device| match device.compute {
            Some(log) => classes::parts(components, log),
            None => vec![1.0],
        })
        .collect();
    let count = components.len();
    let class = |index: usize| {
        let weighted = || devices.iter().zip(&parts).map(|(device, part)| (device, part[index]));
        let fitted = |of: fn(&Summary) -> Option<f64>, unit, scale| {
            lognormal(
                weighted().filter_map(|(device, part)| Some((of(device)?, part))),
                unit,
                scale,
            )
        };
        let total: f64 = weighted().map(|(_, part)| part).sum();
        let (is_step, is_speed) = match column {
            Some(ComputeColumn::Speed) => (false, true),
            Some(_) => (true, false),
            None => (false, false),
        };
        let compute = |device: &Summary| device.compute;
        FitClass {
            name: match (count, index) {
                (1, _) => "device".into(),
                (2 | 3, 0) => "fast".into(),
                (3, 1) => "middle".into(),
                (2, 1) | (3, 2) => "slow".into(),
                _ => format!("class-{}", index + 1),
            },
            share: total / devices.len() as f64,
            step_time: if is_step { fitted(compute, "ms", 1e6) } else { None },
            speed: if is_speed { fitted(compute, "GFLOPS", 1e9) } else { None },
            uplink: fitted(|device| device.up, "Mbps", 1e6),
            downlink: fitted(|device| device.down, "Mbps", 1e6),
            availability: presence(weighted()),
        }
    };
    (0..count).map(class).collect()
}

/// Mean and spread of weighted logarithms.
fn lognormal(
    logs: impl Iterator<Item = (f64, f64)> + Clone,
    unit: &'static str,
    scale: f64,
) -> Option<Lognormal> {
    let total: f64 = logs.clone().map(|(_, part)| part).sum();
    if total <= 0.0 {
        return None;
    }
    let mean = logs.clone().map(|(log, part)| part * log).sum::<f64>() / total;
    let var = logs.map(|(log, part)| part * (log - mean).powi(2)).sum::<f64>() / total;
    // Rounding of the mean is no spread.
    let sigma = if var < 1e-20 { 0.0 } else { var.sqrt() };
    Some(Lognormal { median: mean.exp() / scale, unit, sigma })
}

/// Exponential windows. One that the recording cuts off counts with its time but not as an end,
/// which is the most likely mean when ends are not seen.
fn presence<'a>(devices: impl Iterator<Item = (&'a Summary, f64)>) -> Option<Presence> {
    let mut sum = [0.0; 4];
    for (device, part) in devices {
        let told = [device.on, device.off, device.on_ends, device.off_ends];
        sum.iter_mut().zip(told).for_each(|(sum, told)| *sum += part * told);
    }
    let [on, off, on_ends, off_ends] = sum;
    (on > 0.0 && off > 0.0).then(|| {
        // Of few devices maybe no end is seen: as if there was one.
        let mean = |time: f64, ends: f64| time / ends.max(1.0);
        Presence { on: mean(on, on_ends), off: mean(off, off_ends), windows: on_ends.max(1.0) }
    })
}
