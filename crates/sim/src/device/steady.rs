//! When a client will be where: τ as an outcome of timing.

use super::{Device, Pace};
use crate::clock::{SimTime, Span, TimeOverflow};
use crate::record::Leg;

/// What a client is asked to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trip {
    /// When it sets out.
    pub start: SimTime,
    /// The steps it means to make; `None`: as many as fit.
    pub steps: Option<u64>,
    /// When its update must have arrived; `None`: it takes the time it needs.
    pub due: Option<SimTime>,
}

/// When a client will be where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LegTimes {
    /// The model is there.
    pub downloaded: SimTime,
    /// The last step is done.
    pub computed: SimTime,
    /// The update is with the server; if τ = 0, when the client gives up.
    pub arrives: SimTime,
    /// Local steps made.
    pub tau: u64,
}

impl LegTimes {
    /// The way of a client that is lost at `end`, before it is back: what it has done is lost too.
    pub fn cut(&self, end: SimTime) -> LegTimes {
        let LegTimes { downloaded, computed, .. } = *self;
        LegTimes {
            downloaded: downloaded.min(end),
            computed: computed.min(end),
            arrives: end,
            tau: 0,
        }
    }

    /// Where on its way it is at `at`.
    pub fn leg(&self, at: SimTime) -> Leg {
        match self {
            way if at >= way.arrives => Leg::Done,
            way if at >= way.computed => Leg::Upload,
            way if at >= way.downloaded => Leg::Compute,
            _ => Leg::Download,
        }
    }
}

impl Trip {
    /// Whether a step of length `step`, begun at `now`, ends early enough to be uploaded in time.
    pub fn fits(&self, now: SimTime, step: Span, upload: Span) -> bool {
        let Some(due) = self.due else {
            return true;
        };
        due.before(upload)
            .and_then(|last| last.before(step))
            .is_some_and(|latest_start| now <= latest_start)
    }

    /// How many steps of length `step` it makes after `tau` from `now` on, if they are to end by
    /// `until` and be uploaded in time.
    pub fn fitting(&self, tau: u64, now: SimTime, until: SimTime, step: Span, upload: Span) -> u64 {
        let until = match self.due {
            Some(due) => until.min(due.before(upload).unwrap_or(SimTime::ZERO)),
            None => until,
        };
        let fitting = until.since(now).nanos() / step.nanos();
        self.steps.map_or(fitting, |steps| fitting.min(steps - tau))
    }

    /// Whether `tau` steps are all it means to make.
    pub fn is_done(&self, tau: u64) -> bool {
        self.steps == Some(tau)
    }
}

impl Device {
    /// Where a client with this device will be when. A client without a limit on its steps must
    /// have a time at which it is due: it would never stop.
    pub fn leg_times(&self, trip: &Trip, pace: &mut Pace) -> Result<LegTimes, TimeOverflow> {
        assert!(trip.steps.is_some() || trip.due.is_some(), "a trip ends somewhere");
        let downloaded = trip.start.after(self.download)?;
        let (tau, computed) = match pace.constant() {
            Some(step) => self.even_steps(trip, downloaded, step)?,
            None => self.uneven_steps(trip, downloaded, pace)?,
        };
        if tau == 0 {
            // No step fits: it gives up when it sees that, and when the round is over at the
            // latest, in the middle of its download if need be.
            let end = trip.due.map_or(downloaded, |due| downloaded.min(due));
            return Ok(LegTimes { downloaded: end, computed: end, arrives: end, tau: 0 });
        }
        Ok(LegTimes { downloaded, computed, arrives: computed.after(self.upload)?, tau })
    }

    fn even_steps(
        &self,
        trip: &Trip,
        from: SimTime,
        step: Span,
    ) -> Result<(u64, SimTime), TimeOverflow> {
        let tau = match trip.due {
            None => trip.steps.unwrap_or(0),
            Some(due) => trip.fitting(0, from, due, step, self.upload),
        };
        Ok((tau, from.after(step.times(tau)?)?))
    }

