//! A trace in memory, ready to be replayed.
//!
//! What a recording does not tell before its first row of an aspect is what that row says; after
//! its last row the last value holds, or the recording begins again.

use super::recording::{Compute, Recording};
use std::ops::Range;

/// All recordings of a trace. Speeds and availability are kept apart: a phone comes and goes more
/// often than its speed changes, or the other way round.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TraceStore {
    tracks: Vec<Track>,
    points: Vec<Point>,
    toggles: Vec<Toggle>,
    losses: Vec<u64>,
}

/// A device comes or goes. It is kept in one word: there are many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Toggle(u64);

impl Toggle {
    /// From `at` nanoseconds on.
    pub fn new(at: u64, there: bool) -> Self {
        // Half the clock is 292 years: nobody comes or goes later than that.
        Toggle(at.min(u64::MAX >> 1) << 1 | u64::from(there))
    }

    /// Nanoseconds since the recording began.
    pub fn at(&self) -> u64 {
        self.0 >> 1
    }

    /// Whether the device is there from then on.
    pub fn is_there(&self) -> bool {
        self.0 & 1 == 1
    }
}

#[derive(Clone, Debug, PartialEq)]
struct Track {
    points: Range<usize>,
    toggles: Range<usize>,
    losses: Range<usize>,
    end: Option<u64>,
    last: u64,
}

/// How fast a device is from an instant on. `None`: the recording never says.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Point {
    /// Nanoseconds since the recording began.
    pub at: u64,
    /// Compute speed.
    pub compute: Option<Compute>,
    /// Bits per second to the server.
    pub up: Option<u64>,
    /// Bits per second from the server.
    pub down: Option<u64>,
}

impl TraceStore {
    /// Recordings.
    pub fn len(&self) -> usize {
        self.tracks.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.tracks.is_empty()
    }

    /// Whether every recording says when it ended, or has nothing that could end.
    pub fn knows_its_ends(&self) -> bool {
        self.tracks.iter().all(|track| track.end.is_some() || track.last == 0)
    }

    /// Whether every recording tells how fast the device computes.
    pub fn tells_compute(&self) -> bool {
        self.tracks.iter().all(|track| self.first(track).is_some_and(|p| p.compute.is_some()))
    }

    /// Whether every recording tells the link to the server.
    pub fn tells_up(&self) -> bool {
        self.tracks.iter().all(|track| self.first(track).is_some_and(|p| p.up.is_some()))
    }

    /// Whether every recording tells the link from the server.
    pub fn tells_down(&self) -> bool {
        self.tracks.iter().all(|track| self.first(track).is_some_and(|p| p.down.is_some()))
    }

    /// Whether any recording tells when the device can take part.
    pub fn tells_availability(&self) -> bool {
        self.tells_presence() || !self.losses.is_empty()
    }

    /// Whether any recording tells when the device is there.
    pub fn tells_presence(&self) -> bool {
        !self.toggles.is_empty()
    }

    /// Whether any recording tells of speeds.
    pub fn tells_speeds(&self) -> bool {
        !self.points.is_empty()
    }

    /// Whether any recording tells how fast the device computes.
    pub fn tells_some_compute(&self) -> bool {
        self.points.iter().any(|point| point.compute.is_some())
    }

    /// Whether any recording tells how fast links are.
    pub fn tells_some_link(&self) -> bool {
        self.points.iter().any(|point| point.up.is_some() || point.down.is_some())
    }

    /// Whether any recording needs the model's work per step.
    pub fn needs_work(&self) -> bool {
        self.points.iter().any(|point| matches!(point.compute, Some(Compute::Flops(_))))
    }

    /// How long recording `track` lasts: until its end, or its last change.
    pub fn length(&self, track: usize) -> u64 {
        let track = &self.tracks[track];
        track.end.unwrap_or(track.last)
    }

    /// The speeds of recording `track`.
    pub fn points(&self, track: usize) -> &[Point] {
        &self.points[self.tracks[track].points.clone()]
    }

    /// When the device of recording `track` comes and goes, in turn.
    pub fn toggles(&self, track: usize) -> &[Toggle] {
        &self.toggles[self.tracks[track].toggles.clone()]
    }

    /// When the device of recording `track` loses what it is doing, in nanoseconds.
    pub fn losses(&self, track: usize) -> &[u64] {
        &self.losses[self.tracks[track].losses.clone()]
    }

    fn first(&self, track: &Track) -> Option<&Point> {
        self.points[track.points.clone()].first()
    }

    /// Adds a recording behind those that are there.
    pub fn add(&mut self, recording: &Recording) {
        let (points, toggles) = (self.points.len(), self.toggles.len());
        let losses = self.losses.len();
        let mut now = Point::default();
        let mut there = None;
        for change in &recording.changes {
            let at = change.at.nanos();
            let rate = |rate: f64| rate.round() as u64;
            let next = Point {
                at,
                compute: change.compute.or(now.compute),
                up: change.up.map(rate).or(now.up),
                down: change.down.map(rate).or(now.down),
            };
            if (Point { at: now.at, ..next }) != now {
                self.points.push(next);
            }
            now = next;
            if let Some(available) = change.available
                && there != Some(available)
            {
                self.toggles.push(Toggle::new(at, available));
                there = Some(available);
            }
            if change.lost {
                self.losses.push(at);
            }
        }
        fill_back(&mut self.points[points..]);
        self.tracks.push(Track {
            points: points..self.points.len(),
            toggles: toggles..self.toggles.len(),
            losses: losses..self.losses.len(),
            end: recording.end.map(|end| end.nanos()),
            last: recording.changes.last().map_or(0, |change| change.at.nanos()),
        });
    }
}

/// Before an aspect is first told it is what it is told to be then.
fn fill_back(points: &mut [Point]) {
    let mut next = Point::default();
    for point in points.iter_mut().rev() {
        point.compute = point.compute.or(next.compute);
        point.up = point.up.or(next.up);
        point.down = point.down.or(next.down);
        next = *point;
    }
    if let Some(first) = points.first_mut() {
        first.at = 0;
    }
}
