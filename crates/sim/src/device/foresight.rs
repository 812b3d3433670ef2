//! What a client knows of its own future when it decides whether to make another step.
//!
//! With a deadline, a client stops in time for its upload. How long that step and that upload will take
//! it can know exactly, on average, or not at all:
//!
//! | foresight | another step is begun if | a step under way at the end |
//! |---|---|---|
//! | [`Foresight::Exact`] | this very step and the upload, as things are now, end in time | never is one |
//! | [`Foresight::Expected`] | a usual step and a usual upload would end in time | is finished |
//! | [`Foresight::None`] | the deadline less the margin has not come | is left, and the steps made are sent |

use super::link_rate::LinkRate;
use super::speed_profile::{Effort, NO_LIMIT, SteadyInterval};
use super::trace_store::Point;
use super::{Device, Payload, RoundTask};
use crate::clock::{SimTime, Span};

/// What clients know when they decide whether another step fits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Foresight {
    /// How long the next step takes, and the upload as things are now.
    #[default]
    Exact,
    /// How long a step and an upload usually take on its device.
    Expected,
    /// Nothing: they work until so long before the deadline.
    #[allow(missing_docs)]
    None { margin: Span },
}

/// How long a step and an upload take, as far as a client knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Foreseen {
    pub step: Span,
    pub upload: Span,
}

/// What is usual for a device: what it does when nothing disturbs it, or what its recording has on average.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UsualDevice {
    /// A local step.
    pub step: Span,
    /// The link to the server.
    pub up: LinkRate,
}

impl UsualDevice {
    /// A usual step, and a usual upload by a client that can count on `share` of the server's link.
    pub fn foreseen(&self, latency: Span, payload: Payload, share: LinkRate) -> Foreseen {
        let longest = Span::from_nanos(u64::MAX);
        let rate = self.up.min(share);
        let sending = rate.time_for(LinkRate::work(payload.up)).unwrap_or(longest);
        Foreseen { step: self.step, upload: latency.plus(sending).unwrap_or(longest) }
    }

    /// The means over the first `length` nanoseconds of a recording, of what it tells: of the speed, and of
    /// the link's rate.
    pub(super) fn over(self, points: &[Point], length: u64, effort: Effort) -> UsualDevice {
        let ends = points.iter().skip(1).map(|point| point.at).chain([length]);
        let lasting = |(point, end): (&Point, u64)| end.min(length).saturating_sub(point.at) as f64;
        let mut parts: Vec<(&Point, f64)> =
            points.iter().zip(ends).map(|part| (part.0, lasting(part))).collect();
        if parts.iter().all(|(_, lasting)| *lasting == 0.0) {
            // A recording of one instant: that is what holds for good.
            parts = points.last().map(|point| (point, 1.0)).into_iter().collect();
        }
        let mean = |value: &dyn Fn(&Point) -> Option<f64>| {
            let told =
                || parts.iter().filter_map(|(point, w)| value(point).map(|value| (value, *w)));
            let total: f64 = told().map(|(_, lasting)| lasting).sum();
            (total > 0.0)
                .then(|| told().map(|(value, lasting)| value * lasting / total).sum::<f64>())
        };
        let speed = mean(&|point| point.compute.map(|compute| 1.0 / effort.step(compute).max(1.0)));
        let up = mean(&|point| {
            point.up.map(|up| if up == NO_LIMIT { f64::INFINITY } else { up as f64 })
        });
        let step = speed.and_then(|speed| Span::from_nanos_f64((1.0 / speed).max(1.0)).ok());
        UsualDevice {
            step: step.unwrap_or(self.step),
            up: up.map_or(self.up, |up| LinkRate::bps(up.round() as u64)),
        }
    }
}

impl From<SteadyInterval> for UsualDevice {
    /// Of a device that nothing disturbs.
    fn from(nominal: SteadyInterval) -> Self {
        UsualDevice { step: nominal.step, up: nominal.up }
    }
}

impl From<&Device> for Foreseen {
    /// Of a device that is the same all the time.
    fn from(device: &Device) -> Self {
        Foreseen { step: device.step, upload: device.upload }
    }
}

impl RoundTask {
    /// When a client without foresight leaves what it is doing.
    fn leaves_off(&self) -> Option<SimTime> {
        match (self.foresight, self.due) {
            (Foresight::None { margin }, Some(due)) => {
                Some(due.before(margin).unwrap_or(SimTime::ZERO).max(self.start))
            }
            _ => None,
        }
    }

    /// When a client that has made no step gives up at the latest.
    pub fn gives_up(&self) -> Option<SimTime> {
        self.leaves_off().or(self.due)
    }

    /// What a client knows, if the next step and the upload are really so long and `usual` is usual.
    fn known(&self, real: Foreseen, usual: Foreseen) -> Foreseen {
        match self.foresight {
            Foresight::Exact => real,
            Foresight::Expected => usual,
            Foresight::None { margin } => Foreseen { step: Span::ZERO, upload: margin },
        }
    }

    /// Whether a client begins another step at `now`.
    pub fn begins_step(&self, now: SimTime, real: Foreseen, usual: Foreseen) -> bool {
        self.latest_begin(self.known(real, usual)).is_some_and(|latest| now <= latest)
    }

    /// Until when a client begins a step.
    fn latest_begin(&self, known: Foreseen) -> Option<SimTime> {
        match self.due {
            Some(due) => due.before(known.upload)?.before(known.step),
            None => Some(SimTime::NEVER),
        }
    }

