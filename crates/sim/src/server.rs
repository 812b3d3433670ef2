//! The server, without the actor: what it decides when rounds open, updates arrive and rounds
//! close.
//!
//! It holds the model and drives the pure parts: the selector says who is asked, the closing rule
//! when a round ends, the aggregator what the updates make of the model, the meter whose gradients
//! moved it. It never sleeps and never sends; the actor around it does.

mod attendance;
mod checkpoint;
mod event_schedule;
mod feedback;
mod measure;
mod opening;
mod setup;
mod spread;
mod stop;
mod unpack;

pub use attendance::{Ahead, AtBest, Attendance};
pub use checkpoint::{Checkpoint, Position, Resume, RunLog};
pub use event_schedule::EventSchedule;
pub use setup::{ServerError, Setup};
pub use spread::Spread;
pub use stop::{Health, stop_reason};

use crate::aggregate::{Aggregator, Applied, Buffers, Contribution, ServerOptimizer};
use crate::clock::{SimTime, Span};
use crate::compress::Residuals;
use crate::device::AvailabilityChange;
use crate::participation::{Arrival, ClientContext, Request, Round};
use crate::policy::{
    Asked, Closing, Late, Selection, ServerConfig, Stop, Then, UpdateArrived, Verdict,
};
use crate::record::{Account, ClientRow, Outcome, RoundRow, StopReason, Weights};
use crate::solver::{Controls, Correction, Heard, Recipe};
use crate::theory::{Consistency, Meter};
use crate::train::{Measured, Training};
use std::sync::{Arc, OnceLock, Weak};

/// What an arrival means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// The round goes on.
    Wait,
    /// The round is over.
    CloseRound,
}

/// What comes of opening a round.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Opening {
    /// It is open, and these are asked.
    Asked(Vec<Asked>),
    /// Too few clients are there: the server waits until this instant, or until somebody is back.
    Wait(Option<SimTime>),
    /// Nobody is there or on the way, and nobody will ever come.
    Nobody,
}

/// Smallest, sum and largest τ of no updates.
const NOBODY: [f64; 3] = [f64::INFINITY, 0.0, 0.0];

/// The server's state.
pub struct Server {
    config: ServerConfig,
    stop: Stop,
    selection: Selection,
    training: Option<Training>,
    recipe: Recipe,
    aggregator: Aggregator,
    optimizer: Box<dyn ServerOptimizer>,
    controls: Option<Controls>,
    residuals: Residuals,
    meter: Meter,
    spread: Spread,
    start_loss: Option<f64>,
    /// Whether the model was measured as it is now.
    is_measured: bool,
    p: Arc<[f64]>,
    x: Vec<f64>,
    /// The entries at the end of `x` that no gradient moves.
    buffers: Buffers,
    round: Arc<Round>,
    closing: Box<dyn Closing>,
    /// When the closing policy wants to be woken.
    wake: Option<SimTime>,
    /// How often each client was sent off, where they are sent one by one.
    sent: Vec<u32>,
    /// How many clients were sent off in all.
    sent_off: u64,
    draws: u64,
    asked: usize,
    attendance: Attendance,
    schedule: EventSchedule,
    /// Since when a round could not be opened because too few clients were there.
    waiting_since: Option<SimTime>,
    /// How long the open round had been waited for.
    waited: Span,
    /// Something happened that clients on their way could not know of.
    replan: bool,
    /// (client, raw weight times the factor of its learning rate) of the updates used so far in this
    /// round.
    used: Vec<(u32, f64)>,
    tau: [f64; 3],
    position: Position,
    /// Kept where checkpoints are.
    log: Option<RunLog>,
    replay: Option<Resume>,
    /// Training has taken over from a replay.
    resumed: bool,
    /// The rounds that clients may still be on their way in, where checkpoints are kept.
    rounds: Vec<Weak<Round>>,
    /// The participation whose training was left because the run should end.
    left: Option<(ClientRow, Arc<Round>)>,
}

