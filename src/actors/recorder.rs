//! Writes down what happens.

use super::ending::Ending;
use super::simulate::Progress;
use crate::clock::SimTime;
use crate::metric::Metrics;
use crate::record::{Account, ClientRow, RoundRow};
use crate::report::Ledger;
use crate::theory::Consistency;
use crate::train::Measured;
use actix::prelude::*;
use std::rc::Rc;

pub(super) struct RecorderActor {
    /// There until the run is over.
    ledger: Option<Ledger>,
    ending: Rc<Ending>,
    progress: Option<Progress>,
}

impl RecorderActor {
    pub(super) fn new(ledger: Ledger, ending: Rc<Ending>, progress: Option<Progress>) -> Self {
        RecorderActor { ledger: Some(ledger), ending, progress }
    }
}

impl Actor for RecorderActor {
    type Context = Context<Self>;
}

/// What the recorder is told.
#[derive(Message)]
#[rtype(result = "()")]
pub(super) enum Happened {
    Began(Metrics),
    Arrived(Vec<ClientRow>),
    Closed(RoundRow),
    Measured(SimTime, Measured),
    Ended { now: SimTime, accounts: Vec<Account>, consistency: Consistency },
}

impl Handler<Happened> for RecorderActor {
    type Result = ();

    fn handle(&mut self, happened: Happened, _: &mut Context<Self>) {
        let Some(ledger) = &mut self.ledger else {
            return;
        };
        let progress = &mut self.progress;
        let round = ledger.progress().0;
        self.ending.watch(
            || format!("the recorder after round {round}"),
            || {
                match happened {
                    Happened::Began(metrics) => ledger.began(metrics),
                    Happened::Arrived(rows) => ledger.arrived(rows),
                    Happened::Closed(row) => {
                        ledger.closed(&row)?;
                        if let Some(progress) = progress {
                            progress(ledger);
                        }
                    }
                    Happened::Measured(now, measured) => ledger.measured(now, &measured),
                    Happened::Ended { now, accounts, consistency } => {
                        ledger.ended(now, accounts, consistency);
                    }
                }
                Ok::<(), crate::report::FileError>(())
            },
        );
    }
}

/// The run is over: the ledger is wanted back.
#[derive(Message)]
#[rtype(result = "Option<Box<Ledger>>")]
pub(super) struct HandOver;

impl Handler<HandOver> for RecorderActor {
    type Result = Option<Box<Ledger>>;

    fn handle(&mut self, _: HandOver, _: &mut Context<Self>) -> Self::Result {
        self.ledger.take().map(Box::new)
    }
}