    fn uneven_steps(
        &self,
        trip: &Trip,
        from: SimTime,
        pace: &mut Pace,
    ) -> Result<(u64, SimTime), TimeOverflow> {
        let (mut tau, mut now) = (0, from);
        while !trip.is_done(tau) {
            let step = pace.next_step()?;
            if !trip.fits(now, step, self.upload) {
                break;
            }
            now = now.after(step)?;
            tau += 1;
        }
        Ok((tau, now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn device(step: u64, download: u64, upload: u64, jitter: f32) -> Device {
        let span = Span::from_nanos;
        Device {
            step: span(step),
            download: span(download),
            upload: span(upload),
            jitter,
            class: 0,
        }
    }

    fn travel(device: &Device, steps: Option<u64>, due: Option<u64>) -> (u64, [u64; 3]) {
        let trip =
            Trip { start: SimTime::from_nanos(100), steps, due: due.map(SimTime::from_nanos) };
        let way = device.leg_times(&trip, &mut Pace::new(device, 1, 0, 0)).unwrap();
        (way.tau, [way.downloaded.nanos(), way.computed.nanos(), way.arrives.nanos()])
    }

    #[test]
    fn steps_stop_where_only_the_upload_still_fits() {
        let phone = device(10, 5, 7, 0.0);
        // From 105, steps end at 115, 125, 135; the upload takes 7.
        assert_eq!(travel(&phone, None, Some(142)), (3, [105, 135, 142]), "exactly on time");
        assert_eq!(travel(&phone, None, Some(141)), (2, [105, 125, 132]));
        assert_eq!(travel(&phone, Some(2), Some(142)), (2, [105, 125, 132]), "work ends first");
        assert_eq!(travel(&phone, Some(4), Some(142)), (3, [105, 135, 142]), "deadline ends first");
        assert_eq!(travel(&phone, Some(4), None), (4, [105, 145, 152]), "however long it takes");
    }

    #[test]
    fn no_step_means_giving_up() {
        let phone = device(10, 5, 7, 0.0);
        assert_eq!(travel(&phone, None, Some(121)), (0, [105, 105, 105]), "a step too long by one");
        assert_eq!(travel(&phone, None, Some(122)), (1, [105, 115, 122]));
        assert_eq!(travel(&phone, None, Some(103)), (0, [103, 103, 103]), "download cut off");
        assert_eq!(travel(&phone, None, Some(3)), (0, [3, 3, 3]), "due before the start");
    }

    #[test]
    fn time_that_cannot_be_told_is_an_error() {
        let slow = device(u64::MAX / 2, 0, 0, 0.0);
        let trip = Trip { start: SimTime::ZERO, steps: Some(3), due: None };
        assert_eq!(slow.leg_times(&trip, &mut Pace::new(&slow, 1, 0, 0)), Err(TimeOverflow));
    }

    proptest! {
        /// The division and the step-by-step loop are two ways to the same times.
        #[test]
        fn even_and_uneven_steps_agree(
            step in 1u64..50, download in 0u64..100, upload in 0u64..100,
            steps in proptest::option::of(1u64..40), due in 0u64..900,
        ) {
            let phone = device(step, download, upload, 0.0);
            let trip = Trip { start: SimTime::from_nanos(100), steps, due: Some(SimTime::from_nanos(due)) };
            let from = SimTime::from_nanos(100 + download);
            let even = phone.even_steps(&trip, from, phone.step).unwrap();
            let uneven = phone.uneven_steps(&trip, from, &mut Pace::new(&phone, 1, 0, 0)).unwrap();
            prop_assert_eq!(even, uneven);
        }

        #[test]
        fn nobody_who_is_due_comes_late(
            step in 1u64..50, download in 0u64..100, upload in 0u64..100,
            jitter in 0.0f32..1.0, due in 100u64..2000,
        ) {
            let phone = device(step, download, upload, jitter);
            let (_, [downloaded, computed, arrives]) = travel(&phone, None, Some(due));
            prop_assert!(downloaded <= computed && computed <= arrives && arrives <= due);
        }
    }
}
