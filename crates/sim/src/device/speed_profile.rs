//! What a device is like from one instant to the next.

use super::class::Repeat;
use super::episodes::{Alternation, Episode};
use super::link_rate::LinkRate;
use super::recording::Compute;
use super::script::Happening;
use super::trace_store::Point;
use super::varying::Direction;
use crate::clock::{SimTime, Span};

/// No limit to a link.
pub const NO_LIMIT: u64 = u64::MAX;

/// Between two changes a device is steady.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SteadyInterval {
    /// An undisturbed local step.
    pub step: Span,
    /// The link to the server.
    pub up: LinkRate,
    /// The link from the server.
    pub down: LinkRate,
    /// When something may change; [`SimTime::NEVER`] if nothing will.
    pub until: SimTime,
}

impl SteadyInterval {
    /// Its links are what is recorded of them.
    fn link(&mut self, point: Point) {
        self.up = point.up.map_or(self.up, LinkRate::bps);
        self.down = point.down.map_or(self.down, LinkRate::bps);
    }
}

/// What one local step asks of a device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effort {
    /// Samples in a batch.
    pub samples: f64,
    /// Floating-point operations.
    pub flops: f64,
}

impl Effort {
    /// The time of a step, in nanoseconds.
    pub fn step(&self, compute: Compute) -> f64 {
        match compute {
            Compute::Step(nanos) => nanos,
            Compute::Sample(nanos) => nanos * self.samples,
            Compute::Flops(speed) => self.flops / speed * 1e9,
        }
    }
}

/// A client's place in a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceCursor {
    /// Which recording of its trace.
    pub track: u32,
    /// Where the run begins in it, in nanoseconds.
    pub shift: u64,
    /// After how long it begins again; 0: never.
    pub period: u64,
}

impl TraceCursor {
    /// A recording of the given `length`, begun at `shift`.
    pub fn new(track: u32, shift: u64, repeat: Repeat, length: u64) -> Self {
        let period = match repeat {
            Repeat::Never => 0,
            Repeat::AtItsEnd => length,
            Repeat::Every(span) => span.nanos(),
        };
        TraceCursor { track, shift, period }
    }

    /// The moment of the recording that `at` is, and how long it goes on from there at most.
    pub fn local(&self, at: SimTime) -> (u64, u64) {
        let total = u128::from(at.nanos()) + u128::from(self.shift);
        match self.period {
            0 => (u64::try_from(total).unwrap_or(u64::MAX), u64::MAX),
            period => {
                let local = (total % u128::from(period)) as u64;
                (local, period - local)
            }
        }
    }
}

/// The speeds of a recording, read forwards.
struct Reading<'a> {
    points: &'a [Point],
    trace_cursor: TraceCursor,
    index: usize,
    /// Whether a link, down and up, carries nothing in all of a recording that repeats; once it was asked.
    is_dead: [Option<bool>; 2],
}

impl<'a> Reading<'a> {
    fn new(points: &'a [Point], trace_cursor: TraceCursor) -> Self {
        Reading { points, trace_cursor, index: usize::MAX, is_dead: [None; 2] }
    }

    /// Whether a link carries nothing however often the recording begins again.
    fn is_dead(&mut self, direction: Direction) -> bool {
        let TraceCursor { period, .. } = self.trace_cursor;
        let points = self.points;
        *self.is_dead[direction as usize].get_or_insert_with(|| {
            let mut reached = points.iter().take_while(|point| point.at == 0 || point.at < period);
            period > 0
                && reached.all(|point| match direction {
                    Direction::Down => point.down == Some(0),
                    Direction::Up => point.up == Some(0),
                })
        })
    }

    /// What holds at `at`, and until when.
    fn at(&mut self, at: SimTime) -> (Point, SimTime) {
        let (local, left) = self.trace_cursor.local(at);
        let known = self.points.get(self.index).is_some_and(|point| point.at <= local);
        if !known {
            // The first time, or begun again.
            self.index = self.points.partition_point(|point| point.at <= local).max(1) - 1;
        }
        while self.points.get(self.index + 1).is_some_and(|point| point.at <= local) {
            self.index += 1;
        }
        if self.points.len() == 1 {
            return (self.points[0], SimTime::NEVER);
        }
        let next = self.points.get(self.index + 1).map_or(u64::MAX, |point| point.at - local);
        let until = match next.min(left) {
            u64::MAX => SimTime::NEVER,
            span => at.after(Span::from_nanos(span)).unwrap_or(SimTime::NEVER),
        };
        (self.points[self.index], until)
    }
}

