//! A client's training, and what it brings back.

use super::{ClientSide, PlannedRound};
use crate::clock::SimTime;
use crate::compress::Parcel;
use crate::participation::{Arrival, ClientContext, Request, Round, RoundNumbers};
use crate::solver::Correction;
use crate::train::{Job, Ticket, Training};
use std::sync::Arc;

impl ClientSide {
    /// Hands a client's training to the pool, if there is anything to train.
    pub fn train(
        &self,
        round: &Round,
        request: &Request,
        context: ClientContext,
        planned: &PlannedRound,
    ) -> Option<Box<Ticket<Option<Parcel>>>> {
        let client = request.asked.client;
        let PlannedRound { way, lost, .. } = *planned;
        // Who will come too late to be used need not really train, unless it remembers what it sent.
        // When an upload on a shared link is through nobody knows; not before it has begun.
        let ready = if way.arrives == SimTime::NEVER { way.computed } else { way.arrives };
        let in_time = round.useless_after.is_none_or(|after| ready <= after)
            || self.packer.packing.error_feedback;
        match (&self.training, round.numbers.get()) {
            (Some(Training { trainer, pool }), Some(numbers))
                if way.tau > 0 && lost.is_none() && in_time =>
            {
                let (packer, residual, key) = (self.packer, context.residual.clone(), context.key);
                let (trainer, job) = (trainer.clone(), self.job(numbers, round, client, context));
                let cost = way.tau * self.workload.batch(client) as u64;
                Some(Box::new(pool.submit_training(
                    ready,
                    (way.tau, cost, self.effort(client).flops),
                    move || trainer.begin(job),
                    move |run| packer.pack(run.change(), residual, client, key),
                )))
            }
            _ => None,
        }
    }

    /// Hands the training of a client that is on its way to the pool: its steps are known, and now its model
    /// is. One whose steps are not known trains when they are.
    pub fn train_now(&self, arrival: &mut Arrival, context: ClientContext) {
        let &mut Arrival { way, lost, leg, cut_off, .. } = arrival;
        let planned = PlannedRound { way, lost, leg, cut_off };
        arrival.change = self.train(&arrival.round, &arrival.request, context, &planned);
    }

    pub(super) fn job(
        &self,
        numbers: &RoundNumbers,
        round: &Round,
        client: u32,
        context: ClientContext,
    ) -> Job {
        let class = self.fleet.devices[client as usize].class;
        Job {
            model: numbers.model.clone(),
            client,
            round: context.key,
            solver: self.recipe.solver(class, round.lr_factor),
            correction: Correction { shared: numbers.shared.clone(), own: context.own },
        }
    }

    /// The news of a client that is back, or lost.
    pub fn arrival(
        &self,
        round: Arc<Round>,
        request: Request,
        PlannedRound { way, lost, leg, cut_off }: PlannedRound,
        change: Option<Box<Ticket<Option<Parcel>>>>,
    ) -> Arrival {
        let class = self.fleet.devices[request.asked.client as usize].class;
        let foreign = self.foreign_law.as_ref().and_then(|trainer| {
            let solver = self.recipe.solver(class, round.lr_factor);
            trainer.accumulation(&solver, round.lr, way.tau)
        });
        let accumulation =
            foreign.unwrap_or_else(|| self.recipe.accumulation(class, round.lr_factor, way.tau));
        Arrival { round, request, way, class, accumulation, lost, leg, cut_off, change }
    }
}
