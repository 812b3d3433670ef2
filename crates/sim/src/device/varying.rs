//! The legs of a client whose device changes while it works.
//!
//! What happens follows the device exactly: a step or a transfer that spans a change takes the
//! right time. What the client *decides* follows what it knows ([`Foresight`](super::Foresight)). With exact
//! foresight it makes another step if, at the speed it has now, that step and the upload would fit before it is
//! due. If things get worse it may come late, as in life; if they stay as they are, it never does.

use super::link_rate::LinkRate;
use super::pace::scaled;
use super::speed_profile::{SpeedProfile, SteadyInterval};
use super::{Foreseen, LegEnds, Pace, Payload, RoundTask, Thermal, UsualDevice};
use crate::clock::{SimTime, Span, TimeOverflow};

/// One step of work in fixed point: parts small enough that what rounding loses in a change of
/// speed is far below a nanosecond.
pub const STEP: u128 = 1 << 56;

/// Which way a transfer goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From the server.
    Down,
    /// To the server.
    Up,
}

impl SteadyInterval {
    /// The link in one direction.
    pub fn rate(&self, direction: Direction) -> LinkRate {
        match direction {
            Direction::Down => self.down,
            Direction::Up => self.up,
        }
    }
}

/// How a transfer ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transfer {
    /// The last bit is through.
    Through(SimTime),
    /// The connection is gone from here on, for good.
    Broken(SimTime),
}

impl Transfer {
    /// When it ends, one way or the other.
    pub fn end(self) -> SimTime {
        match self {
            Transfer::Through(at) | Transfer::Broken(at) => at,
        }
    }
}

/// Sends `bits` from `from` on over a link that changes.
pub fn transfer(
    profile: &mut SpeedProfile<'_>,
    direction: Direction,
    from: SimTime,
    bits: u64,
) -> Result<Transfer, TimeOverflow> {
    // In units that every interval takes off a whole number of.
    let mut left = LinkRate::work(bits);
    let mut now = from;
    loop {
        let (rate, until) = profile.link(direction, now);
        let here = until.since(now);
        if let Some(needed) = rate.time_for(left).filter(|needed| *needed <= here) {
            return now.after(needed).map(Transfer::Through);
        }
        if until == SimTime::NEVER {
            let is_gone = rate == LinkRate::NONE;
            return if is_gone { Ok(Transfer::Broken(now)) } else { Err(TimeOverflow) };
        }
        left = left.saturating_sub(rate.carries(here));
        now = until;
    }
}

/// How warm a device is that begins to compute.
#[derive(Clone, Copy, Debug)]
pub struct Warmth<'a> {
    /// What warmth does to its speed.
    pub thermal: &'a Thermal,
    /// When it began to compute.
    pub began: SimTime,
    /// The continuous work behind it then.
    pub before: Span,
}

impl Warmth<'_> {
    /// The interval as a device finds it that has worked since it began.
    fn on(&self, mut interval: SteadyInterval, now: SimTime) -> SteadyInterval {
        let worked =
            Span::from_nanos(self.before.nanos().saturating_add(now.since(self.began).nanos()));
        let curve = &self.thermal.curve;
        let next = curve.partition_point(|(after, _)| *after <= worked);
        if next > 0 {
            let step = interval.step.nanos() as f64 / curve[next - 1].1;
            interval.step = Span::from_nanos_f64(step).unwrap_or(Span::from_nanos(u64::MAX));
        }
        if let Some((after, _)) = curve.get(next) {
            let left = Span::from_nanos(after.nanos() - worked.nanos());
            interval.until = interval.until.min(now.after(left).unwrap_or(SimTime::NEVER));
        }
        interval
    }
}

/// A device as one round of its client meets it.
pub struct DeviceView<'a, 'b> {
    /// Its device over time.
    pub profile: &'b mut SpeedProfile<'a>,
    /// How long its steps take.
    pub pace: &'b mut Pace,
    /// How warm its device is, if that matters.
    pub warmth: Option<Warmth<'a>>,
    /// Before the first bit arrives, each way.
    pub latency: Span,
    /// What travels.
    pub payload: Payload,
    /// The most of the server's link that it can count on for its upload.
    pub share: LinkRate,
    /// What its client takes for usual.
    pub usual: UsualDevice,
}