impl Server {
    /// A server about to open its first round.
    pub fn new(setup: Setup) -> Self {
        let Setup { config, stop, selection, closing, weighting, optimizer, .. } = setup;
        let Setup { training, p, x, buffers, recipe, .. } = setup;
        let Setup { variance_reduction, error_feedback, attendance, schedule, .. } = setup;
        // Without training there is nothing whose variance could be reduced.
        let controls = variance_reduction.filter(|_| training.is_some());
        let remember = error_feedback && training.is_some();
        let tau_eff = config.rule.tau_eff;
        let collects = optimizer.collects();
        let weights = buffers.begin(x.len());
        let mut aggregator =
            Aggregator::new(weighting, tau_eff, weights, collects).with_buffers(buffers);
        aggregator.restart();
        Server {
            aggregator,
            optimizer,
            controls: controls
                .map(|method| Controls::new(method, config.rule.weighting.targets(&p))),
            residuals: Residuals::new(if remember { p.len() } else { 0 }),
            meter: Meter::new(p.clone()),
            spread: Spread::new(p.len()),
            start_loss: None,
            is_measured: false,
            attendance,
            schedule,
            waiting_since: None,
            waited: Span::ZERO,
            replan: false,
            round: Arc::new(Round {
                number: 0,
                opened: SimTime::ZERO,
                deadline: None,
                useless_after: None,
                due: None,
                numbers: OnceLock::new(),
                lr_factor: recipe.factor(0),
                lr: recipe.lr(recipe.factor(0)),
                crowd: 1,
                closed: OnceLock::new(),
            }),
            closing,
            wake: None,
            sent: if config.close.is_asynchronous() { vec![0; p.len()] } else { Vec::new() },
            sent_off: 0,
            draws: 0,
            asked: 0,
            used: Vec::new(),
            tau: NOBODY,
            position: Position::default(),
            log: None,
            replay: None,
            resumed: false,
            rounds: Vec::new(),
            left: None,
            config,
            stop,
            selection,
            training,
            recipe,
            p,
            x,
            buffers,
        }
    }

    /// Comings and goings are to be told of, of some clients or of all.
    pub fn log_availability(&mut self, of: Option<Vec<bool>>) {
        self.attendance.log_availability(of);
    }

    /// Who came and went since this was last asked, if somebody wants to know.
    pub fn take_availability_changes(&mut self) -> Vec<AvailabilityChange> {
        self.attendance.take_availability_changes()
    }

    /// How many clients are free and there.
    pub fn can_be_asked(&self) -> usize {
        self.attendance.candidates()
    }

    /// Puts those asked in the open round in the order in which they are sent off.
    pub fn order(&self, asked: &mut [Asked]) {
        self.selection.order(self.round.number, asked);
    }

    /// The open round.
    pub fn round(&self) -> &Arc<Round> {
        &self.round
    }

    /// Notes that the client is on its way from `at` on.
    pub fn send_off(&mut self, asked: Asked, at: SimTime) -> Request {
        let idle = self.attendance.send_off(asked.client, at);
        if let Some(controls) = &mut self.controls {
            controls.depart(asked.client);
        }
        if let Some(sent) = self.sent.get_mut(asked.client as usize) {
            *sent += 1;
        }
        // How much it is to do is said when it sets out.
        let number = self.sent_off;
        self.sent_off += 1;
        Request { asked, idle, at, number, steps: None }
    }

    /// What a client takes along that is sent off in `round`.
    pub fn client_context(&self, client: u32, round: &Round) -> ClientContext {
        let key = self.sent.get(client as usize).map_or(round.number, |sent| u64::from(*sent));
        let own = self.controls.as_ref().and_then(|controls| controls.departed(client));
        let (residual, leaves) = (self.residuals.of(client), self.attendance.leaves(client));
        ClientContext { key, own, residual, leaves }
    }

    /// What a client that is on its way would now take along. Its key is 0 where that is the round
    /// it was sent off in, which it knows itself.
    pub fn client_context_again(&self, client: u32) -> ClientContext {
        let key = self.sent.get(client as usize).map_or(0, |sent| u64::from(*sent));
        ClientContext { key, ..self.client_context(client, &self.round) }
    }

    /// Takes in an arrival: makes its row and says whether the round is over.
    pub fn arrive(&mut self, arrival: Arrival) -> Result<(ClientRow, Next), ServerError> {
        let taken_in = self.take_in(arrival)?;
        self.position.arrivals += 1;
        self.moved_on()?;
        Ok(taken_in)
    }

