//! Windows of availability as changes.

use crate::{Change, Recording, rows::MOST_CHANGES};
use gruppetto_sim::clock::Span;

const SECOND: f64 = 1e9;

/// Collects windows, in order, and makes a recording of them.
pub(super) struct Windows {
    on: Vec<(Span, Span)>,
}

impl Windows {
    pub(super) fn new() -> Self {
        Windows { on: Vec::new() }
    }

    /// Available from `from` to `to`. Windows that touch become one; empty ones are none.
    pub(super) fn add(&mut self, from: Span, to: Span) -> Result<(), String> {
        let seconds = |span: Span| span.seconds();
        if from > to {
            return Err(format!("a window from {} s to {} s", seconds(from), seconds(to)));
        }
        let count = self.on.len();
        match self.on.last_mut() {
            Some((_, last)) if from < *last => {
                let (from, last) = (seconds(from), seconds(*last));
                Err(format!("a window from {from} s on, before the one until {last} s is over"))
            }
            Some((_, last)) if from == *last => {
                *last = to;
                Ok(())
            }
            _ if from == to => Ok(()),
            _ if count >= MOST_CHANGES / 2 => {
                Err(format!("more than {} windows", MOST_CHANGES / 2))
            }
            _ => {
                self.on.push((from, to));
                Ok(())
            }
        }
    }

    /// The recording of a device that was there in these windows and not otherwise. What lies
    /// after `end` is cut off.
    pub(super) fn recording(self, device: String, end: Span) -> Recording {
        let mut changes = Vec::with_capacity(2 * self.on.len() + 1);
        let mut change = |at, on| {
            changes.push(Change { at, available: Some(on), ..Change::default() });
        };
        if self.on.first().is_none_or(|(from, _)| *from > Span::ZERO) {
            change(Span::ZERO, false);
        }
        for (from, to) in self.on.into_iter().filter(|(from, _)| *from < end) {
            change(from, true);
            if to < end {
                change(to, false);
            }
        }
        Recording { device, changes, end: Some(end) }
    }
}

/// Seconds as a double, to the nearest nanosecond.
pub(super) fn seconds(value: f64) -> Result<Span, String> {
    Span::from_nanos_f64(value * SECOND)
        .map_err(|_| format!("found {value}, expected seconds, 0 or more"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(seconds: u64) -> Span {
        Span::from_nanos(seconds * 1_000_000_000)
    }

    fn changes(windows: &[(u64, u64)], end: u64) -> Result<Vec<(u64, bool)>, String> {
        let mut all = Windows::new();
        for (from, to) in windows {
            all.add(span(*from), span(*to))?;
        }
        let recording = all.recording("a".into(), span(end));
        assert_eq!(recording.end, Some(span(end)));
        let change = |change: &Change| (change.at.nanos() / 1_000_000_000, change.available);
        let changes = recording.changes.iter().map(change);
        Ok(changes.map(|(at, on)| (at, on.unwrap())).collect())
    }

    #[test]
    fn windows_become_changes() {
        let off_on_off = vec![(0, false), (2, true), (5, false)];
        assert_eq!(changes(&[(2, 5)], 9), Ok(off_on_off.clone()));
        assert_eq!(changes(&[(2, 3), (3, 5), (7, 7)], 9), Ok(off_on_off));
        assert_eq!(changes(&[(0, 9)], 9), Ok(vec![(0, true)]));
        assert_eq!(changes(&[(4, 20), (30, 40)], 9), Ok(vec![(0, false), (4, true)]));
        assert_eq!(changes(&[], 9), Ok(vec![(0, false)]), "never there");
        assert!(changes(&[(5, 4)], 9).is_err());
        assert!(changes(&[(1, 4), (3, 5)], 9).is_err(), "overlap");
    }
}