    /// How many steps of equal length a client that has made `tau` completes from `now` on, if they are to
    /// end by `until`.
    pub fn completes(
        &self,
        tau: u64,
        now: SimTime,
        until: SimTime,
        real: Foreseen,
        usual: Foreseen,
    ) -> u64 {
        let until = self.leaves_off().map_or(until, |leaves_off| until.min(leaves_off));
        let steps_until = |end: SimTime| end.since(now).nanos() / real.step.nanos();
        let begun = match self.latest_begin(self.known(real, usual)) {
            Some(latest) if now <= latest => steps_until(latest).saturating_add(1),
            _ => 0,
        };
        let ended = steps_until(until);
        self.steps.map_or(u64::MAX, |steps| steps - tau).min(begun).min(ended)
    }

    /// When a step that began at `now` and would end at `end` (`None`: after the clock) is left
    /// unfinished, if it is.
    pub fn leaves_step(&self, now: SimTime, end: Option<SimTime>) -> Option<SimTime> {
        let leaves_off = self.leaves_off()?;
        end.is_none_or(|end| end > leaves_off).then(|| leaves_off.max(now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Compute;

    fn at(nanos: u64) -> SimTime {
        SimTime::from_nanos(nanos)
    }

    fn lasting(step: u64, upload: u64) -> Foreseen {
        Foreseen { step: Span::from_nanos(step), upload: Span::from_nanos(upload) }
    }

    fn task(foresight: Foresight, steps: Option<u64>) -> RoundTask {
        RoundTask { start: at(0), steps, due: Some(at(100)), foresight }
    }

    const WITHOUT: Foresight = Foresight::None { margin: Span::from_nanos(20) };

    #[test]
    fn what_a_client_knows_decides_whether_it_begins() {
        // This step takes 30 and its upload 10, usually they take 15 and 5.
        let (real, usual) = (lasting(30, 10), lasting(15, 5));
        let latest = |foresight| {
            let task = task(foresight, None);
            (0..=100).rev().find(|now| task.begins_step(at(*now), real, usual))
        };
        assert_eq!(latest(Foresight::Exact), Some(60));
        assert_eq!(latest(Foresight::Expected), Some(80));
        assert_eq!(latest(WITHOUT), Some(80), "the margin is 20, whatever a step takes");
    }

    #[test]
    fn equal_steps_are_counted_as_if_one_by_one() {
        for foresight in [Foresight::Exact, Foresight::Expected, WITHOUT] {
            for (step, upload, steps, until) in
                [(7, 11, None, 90), (7, 11, Some(4), 90), (40, 3, None, 95), (100, 0, None, 120)]
            {
                let (task, usual) = (task(foresight, steps), lasting(13, 6));
                let real = lasting(step, upload);
                let (mut tau, mut now) = (0, 0);
                while !task.is_done(tau) && task.begins_step(at(now), real, usual) {
                    let end = at(now + step);
                    if end > at(until) || task.leaves_step(at(now), Some(end)).is_some() {
                        break;
                    }
                    (tau, now) = (tau + 1, now + step);
                }
                let completes = task.completes(0, at(0), at(until), real, usual);
                assert_eq!(completes, tau, "{foresight:?}, steps of {step}");
            }
        }
    }

    #[test]
    fn what_is_usual_is_the_mean_of_a_recording() {
        let nominal = UsualDevice { step: Span::from_nanos(77), up: LinkRate::bps(5) };
        let effort = Effort { samples: 1.0, flops: 1.0 };
        let point = |at, step: u64, up| Point {
            at,
            compute: Some(Compute::Step(step as f64)),
            up,
            down: None,
        };
        // A quarter of the time 10 ns a step, then 30 ns: (0.25/10 + 0.75/30)⁻¹ = 20.
        let points = [point(0, 10, Some(400)), point(100, 30, Some(800))];
        let usual = nominal.over(&points, 400, effort);
        assert_eq!(usual, UsualDevice { step: Span::from_nanos(20), up: LinkRate::bps(700) });
        // Begun again before the change, it never comes.
        assert_eq!(nominal.over(&points, 80, effort).step, Span::from_nanos(10));
        // What it does not tell stays as it was; one instant is what holds.
        let instant = nominal.over(&[point(0, 10, None)], 0, effort);
        assert_eq!(instant, UsualDevice { step: Span::from_nanos(10), ..nominal });
        assert_eq!(nominal.over(&[], 0, effort), nominal);
        let unlimited = [point(0, 10, Some(NO_LIMIT)), point(100, 10, Some(800))];
        assert_eq!(nominal.over(&unlimited, 200, effort).up, LinkRate::UNLIMITED);
    }

    #[test]
    fn without_foresight_a_step_is_left_where_the_margin_begins() {
        let task = task(WITHOUT, None);
        assert_eq!(task.leaves_step(at(70), Some(at(80))), None, "it ends at that instant");
        assert_eq!(task.leaves_step(at(70), Some(at(81))), Some(at(80)));
        assert_eq!(task.leaves_step(at(70), None), Some(at(80)), "a step without an end");
        assert_eq!(task.leaves_step(at(85), Some(at(95))), Some(at(85)), "too late already");
        for foresight in [Foresight::Exact, Foresight::Expected] {
            let task = RoundTask { foresight, ..task };
            assert_eq!(task.leaves_step(at(70), Some(at(81))), None);
            assert_eq!(task.gives_up(), Some(at(100)));
        }
        assert_eq!(task.gives_up(), Some(at(80)));
        let short = RoundTask { start: at(90), ..task };
        assert_eq!(short.gives_up(), Some(at(90)), "not before it sets out");
    }
}
