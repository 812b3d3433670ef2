//! When devices are there: how much, how often, for how long and at what hour.

use super::spread::{Spread, Weights};
use crate::Recording;
use serde::Serialize;

const SECOND: f64 = 1e9;
const HOUR: u64 = 3_600_000_000_000;
const DAY: u64 = 24 * HOUR;

/// When devices are there.
#[derive(Clone, Debug, Serialize)]
pub struct Availability {
    /// Devices that tell it.
    pub devices: u64,
    /// The share of recorded time in which devices are there.
    pub share: f64,
    /// Windows in which a device is there, per device and day.
    pub windows_per_day: f64,
    /// How long these windows last, s. A last one without an end is not counted.
    pub on: Spread,
    /// How long devices are away in between, s.
    pub off: Spread,
    /// For every hour of the day, counted from the beginning of the recordings, the share of the
    /// recorded time in which devices are there. Empty if nothing lasts a day.
    pub by_hour: Vec<f64>,
}

/// Adds up windows.
#[derive(Default)]
pub(super) struct Windows {
    devices: u64,
    windows: u64,
    /// Seconds there, and seconds recorded.
    there: f64,
    recorded: f64,
    on: Weights,
    off: Weights,
    hours: [f64; 24],
    hours_recorded: [f64; 24],
    is_daily: bool,
}

impl Windows {
    /// Adds a recording; false if it says that its device is never there.
    pub(super) fn add(&mut self, recording: &Recording) -> bool {
        let told = recording
            .changes
            .iter()
            .filter_map(|change| Some((change.at.nanos(), change.available?)));
        // Saying the same again is no new window.
        let mut spans: Vec<(u64, bool)> = Vec::new();
        for (at, on) in told {
            if spans.last().is_none_or(|(_, last)| *last != on) {
                spans.push((at, on));
            }
        }
        let Some((first, _)) = spans.first() else {
            return true;
        };
        self.devices += 1;
        let last = recording.changes.last().map_or(0, |change| change.at.nanos());
        let end = recording.end.map_or(last, |end| end.nanos());
        self.is_daily |= end - first >= DAY;
        self.recorded += (end - first) as f64 / SECOND;
        by_hour(&mut self.hours_recorded, *first, end);
        for (index, (from, on)) in spans.iter().enumerate() {
            let next = spans.get(index + 1).map(|(at, _)| *at);
            let until = next.unwrap_or(end);
            let length = (until - from) as f64 / SECOND;
            if *on {
                self.windows += 1;
                self.there += length;
                by_hour(&mut self.hours, *from, until);
            }
            if next.is_some() || recording.end.is_some() {
                (if *on { &mut self.on } else { &mut self.off }).weigh(length, 1.0);
            }
        }
        spans.iter().any(|(_, on)| *on)
    }

    /// What they add up to.
    pub(super) fn summary(&self) -> Availability {
        let ratio = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
        let hours = self.hours.iter().zip(self.hours_recorded);
        let by_hour = hours.map(|(there, recorded)| ratio(*there, recorded)).collect();
        Availability {
            devices: self.devices,
            share: ratio(self.there, self.recorded),
            windows_per_day: ratio(self.windows as f64, self.recorded / 86_400.0),
            on: self.on.spread(1.0),
            off: self.off.spread(1.0),
            by_hour: if self.is_daily { by_hour } else { Vec::new() },
        }
    }
}

/// Adds the time from `from` to `to` to the hours of the day it lies in.
fn by_hour(hours: &mut [f64; 24], from: u64, to: u64) {
    // Whole days add the same to every hour; a window of a century is no longer to add than one
    // of a day.
    let days = (to - from) / DAY;
    hours.iter_mut().for_each(|hour| *hour += days as f64 * 3600.0);
    let mut at = from;
    let to = to - days * DAY;
    while at < to {
        let next = (at / HOUR).saturating_add(1).saturating_mul(HOUR).min(to);
        hours[(at / HOUR % 24) as usize] += (next - at) as f64 / SECOND;
        at = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Change;
    use gruppetto_sim::clock::Span;

    fn recording(rows: &[(u64, bool)], end: Option<u64>) -> Recording {
        let change = |(hours, on): &(u64, bool)| Change {
            at: Span::from_nanos(hours * HOUR),
            available: Some(*on),
            ..Change::default()
        };
        let changes = rows.iter().map(change).collect();
        Recording { device: "a".into(), changes, end: end.map(|h| Span::from_nanos(h * HOUR)) }
    }

    #[test]
    fn two_nights_of_eight_hours() {
        let mut windows = Windows::default();
        let nights = [(0, false), (22, true), (30, false), (30, false), (46, true)];
        assert!(windows.add(&recording(&nights, Some(48))));
        let told = windows.summary();
        assert_eq!((told.devices, told.windows_per_day), (1, 1.0));
        assert!((told.share - 10.0 / 48.0).abs() < 1e-12);
        assert_eq!((told.on.min, told.on.max), (2.0 * 3600.0, 8.0 * 3600.0));
        assert_eq!((told.off.min, told.off.max), (16.0 * 3600.0, 22.0 * 3600.0));
        assert_eq!((told.by_hour[23], told.by_hour[3], told.by_hour[12]), (1.0, 0.5, 0.0));
    }

    #[test]
    fn who_is_never_there_is_told() {
        let mut windows = Windows::default();
        assert!(!windows.add(&recording(&[(0, false)], Some(5))));
        assert!(windows.add(&recording(&[], Some(5))), "says nothing of it");
        assert_eq!(windows.summary().by_hour.len(), 0);
    }

    #[test]
    fn the_end_of_the_clock_is_no_trouble() {
        let mut windows = Windows::default();
        let change = Change {
            at: Span::from_nanos(u64::MAX - 5),
            available: Some(true),
            ..Change::default()
        };
        let end = Some(Span::from_nanos(u64::MAX));
        assert!(windows.add(&Recording { device: "a".into(), changes: vec![change], end }));
        assert_eq!(windows.summary().share, 1.0);
    }

    #[test]
    fn long_windows_are_added_at_once() {
        let mut hours = [0.0; 24];
        by_hour(&mut hours, 0, u64::MAX);
        assert!(hours.iter().sum::<f64>() > 1.8e10);
    }
}
