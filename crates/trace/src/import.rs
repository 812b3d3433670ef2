//! Traces that others recorded, turned into ours.
//!
//! Every format is read as a stream: one record in, one [`Recording`] out. A record that makes no
//! sense stops the import with its position, or is left out and counted.

mod bandwidth;
mod fedscale;
mod flash;
mod json;
mod latency_map;
mod mapping;
mod table;
mod windows;

pub use mapping::Mapping;

use super::columns::{Columns, ComputeColumn};
use super::error::{TraceError, shown};
use super::reader::Names;
use super::{Input, Recording};
use std::cell::RefCell;

/// A backward pass takes about twice as long as a forward pass, so that training a sample takes
/// three times what inference takes: FedScale's factor.
const TRAINING: f64 = 3.0;

/// Whose format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// FedScale's `client_device_capacity`: a pickle of inference latencies and link speeds.
    FedscaleCapacity,
    /// FedScale's `client_behave_trace`: a pickle of availability windows.
    FedscaleBehavior,
    /// FLASH's `state_traces.json`: what phones said about charger, screen and network.
    Flash,
    /// FLASH's parsed form, `cached_timers.json`: when phones were ready.
    FlashReady,
    /// A table of phone models and inference latencies.
    AiBenchmark,
    /// A JSON object of devices, each with latencies by task.
    LatencyJson,
    /// A log of seconds and Mbit/s, or a folder of logs.
    Bandwidth,
    /// Any table, with a mapping of its columns.
    Csv,
}

impl Format {
    /// Every format, with its name and a line about it, as `gruppetto trace import` shows them.
    pub const ALL: [(Format, &str, &str); 8] = [
        (
            Format::FedscaleCapacity,
            "fedscale-capacity",
            "FedScale's client_device_capacity (a pickle; nothing in it is run)",
        ),
        (
            Format::FedscaleBehavior,
            "fedscale-behavior",
            "FedScale's client_behave_trace (a pickle; nothing in it is run)",
        ),
        (Format::Flash, "flash", "FLASH's state_traces.json"),
        (Format::FlashReady, "flash-ready", "FLASH's parsed form, cached_timers.json"),
        (
            Format::AiBenchmark,
            "ai-benchmark",
            "A table of phone models and inference latencies in ms",
        ),
        (
            Format::LatencyJson,
            "latency-json",
            "A JSON object of devices, each with latencies in ms by task; --task chooses one",
        ),
        (Format::Bandwidth, "bandwidth", "A log of seconds and Mbit/s, or a folder of logs"),
        (Format::Csv, "csv", "Any table, with --map"),
    ];
}

/// Which links a bandwidth log is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Direction {
    /// From client to server.
    Up,
    /// From server to client.
    Down,
    /// Both, each at this rate.
    #[default]
    Both,
}

/// How to import.
#[derive(Clone, Debug)]
pub struct ImportOptions {
    /// From which format.
    pub format: Format,
    /// Leave out and count what makes no sense, instead of stopping.
    pub skip_bad: bool,
    /// For bandwidth logs.
    pub direction: Direction,
    /// For tables: which column is what. `csv` needs it.
    pub map: Option<Mapping>,
    /// For latencies of phones: what they are of.
    pub latencies: Latencies,
    /// For latencies by task: which task; may be left out where there is one.
    pub task: Option<String>,
}

/// What a latency per sample is of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Latencies {
    /// Inference: training takes three times as long.
    #[default]
    Inference,
    /// Training.
    Training,
}

impl Latencies {
    /// What turns a latency into the time of training on a sample.
    fn factor(self) -> f64 {
        match self {
            Latencies::Inference => TRAINING,
            Latencies::Training => 1.0,
        }
    }
}

impl ImportOptions {
    /// Stops at the first bad record; both directions; no mapping.
    pub fn new(format: Format) -> Self {
        ImportOptions {
            format,
            skip_bad: false,
            direction: Direction::Both,
            map: None,
            latencies: Latencies::Inference,
            task: None,
        }
    }

