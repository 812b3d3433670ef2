//! One participation: download, steps, upload.
//!
//! [`RoundTask::legs`] is the only description of the three legs. What differs is who says when a leg
//! ends, and there are four answers to that ([`LegEnds`]):
//!
//! | answer | of a client |
//! |---|---|
//! | [`SteadyLegs`](super::SteadyLegs) | whose device is the same all the time |
//! | [`DeviceView`](super::DeviceView) | whose device changes while it works |
//! | `client/shared_link_round.rs` | whose transfers share the server's links: when they end is not known before |
//! | `client/wall_clock_round.rs` | on the wall clock: its steps ended when they really did |

use super::{Foresight, Transfer};
use crate::clock::{SimTime, TimeOverflow};
use crate::record::Leg;

/// Says when a leg ends that begins at `from`.
pub trait LegEnds {
    /// The model is sent: when it is there.
    fn download(&mut self, from: SimTime) -> Result<Transfer, TimeOverflow>;

    /// The client has its model and begins to compute.
    fn begin_to_compute(&mut self, at: SimTime) {
        let _ = at;
    }

    /// The steps: how many the client makes, and when the last is done.
    fn steps(&mut self, task: &RoundTask, from: SimTime) -> Result<(u64, SimTime), TimeOverflow>;

    /// The update is sent: when the server has it.
    fn upload(&mut self, from: SimTime) -> Result<Transfer, TimeOverflow>;
}

/// What a client is asked to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoundTask {
    /// When it sets out.
    pub start: SimTime,
    /// The steps it means to make; `None`: as many as fit.
    pub steps: Option<u64>,
    /// When its update must have arrived; `None`: it takes the time it needs.
    pub due: Option<SimTime>,
    /// What it knows when it decides whether another step fits.
    pub foresight: Foresight,
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
    /// How far it has come then: [`Leg::Done`], unless it gives up or is lost.
    pub ends: Leg,
}

impl LegTimes {
    /// Of a client that ends its round at `at` without a step, in this leg.
    pub fn without_step(at: SimTime, ends: Leg) -> LegTimes {
        LegTimes { downloaded: at, computed: at, arrives: at, tau: 0, ends }
    }

    /// The way of a client that is lost at `end`, before it is back: what it has done is lost too.
    pub fn cut(&self, end: SimTime) -> LegTimes {
        let LegTimes { downloaded, computed, .. } = *self;
        LegTimes {
            downloaded: downloaded.min(end),
            computed: computed.min(end),
            arrives: end,
            tau: 0,
            ends: self.leg(end),
        }
    }

    /// Where on its way it is at `at`.
    pub fn leg(&self, at: SimTime) -> Leg {
        match self {
            way if at >= way.arrives => way.ends,
            way if at >= way.computed => Leg::Upload,
            way if at >= way.downloaded => Leg::Compute,
            _ => Leg::Download,
        }
    }
}

impl RoundTask {
    /// Whether `tau` steps are all it means to make.
    pub fn is_done(&self, tau: u64) -> bool {
        self.steps == Some(tau)
    }

    /// A client's whole round, and whether it ends where the connection broke for good. A client without
    /// a limit on its steps must have a time at which it is due: it would never stop.
    pub fn legs(&self, ends: &mut impl LegEnds) -> Result<(LegTimes, bool), TimeOverflow> {
        assert!(self.steps.is_some() || self.due.is_some(), "a round ends somewhere");
        match ends.download(self.start)? {
            Transfer::Through(downloaded) => self.legs_after_download(ends, downloaded),
            Transfer::Broken(at) => {
                // A client that gives up before it sees the loss does so like any other.
                let gives_up = self.gives_up().filter(|gives_up| *gives_up <= at);
                let end = gives_up.unwrap_or(at);
                Ok((LegTimes::without_step(end, Leg::Download), gives_up.is_none()))
            }
        }
    }

