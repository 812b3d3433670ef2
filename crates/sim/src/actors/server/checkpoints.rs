//! How a run that is interrupted can go on: checkpoints on the way, and training that takes over from a replay.

use super::ServerActor;
use crate::actors::client::{BeginTraining, ClientActor};
use crate::participation::Arrival;
use crate::record::StopReason;
use crate::server::{Checkpoint, RunLog, ServerError};
use actix::prelude::*;
use std::time::{Duration, Instant};

/// Keeps checkpoints of a run. It is called on the thread of the simulation, which waits for it.
pub trait Checkpoints {
    /// Whether it is time for one. Asked after every event.
    fn is_due(&mut self) -> bool;

    /// Keeps a checkpoint, with what was logged since the one before. The simulation waited for so long until
    /// its numbers were copied.
    fn keep(&mut self, checkpoint: Checkpoint, log: RunLog, copying: Duration);

    /// Keeps a last one: the run is about to end before its time.
    fn keep_last(&mut self, checkpoint: Checkpoint, log: RunLog, copying: Duration) {
        self.keep(checkpoint, log, copying);
    }
}

impl ServerActor {
    /// An event has been handled.
    pub(super) fn after_event(&mut self) {
        if self.server.take_resumed() {
            self.begin_training();
        }
        if let Some(checkpoints) = &mut self.checkpoints
            && checkpoints.is_due()
            && !self.server.is_replaying()
        {
            let began = Instant::now();
            let (checkpoint, log) = self.server.checkpoint();
            checkpoints.keep(checkpoint, log, began.elapsed());
        }
    }

    /// The run should end now, at the last event that was handled. A client that has just arrived is called
    /// back like all others.
    pub(super) fn leave(&mut self, arrival: Option<Arrival>) -> Result<(), ServerError> {
        if let Some(checkpoints) = &mut self.checkpoints
            && !self.server.is_replaying()
        {
            let began = Instant::now();
            let (checkpoint, log) = self.server.checkpoint();
            checkpoints.keep_last(checkpoint, log, began.elapsed());
        }
        self.rows.extend(self.server.take_left());
        if let Some(arrival) = arrival {
            self.rows.push(self.server.take_back(arrival));
        }
        self.end(self.latest.max(self.clock.now()), StopReason::Interrupted)
    }

    /// Training has taken over from a replay: clients that are on their way begin to train.
    fn begin_training(&self) {
        for (client, seat) in (0..).zip(&self.clients) {
            if let Some(seat) = seat.as_ref().filter(|_| self.server.is_on_the_way(client)) {
                let context = self.server.client_context_again(client);
                seat.do_send(BeginTraining { context });
            }
        }
    }
}

impl Handler<BeginTraining> for ClientActor {
    type Result = ();

    fn handle(&mut self, BeginTraining { mut context }: BeginTraining, _: &mut Context<Self>) {
        let Some(trip) = &mut self.trip else { return };
        if context.key == 0 {
            context.key = trip.arrival.round.number;
        }
        if let Some(shared_link_round) = &mut trip.shared_link_round {
            shared_link_round.take_along(&context);
        }
        self.around.client_side.train_now(&mut trip.arrival, context);
    }
}
