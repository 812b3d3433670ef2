//! Who is asked: the trait, what a selector sees, and the built-in selectors behind it.

mod draw;
mod oort;
mod schemes;
mod tiers;

pub use draw::draw_uniform;
pub use oort::{Oort, OortConfig};
pub use schemes::{BySize, RoundRobin, Uniform};
pub use tiers::Tiers;

use super::KeyedRng;
use crate::clock::{SimTime, Span};
use crate::record::Outcome;
use std::sync::Arc;

/// Chooses the clients that are asked.
///
/// Called when a round opens or, where clients are sent off one by one, whenever there is room for
/// another; always on the thread of the simulation, in the order of events. A selector has no clock
/// and no randomness of its own: what it draws, it draws from the [`KeyedRng`] it is handed.
pub trait Selector: Send {
    /// The clients to ask now, at most [`View::wanted`], each of them available. The order does not
    /// matter; a client that is given twice has been drawn twice.
    fn select(&mut self, view: &View<'_>, rng: &KeyedRng) -> Vec<u32>;

    /// A participation ended. Called before the next [`Selector::select`].
    fn heard(&mut self, feedback: &Feedback) {
        let _ = feedback;
    }

    /// What has to be kept up to date for this selector. Everything, unless it says otherwise.
    fn needs(&self) -> Needs {
        Needs::Everything
    }

    /// How clients are drawn, where that is known beforehand. Unbiased participation needs to know.
    fn drawing(&self) -> Drawing {
        Drawing::Unknown
    }
}

/// What is kept up to date for a selector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// Every column of [`View`], and every [`Feedback`].
    Everything,
    /// Who is available. The columns of what came back are empty, and nothing is heard.
    Availability,
}

/// How a selector draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drawing {
    /// Without replacement, all clients equally likely.
    Uniform,
    /// With replacement, with probability p_i.
    BySize,
    /// By no probabilities that are known beforehand.
    Unknown,
}

/// What a selector sees. Columns have an entry for every client, and are kept up to date from call
/// to call.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct View<'a> {
    /// The number of the round, from 1; where clients are sent off one by one, of the draw.
    pub round: u64,
    /// When.
    pub now: SimTime,
    /// How many clients are to be asked.
    pub wanted: usize,
    /// How many are available.
    pub available_count: usize,
    /// Whether a client can be asked now: it is present and not busy.
    pub available: &'a [bool],
    /// Whether a client is there.
    pub present: &'a [bool],
    /// Whether a client is still taking part.
    pub busy: &'a [bool],
    /// Shares of the data.
    pub p: &'a [f64],
    /// Seconds from being asked to being back, of the last participation; NaN before the first.
    pub last_duration: &'a [f64],
    /// ‖d_i‖ = ‖Δ_i‖/(η‖a_i‖₁) of the last participation: 0 if no step was made, NaN if the update was
    /// not looked at, and before the first. 1 in runs that do not train.
    pub last_norm: &'a [f64],
    /// How often an update of a client was used.
    pub times_used: &'a [u32],
}

impl View<'_> {
    /// How many clients there are.
    pub fn clients(&self) -> usize {
        self.p.len()
    }

    /// The clients that can be asked, by number.
    pub fn available_clients(&self) -> impl Iterator<Item = u32> + '_ {
        let all = self.available.iter().enumerate();
        all.filter(|(_, available)| **available).map(|(client, _)| client as u32)
    }
}

/// What came of asking a client.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Feedback {
    /// The client.
    pub client: u32,
    /// The round it was asked in.
    pub round: u64,
    /// How its participation ended.
    pub outcome: Outcome,
    /// Local steps.
    pub tau: u64,
    /// From being asked to being back.
    pub duration: Span,
    /// As [`View::last_norm`].
    pub norm: f64,
}

/// How clients are chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scheme {
    /// Without replacement, all equally likely.
    Uniform,
    /// With replacement, with probability p_i.
    BySize,
    /// In turn, by number.
    RoundRobin,
    /// By how much and how fast each brought so far (Oort).
    Oort(OortConfig),
    /// So many tiers of equally fast clients, one of them in each round (TiFL).
    Tiers(usize),
    /// As a plug-in says, which draws like this.
    Plugin(Drawing),
}

impl Scheme {
    /// How clients are drawn, where that is known beforehand.
    pub fn drawing(self) -> Drawing {
        match self {
            Scheme::Uniform => Drawing::Uniform,
            Scheme::BySize => Drawing::BySize,
            Scheme::RoundRobin | Scheme::Oort(_) | Scheme::Tiers(_) => Drawing::Unknown,
            Scheme::Plugin(drawing) => drawing,
        }
    }
}

impl Scheme {
    /// The built-in selector of this configuration, for clients with shares `p`; `None` for a plug-in.
    /// `profile` tells how long a client's round takes as far as is known beforehand; only schemes
    /// that profile clients ask.
    pub fn init(self, p: &Arc<[f64]>, profile: impl Fn(u32) -> u64) -> Option<Box<dyn Selector>> {
        Some(match self {
            Scheme::Uniform => Box::new(Uniform),
            Scheme::BySize => Box::new(BySize::new(p)),
            Scheme::RoundRobin => Box::new(RoundRobin::default()),
            Scheme::Oort(oort) => Box::new(Oort::new(oort, p.clone())),
            Scheme::Tiers(count) => Box::new(Tiers::new(p.len(), count, profile)),
            Scheme::Plugin(_) => return None,
        })
    }
}
