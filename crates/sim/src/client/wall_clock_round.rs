//! A client on its way under the wall clock, one step at a time.

use super::{ClientSide, PlannedRound};
use crate::clock::{SimTime, TimeOverflow};
use crate::compress::Residual;
use crate::device::{LegEnds, LegTimes, Pace, RoundTask, SteadyLegs, Transfer};
use crate::participation::{Arrival, ClientContext, Request, Round};
use crate::train::{LocalRun, Training};
use std::sync::Arc;

/// A client on its way under the wall clock.
pub struct WallClockRound {
    task: RoundTask,
    pace: Pace,
    /// When the model is there.
    pub downloaded: SimTime,
    now: SimTime,
    tau: u64,
    /// Its training; taken by the worker that computes a step, and given back.
    pub run: Option<Box<dyn LocalRun>>,
    residual: Residual,
    key: u64,
    round: Arc<Round>,
    request: Request,
}

/// The steps of a client as it has really made them, and the transfers of its device.
struct WallClockLegs<'a> {
    made: (u64, SimTime),
    ends: &'a mut dyn LegEnds,
}

impl LegEnds for WallClockLegs<'_> {
    fn download(&mut self, from: SimTime) -> Result<Transfer, TimeOverflow> {
        self.ends.download(from)
    }

    fn steps(&mut self, _: &RoundTask, _: SimTime) -> Result<(u64, SimTime), TimeOverflow> {
        Ok(self.made)
    }

    fn upload(&mut self, from: SimTime) -> Result<Transfer, TimeOverflow> {
        self.ends.upload(from)
    }
}

impl ClientSide {
    /// The beginning of the way of a client that has [departed](ClientSide::depart).
    pub fn begin_wall_clock_round(
        &self,
        round: Arc<Round>,
        request: Request,
        context: ClientContext,
    ) -> Result<WallClockRound, TimeOverflow> {
        let (client, key) = (request.asked.client, context.key);
        let residual = context.residual.clone();
        let run = match (&self.training, round.numbers.get()) {
            (Some(Training { trainer, .. }), Some(numbers)) => {
                Some(trainer.begin(self.job(numbers, &round, client, context)))
            }
            _ => None,
        };
        let start = request.at;
        let mut wall_round = WallClockRound {
            task: self.task(&round, &request),
            pace: self.pace(client, key),
            downloaded: start,
            now: start,
            tau: 0,
            run,
            residual,
            key,
            round,
            request,
        };
        let download = self.ask(&mut wall_round, start, |ends| ends.download(start))?;
        (wall_round.downloaded, wall_round.now) = (download.end(), download.end());
        Ok(wall_round)
    }

    /// When the next step of a round ends, or `None` if no other step is to be made.
    pub fn next_step(
        &self,
        wall_round: &mut WallClockRound,
    ) -> Result<Option<SimTime>, TimeOverflow> {
        let WallClockRound { task, downloaded, now, tau, .. } = *wall_round;
        if task.is_done(tau) {
            return Ok(None);
        }
        let one_more = RoundTask { steps: Some(1), ..task };
        let (made, end) = self.ask(wall_round, now, |ends| {
            ends.begin_to_compute(downloaded);
            ends.steps(&one_more, now)
        })?;
        if made == 0 {
            // Without foresight it works on a step that it leaves.
            wall_round.now = end;
        }
        Ok((made > 0).then_some(end))
    }

    /// When it was where, and when its upload will be through. One that never is has been foreseen.
    pub fn way(&self, wall_round: &mut WallClockRound) -> Result<LegTimes, TimeOverflow> {
        let WallClockRound { task, downloaded, now, tau, .. } = *wall_round;
        let (way, _) = self.ask(wall_round, now, |ends| {
            task.legs_after_download(&mut WallClockLegs { made: (tau, now), ends }, downloaded)
        })?;
        Ok(way)
    }

    /// Asks a client's device, as it is from `now` on, when legs end.
    fn ask<R>(
        &self,
        wall_round: &mut WallClockRound,
        now: SimTime,
        question: impl FnOnce(&mut dyn LegEnds) -> R,
    ) -> R {
        let WallClockRound { round, request, pace, .. } = wall_round;
        let client = request.asked.client;
        if self.is_steady(client) {
            let device = &self.fleet.devices[client as usize];
            return question(&mut SteadyLegs { device, pace });
        }
        let script = self.script.borrow();
        let mut profile = self.profile(client, now, &script);
        question(&mut self.view(round, client, &mut profile, pace))
    }

    /// The end of a client's way, when its upload is through.
    pub fn end_wall_clock_round(
        &self,
        mut wall_round: WallClockRound,
    ) -> Result<Arrival, TimeOverflow> {
        let way = self.way(&mut wall_round)?;
        let change = match (wall_round.run, &self.training) {
            (Some(run), Some(Training { pool, .. })) if way.tau > 0 => {
                let (packer, client) = (self.packer, wall_round.request.asked.client);
                let (residual, key) = (wall_round.residual, wall_round.key);
                let pack = move || Some(packer.pack(run.change(), residual, client, key));
                Some(Box::new(pool.submit_first(pack)))
            }
            _ => None,
        };
        Ok(self.arrival(wall_round.round, wall_round.request, PlannedRound::of(way), change))
    }
}

impl WallClockRound {
    /// A step that should end at `end` was computed by `computed`. The device takes its own time
    /// for it; if this machine took even longer, then so did the device. Returns when it ends.
    pub fn stepped(&mut self, end: SimTime, computed: SimTime) -> SimTime {
        self.now = end.max(computed);
        self.tau += 1;
        self.now
    }
}