    /// The rest of the round of a client that has its model since `downloaded`.
    pub fn legs_after_download(
        &self,
        ends: &mut impl LegEnds,
        downloaded: SimTime,
    ) -> Result<(LegTimes, bool), TimeOverflow> {
        ends.begin_to_compute(downloaded);
        let (tau, computed) = ends.steps(self, downloaded)?;
        if tau == 0 {
            // No step fits: it gives up when it sees that, and when the round is over at the
            // latest, in the middle of its download if need be.
            let way = match self.gives_up().filter(|gives_up| *gives_up < downloaded) {
                Some(gives_up) => LegTimes::without_step(gives_up, Leg::Download),
                None => LegTimes { downloaded, ..LegTimes::without_step(computed, Leg::Compute) },
            };
            return Ok((way, false));
        }
        let upload = ends.upload(computed)?;
        let broken = matches!(upload, Transfer::Broken(_));
        let ends = if broken { Leg::Upload } else { Leg::Done };
        Ok((LegTimes { downloaded, computed, arrives: upload.end(), tau, ends }, broken))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(nanos: u64) -> SimTime {
        SimTime::from_nanos(nanos)
    }

    /// Answers that were written down before.
    struct Fixed {
        download: Transfer,
        steps: (u64, SimTime),
        upload: Transfer,
        began: Vec<SimTime>,
    }

    impl LegEnds for Fixed {
        fn download(&mut self, from: SimTime) -> Result<Transfer, TimeOverflow> {
            assert_eq!(from, at(100));
            Ok(self.download)
        }

        fn begin_to_compute(&mut self, at: SimTime) {
            self.began.push(at);
        }

        fn steps(&mut self, _: &RoundTask, from: SimTime) -> Result<(u64, SimTime), TimeOverflow> {
            assert_eq!(from, self.download.end());
            Ok(self.steps)
        }

        fn upload(&mut self, from: SimTime) -> Result<Transfer, TimeOverflow> {
            assert_eq!(from, self.steps.1);
            Ok(self.upload)
        }
    }

    fn answers(download: Transfer, tau: u64, upload: Transfer) -> Fixed {
        Fixed { download, steps: (tau, at(130)), upload, began: Vec::new() }
    }

    fn task(due: Option<u64>) -> RoundTask {
        let foresight = Foresight::Exact;
        RoundTask { start: at(100), steps: Some(3), due: due.map(at), foresight }
    }

    #[test]
    fn each_leg_begins_where_the_one_before_ends() {
        let mut ends = answers(Transfer::Through(at(110)), 3, Transfer::Through(at(150)));
        let (downloaded, computed, arrives) = (at(110), at(130), at(150));
        let way = LegTimes { downloaded, computed, arrives, tau: 3, ends: Leg::Done };
        assert_eq!(task(None).legs(&mut ends), Ok((way, false)));
        assert_eq!(ends.began, [at(110)], "it begins to compute once, when it has its model");
        ends.upload = Transfer::Broken(at(140));
        let broken = LegTimes { arrives: at(140), ends: Leg::Upload, ..way };
        assert_eq!(task(None).legs(&mut ends), Ok((broken, true)));
    }

    #[test]
    fn without_a_step_the_round_ends_with_the_download_or_when_it_is_due() {
        let mut ends = answers(Transfer::Through(at(110)), 0, Transfer::Through(at(150)));
        ends.steps.1 = at(110);
        let ends_at = |due, ends: &mut Fixed| task(due).legs(ends).unwrap();
        let gives_up = |nanos, leg| (LegTimes::without_step(at(nanos), leg), false);
        assert_eq!(ends_at(None, &mut ends), gives_up(110, Leg::Compute));
        assert_eq!(ends_at(Some(110), &mut ends), gives_up(110, Leg::Compute));
        assert_eq!(ends_at(Some(105), &mut ends), gives_up(105, Leg::Download));
    }

    #[test]
    fn a_connection_that_breaks_during_the_download_ends_the_round_unless_it_is_due_before() {
        let mut ends = answers(Transfer::Broken(at(110)), 0, Transfer::Through(at(150)));
        let ends_at = |due, ends: &mut Fixed| task(due).legs(ends).unwrap();
        let lost = (LegTimes::without_step(at(110), Leg::Download), true);
        assert_eq!(ends_at(None, &mut ends), lost);
        assert!(ends.began.is_empty());
        for due in [109, 110] {
            let gives_up = (LegTimes::without_step(at(due), Leg::Download), false);
            assert_eq!(ends_at(Some(due), &mut ends), gives_up);
        }
    }
}
