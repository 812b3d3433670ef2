//! Oort: who brought much and was quick is asked again, and some who never were (Lai et al., *Oort:
//! Efficient Federated Learning via Guided Participant Selection*, OSDI 2021).
//!
//! Oort's statistical utility |B_i|·√(mean of squared losses) stands in for |B_i|·√(mean of squared
//! gradient norms), which its server does not see. Ours hears the normalised gradient d_i itself,
//! so the utility here is p_i‖d_i‖.
//!
//! Only clients that were heard are kept and scored, in time proportional to their number; drawing
//! from the others looks at all clients once fewer than half of them are left to try. With a million
//! clients that is 1 ms a round while a thousand were heard and 0.1 s when all were.

#[cfg(test)]
mod tests;

use super::draw::uniform;
use super::{Feedback, KeyedRng, Selector, View};
use crate::clock::Span;
use crate::random::Stream;
use crate::record::Outcome;
use rand::RngExt;
use std::sync::Arc;

/// The random stream that clients of known worth are drawn from.
const KNOWN: u64 = 2;
/// The random stream that the others are drawn from.
const UNEXPLORED: u64 = 3;

/// Nothing is known of a client.
const UNTRIED: u32 = u32::MAX;

/// Utilities above this part of all are taken for this one: outliers would always win.
const CLIP: f64 = 0.95;
/// Clients are drawn from those who score this part of what the last would that is just good enough.
const CUT_OFF: f64 = 0.95;
/// What not having been asked for long is worth.
const CONFIDENCE: f64 = 0.1;

/// Rounds between two looks at whether the preferred round should be longer.
const PACE_ROUNDS: u64 = 20;
/// The percentile of durations that is preferred at first, and by how much it grows.
const PACE: [f64; 2] = [30.0, 5.0];

/// How Oort weighs what it knows (Lai et al., OSDI 2021).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OortConfig {
    /// The part of the clients of the first round that is drawn from those never heard.
    pub exploration: f64,
    /// What that part is multiplied by from round to round.
    pub decay: f64,
    /// What it does not fall below.
    pub least: f64,
    /// How much clients are avoided that take longer than the preferred round.
    pub alpha: f64,
    /// How long a round should take; `None`: it follows the clients heard.
    pub round_time: Option<Span>,
}

impl OortConfig {
    /// As published.
    pub const PUBLISHED: OortConfig =
        OortConfig { exploration: 0.9, decay: 0.98, least: 0.2, alpha: 2.0, round_time: None };
}

/// What is known of clients.
pub struct Oort {
    config: OortConfig,
    p: Arc<[f64]>,
    /// Where in `known` a client stands, or [`UNTRIED`].
    places: Vec<u32>,
    /// Those who were heard, in the order in which they first were.
    known: Vec<Known>,
    /// Utility heard in each stretch of [`PACE_ROUNDS`] rounds.
    stretches: Vec<f64>,
}

/// A client that was heard.
#[derive(Clone, Copy, Debug)]
struct Known {
    client: u32,
    /// The last round it took part in.
    round: u64,
    /// How long it took.
    duration: Span,
    /// p_i‖d_i‖; `None` if it never came in time.
    utility: Option<f64>,
}

/// A client and what asking it is worth.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Scored {
    client: u32,
    score: f64,
}

impl Oort {
    /// Nothing is known of clients with shares `p`.
    pub fn new(config: OortConfig, p: Arc<[f64]>) -> Self {
        let places = vec![UNTRIED; p.len()];
        Oort { config, p, places, known: Vec::new(), stretches: Vec::new() }
    }

    /// An update that came too late to be looked at leaves what its client is worth as it was.
    fn note(&mut self, client: u32, round: u64, duration: Span, norm: f64) {
        let share = self.p[client as usize];
        let utility = Some(share * norm).filter(|utility| utility.is_finite());
        if let Some(utility) = utility {
            let stretch = (round.max(1) - 1) / PACE_ROUNDS;
            let stretches = self.stretches.len().max(stretch as usize + 1);
            self.stretches.resize(stretches, 0.0);
            self.stretches[stretch as usize] += utility;
        }
        let place = &mut self.places[client as usize];
        if *place == UNTRIED {
            *place = self.known.len() as u32;
            self.known.push(Known { client, round, duration, utility });
            return;
        }
        let known = &mut self.known[*place as usize];
        let utility = utility.or(known.utility);
        *known = Known { client, round: round.max(known.round), duration, utility };
    }

    /// `wanted` of more `free` clients: some who were never heard, others by what they are worth.
    fn choose(
        &self,
        round: u64,
        [mut by_worth, mut by_chance]: [Stream; 2],
        wanted: usize,
        free: usize,
        available: impl Fn(u32) -> bool,
    ) -> Vec<u32> {
        let known: Vec<Known> =
            self.known.iter().filter(|known| available(known.client)).copied().collect();
        let untried = free - known.len();
        // A part in 10⁹ is forgiven so that 0.2 of 5 is 1.
        let explored = (self.exploration(round) * wanted as f64 - 1e-9).ceil() as usize;
        let explored = explored.min(untried).max(wanted.saturating_sub(known.len()));
        let mut chosen =
            draw_by_score(self.scores(round, &known), wanted - explored, &mut by_worth);
        if explored > 0 {
            let is_untried = |client| self.places[client as usize] == UNTRIED && available(client);
            chosen.extend(uniform(self.p.len(), explored, untried, &mut by_chance, is_untried));
        }
        chosen
    }

