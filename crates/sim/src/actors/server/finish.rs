//! How a round ends, and how a run does.

use super::{Halting, ROWS, ServerActor};
use crate::actors::client::Halt;
use crate::actors::recorder::Happened;
use crate::clock::SimTime;
use crate::observer::RunEnd;
use crate::record::StopReason;
use crate::server::{Next, ServerError};
use actix::prelude::*;
use tracing::debug;

impl ServerActor {
    pub(super) fn close_round(
        &mut self,
        now: SimTime,
        ctx: &mut Context<Self>,
    ) -> Result<(), ServerError> {
        self.cancel_alarm(ctx);
        let (row, ends) = self.server.close_round(now)?;
        debug!(
            round = row.round,
            virtual_seconds = now.seconds(),
            asked = row.asked,
            arrived = row.arrived,
            tau_eff = row.tau_eff,
            "round closes"
        );
        self.send_rows();
        self.recorder.tell(Happened::Closed(row));
        match ends {
            Some(reason) => self.end(now, reason)?,
            // Others may arrive at this very instant. They are too late for this round, but must not
            // be passed over in the next.
            None if !self.server.is_asynchronous() && self.server.on_the_way() > 0 => {
                self.open_at_end_of(now, ctx);
            }
            None => self.open_round(now, ctx)?,
        }
        Ok(())
    }

    /// Opens the next round when everything that is due at this instant has happened.
    pub(super) fn open_at_end_of(&mut self, now: SimTime, ctx: &mut Context<Self>) {
        if let Some(Some(wait)) = self.waiting.take() {
            ctx.cancel_future(wait);
        }
        let sleep = self.clock.sleep_until_end_of(now);
        self.waiting = Some(Some(ctx.spawn(sleep.into_actor(self).map(move |(), me, ctx| {
            me.waiting = None;
            me.watch(ctx, |me, ctx| me.open_round(now, ctx));
        }))));
    }

    /// `[stop] time` is reached. A round whose deadline this is closes as any other; in the middle
    /// of a round the model is measured as it is.
    pub(super) fn time_is_up(
        &mut self,
        now: SimTime,
        ctx: &mut Context<Self>,
    ) -> Result<(), ServerError> {
        let is_open = self.server.round().closed.get().is_none();
        if is_open
            && self.server.wake().is_some_and(|at| at <= now)
            && self.server.time_is_up(now)? == Next::CloseRound
        {
            return self.close_round(now, ctx);
        }
        self.measure(now)?;
        self.end(now, StopReason::Time)
    }

    /// Measures the model as it is.
    fn measure(&mut self, now: SimTime) -> Result<(), ServerError> {
        let measured = self.server.evaluate()?;
        self.send_rows();
        if let Some(measured) = measured {
            self.recorder.tell(Happened::Measured(now, measured));
        }
        Ok(())
    }

    /// The run is over: calls everybody back, and ends when they have told how far they came. The model
    /// is measured if it was not; that of an interrupted run is not.
    pub(super) fn end(&mut self, now: SimTime, reason: StopReason) -> Result<(), ServerError> {
        if !self.server.is_measured() && reason != StopReason::Interrupted {
            self.measure(now)?;
        }
        // Such a run has no model: training was never taken over.
        if self.server.is_replaying() && reason != StopReason::Interrupted {
            return Err(ServerError::Replay("its end before the checkpoint"));
        }
        self.server.call_off(now);
        self.halting = Some(Halting { now, reason });
        for (client, seat) in (0..).zip(&self.clients) {
            if let Some(seat) = seat.as_ref().filter(|_| self.server.is_on_the_way(client)) {
                seat.do_send(Halt(now));
            }
        }
        self.end_if_all_are_back();
        Ok(())
    }

    pub(super) fn end_if_all_are_back(&mut self) {
        if self.server.on_the_way() > 0 {
            return;
        }
        let Some(Halting { now, reason }) = self.halting else {
            return;
        };
        let accounts = self.server.take_accounts();
        self.send_rows();
        let consistency = self.server.consistency();
        let weights = self.server.weights();
        self.recorder.tell(Happened::Ended(RunEnd { now, accounts, consistency, weights }));
        self.ending.announce(Ok(reason));
    }

    pub(super) fn send_rows(&mut self) {
        // What happened before an arrival is told before it.
        let turns = self.server.take_availability_changes();
        if !turns.is_empty() {
            self.recorder.tell(Happened::Turned(turns));
        }
        if !self.rows.is_empty() {
            let rows = std::mem::replace(&mut self.rows, Vec::with_capacity(ROWS));
            self.recorder.tell(Happened::Arrived(rows));
        }
    }
}