/// What a client's device is like, read forwards in time.
pub struct SpeedProfile<'a> {
    client: u32,
    seed: u64,
    nominal: SteadyInterval,
    effort: Effort,
    recording: Option<Reading<'a>>,
    /// Of links alone, in the place of what `recording` says of them.
    links: Option<Reading<'a>>,
    slowdown: Option<(&'a Alternation, f64, Episode)>,
    script: &'a [Happening],
}

impl<'a> SpeedProfile<'a> {
    /// The profile of `client`, whose device is `nominal` unless something else is said.
    pub fn new(seed: u64, client: u32, nominal: SteadyInterval, effort: Effort) -> Self {
        let nominal = SteadyInterval { until: SimTime::NEVER, ..nominal };
        let (recording, links, slowdown) = (None, None, None);
        SpeedProfile { client, seed, nominal, effort, recording, links, slowdown, script: &[] }
    }

    /// What is recorded takes the place of what is nominal.
    pub fn recorded(mut self, points: &'a [Point], trace_cursor: TraceCursor) -> Self {
        self.recording = (!points.is_empty()).then(|| Reading::new(points, trace_cursor));
        self
    }

    /// What is recorded of links alone takes the place of what else is said of them.
    pub fn linked(mut self, points: &'a [Point], trace_cursor: TraceCursor) -> Self {
        self.links = (!points.is_empty()).then(|| Reading::new(points, trace_cursor));
        self
    }

    /// Steps take `factor` times as long while `law` is on; `episode` lies not after the beginning.
    pub fn slowed(mut self, law: &'a Alternation, factor: f64, episode: Episode) -> Self {
        self.slowdown = Some((law, factor, episode));
        self
    }

    /// What happens on the way.
    pub fn scripted(mut self, script: &'a [Happening]) -> Self {
        self.script = script;
        self
    }

    /// The link in one direction at `at`, which never goes back, and when it may change.
    /// Slow episodes do not concern links, and what is cut off for good does not change.
    pub fn link(&mut self, direction: Direction, at: SimTime) -> (LinkRate, SimTime) {
        let cut = self.script.iter().any(|happening| {
            let part = match direction {
                Direction::Down => happening.down,
                Direction::Up => happening.up,
            };
            let for_good = happening.from <= at && happening.until == SimTime::NEVER;
            part == 0.0 && for_good && happening.whom.has(self.client)
        });
        if cut {
            return (LinkRate::NONE, SimTime::NEVER);
        }
        let slowdown = self.slowdown.take();
        let interval = self.interval(at);
        self.slowdown = slowdown;
        let rate = interval.rate(direction);
        let recording = self.links.as_mut().or(self.recording.as_mut());
        // Without this a transfer would look for a connection in every repetition, to the end of time.
        if rate == LinkRate::NONE && recording.is_some_and(|it| it.is_dead(direction)) {
            return (LinkRate::NONE, SimTime::NEVER);
        }
        (rate, interval.until)
    }

    /// What the device is like at `at`, which never goes back.
    pub fn interval(&mut self, at: SimTime) -> SteadyInterval {
        let mut interval = self.nominal;
        let (mut slow, mut up, mut down) = (1.0, 1.0, 1.0);
        if let Some(recording) = &mut self.recording {
            let (point, until) = recording.at(at);
            interval.until = until;
            if let Some(compute) = point.compute {
                interval.step = nearest(self.effort.step(compute));
            }
            if self.links.is_none() {
                interval.link(point);
            }
        }
        if let Some(links) = &mut self.links {
            let (point, until) = links.at(at);
            interval.until = interval.until.min(until);
            interval.link(point);
        }
        if let Some((law, factor, episode)) = &mut self.slowdown {
            *episode = law.at(self.seed, u64::from(self.client), *episode, at);
            interval.until = interval.until.min(episode.until);
            slow *= if episode.on { *factor } else { 1.0 };
        }
        for happening in self.script.iter().filter(|h| h.whom.has(self.client)) {
            if at < happening.from {
                interval.until = interval.until.min(happening.from);
            } else if at < happening.until {
                interval.until = interval.until.min(happening.until);
                slow *= happening.slow;
                up *= happening.up;
                down *= happening.down;
            }
        }
        if slow != 1.0 {
            interval.step = nearest(interval.step.nanos() as f64 * slow);
        }
        interval.up = interval.up.times(up);
        interval.down = interval.down.times(down);
        interval
    }
}

/// The nearest whole nanosecond, at least one; what is longer than the clock overflows later.
fn nearest(nanos: f64) -> Span {
    Span::from_nanos_f64(nanos.max(1.0)).unwrap_or(Span::from_nanos(u64::MAX))
}