    /// The part of a round's clients that is drawn from those never heard.
    fn exploration(&self, round: u64) -> f64 {
        let OortConfig { exploration, decay, least, .. } = self.config;
        (exploration * decay.powf(round.max(1) as f64 - 1.0)).max(least)
    }

    /// Algorithm 1, with utilities scaled to about 0..1 as the authors' implementation does, so that
    /// the term for those not asked for long has a meaning beside them:
    /// [(U_i − min)/(max − min) + √(0.1 ln R/R_i)]·(T/t_i)^α, the last where t_i > T.
    fn scores(&self, round: u64, known: &[Known]) -> Vec<Scored> {
        let mut heard: Vec<f64> = known.iter().filter_map(|known| known.utility).collect();
        let mean =
            if heard.is_empty() { 0.0 } else { heard.iter().sum::<f64>() / heard.len() as f64 };
        // Who sent nothing is worth nothing, and says nothing of the others.
        heard.retain(|utility| *utility > 0.0);
        let least = 0.999 * heard.iter().copied().fold(f64::INFINITY, f64::min);
        let most = part_of(&mut heard, CLIP, f64::total_cmp).unwrap_or(0.0);
        let worth = |utility: f64| match utility.min(most) - least {
            above if above > 0.0 => above / (most - least),
            _ => 0.0,
        };
        let preferred = self.preferred(round);
        let log = CONFIDENCE * (round.max(1) as f64).ln();
        let score = |known: &Known| {
            let confidence = (log / known.round.max(1) as f64).sqrt();
            let score = worth(known.utility.unwrap_or(mean)) + confidence;
            match preferred {
                Some(preferred) if known.duration > preferred => {
                    let slow = preferred.nanos() as f64 / known.duration.nanos() as f64;
                    score * slow.powf(self.config.alpha)
                }
                _ => score,
            }
        };
        known.iter().map(|known| Scored { client: known.client, score: score(known) }).collect()
    }

    /// T: how long a round should take. Unless it is given it is a percentile of how long clients
    /// took, a higher one whenever the last rounds brought less than those before.
    fn preferred(&self, round: u64) -> Option<Span> {
        if let Some(given) = self.config.round_time {
            return Some(given);
        }
        let over = (round.max(1) - 1) / PACE_ROUNDS;
        let over = &self.stretches[..self.stretches.len().min(over as usize)];
        let relaxed = over.windows(2).filter(|pair| pair[1] < pair[0]).count();
        let [first, more] = PACE;
        let percentile = (first + more * relaxed as f64).min(100.0);
        let mut durations: Vec<Span> = self.known.iter().map(|known| known.duration).collect();
        part_of(&mut durations, percentile / 100.0, Span::cmp)
    }
}

impl Selector for Oort {
    fn select(&mut self, view: &View<'_>, rng: &KeyedRng) -> Vec<u32> {
        if view.wanted >= view.available_count {
            return view.available_clients().collect();
        }
        let rngs = [KNOWN, UNEXPLORED].map(|number| rng.stream(number));
        let available = |client: u32| view.available[client as usize];
        self.choose(view.round, rngs, view.wanted, view.available_count, available)
    }

    fn heard(&mut self, feedback: &Feedback) {
        // A client that vanished says nothing of what it is worth.
        if !matches!(feedback.outcome, Outcome::Dropped | Outcome::Offline) {
            let Feedback { client, round, duration, norm, .. } = *feedback;
            self.note(client, round, duration, norm);
        }
    }
}

/// The value that a `part` of all lies below; `None` of nothing.
fn part_of<T: Copy>(
    values: &mut [T],
    part: f64,
    order: impl Fn(&T, &T) -> std::cmp::Ordering,
) -> Option<T> {
    let last = values.len().checked_sub(1)?;
    let at = ((part * values.len() as f64) as usize).min(last);
    Some(*values.select_nth_unstable_by(at, order).1)
}

/// `count` different clients of those who score nearly as well as the `count` best, one after
/// another with chances as their scores.
fn draw_by_score(mut scored: Vec<Scored>, count: usize, rng: &mut Stream) -> Vec<u32> {
    if count == 0 {
        return Vec::new();
    }
    let best_first =
        |a: &Scored, b: &Scored| b.score.total_cmp(&a.score).then_with(|| a.client.cmp(&b.client));
    let last = *scored.select_nth_unstable_by(count - 1, best_first).1;
    scored.retain(|scored| scored.score >= CUT_OFF * last.score);
    // In an order that does not depend on who was heard first.
    scored.sort_unstable_by_key(|scored| scored.client);
    // Everybody comes after a time drawn with its score as the rate: who comes first is drawn by
    // score, and so is the next of the others (Efraimidis and Spirakis).
    let mut coming: Vec<(f64, u32)> = scored
        .into_iter()
        .map(|Scored { client, score }| (-(1.0 - rng.random::<f64>()).ln() / score, client))
        .collect();
    if count < coming.len() {
        coming.select_nth_unstable_by(count, |a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    }
    coming.into_iter().take(count).map(|(_, client)| client).collect()
}
