//! A client on its way under the wall clock, one step at a time.

use super::{ClientSide, PlannedRound};
use crate::clock::{SimTime, TimeOverflow};
use crate::compress::Residual;
use crate::device::{Direction, LegTimes, Pace, Transfer, Trip, transfer};
use crate::participation::{Arrival, ClientContext, Request, Round};
use crate::train::{LocalRun, Training};
use std::sync::Arc;

/// A client on its way under the wall clock.
pub struct WallClockRound {
    trip: Trip,
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

impl ClientSide {
    /// The beginning of the way of a client that has [departed](ClientSide::depart).
    pub fn begin_wall_clock_round(
        &self,
        round: Arc<Round>,
        request: Request,
        context: ClientContext,
    ) -> Result<WallClockRound, TimeOverflow> {
        let (client, key) = (request.asked.client, context.key);
        let downloaded = self.transferred(client, Direction::Down, request.at)?;
        let residual = context.residual.clone();
        let run = match (&self.training, &round.model) {
            (Some(Training { trainer, .. }), Some(model)) => {
                Some(trainer.begin(self.job(model, &round, client, context)))
            }
            _ => None,
        };
        Ok(WallClockRound {
            trip: Self::trip(&round, &request),
            pace: self.pace(client, key),
            downloaded,
            now: downloaded,
            tau: 0,
            run,
            residual,
            key,
            round,
            request,
        })
    }

    /// When the next step of a round ends, or `None` if no other step is to be made.
    pub fn next_step(
        &self,
        wall_round: &mut WallClockRound,
    ) -> Result<Option<SimTime>, TimeOverflow> {
        if wall_round.trip.is_done(wall_round.tau) {
            return Ok(None);
        }
        let client = wall_round.request.asked.client;
        if self.is_steady(client) {
            let upload = self.fleet.devices[client as usize].upload;
            let step = wall_round.pace.next_step()?;
            let fits = wall_round.trip.fits(wall_round.now, step, upload);
            return fits.then(|| wall_round.now.after(step)).transpose();
        }
        let script = self.script.borrow();
        let mut profile = self.profile(client, wall_round.now, &script);
        let mut view = self.view(&wall_round.round, client, &mut profile, &mut wall_round.pace);
        view.warmth = view.warmth.map(|warmth| warmth.rested(wall_round.downloaded));
        let one_more = Trip { steps: Some(1), ..wall_round.trip };
        let (made, end) = view.steps(&one_more, wall_round.now)?;
        Ok((made > 0).then_some(end))
    }

    /// When it was where, and when its upload will be through.
    pub fn way(&self, wall_round: &WallClockRound) -> Result<LegTimes, TimeOverflow> {
        let WallClockRound { downloaded, now: computed, tau, .. } = *wall_round;
        if tau == 0 {
            let end = wall_round.trip.due.map_or(downloaded, |due| downloaded.min(due));
            return Ok(LegTimes { downloaded: end, computed: end, arrives: end, tau: 0 });
        }
        let arrives = self.transferred(wall_round.request.asked.client, Direction::Up, computed)?;
        Ok(LegTimes { downloaded, computed, arrives, tau })
    }

    /// The end of a client's way, when its upload is through.
    pub fn end_wall_clock_round(
        &self,
        wall_round: WallClockRound,
    ) -> Result<Arrival, TimeOverflow> {
        let way = self.way(&wall_round)?;
        let change = match (wall_round.run, &self.training) {
            (Some(run), Some(Training { pool, .. })) if way.tau > 0 => {
                let (packer, client) = (self.packer, wall_round.request.asked.client);
                let (residual, key) = (wall_round.residual, wall_round.key);
                let pack = move || packer.pack(run.change(), residual, client, key);
                Some(Box::new(pool.submit_first(pack)))
            }
            _ => None,
        };
        Ok(self.arrival(wall_round.round, wall_round.request, PlannedRound::of(way), change))
    }

    /// When a transfer is through that begins at `from`. One that never is has been foreseen.
    fn transferred(
        &self,
        client: u32,
        direction: Direction,
        from: SimTime,
    ) -> Result<SimTime, TimeOverflow> {
        let device = &self.fleet.devices[client as usize];
        if self.is_steady(client) {
            return from.after(match direction {
                Direction::Down => device.download,
                Direction::Up => device.upload,
            });
        }
        let script = self.script.borrow();
        let mut profile = self.profile(client, from, &script);
        let sent = from.after(self.fleet.wires[client as usize].latency)?;
        match transfer(&mut profile, direction, sent, self.payload.bits(direction))? {
            Transfer::Through(at) | Transfer::Broken(at) => Ok(at),
        }
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
