//! The legs of a client whose device is the same all the time: plain arithmetic.

use super::{Device, Foreseen, LegEnds, Pace, RoundTask, Transfer};
use crate::clock::{SimTime, Span, TimeOverflow};

/// A device that does not change.
pub struct SteadyLegs<'a> {
    /// The device.
    pub device: &'a Device,
    /// How long its steps take.
    pub pace: &'a mut Pace,
}

impl LegEnds for SteadyLegs<'_> {
    #[inline]
    fn download(&mut self, from: SimTime) -> Result<Transfer, TimeOverflow> {
        from.after(self.device.download).map(Transfer::Through)
    }

    #[inline]
    fn steps(&mut self, task: &RoundTask, from: SimTime) -> Result<(u64, SimTime), TimeOverflow> {
        match self.pace.constant() {
            Some(step) => self.even_steps(task, from, step),
            None => self.uneven_steps(task, from),
        }
    }

    #[inline]
    fn upload(&mut self, from: SimTime) -> Result<Transfer, TimeOverflow> {
        from.after(self.device.upload).map(Transfer::Through)
    }
}

impl SteadyLegs<'_> {
    fn even_steps(
        &self,
        task: &RoundTask,
        from: SimTime,
        step: Span,
    ) -> Result<(u64, SimTime), TimeOverflow> {
        let known = Foreseen { step, upload: self.device.upload };
        let tau = match task.due {
            None => task.steps.unwrap_or(0),
            Some(due) => task.completes(0, from, due, known, known),
        };
        let now = from.after(step.times(tau)?)?;
        let left = task.leaves_step(now, now.after(step).ok()).filter(|_| !task.is_done(tau));
        Ok((tau, left.unwrap_or(now)))
    }

    fn uneven_steps(
        &mut self,
        task: &RoundTask,
        from: SimTime,
    ) -> Result<(u64, SimTime), TimeOverflow> {
        let (mut tau, mut now) = (0, from);
        while !task.is_done(tau) {
            let usual = Foreseen::from(self.device);
            let real = Foreseen { step: self.pace.next_step()?, ..usual };
            if !task.begins_step(now, real, usual) {
                break;
            }
            let end = now.after(real.step);
            if let Some(left) = task.leaves_step(now, end.ok()) {
                return Ok((tau, left));
            }
            now = end?;
            tau += 1;
        }
        Ok((tau, now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Foresight;
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
        travel_with(Foresight::Exact, device, steps, due)
    }

    fn travel_with(
        foresight: Foresight,
        device: &Device,
        steps: Option<u64>,
        due: Option<u64>,
    ) -> (u64, [u64; 3]) {
        let (start, due) = (SimTime::from_nanos(100), due.map(SimTime::from_nanos));
        let trip = RoundTask { start, steps, due, foresight };
        let mut pace = Pace::new(device, 1, 0, 0);
        let (way, _) = trip.legs(&mut SteadyLegs { device, pace: &mut pace }).unwrap();
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
    fn without_foresight_steps_stop_at_the_margin_and_the_upload_takes_what_it_takes() {
        let phone = device(10, 5, 7, 0.0);
        let travel = |margin, steps, due| {
            let margin = Span::from_nanos(margin);
            travel_with(Foresight::None { margin }, &phone, steps, Some(due))
        };
        // From 105, steps end at 115, 125, 135. The one under way at 142 − 4 is left.
        assert_eq!(travel(4, None, 142), (3, [105, 138, 145]), "late by 3: the upload takes 7");
        assert_eq!(travel(7, None, 142), (3, [105, 135, 142]));
        assert_eq!(travel(8, None, 142), (2, [105, 134, 141]), "a nanosecond too early");
        assert_eq!(travel(4, Some(2), 142), (2, [105, 125, 132]), "work ends first");
        assert_eq!(travel(30, None, 142), (0, [105, 112, 112]), "a step that is not done is lost");
        assert_eq!(travel(40, None, 142), (0, [102, 102, 102]), "the model is not there in time");
        assert_eq!(travel(90, None, 142), (0, [100, 100, 100]), "no time at all");
    }

    #[test]
    fn who_expects_the_usual_may_come_late() {
        let phone = device(1000, 0, 0, 1.0);
        let late = |foresight| {
            let arrives = |due| travel_with(foresight, &phone, None, Some(due)).1[2];
            (2000..8000).step_by(97).filter(|due| arrives(*due) > *due).count()
        };
        assert_eq!(late(Foresight::Exact), 0);
        assert!(late(Foresight::Expected) > 10);
        assert_eq!(late(Foresight::None { margin: Span::ZERO }), 0, "links take no time here");
    }

    #[test]
    fn time_that_cannot_be_told_is_an_error() {
        let slow = device(u64::MAX / 2, 0, 0, 0.0);
        let foresight = Foresight::Exact;
        let trip = RoundTask { start: SimTime::ZERO, steps: Some(3), due: None, foresight };
        let mut pace = Pace::new(&slow, 1, 0, 0);
        let legs = trip.legs(&mut SteadyLegs { device: &slow, pace: &mut pace });
        assert_eq!(legs, Err(TimeOverflow));
    }

    proptest! {
        /// The division and the step-by-step loop are two ways to the same times.
        #[test]
        fn even_and_uneven_steps_agree(
            step in 1u64..50, download in 0u64..100, upload in 0u64..100,
            steps in proptest::option::of(1u64..40), due in 0u64..900, margin in 0u64..100,
            which in 0usize..3,
        ) {
            let margin = Span::from_nanos(margin);
            let foresight =
                [Foresight::Exact, Foresight::Expected, Foresight::None { margin }][which];
            let phone = device(step, download, upload, 0.0);
            let (start, due) = (SimTime::from_nanos(100), Some(SimTime::from_nanos(due)));
            let trip = RoundTask { start, steps, due, foresight };
            let from = SimTime::from_nanos(100 + download);
            let mut pace = Pace::new(&phone, 1, 0, 0);
            let mut legs = SteadyLegs { device: &phone, pace: &mut pace };
            let even = legs.even_steps(&trip, from, phone.step).unwrap();
            let uneven = legs.uneven_steps(&trip, from).unwrap();
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
