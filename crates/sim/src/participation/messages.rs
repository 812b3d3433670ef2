//! What travels between the server and its clients.

use crate::clock::{SimTime, Span};
use crate::compress::{Parcel, Residual};
use crate::device::LegTimes;
use crate::policy::Asked;
use crate::record::{ClientRow, Leg, Outcome};
use crate::solver::ControlVector;
use crate::train::{Model, Ticket};
use std::num::NonZeroU64;
use std::sync::{Arc, OnceLock};

/// What everyone asked in one round knows.
pub struct Round {
    /// Its number, from 1.
    pub number: u64,
    /// When it opened.
    pub opened: SimTime,
    /// The deadline that clients are told.
    pub deadline: Option<SimTime>,
    /// When updates come too late to be used at all.
    pub useless_after: Option<SimTime>,
    /// When clients must be back; `None`: they take the time their work needs.
    pub due: Option<SimTime>,
    /// What clients train with, once that is known: never in runs that do not train, and in a run that is
    /// replayed when training takes over.
    pub numbers: OnceLock<RoundNumbers>,
    /// What all learning rates are multiplied by.
    pub lr_factor: f64,
    /// The common learning rate η.
    pub lr: f64,
    /// How many share the server's links, at most.
    pub crowd: usize,
    /// When it closed, once it has.
    pub closed: OnceLock<SimTime>,
}

/// What everyone asked in one round is sent.
#[derive(Clone)]
pub struct RoundNumbers {
    /// The model they start from.
    pub model: Arc<Model>,
    /// What variance reduction gives to everyone.
    pub shared: ControlVector,
}

/// A client is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Who, and how often it was drawn.
    pub asked: Asked,
    /// How long it had been idle since it was last back; `None` if it takes part for the first time.
    pub idle: Option<Span>,
    /// When it is sent off.
    pub at: SimTime,
    /// How many were sent off before it, in this run.
    pub number: u64,
    /// The steps it is to make; `None`: as many as the deadline allows.
    pub steps: Option<NonZeroU64>,
}

/// What a client takes along, and need not bring back.
#[derive(Clone, Debug)]
pub struct ClientContext {
    /// What its random draws are keyed by: the round, or where clients are sent off one by one the
    /// number of times it has been.
    pub key: u64,
    /// What variance reduction remembers of it.
    pub own: ControlVector,
    /// When it goes offline; [`SimTime::NEVER`] if that is not known.
    pub leaves: SimTime,
    /// What error feedback remembers of it.
    pub residual: Residual,
}

/// An update, or the news that there is none.
pub struct Arrival {
    /// The round it was asked in.
    pub round: Arc<Round>,
    /// What it was asked.
    pub request: Request,
    /// When it was where.
    pub way: LegTimes,
    /// Index of its class.
    pub class: u16,
    /// ‖a‖₁ of the steps it made.
    pub accumulation: f64,
    /// What became of it on its way, if there is no update.
    pub lost: Option<Outcome>,
    /// How far it got.
    pub leg: Leg,
    /// Whether its connection is gone for good.
    pub cut_off: bool,
    /// Δ to come, or nothing if the run should end before; `None` if nothing was trained.
    pub change: Option<Box<Ticket<Option<Parcel>>>>,
}

impl Arrival {
    /// Its way ends here, before it is back. It may be there again later, even if it was about to see that
    /// its connection is gone.
    pub fn halt(&mut self, now: SimTime, outcome: Outcome) {
        self.leg = self.way.leg(now);
        self.cut_off = false;
        self.way = self.way.cut(now);
        (self.lost, self.change, self.accumulation) = (Some(outcome), None, 0.0);
    }

    /// Its row, as far as the client knows: what becomes of it is the server's to say.
    pub fn row(&self) -> ClientRow {
        let way = &self.way;
        ClientRow {
            round: self.round.number,
            client: self.request.asked.client,
            class: self.class,
            outcome: self.lost.unwrap_or(Outcome::NoStep),
            leg: self.leg,
            staleness: 0,
            tau: way.tau,
            accumulation: self.accumulation,
            dispatched: self.request.at,
            download: way.downloaded.since(self.request.at),
            compute: way.computed.since(way.downloaded),
            upload: way.arrives.since(way.computed),
            arrived: way.arrives,
            idle: self.request.idle,
            superseded: Span::ZERO,
            raw_weight: 0.0,
        }
    }
}
