//! A client on its way under the wall clock, one step at a time.

use super::{Fate, World};
use crate::clock::{SimTime, TimeOverflow};
use crate::compress::Residual;
use crate::device::{Direction, Itinerary, Pace, Transfer, Trip, transfer};
use crate::participation::{Arrival, Errand, Request, Round};
use crate::train::{LocalRun, Training};
use std::sync::Arc;

/// A client on its way under the wall clock.
pub struct Walk {
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

impl World {
    /// The beginning of the way of a client that has [departed](World::depart).
    pub fn begin_walk(
        &self,
        round: Arc<Round>,
        request: Request,
        errand: Errand,
    ) -> Result<Walk, TimeOverflow> {
        let (client, key) = (request.asked.client, errand.key);
        let downloaded = self.transferred(client, Direction::Down, request.at)?;
        let residual = errand.residual.clone();
        let run = match (&self.training, &round.model) {
            (Some(Training { trainer, .. }), Some(model)) => {
                Some(trainer.begin(self.job(model, &round, client, errand)))
            }
            _ => None,
        };
        Ok(Walk {
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

    /// When the next step of a walk ends, or `None` if no other step is to be made.
    pub fn next_step(&self, walk: &mut Walk) -> Result<Option<SimTime>, TimeOverflow> {
        if walk.trip.is_done(walk.tau) {
            return Ok(None);
        }
        let client = walk.request.asked.client;
        if self.is_steady(client) {
            let upload = self.fleet.devices[client as usize].upload;
            let step = walk.pace.next_step()?;
            let fits = walk.trip.fits(walk.now, step, upload);
            return fits.then(|| walk.now.after(step)).transpose();
        }
        let script = self.script.borrow();
        let mut course = self.course(client, walk.now, &script);
        let mut gear = self.gear(&walk.round, client, &mut course, &mut walk.pace);
        gear.warmth = gear.warmth.map(|warmth| warmth.rested(walk.downloaded));
        let one_more = Trip { steps: Some(1), ..walk.trip };
        let (made, end) = gear.steps(&one_more, walk.now)?;
        Ok((made > 0).then_some(end))
    }

    /// When it was where, and when its upload will be through.
    pub fn way(&self, walk: &Walk) -> Result<Itinerary, TimeOverflow> {
        let Walk { downloaded, now: computed, tau, .. } = *walk;
        if tau == 0 {
            let end = walk.trip.due.map_or(downloaded, |due| downloaded.min(due));
            return Ok(Itinerary { downloaded: end, computed: end, arrives: end, tau: 0 });
        }
        let arrives = self.transferred(walk.request.asked.client, Direction::Up, computed)?;
        Ok(Itinerary { downloaded, computed, arrives, tau })
    }

    /// The end of a client's way, when its upload is through.
    pub fn end_walk(&self, walk: Walk) -> Result<Arrival, TimeOverflow> {
        let way = self.way(&walk)?;
        let change = match (walk.run, &self.training) {
            (Some(run), Some(Training { pool, .. })) if way.tau > 0 => {
                let (packer, client) = (self.packer, walk.request.asked.client);
                let (residual, key) = (walk.residual, walk.key);
                let pack = move || packer.pack(run.change(), residual, client, key);
                Some(Box::new(pool.submit_first(pack)))
            }
            _ => None,
        };
        Ok(self.arrival(walk.round, walk.request, Fate::of(way), change))
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
        let mut course = self.course(client, from, &script);
        let sent = from.after(self.fleet.wires[client as usize].latency)?;
        match transfer(&mut course, direction, sent, self.payload.bits(direction))? {
            Transfer::Through(at) | Transfer::Broken(at) => Ok(at),
        }
    }
}

impl Walk {
    /// A step that should end at `end` was computed by `computed`. The device takes its own time
    /// for it; if this machine took even longer, then so did the device. Returns when it ends.
    pub fn stepped(&mut self, end: SimTime, computed: SimTime) -> SimTime {
        self.now = end.max(computed);
        self.tau += 1;
        self.now
    }
}
