//! What the server decided when: deadlines, and who was there.

use super::parts::Parts;
use crate::clock::{SimTime, Span, TimeOverflow};
use crate::device::{AvailabilityChange, Effect, EventConfig, Fleet, When};
use crate::participation::Script;
use crate::policy::{Durations, Partial};
use crate::run_files::{ReadError, RoundsCsv, RowsOfRun};
use crate::scenario::Plan;
use crate::server::EventSchedule;
use std::path::Path;

/// When each round could open at the earliest: when the one before it closed.
pub(super) struct Rounds(Vec<u64>);

impl Rounds {
    /// Of a run. They are needed, and read, only if events begin with a round.
    pub(super) fn read(folder: &Path, run: (&str, u64), plan: &Plan) -> Result<Self, ReadError> {
        let mut begin = vec![0];
        if plan.events.iter().any(|event| matches!(event.when, When::Round(_))) {
            let mut rows = RowsOfRun::<RoundsCsv>::open(folder, run)?;
            let closed = rows.header().find::<SimTime>("virtual_seconds")?;
            rows.each(|line| {
                begin.push(line.get(closed)?.nanos());
                Ok(())
            })?;
        }
        Ok(Rounds(begin))
    }

    /// Rounds from 1 on, each with its beginning.
    fn iter(&self) -> impl Iterator<Item = (u64, SimTime)> {
        (1..).zip(self.0.iter().map(|at| SimTime::from_nanos(*at)))
    }
}

/// When clients had to be back, by round.
pub(super) struct Dues(Vec<Option<u64>>);

impl Dues {
    /// Works them out as the server did.
    pub(super) fn of(plan: &Plan, parts: &Parts, rounds: &Rounds) -> Result<Self, TimeOverflow> {
        let server = &plan.server;
        if !server.close.has_deadline() || server.partial != Partial::Keep {
            return Ok(Dues(Vec::new()));
        }
        let last = parts.all.iter().map(|part| part.round).max().unwrap_or(0);
        let mut dues = vec![None; last as usize + 1];
        // All clients of a round are asked when it opens.
        parts.all.iter().for_each(|part| dues[part.round as usize] = Some(part.at));
        let is_order = |event: &&EventConfig| !matches!(event.effect, Effect::Devices(..));
        let orders: Vec<EventConfig> = plan.events.iter().filter(is_order).cloned().collect();
        let mut schedule = EventSchedule::new(&orders, 0, &[], |_| 0)?;
        let mut begins = rounds.iter().peekable();
        let mut heard = parts.durations.iter().peekable();
        let mut durations = Durations::default();
        for (round, due) in (0..).zip(&mut dues) {
            while let Some((number, at)) = begins.next_if(|(number, _)| *number <= u64::from(round))
            {
                schedule.open(number, at)?;
            }
            if let Some(opened) = due.map(SimTime::from_nanos) {
                let after = match server.close.adaptive() {
                    Some(adaptive) => durations.percentile(adaptive),
                    None => server.close.fixed_deadline(),
                };
                let after = schedule.deadline(opened).or(after);
                *due = after.map(|after| opened.after(after)).transpose()?.map(SimTime::nanos);
            }
            while let Some((_, took)) = heard.next_if(|(number, _)| *number <= round) {
                durations.add(Span::from_nanos(*took));
            }
            if let Some(adaptive) = server.close.adaptive() {
                durations.close(adaptive.of);
            }
        }
        Ok(Dues(dues))
    }

    /// When the clients of a round had to be back, if that ended their work.
    pub(super) fn of_round(&self, round: u32) -> Option<u64> {
        self.0.get(round as usize).copied().flatten()
    }
}

/// What was scripted to happen to devices, all of it.
pub(super) fn script(
    plan: &Plan,
    seed: u64,
    fleet: &Fleet,
    rounds: &Rounds,
) -> Result<Script, TimeOverflow> {
    let classes: Vec<u16> = fleet.devices.iter().map(|device| device.class).collect();
    let mut schedule = EventSchedule::new(&plan.events, seed, &classes, |_| 0)?;
    rounds.iter().try_for_each(|(round, begins)| schedule.open(round, begins).map(drop))?;
    Ok(schedule.script())
}

/// A client comes or goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Coming {
    pub client: u32,
    pub at: u64,
    /// Of several at one instant the last counts.
    order: u32,
    pub there: bool,
}

/// Who was there when, until the run ended at `end`, and until everybody comes again; `None` if
/// everybody always was.
pub(super) fn comings(
    plan: &Plan,
    seed: u64,
    fleet: &Fleet,
    rounds: &Rounds,
    end: u64,
) -> Result<Option<Vec<Coming>>, TimeOverflow> {
    let scripted = plan.events.iter().any(|event| match &event.effect {
        Effect::Devices(_, effect) => effect.concerns_presence(),
        _ => false,
    });
    let Some(mut presence) = plan.fleet.presence(seed, fleet, scripted) else {
        return Ok(None);
    };
    let classes: Vec<u16> = fleet.devices.iter().map(|device| device.class).collect();
    let mut schedule = EventSchedule::new(&plan.events, seed, &classes, |absence| {
        presence.add(absence, &mut |_| {})
    })?;
    let mut log: Vec<Coming> = (0..classes.len() as u32)
        .map(|client| Coming { client, at: 0, order: 0, there: presence.is_here(client) })
        .collect();
    let end = SimTime::from_nanos(end);
    let last = (u64::MAX, SimTime::NEVER);
    for (round, begins) in rounds.iter().chain([last]) {
        while let Some(at) = presence.next_change().filter(|at| *at <= begins.min(end)) {
            let order = log.len() as u32;
            presence.advance(at, &mut |AvailabilityChange { client, here: there, .. }| {
                log.push(Coming { client, at: at.nanos(), order, there });
            });
        }
        if round == u64::MAX || begins > end {
            break;
        }
        presence.advance(begins, &mut |_| {});
        let begun = schedule.open(round, begins)?;
        let order = log.len() as u32;
        let mut note = |AvailabilityChange { client, here: there, .. }| {
            log.push(Coming { client, at: begins.nanos(), order, there });
        };
        begun.absences.into_iter().for_each(|absence| {
            presence.add(absence, &mut note);
        });
        begun.over.into_iter().for_each(|absence| presence.end(absence, &mut note));
    }
    presence.advance(end, &mut |_| {});
    for client in 0..classes.len() as u32 {
        // Until it comes, so that a client that would have come again is not taken for gone.
        for (at, there) in presence.own_changes(client) {
            log.push(Coming { client, at: at.nanos(), order: u32::MAX, there });
        }
    }
    log.sort_unstable();
    Ok(Some(log))
}
