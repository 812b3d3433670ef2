//! A client, without the actor: what it does between being asked and being back.
//!
//! Under the virtual clock a client knows its whole itinerary the moment it is asked, hands its
//! training to the pool to be ready by its arrival, and sleeps once. Under the wall clock it
//! really takes one step after another; [`Walk`] is that loop's state. Both ask the same device,
//! pace and trip, so they make the same number of steps, but for what the wall's timing adds.

use crate::clock::{SimTime, Span, TimeOverflow};
use crate::device::{Fleet, Itinerary, Pace, Trip};
use crate::policy::Workload;
use crate::random::{Purpose, stream};
use crate::server::{Arrival, Errand, Request, Round, Training};
use crate::solver::{Correction, Recipe};
use crate::train::{Job, LocalRun, Model};
use rand::RngExt;
use std::sync::Arc;

/// What all clients of a run share.
pub struct World {
    /// The run's seed.
    pub seed: u64,
    /// Everybody's device.
    pub fleet: Fleet,
    /// Everybody's work.
    pub workload: Workload,
    /// Everybody's local update law.
    pub recipe: Recipe,
    /// `None`: the schedule alone is run.
    pub training: Option<Training>,
}

impl World {
    /// Virtual time: everything that will happen to a client that is asked now.
    pub fn set_out(
        &self,
        round: Arc<Round>,
        request: Request,
        errand: Errand,
    ) -> Result<Arrival, TimeOverflow> {
        let client = request.asked.client;
        let device = &self.fleet.devices[client as usize];
        let way = device.itinerary(
            &self.trip(&round, &request, errand.key),
            &mut self.pace(client, errand.key),
        )?;
        if let Some(end) = self.vanishes(&request, errand.key, &way) {
            return Ok(self.arrival(round, request, way.cut(end), true, None));
        }
        // Who will come too late to be used need not really train.
        let in_time = round.useless_after.is_none_or(|after| way.arrives <= after);
        let change = match (&self.training, &round.model) {
            (Some(Training { trainer, pool }), Some(model)) if way.tau > 0 && in_time => {
                let (trainer, job) = (trainer.clone(), self.job(model, &round, client, errand));
                let cost = way.tau * self.workload.batch(client) as u64;
                Some(Box::new(pool.submit(way.arrives, cost, move || {
                    let mut run = trainer.begin(job);
                    run.steps(way.tau);
                    run.change()
                })))
            }
            _ => None,
        };
        Ok(self.arrival(round, request, way, false, change))
    }

    /// Wall time: the beginning of a client's way.
    pub fn begin_walk(
        &self,
        round: Arc<Round>,
        request: Request,
        errand: Errand,
    ) -> Result<Walk, TimeOverflow> {
        let client = request.asked.client;
        let device = &self.fleet.devices[client as usize];
        let (downloaded, key) = (request.at.after(device.download)?, errand.key);
        let run = match (&self.training, &round.model) {
            (Some(Training { trainer, .. }), Some(model)) => {
                Some(trainer.begin(self.job(model, &round, client, errand)))
            }
            _ => None,
        };
        Ok(Walk {
            trip: self.trip(&round, &request, key),
            pace: self.pace(client, key),
            upload: device.upload,
            downloaded,
            now: downloaded,
            tau: 0,
            run,
            round,
            request,
        })
    }

    /// Wall time: what becomes of a client that will vanish on its way, known beforehand.
    pub fn vanishing(
        &self,
        round: &Arc<Round>,
        request: Request,
        key: u64,
    ) -> Result<Option<Arrival>, TimeOverflow> {
        let client = request.asked.client;
        let device = &self.fleet.devices[client as usize];
        if self.fleet.classes[usize::from(device.class)].dropout == 0.0 {
            return Ok(None);
        }
        let way =
            device.itinerary(&self.trip(round, &request, key), &mut self.pace(client, key))?;
        let end = self.vanishes(&request, key, &way);
        Ok(end.map(|end| self.arrival(round.clone(), request, way.cut(end), true, None)))
    }

