//! What cannot be had again cheaply, and how a run goes on from it.
//!
//! The schedule of a run is a pure function of its scenario, and replays at about a million participations a
//! second. Only what was *trained* would take long again. So a checkpoint holds the numbers alone, and the
//! position in the schedule at which they were what they are. To resume, a run begins from the start in replay:
//! nothing is trained, and a log stands for what decisions were made by, evaluations and norms of updates. At the
//! position the numbers are loaded, and training takes over:
//!
//! ```text
//!   start ── replay: schedule as ever, Δ unknown, log instead of evaluations ──► position ── training ──►
//! ```
//!
//! Clients, policies, meters, rows and plug-ins rebuild themselves on the way.

use super::{Server, ServerError};
use crate::compress::Residual;
use crate::participation::{Round, RoundNumbers};
use crate::solver::ControlsState;
use crate::train::Measured;
use std::sync::Arc;

/// How far a run has come, in events that numbers depend on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Position {
    /// Arrivals handled.
    pub arrivals: u64,
    /// Rounds closed.
    pub rounds: u64,
    /// Evaluations made.
    pub evaluations: u64,
    /// Whether the next thing to do is an evaluation, which was interrupted.
    pub before_evaluation: bool,
}

/// What decisions depend on and training alone can tell, since the last checkpoint.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunLog {
    /// What evaluations found.
    pub measured: Vec<Measured>,
    /// The norms of updates, where the selector looks at them.
    pub norms: Vec<f64>,
}

/// The numbers of a run at one position. Vectors that are shared are not copied.
#[derive(Clone)]
pub struct Checkpoint {
    /// When.
    pub position: Position,
    /// The model.
    pub x: Vec<f64>,
    /// The server optimiser's state.
    pub optimizer: Vec<f64>,
    /// The direction of the open aggregation; empty for an optimiser that collects.
    pub direction: Vec<f64>,
    /// The updates that the open aggregation holds, in the order of arrival.
    pub held: Vec<Vec<f64>>,
    /// What was sent of buffers in the open aggregation.
    pub buffered: Vec<f64>,
    /// Variance reduction.
    pub controls: Option<ControlsState>,
    /// What error feedback remembers, by client.
    pub residuals: Vec<Residual>,
    /// What clients on their way were given, by the number of their round.
    pub rounds: Vec<(u64, RoundNumbers)>,
}

/// A checkpoint, and everything that was logged before it.
pub struct Resume {
    /// Where training takes over.
    pub checkpoint: Checkpoint,
    measured: std::vec::IntoIter<Measured>,
    norms: std::vec::IntoIter<f64>,
    /// How many parameters the model of this run has.
    parameters: usize,
}

impl Resume {
    /// Goes on from `checkpoint`, before which `log` was written.
    pub fn new(checkpoint: Checkpoint, log: RunLog) -> Self {
        let (measured, norms) = (log.measured.into_iter(), log.norms.into_iter());
        Resume { checkpoint, measured, norms, parameters: 0 }
    }
}

impl Server {
    /// Keeps a log from now on, for checkpoints.
    pub fn keep_log(&mut self) {
        self.log = self.training.is_some().then(RunLog::default);
    }

    /// The run is replayed up to a checkpoint. To be called before it begins.
    pub fn replay(&mut self, mut replay: Resume) {
        replay.parameters = self.x.len();
        // Without numbers, a replay takes no longer than a run that does not train.
        self.x = Vec::new();
        self.aggregator.without_numbers();
        self.replay = Some(replay);
    }

    /// Whether the run is being replayed.
    pub fn is_replaying(&self) -> bool {
        self.replay.is_some()
    }

    /// Whether training has taken over since this was last asked: clients on their way are to begin to train.
    pub fn take_resumed(&mut self) -> bool {
        std::mem::take(&mut self.resumed)
    }

    /// The numbers as they are, and what was logged since the last checkpoint.
    pub fn checkpoint(&mut self) -> (Checkpoint, RunLog) {
        let (direction, held, buffered) = self.aggregator.numbers();
        let alive = self.rounds.iter().filter_map(|round| round.upgrade());
        let numbers = |round: Arc<Round>| Some((round.number, round.numbers.get()?.clone()));
        let checkpoint = Checkpoint {
            position: self.position,
            x: self.x.clone(),
            optimizer: self.optimizer.save(),
            direction,
            held,
            buffered,
            controls: self.controls.as_ref().map(|controls| controls.save()),
            residuals: self.residuals.save(),
            rounds: alive.filter_map(numbers).collect(),
        };
        (checkpoint, self.log.as_mut().map(std::mem::take).unwrap_or_default())
    }