    fn take_in(&mut self, arrival: Arrival) -> Result<(ClientRow, Next), ServerError> {
        let mut row = arrival.row();
        let Arrival { round, request: Request { asked, .. }, change, cut_off, .. } = arrival;
        self.attendance.advance(row.arrived);
        if cut_off {
            self.attendance.gone(asked.client, row.arrived);
        }
        self.attendance.back(&row);
        if matches!(row.outcome, Outcome::Dropped | Outcome::Offline) {
            self.tell(&row, || f64::NAN);
            let is_open = round.closed.get().is_none();
            let then = if is_open { self.closing.lost(row.arrived) } else { Then::Wait };
            return Ok((row, self.next(then)?));
        }
        if row.tau == 0 {
            // It sends nothing: the server goes on waiting for it.
            self.tell(&row, || 0.0);
            return Ok((row, Next::Wait));
        }
        if let Some(closed) = round.closed.get() {
            row.staleness = self.round.number - round.number + u64::from(self.is_closed());
            row.superseded = row.arrived.since(*closed);
        }
        let too_stale = self.config.max_staleness.is_some_and(|most| row.staleness > most);
        // Where clients are sent off one by one, every update counts in the open round, from
        // whichever model it started.
        let too_late =
            !self.is_asynchronous() && row.staleness > 0 && self.config.late == Late::Drop;
        let update = UpdateArrived {
            client: asked.client,
            now: row.arrived,
            asked: row.dispatched,
            tau: row.tau,
            staleness: row.staleness,
        };
        let verdict = if too_stale || too_late {
            self.closing.came_late(&update);
            Verdict::DROP
        } else {
            self.closing.arrived(&update)
        };
        let next = self.next(verdict.then)?;
        let Some(factor) = verdict.counts else {
            row.outcome = Outcome::Late;
            self.tell(&row, || f64::NAN);
            self.ignore(&row, &round, change)?;
            return Ok((row, next));
        };
        let discounted = self.is_asynchronous() || self.config.late == Late::Stale;
        let stale = if discounted { self.config.staleness.discount(row.staleness) } else { 1.0 };
        let discount = stale * factor;
        let contribution = Contribution {
            client: asked.client,
            p: self.p[asked.client as usize],
            times_drawn: asked.times,
            tau: row.tau,
            accumulation: row.accumulation,
            discount,
        };
        let delta = self.unpack(&row, &round, change)?;
        row.outcome = Outcome::Used;
        let weights = &delta[..self.buffers.begin(delta.len())];
        self.tell_norm(&row, weights, round.lr * row.accumulation);
        if let (Some(controls), false) = (&mut self.controls, delta.is_empty()) {
            let own = controls.departed(asked.client);
            let shared = round.numbers.get().and_then(|numbers| numbers.shared.clone());
            let correction = Correction { shared, own };
            controls.hear(&Heard {
                client: asked.client,
                delta: weights,
                gain: round.lr * row.accumulation,
                correction: &correction,
            });
        }
        row.raw_weight = self.aggregator.add(&contribution, delta);
        // The client trained at the rate of the round in which it was sent off. Rates enter the meter
        // up to a common factor.
        self.used.push((asked.client, row.raw_weight * round.lr_factor));
        let tau = row.tau as f64;
        self.tau = [self.tau[0].min(tau), self.tau[1] + tau, self.tau[2].max(tau)];
        Ok((row, next))
    }

    /// When the closing policy wants to be woken.
    pub fn wake(&self) -> Option<SimTime> {
        self.wake
    }

    /// It is the instant at which the closing policy wanted to be woken.
    pub fn time_is_up(&mut self, now: SimTime) -> Result<Next, ServerError> {
        self.wake = None;
        let then = self.closing.time_is_up(now);
        self.next(then)
    }

    /// What a policy's decision means for the round.
    fn next(&mut self, then: Then) -> Result<Next, ServerError> {
        match then {
            Then::Wait => Ok(Next::Wait),
            Then::Close => Ok(Next::CloseRound),
            Then::WakeAt(until) => {
                let may_extend = self.config.close.character().may_extend;
                if let Some(deadline) = self.round.deadline.filter(|at| until > *at && !may_extend)
                {
                    return Err(ServerError::Extended { until, deadline });
                }
                self.wake = Some(until);
                Ok(Next::Wait)
            }
        }
    }

