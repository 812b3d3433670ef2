//! Whether the first round ever opens.
//!
//! Which clients are there when follows from the scenario and the seed, so a run that will wait for ever for
//! its first clients is refused before it starts. Only what is decided soon counts: of clients that come
//! and go at random, enough may come after years, and such a run is left to wait.

use super::build::{Built, build};
use crate::clock::SimTime;
use crate::device::{ClassConfig, Effect, EventConfig};
use crate::report::number;
use crate::scenario::{Plan, Scenario};
use crate::server::{AtBest, Opening, Server, ServerError};

/// How often the server looks ahead for enough clients, about a quarter of a million comings and goings
/// each time.
const LOOKS: usize = 8;

/// Clients of all seeds together that are looked at: with many clients, the first seeds alone.
const MOST_CLIENTS: u64 = 1_000_000;

/// When the first round opens, or how far the server looked ahead, and what came of it.
pub(super) fn first_opening(server: &mut Server) -> (SimTime, Result<Opening, ServerError>) {
    let mut opens = SimTime::ZERO;
    let mut opening = server.open_round(opens);
    for _ in 0..LOOKS {
        let Ok(Opening::Wait(Some(at))) = opening else { break };
        // No client is on the way yet, so this is when enough are there, or how far the server looked ahead.
        opens = at;
        opening = server.open_round(at);
    }
    (opens, opening)
}

/// Says why no round of this plan will ever open with one of the scenario's seeds, if that is so.
pub(super) fn never_opens(scenario: &Scenario, plan: &Plan) -> Option<String> {
    if !comes_and_goes(plan) {
        return None;
    }
    // `[stop] time` ends the wait, but opens no round.
    let mut plan = plan.clone();
    plan.stop.time = None;
    let seeds = (MOST_CLIENTS / plan.task.clients.max(1) as u64).clamp(1, scenario.repeats);
    (0..seeds).find_map(|repeat| {
        let seed = scenario.seed.wrapping_add(repeat);
        // What is wrong with a variant otherwise is told when it is set up.
        let Built { mut server, .. } = build(&plan, seed, 0, None).ok()?;
        let waits_for_ever = match first_opening(&mut server).1 {
            Ok(Opening::Nobody | Opening::Wait(None)) => true,
            Ok(Opening::Asked(asked)) => asked.is_empty() && server.is_deserted(),
            _ => false,
        };
        waits_for_ever.then(|| refusal(&server, plan.task.clients, seed))
    })
}

fn refusal(server: &Server, clients: usize, seed: u64) -> String {
    let at_best = match server.at_best() {
        AtBest::Together(0) => "no client is ever there".into(),
        AtBest::Together(1) => "never more than 1 is there at once".into(),
        AtBest::Together(most) => format!("never more than {most} are there at once"),
        AtBest::Usually(usual) => format!(
            "{} are there on average: so many at once are not to be expected before the clock ends",
            number(usual)
        ),
    };
    format!(
        "its first round would wait for ever: it takes {} of the {clients} clients at once, and {at_best} \
         (seed {seed})\n  = help: ask fewer clients, with `sample` or `of`; `availability`, traces and events say \
         who is there",
        server.needed()
    )
}

/// Whether clients may be away.
fn comes_and_goes(plan: &Plan) -> bool {
    let class = |class: &ClassConfig| class.availability.is_some() || class.trace.is_some();
    let event = |event: &EventConfig| match &event.effect {
        Effect::Devices(_, effect) => effect.concerns_presence(),
        _ => false,
    };
    plan.fleet.classes.iter().any(class) || plan.events.iter().any(event)
}
