//! What is in a trace: counts, quantiles, rhythms, and what looks wrong.
//!
//! Reads the rows themselves rather than [`super::Recordings`], which stops at the first mistake:
//! here every mistake is reported.

mod availability;
mod display;
mod problems;
mod spread;

pub use availability::Availability;
pub use problems::Problem;
pub(super) use spread::Weights;
pub use spread::{Bin, Spread};

use super::rows::{MOST_CHANGES, Row, Rows, is_later};
use super::{Change, Compute, ComputeColumn, Input, Recording, TraceError};
use availability::WindowSums;
use gruppetto_sim::clock::Span;
use problems::{Doubt, Problems};
use serde::Serialize;

/// What a trace holds. Times are in seconds, rates in Mbit/s, speeds in GFLOPS.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Inspection {
    /// The file.
    pub file: String,
    /// Devices.
    pub devices: u64,
    /// Rows that change something.
    pub changes: u64,
    /// Devices whose recording says when it ended.
    pub with_end: u64,
    /// The longest recording, s.
    pub longest: f64,
    /// The shortest recording, s.
    pub shortest: f64,
    /// Every aspect that is a number.
    pub aspects: Vec<Aspect>,
    /// When devices are there, if the trace says so.
    pub availability: Option<Availability>,
    /// What looks wrong.
    pub problems: Vec<Problem>,
}

/// How one aspect is spread. Every device counts the same; within a device a value counts for as
/// long as it held.
#[derive(Clone, Debug, Serialize)]
pub struct Aspect {
    /// The column.
    pub name: &'static str,
    /// The unit of every number.
    pub unit: &'static str,
    /// Devices that tell it.
    pub devices: u64,
    /// The numbers.
    #[serde(flatten)]
    pub spread: Spread,
}

/// Reads a whole trace. Only a file that cannot be read, or has no header, is an error.
pub fn inspect(input: &Input) -> Result<Inspection, TraceError> {
    let mut rows = Rows::open(input)?;
    let columns = rows.columns();
    let mut tally = Tally::default();
    let mut current = Recording::default();
    let mut last = None;
    while let Some(row) = rows.next() {
        let Row { line, device, is_end, change } = match row {
            Ok(row) => row,
            Err(error) => {
                tally.problems.note(Doubt::Malformed, || error.brief());
                continue;
            }
        };
        if device != current.device {
            tally.add(&current);
            tally.problems.meet(device, line);
            current = Recording { device: device.to_string(), ..Recording::default() };
            last = None;
        }
        if !is_later(change.at, last) || current.end.is_some() {
            tally.problems.note(Doubt::Order, || format!("line {line}, device `{device}`"));
            continue;
        }
        last = Some(change.at);
        if is_end {
            current.end = last;
        } else if current.changes.len() < MOST_CHANGES {
            tally.problems.judge(&change, line);
            current.changes.push(change);
        }
    }
    tally.add(&current);
    let compute = columns.compute.map(|column| match column {
        ComputeColumn::Step => ("step_time", "ms", 1e6),
        ComputeColumn::Sample => ("sample_time", "ms", 1e6),
        ComputeColumn::Speed => ("speed", "GFLOPS", 1e9),
    });
    let up = columns.up.then_some(("up", "Mbps", 1e6));
    let down = columns.down.then_some(("down", "Mbps", 1e6));
    let mut aspects = Vec::new();
    for (titles, weights) in [compute, up, down].into_iter().zip(&tally.weights) {
        if let Some((name, unit, scale)) = titles {
            let spread = weights.spread(scale);
            aspects.push(Aspect { name, unit, devices: weights.devices, spread });
        }
    }
    let availability = columns.available.then(|| tally.windows.summary());
    tally.problems.check_known(tally.devices, &aspects);
    Ok(Inspection {
        file: input.path().display().to_string(),
        devices: tally.devices,
        changes: tally.changes,
        with_end: tally.with_end,
        longest: tally.longest.seconds(),
        shortest: tally.shortest.unwrap_or_default().seconds(),
        aspects,
        availability,
        problems: tally.problems.list(),
    })
}

#[derive(Default)]
struct Tally {
    devices: u64,
    changes: u64,
    with_end: u64,
    longest: Span,
    shortest: Option<Span>,
    /// Compute, up, down.
    weights: [Weights; 3],
    windows: WindowSums,
    problems: Problems,
}

impl Tally {
    fn add(&mut self, recording: &Recording) {
        if recording.device.is_empty() {
            return;
        }
        self.devices += 1;
        self.changes += recording.changes.len() as u64;
        self.with_end += u64::from(recording.end.is_some());
        let last = recording.changes.last().map(|change| change.at);
        let length = recording.end.or(last).unwrap_or_default();
        self.longest = self.longest.max(length);
        self.shortest = Some(self.shortest.map_or(length, |shortest| shortest.min(length)));
        let aspects: [fn(&Change) -> Option<f64>; 3] =
            [|change| change.compute.map(Compute::value), |change| change.up, |change| change.down];
        for (weights, aspect) in self.weights.iter_mut().zip(aspects) {
            weights.add(recording, aspect);
        }
        self.problems.judge_links(recording);
        if !self.windows.add(recording) {
            self.problems.note(Doubt::NeverAvailable, || format!("device `{}`", recording.device));
        }
    }
}