    /// A round has opened, and clients may train with its numbers for as long as one of them is on its way.
    pub(super) fn remember_round(&mut self) {
        if self.log.is_none() && self.replay.is_none() {
            return;
        }
        if self.rounds.len() == self.rounds.capacity() {
            self.rounds.retain(|round| round.strong_count() > 0);
        }
        self.rounds.push(Arc::downgrade(&self.round));
    }

    /// What the next evaluation found, if the log tells.
    pub(super) fn replayed_evaluation(&mut self) -> Result<Option<Measured>, ServerError> {
        let Some(replay) = &mut self.replay else {
            return Ok(None);
        };
        match replay.measured.next() {
            Some(measured) => Ok(Some(measured)),
            None if replay.checkpoint.position.before_evaluation => {
                self.position.before_evaluation = true;
                self.take_over()?;
                Ok(None)
            }
            None => Err(ServerError::Replay("an evaluation more than the log has")),
        }
    }

    /// The norm of the next update that the selector hears of, if the log tells.
    pub(super) fn replayed_norm(&mut self) -> Option<f64> {
        // A log that is too short shows itself when training takes over.
        self.replay.as_mut().map(|replay| replay.norms.next().unwrap_or(f64::NAN))
    }

    /// Something has happened that numbers depend on: training takes over if this is the position.
    pub(super) fn moved_on(&mut self) -> Result<(), ServerError> {
        match &self.replay {
            Some(replay) if replay.checkpoint.position == self.position => self.take_over(),
            _ => Ok(()),
        }
    }

    fn take_over(&mut self) -> Result<(), ServerError> {
        let Some(Resume { checkpoint, measured, norms, parameters }) = self.replay.take() else {
            return Ok(());
        };
        if checkpoint.position != self.position {
            return Err(ServerError::Replay("an evaluation at another moment than the log has"));
        }
        if measured.len() > 0 || norms.len() > 0 {
            return Err(ServerError::Replay("less than the log has"));
        }
        if !self.fits(&checkpoint, parameters) {
            return Err(ServerError::Replay("other numbers than the checkpoint has"));
        }
        // The newest round may have closed just now, with no client on its way: that one is not in the checkpoint.
        for round in self.rounds.iter().filter_map(|round| round.upgrade()) {
            let saved = checkpoint.rounds.iter().find(|(number, _)| *number == round.number);
            if let Some((_, numbers)) = saved {
                let _ = round.numbers.set(numbers.clone());
            }
        }
        self.x = checkpoint.x;
        self.optimizer.load(&checkpoint.optimizer);
        self.aggregator.load(checkpoint.direction, checkpoint.held, checkpoint.buffered);
        if let (Some(controls), Some(state)) = (&mut self.controls, checkpoint.controls) {
            controls.load(state);
        }
        self.residuals.load(checkpoint.residuals);
        self.resumed = true;
        Ok(())
    }

    /// Whether a checkpoint has as many numbers everywhere as this run, whose model has so many parameters.
    fn fits(&self, checkpoint: &Checkpoint, parameters: usize) -> bool {
        let weights = self.buffers.begin(parameters);
        let whole = |vector: &[f64]| vector.len() == weights;
        let own = |vector: &Option<Arc<Vec<f64>>>| vector.as_deref().is_none_or(|it| whole(it));
        let controls = match (&self.controls, &checkpoint.controls) {
            (None, None) => true,
            (Some(controls), Some(state)) => {
                let ControlsState { shared, given, own: remembered, departed, open } = state;
                let clients = controls.save().own.len();
                [remembered, departed]
                    .iter()
                    .all(|them| them.len() == clients && them.iter().all(own))
                    && [shared, given].into_iter().all(own)
                    && (open.sum.is_empty() || whole(&open.sum))
                    && open
                        .heard
                        .iter()
                        .all(|(client, _, it)| (*client as usize) < clients && whole(it))
            }
            _ => false,
        };
        let rounds = checkpoint.rounds.iter().all(|(_, RoundNumbers { model, shared })| {
            model.values().len() == parameters && own(shared)
        });
        // What a plug-in keeps may be empty at first, and grow.
        let fresh = self.optimizer.save().len();
        let optimizer = fresh == 0 || checkpoint.optimizer.len() == fresh;
        let (held, collects) = self.aggregator.held();
        controls
            && rounds
            && checkpoint.x.len() == parameters
            && checkpoint.buffered.len() == self.buffers.len()
            && optimizer
            && checkpoint.direction.len() == if collects { 0 } else { weights }
            && checkpoint.held.len() == held
            && checkpoint.held.iter().all(|update| whole(update))
            && checkpoint.residuals.len() == self.residuals.save().len()
            && checkpoint.residuals.iter().all(own)
    }
}