impl LegEnds for DeviceView<'_, '_> {
    fn download(&mut self, from: SimTime) -> Result<Transfer, TimeOverflow> {
        transfer(self.profile, Direction::Down, from.after(self.latency)?, self.payload.down)
    }

    fn begin_to_compute(&mut self, at: SimTime) {
        self.warmth = self.warmth.map(|warmth| warmth.rested(at));
    }

    fn steps(&mut self, task: &RoundTask, from: SimTime) -> Result<(u64, SimTime), TimeOverflow> {
        let (mut tau, mut now) = (0, from);
        // Without a connection a client thinks of the last one it had.
        let mut upload = self.latency;
        let usual = self.usual.foreseen(self.latency, self.payload, self.share);
        while !task.is_done(tau) {
            let interval = self.interval(now);
            upload = self.expected_upload(&interval).unwrap_or(upload);
            let factor = self.pace.next_factor();
            let step = factor.map_or(Ok(interval.step), |f| scaled(interval.step, f))?;
            let real = Foreseen { step, upload };
            if !task.begins_step(now, real, usual) {
                break;
            }
            let end = now.after(step);
            if end.is_ok_and(|end| end <= interval.until) {
                if let Some(left) = task.leaves_step(now, end.ok()) {
                    return Ok((tau, left));
                }
                // As many as fit in this interval, if they all take the same time.
                let more = match factor {
                    Some(_) => 1,
                    None => task.completes(tau, now, interval.until, real, usual),
                };
                now = now.after(step.times(more)?)?;
                tau += more;
            } else {
                let work = factor.map_or(STEP, |f| (f * STEP as f64) as u128);
                let end = self.across(now, work);
                if let Some(left) = task.leaves_step(now, end.ok()) {
                    return Ok((tau, left));
                }
                now = end?;
                tau += 1;
            }
        }
        Ok((tau, now))
    }

    fn upload(&mut self, from: SimTime) -> Result<Transfer, TimeOverflow> {
        transfer(self.profile, Direction::Up, from.after(self.latency)?, self.payload.up)
    }
}

impl DeviceView<'_, '_> {
    fn interval(&mut self, now: SimTime) -> SteadyInterval {
        let interval = self.profile.interval(now);
        self.warmth.map_or(interval, |warmth| warmth.on(interval, now))
    }

    /// How long the upload would take as things are; `None` without a connection.
    fn expected_upload(&self, interval: &SteadyInterval) -> Option<Span> {
        let longest = Span::from_nanos(u64::MAX);
        let upload = match interval.up.min(self.share) {
            LinkRate::NONE => return None,
            rate => rate.time_for(LinkRate::work(self.payload.up)).unwrap_or(longest),
        };
        Some(self.latency.plus(upload).unwrap_or(longest))
    }

    /// When a step ends that does not end before something changes.
    fn across(&mut self, from: SimTime, work: u128) -> Result<SimTime, TimeOverflow> {
        let (mut left, mut now) = (work, from);
        loop {
            let interval = self.interval(now);
            let step = u128::from(interval.step.nanos());
            let needed = left.checked_mul(step).ok_or(TimeOverflow)?.div_ceil(STEP);
            let needed = u64::try_from(needed).map_err(|_| TimeOverflow)?;
            let here = interval.until.since(now).nanos();
            if needed <= here {
                return now.after(Span::from_nanos(needed));
            }
            // Rounded up: a step that ends on a whole nanosecond must not miss it.
            left -= (u128::from(here) * STEP).div_ceil(step).min(left);
            now = interval.until;
        }
    }
}

impl<'a> Warmth<'a> {
    /// A device that finished `worked` of continuous work at `at`, and has rested since.
    pub fn after(thermal: &'a Thermal, worked: Span, at: SimTime) -> Self {
        Warmth { thermal, began: at, before: worked }
    }

    /// The same device when it begins to compute at `now`.
    pub fn rested(self, now: SimTime) -> Self {
        let cooled = now.since(self.began).nanos() as f64 * self.thermal.cooling;
        let before = self.before.nanos().saturating_sub(cooled.min(1.8e19) as u64);
        Warmth { began: now, before: Span::from_nanos(before), ..self }
    }
}

#[cfg(test)]
mod tests;
