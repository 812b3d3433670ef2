//! A recording in a few numbers.

use crate::inspect::Weights;
use crate::{Change, Compute, Recording};

/// Rates and times that a scenario cannot have are no devices'.
const STEP: std::ops::Range<f64> = 1.0..1e18;
const SPEED: std::ops::Range<f64> = 1.0..1e30;
const RATE: std::ops::Range<f64> = 1.0..1e15;

/// What a device was like on the whole. Times are in seconds, everything else is a logarithm.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Summary {
    /// Of nanoseconds per step or operations per second: the mean over the time it was told.
    pub(super) compute: Option<f64>,
    /// Of bits per second, the mean over the time with a connection.
    pub(super) up: Option<f64>,
    pub(super) down: Option<f64>,
    /// Variance of the logarithm of compute speed over time.
    pub(super) within: f64,
    /// The same of the link that varies more.
    pub(super) within_links: f64,
    /// The part of the time without a connection.
    pub(super) unconnected: f64,
    /// Time there and time away, and how often each was seen to end.
    pub(super) on: f64,
    pub(super) off: f64,
    pub(super) on_ends: f64,
    pub(super) off_ends: f64,
}

impl Summary {
    /// Of a recording; lengths of windows and of what is in between are added to `windows`.
    pub(super) fn of(recording: &Recording, batch: f64, windows: &mut [Weights; 2]) -> Summary {
        let compute = logs(recording, |change| change.compute.map(Compute::value));
        let factor = match recording.changes.iter().find_map(|change| change.compute) {
            Some(Compute::Sample(_)) => batch,
            _ => 1.0,
        };
        let range = match recording.changes.iter().find_map(|change| change.compute) {
            Some(Compute::Flops(_)) => SPEED,
            _ => STEP,
        };
        let up = logs(recording, |change| change.up);
        let down = logs(recording, |change| change.down);
        let sensible = |log: &f64| range.contains(&log.exp());
        let mut summary = Summary {
            compute: compute.mean.map(|log| log + factor.ln()).filter(sensible),
            up: up.mean.filter(|log| RATE.contains(&log.exp())),
            down: down.mean.filter(|log| RATE.contains(&log.exp())),
            within: compute.variance,
            within_links: up.variance.max(down.variance),
            unconnected: up.nothing.max(down.nothing),
            ..Summary::default()
        };
        summary.add_windows(recording, windows);
        summary
    }

    fn add_windows(&mut self, recording: &Recording, windows: &mut [Weights; 2]) {
        let mut since: Option<(f64, bool)> = None;
        for change in &recording.changes {
            let (at, Some(on)) = (change.at.seconds(), change.available) else {
                continue;
            };
            match since {
                Some((_, before)) if before == on => continue,
                Some((from, true)) => {
                    (self.on, self.on_ends) = (self.on + at - from, self.on_ends + 1.0);
                    windows[0].weigh(at - from, 1.0);
                }
                Some((from, false)) => {
                    (self.off, self.off_ends) = (self.off + at - from, self.off_ends + 1.0);
                    windows[1].weigh(at - from, 1.0);
                }
                None => {}
            }
            since = Some((at, on));
        }
        let last = recording.changes.last().map(|change| change.at);
        if let (Some((from, on)), Some(end)) = (since, recording.end.or(last)) {
            *(if on { &mut self.on } else { &mut self.off }) += end.seconds() - from;
        }
    }
}

/// Logarithms of an aspect over time.
#[derive(Default)]
struct Logs {
    mean: Option<f64>,
    variance: f64,
    /// The part of the time at 0.
    nothing: f64,
}

/// A value counts for as long as it held; a last one without an end as long as the others on
/// average.
fn logs(recording: &Recording, aspect: impl Fn(&Change) -> Option<f64>) -> Logs {
    let told = || recording.changes.iter().filter_map(|c| Some((c.at.seconds(), aspect(c)?)));
    let Some((first, _)) = told().next() else {
        return Logs::default();
    };
    let (count, last) = (told().count(), told().last().map_or(first, |(at, _)| at));
    let end = match recording.end {
        Some(end) => end.seconds(),
        None if count == 1 => first + 1.0,
        None => last + (last - first) / (count - 1) as f64,
    };
    let ends = || told().skip(1).map(|(at, _)| at).chain([end]);
    let above = || {
        let lengths = told().zip(ends()).map(|((at, value), until)| (value, until - at));
        lengths.filter(|(value, _)| *value > 0.0).map(|(value, time)| (value.ln(), time))
    };
    let time: f64 = above().map(|(_, time)| time).sum();
    let nothing = if end > first { (1.0 - time / (end - first)).max(0.0) } else { 0.0 };
    if time <= 0.0 {
        return Logs { nothing, ..Logs::default() };
    }
    // From the first value: a device that does not change has exactly its own logarithm.
    let base = above().next().map_or(0.0, |(log, _)| log);
    let mean = above().map(|(log, held)| held * (log - base)).sum::<f64>() / time;
    let square = above().map(|(log, held)| held * (log - base - mean).powi(2)).sum::<f64>() / time;
    Logs { mean: Some(base + mean), variance: square, nothing }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Input, Recordings};

    fn summary(rows: &str) -> Summary {
        let text = format!("device,time [s],sample_time [ns],up [bps],available\n{rows}");
        let mut recordings = Recordings::read(&Input::bytes("t.csv", text.as_bytes())).unwrap();
        Summary::of(&recordings.next().unwrap().unwrap(), 10.0, &mut Default::default())
    }

    #[test]
    fn values_count_by_their_time_and_steps_by_their_batch() {
        let told = summary("a,0,100,8,1\na,10,1000,0,\na,20,,,\n");
        assert!((told.compute.unwrap() - (100f64 * 1000.0).ln() / 2.0 - 10f64.ln()).abs() < 1e-12);
        assert!((told.within.sqrt() - 10f64.ln() / 2.0).abs() < 1e-12);
        assert_eq!((told.up, told.unconnected), (Some(8f64.ln()), 0.5));
        let never = summary("a,0,,0,\na,5,,0,\n");
        assert_eq!((never.compute, never.up, never.unconnected), (None, None, 1.0));
        assert_eq!(summary("a,0,1e30,,\n").compute, None, "no device's");
    }

    #[test]
    fn windows_that_are_cut_off_count_with_their_time_alone() {
        let told = summary("a,0,,,1\na,4,,,0\na,7,,,0\na,9,,,1\na,11,,,\n");
        assert_eq!((told.on, told.on_ends), (6.0, 1.0));
        assert_eq!((told.off, told.off_ends), (5.0, 1.0));
    }
}