    /// The aspects that an import gives.
    pub fn columns(&self) -> Columns {
        let none = Columns::default();
        let sample = Columns { compute: Some(ComputeColumn::Sample), ..none };
        match self.format {
            Format::FedscaleCapacity => Columns { up: true, down: true, ..sample },
            Format::AiBenchmark | Format::LatencyJson => sample,
            Format::FedscaleBehavior | Format::Flash | Format::FlashReady => {
                Columns { available: true, ..none }
            }
            Format::Bandwidth => Columns {
                up: self.direction != Direction::Down,
                down: self.direction != Direction::Up,
                ..none
            },
            Format::Csv => self.map.as_ref().map_or(none, Mapping::columns),
        }
    }
}

/// What came of an import.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImportSummary {
    /// Devices written.
    pub devices: u64,
    /// Changes of these devices.
    pub changes: u64,
    /// Records that the source itself marks as missing.
    pub missing: u64,
    /// Records left out because they make no sense.
    pub skipped: u64,
    /// The first of them.
    pub first_skipped: Option<String>,
}

/// Hands every device in `input` to `each`.
pub fn import(
    input: &Input,
    options: &ImportOptions,
    each: &mut dyn FnMut(&Recording) -> Result<(), TraceError>,
) -> Result<ImportSummary, TraceError> {
    let (skip_bad, names) = (options.skip_bad, Names::default());
    let mut sink = Sink { each, skip_bad, names, summary: ImportSummary::default() };
    match options.format {
        Format::FedscaleCapacity => fedscale::capacity(input, &mut sink)?,
        Format::FedscaleBehavior => fedscale::behavior(input, &mut sink)?,
        Format::Flash => json::entries(input, &mut sink, &flash::states)?,
        Format::FlashReady => json::entries(input, &mut sink, &flash::ready)?,
        Format::AiBenchmark => {
            table::ai_benchmark(input, options.map.as_ref(), options.latencies, &mut sink)?;
        }
        Format::LatencyJson => {
            let task = RefCell::new(options.task.clone());
            let read = |name, entry| {
                latency_map::device(name, entry, &mut task.borrow_mut(), options.latencies)
            };
            json::entries(input, &mut sink, &read)?;
        }
        Format::Bandwidth => bandwidth::import(input, options.direction, &mut sink)?,
        Format::Csv => {
            let Some(map) = &options.map else {
                return Err(input.wrong("a table needs a mapping of its columns"));
            };
            table::generic(input, map, &mut sink)?;
        }
    }
    if sink.summary.devices == 0 {
        let mut error = input.wrong("there is no device in it that could be imported");
        if let Some(first) = sink.summary.first_skipped {
            error = error.help(format!("the first that was skipped: {first}"));
        }
        return Err(error);
    }
    Ok(sink.summary)
}

/// What a record says: a device, nothing (and the source says so), or something that makes no
/// sense.
type Outcome = Result<Option<Recording>, String>;

/// Where imported devices go.
struct Sink<'a> {
    each: &'a mut dyn FnMut(&Recording) -> Result<(), TraceError>,
    skip_bad: bool,
    names: Names,
    summary: ImportSummary,
}

impl Sink<'_> {
    fn take(
        &mut self,
        input: &Input,
        at: impl Fn() -> String,
        outcome: Outcome,
    ) -> Result<(), TraceError> {
        let recording = match outcome {
            Ok(Some(recording)) => recording,
            Ok(None) => {
                self.summary.missing += 1;
                return Ok(());
            }
            Err(what) => return self.bad(input, at(), what),
        };
        let device = recording.device.trim();
        if device.is_empty() {
            return self.bad(input, at(), "the device has no name".into());
        }
        if !self.names.is_new(device) {
            let what = format!("device `{}` came before", shown(device));
            return self.bad(input, at(), what);
        }
        let recording = if device.len() < recording.device.len() {
            Recording { device: device.to_string(), ..recording }
        } else {
            recording
        };
        self.summary.devices += 1;
        self.summary.changes += recording.changes.len() as u64;
        (self.each)(&recording)
    }

    /// Something that makes no sense: an error, or one more that is skipped.
    fn bad(&mut self, input: &Input, at: String, what: String) -> Result<(), TraceError> {
        let error = input.wrong(what).at(at);
        if !self.skip_bad {
            return Err(error.help("--skip-bad leaves such records out and counts them"));
        }
        self.summary.skipped += 1;
        self.summary.first_skipped.get_or_insert_with(|| error.brief());
        Ok(())
    }
}