    /// Wall time: the end of a client's way, when its upload is through.
    pub fn end_walk(&self, walk: Walk) -> Result<Arrival, TimeOverflow> {
        let way = walk.itinerary()?;
        let change = match (walk.run, &self.training) {
            (Some(run), Some(Training { pool, .. })) if way.tau > 0 => {
                Some(Box::new(pool.submit_first(move || run.change())))
            }
            _ => None,
        };
        Ok(self.arrival(walk.round, walk.request, way, false, change))
    }

    /// When a client vanishes, if it does: at a uniformly drawn moment of its way.
    fn vanishes(&self, request: &Request, key: u64, way: &Itinerary) -> Option<SimTime> {
        let client = request.asked.client;
        let class = self.fleet.devices[client as usize].class;
        let chance = self.fleet.classes[usize::from(class)].dropout;
        if chance == 0.0 || way.tau == 0 {
            return None;
        }
        let mut rng = stream(self.seed, Purpose::Dropout, u64::from(client), key);
        let vanishes = rng.random::<f64>() < chance;
        let nanos = way.arrives.since(request.at).nanos();
        // Before its arrival, so that it is not heard and lost at once.
        let at = ((rng.random::<f64>() * nanos as f64) as u64).min(nanos.saturating_sub(1));
        vanishes.then(|| SimTime::from_nanos(request.at.nanos() + at))
    }

    fn job(&self, model: &Arc<Model>, round: &Round, client: u32, errand: Errand) -> Job {
        let class = self.fleet.devices[client as usize].class;
        Job {
            model: model.clone(),
            client,
            round: errand.key,
            solver: self.recipe.solver(class, round.number),
            correction: Correction { shared: round.shared.clone(), own: errand.own },
        }
    }

    fn trip(&self, round: &Round, request: &Request, key: u64) -> Trip {
        let steps = self.workload.steps(request.asked.client, key);
        Trip { start: request.at, steps, due: round.due }
    }

    fn pace(&self, client: u32, key: u64) -> Pace {
        let device = &self.fleet.devices[client as usize];
        Pace::new(device, self.seed, u64::from(client), key)
    }

    fn arrival(
        &self,
        round: Arc<Round>,
        request: Request,
        way: Itinerary,
        vanished: bool,
        change: Option<Box<crate::train::Ticket<Vec<f64>>>>,
    ) -> Arrival {
        let class = self.fleet.devices[request.asked.client as usize].class;
        let accumulation = self.recipe.accumulation(class, round.number, way.tau);
        Arrival { round, request, way, class, accumulation, vanished, change }
    }
}

/// A client on its way under the wall clock.
pub struct Walk {
    trip: Trip,
    pace: Pace,
    upload: Span,
    /// When the model is there.
    pub downloaded: SimTime,
    now: SimTime,
    tau: u64,
    /// Its training; taken by the worker that computes a step, and given back.
    pub run: Option<Box<dyn LocalRun>>,
    round: Arc<Round>,
    request: Request,
}

impl Walk {
    /// The length of the next step, or `None` if no other step is to be made.
    pub fn next_step(&mut self) -> Result<Option<Span>, TimeOverflow> {
        if self.trip.is_done(self.tau) {
            return Ok(None);
        }
        let step = self.pace.next_step()?;
        Ok(self.trip.fits(self.now, step, self.upload).then_some(step))
    }

    /// A step of length `step` was computed by `computed`. The device takes its own time for it;
    /// if this machine took even longer, then so did the device. Returns when the step ends.
    pub fn stepped(&mut self, step: Span, computed: SimTime) -> Result<SimTime, TimeOverflow> {
        self.now = self.now.after(step)?.max(computed);
        self.tau += 1;
        Ok(self.now)
    }

    /// When it was where, and when its upload will be through.
    pub fn itinerary(&self) -> Result<Itinerary, TimeOverflow> {
        if self.tau == 0 {
            let end = self.trip.due.map_or(self.downloaded, |due| self.downloaded.min(due));
            return Ok(Itinerary { downloaded: end, computed: end, arrives: end, tau: 0 });
        }
        let arrives = self.now.after(self.upload)?;
        let Walk { downloaded, now: computed, tau, .. } = *self;
        Ok(Itinerary { downloaded, computed, arrives, tau })
    }
}