    /// Closes the open round: moves the model, reads the meter, evaluates when that is due.
    pub fn close_round(
        &mut self,
        now: SimTime,
    ) -> Result<(RoundRow, Option<StopReason>), ServerError> {
        if let Some(panic) = self.training.as_ref().and_then(|training| training.pool.panicked()) {
            return Err(ServerError::Unwanted(panic));
        }
        let lr = self.round.lr;
        let Applied { tau_eff, scale } =
            self.aggregator.apply(&mut self.x, &mut *self.optimizer, lr);
        self.is_measured = false;
        if let Some(controls) = &mut self.controls {
            controls.close();
        }
        for (client, moved) in &self.used {
            self.meter.add(*client as usize, tau_eff * moved * scale);
        }
        let reading = self.known(self.meter.read());
        // A round is closed once; the flag is for those who come later.
        let _ = self.round.closed.set(now);
        let arrived = self.used.len();
        let [least, sum, most] = self.tau;
        let row = RoundRow {
            round: self.round.number,
            closed: now,
            waited: self.waited,
            lr_factor: self.round.lr_factor,
            asked: self.asked,
            arrived,
            busy: self.attendance.on_the_way(),
            tau_eff,
            tau: if arrived == 0 { [0.0; 3] } else { [least, sum / arrived as f64, most] },
            chi2: reading.chi2,
            missing_mass: reading.missing_mass,
            weight_scale: scale,
            metrics: None,
            gradients: None,
        };
        self.aggregator.restart();
        self.position.rounds += 1;
        self.used.clear();
        self.tau = NOBODY;
        self.closing.closed(now);
        self.wake = None;
        let finite = self.x.iter().all(|x| x.is_finite());
        let health = Health { finite, start_loss: self.start_loss };
        let ends = stop_reason(&self.stop, &row, health);
        let due = ends.is_some() || row.round.is_multiple_of(self.config.evaluate_every);
        let spread = self.spread.is_due(arrived) || ends.is_some();
        let measured = self.measure(due, spread)?;
        self.moved_on()?;
        let Some(Measured { metrics, gradients }) = measured else {
            return Ok((row, ends));
        };
        let row = RoundRow { metrics: Some(metrics), gradients, ..row };
        let ends = ends.or_else(|| stop_reason(&self.stop, &row, health));
        Ok((row, ends))
    }

    /// Whether the newest round has closed and no other has opened.
    fn is_closed(&self) -> bool {
        self.round.closed.get().is_some()
    }

    /// The model.
    pub fn parameters(&self) -> &[f64] {
        &self.x
    }

    /// The model, which the server has no use for once the run is over.
    pub fn take_parameters(&mut self) -> Vec<f64> {
        std::mem::take(&mut self.x)
    }

    /// Whether `client` is still on its way.
    pub fn is_on_the_way(&self, client: u32) -> bool {
        self.attendance.is_on_the_way(client)
    }

    /// The meter, read once more from all its sums.
    pub fn consistency(&mut self) -> Consistency {
        let reading = self.meter.read_exactly();
        self.known(reading)
    }

    /// Where updates are collected, which client moved the model how far is unknown, and so is χ².
    fn known(&self, reading: Consistency) -> Consistency {
        if self.optimizer.collects() { Consistency { chi2: f64::NAN, ..reading } } else { reading }
    }

    /// What everybody weighs.
    pub fn weights(&self) -> Weights {
        let (p, classes) = (self.meter.shares(), self.attendance.classes());
        let effective = match self.optimizer.collects() {
            true => vec![f64::NAN; p.len()],
            false => self.meter.effective_weights(),
        };
        Weights { p, effective, classes }
    }

    /// The participation whose training was left because the run should end.
    pub fn take_left(&mut self) -> Option<ClientRow> {
        self.left.take().map(|(row, _)| ClientRow { outcome: Outcome::Unfinished, ..row })
    }

    /// How many clients are still on their way.
    pub fn on_the_way(&self) -> usize {
        self.attendance.on_the_way()
    }

    /// The run is over at `now`; those who are on the way are to be called back.
    pub fn call_off(&mut self, now: SimTime) {
        self.attendance.call_off(now);
    }

    /// Takes in somebody who was called back, or came when the run was over.
    pub fn take_back(&mut self, arrival: Arrival) -> ClientRow {
        let row = ClientRow { outcome: Outcome::Unfinished, ..arrival.row() };
        self.attendance.back(&row);
        row
    }

    /// Where everybody's time went, by class.
    pub fn take_accounts(&mut self) -> Vec<Account> {
        self.attendance.take_accounts()
    }
}
