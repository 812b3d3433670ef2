//! Who is there, who is not, and until when.
//!
//! Everybody's comings and goings stand in one queue, each client with its next only, so that a
//! moment costs what changes in it and not a look at everyone.

mod outlook;
mod recorded;

use super::episodes::{Alternation, Episode};
use super::script::ClientSet;
use super::speed_profile::TraceCursor;
use super::trace_store::TraceStore;
use crate::clock::{SimTime, Span};
use recorded::{next_loss, recorded};
use std::cell::OnceCell;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

/// How the devices of a class come and go by themselves.
#[derive(Clone, Debug, PartialEq)]
pub enum Coming {
    /// They are always there.
    Always,
    /// At random.
    OnOff(Alternation),
    /// As recorded.
    Recorded(Arc<TraceStore>),
}

impl Coming {
    /// Whether anybody may ever be away.
    fn varies(&self) -> bool {
        match self {
            Coming::Always => false,
            Coming::OnOff(_) => true,
            Coming::Recorded(trace) => trace.tells_presence(),
        }
    }
}

/// A time in which some clients are not there, whatever else.
#[derive(Clone, Debug, PartialEq)]
pub struct Absence {
    /// Who.
    pub whom: ClientSet,
    /// When it begins.
    pub from: SimTime,
    /// When it is over; [`SimTime::NEVER`]: they do not come back.
    pub until: SimTime,
}

/// Where a client is in its own comings and goings.
#[derive(Clone, Copy, Debug)]
enum Cursor {
    Always,
    Random(Episode),
    Recorded { trace_cursor: TraceCursor, there: bool, until: SimTime },
}

impl Cursor {
    fn there(&self) -> bool {
        match self {
            Cursor::Always => true,
            Cursor::Random(episode) => episode.on,
            Cursor::Recorded { there, .. } => *there,
        }
    }

    fn until(&self) -> SimTime {
        match self {
            Cursor::Always => SimTime::NEVER,
            Cursor::Random(episode) => episode.until,
            Cursor::Recorded { until, .. } => *until,
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct ClientState {
    class: u16,
    /// Absences that hold now.
    absences: u16,
    /// Those among them that have no end.
    gone: u16,
    cursor: Cursor,
    /// Time away so far, but for the present absence.
    away: Span,
    /// Since when it has been here, or away.
    since: SimTime,
}

impl ClientState {
    fn is_here(&self) -> bool {
        self.absences == 0 && self.cursor.there()
    }

    /// Whether it will never be here again: it left, or its recording ends with it away.
    fn is_gone(&self) -> bool {
        self.gone > 0 || (!self.cursor.there() && self.cursor.until() == SimTime::NEVER)
    }
}

/// Somebody came or went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct AvailabilityChange {
    pub at: SimTime,
    pub client: u32,
    /// It came.
    pub here: bool,
}

/// Everybody's presence at one moment, which moves forwards.
#[derive(Debug)]
pub struct Presence {
    seed: u64,
    laws: Vec<Coming>,
    clients: Vec<ClientState>,
    /// The next coming or going of every client.
    queue: BinaryHeap<Reverse<(SimTime, u32)>>,
    absences: Vec<Absence>,
    /// Beginnings (true) and ends of absences still to come.
    turns: BinaryHeap<Reverse<(SimTime, bool, usize)>>,
    here: usize,
    /// Those who are not gone for good.
    remaining: usize,
    varies: bool,
    now: SimTime,
    /// How often the script took clients away or gave them back.
    turned: u64,
    /// How many that come and go by fixed periods are there together at most, once somebody asked.
    periodic: OnceCell<(usize, Vec<outlook::PeriodGroup>)>,
}

impl Presence {
    /// Clients of the given classes, which come and go by `laws`; `trace_cursors` says where those are in
    /// their recordings whose classes have one.
    pub fn new(
        seed: u64,
        laws: Vec<Coming>,
        classes: &[u16],
        trace_cursors: &[TraceCursor],
    ) -> Self {
        let client = |(client, class): (usize, &u16)| {
            let cursor = match &laws[usize::from(*class)] {
                Coming::Always => Cursor::Always,
                Coming::OnOff(law) => Cursor::Random(law.first(seed, client as u64)),
                Coming::Recorded(trace) => recorded(trace, trace_cursors[client], SimTime::ZERO),
            };
            let since = SimTime::ZERO;
            ClientState { class: *class, absences: 0, gone: 0, cursor, away: Span::ZERO, since }
        };
        let clients: Vec<ClientState> = classes.iter().enumerate().map(client).collect();
        let next = |(client, state): (usize, &ClientState)| {
            let until = state.cursor.until();
            (until < SimTime::NEVER).then_some(Reverse((until, client as u32)))
        };
        Presence {
            queue: clients.iter().enumerate().filter_map(next).collect(),
            here: clients.iter().filter(|client| client.is_here()).count(),
            absences: Vec::new(),
            turns: BinaryHeap::new(),
            remaining: clients.iter().filter(|client| !client.is_gone()).count(),
            varies: laws.iter().any(Coming::varies),
            now: SimTime::ZERO,
            turned: 0,
            periodic: OnceCell::new(),
            seed,
            laws,
            clients,
        }
    }

    /// Some will not be there for a while, from now on or from later on; who goes now is told to
    /// `changed`. Its number.
    pub fn add(&mut self, absence: Absence, changed: &mut dyn FnMut(AvailabilityChange)) -> usize {
        let Absence { from, until, .. } = absence;
        self.varies = true;
        let index = self.absences.len();
        self.absences.push(absence);
        if until < SimTime::NEVER {
            self.turns.push(Reverse((until, false, index)));
        }
        if from <= self.now {
            self.turn(index, true, changed);
        } else {
            self.turns.push(Reverse((from, true, index)));
        }
        index
    }

    /// An absence without an end of its own is over, now.
    pub fn end(&mut self, absence: usize, changed: &mut dyn FnMut(AvailabilityChange)) {
        self.advance(self.now, changed);
        self.turn(absence, false, changed);
    }

    /// A client is gone for good, now.
    pub fn remove(&mut self, client: u32, changed: &mut dyn FnMut(AvailabilityChange)) {
        self.varies = true;
        self.turned += 1;
        let state = self.clients[client as usize];
        let (absences, gone) = (state.absences + 1, state.gone + 1);
        self.set(client, ClientState { absences, gone, ..state }, changed);
    }

    /// Moves on to `now`; who came or went is told to `changed`.
    pub fn advance(&mut self, now: SimTime, changed: &mut dyn FnMut(AvailabilityChange)) {
        while let Some(next) = self.next_change().filter(|next| *next <= now) {
            self.step(next, changed);
        }
        self.now = self.now.max(now);
    }

    /// The next moment at which somebody may come or go.
    pub fn next_change(&self) -> Option<SimTime> {
        let by_themselves = self.queue.peek().map(|Reverse((at, _))| *at);
        let scripted = self.turns.peek().map(|Reverse((at, ..))| *at);
        match (by_themselves, scripted) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        }
    }

    /// Whether a client may come: clients come and go by themselves, or an absence that holds now has an
    /// end. Absences that are still to begin bring no client.
    pub fn may_come(&self) -> bool {
        !self.queue.is_empty() || self.awaits_an_end()
    }

    /// Whether an absence that holds now has an end.
    fn awaits_an_end(&self) -> bool {
        let ends = |(_, begins, index): &(SimTime, bool, usize)| {
            !begins && self.absences[*index].from <= self.now
        };
        self.turns.iter().any(|Reverse(turn)| ends(turn))
    }

    /// Who is here now.
    pub fn is_here(&self, client: u32) -> bool {
        self.clients[client as usize].is_here()
    }

    /// How many are here now.
    pub fn here(&self) -> usize {
        self.here
    }

    /// How many may be here at some time, as far as that is known.
    pub fn remaining(&self) -> usize {
        self.remaining
    }

    /// The moment it has moved on to.
    pub fn now(&self) -> SimTime {
        self.now
    }

    /// How often the script took clients away or gave them back: what was learned by looking ahead
    /// holds while this stays the same.
    pub fn turned(&self) -> u64 {
        self.turned
    }

    /// Whether a client may be here at some time from now on, as far as that is known.
    pub fn may_be_here(&self, client: u32) -> bool {
        !self.clients[client as usize].is_gone()
    }

    /// Whether clients may come and go, rather than only lose what they are doing.
    pub fn varies(&self) -> bool {
        self.varies
    }

    /// Clients may come and go, by a script if not by themselves.
    pub fn scripted(self) -> Self {
        Presence { varies: true, ..self }
    }

    /// When a client will next go by itself, if it does, and then come (true); nothing if it will not, or if
    /// the script keeps it away.
    pub fn own_changes(&self, client: u32) -> Vec<(SimTime, bool)> {
        let mut state = self.clients[client as usize];
        let mut changes = Vec::new();
        while state.absences == 0 && state.cursor.until() < SimTime::NEVER {
            let comes = !state.cursor.there();
            changes.push((state.cursor.until(), comes));
            if comes {
                break;
            }
            state.cursor = self.after(client, &state);
        }
        changes
    }

    /// When a client will go, or lose what it is doing, as far as that is known; at once if it is
    /// not here.
    pub fn leaves(&self, client: u32) -> SimTime {
        if !self.is_here(client) {
            return self.now;
        }
        let ClientState { class, cursor, .. } = self.clients[client as usize];
        let own = match (&self.laws[usize::from(class)], cursor) {
            (Coming::Recorded(trace), Cursor::Recorded { trace_cursor, until, .. }) => {
                until.min(next_loss(trace, trace_cursor, self.now))
            }
            _ => cursor.until(),
        };
        let scripted = self.absences.iter().filter(|absence| absence.whom.has(client));
        let later = scripted.map(|absence| absence.from).filter(|from| *from > self.now);
        later.fold(own, SimTime::min)
    }

    /// How long a client has been away in all.
    pub fn away(&self, client: u32) -> Span {
        let ClientState { away, since, .. } = self.clients[client as usize];
        match self.is_here(client) {
            true => away,
            false => Span::from_nanos(away.nanos() + self.now.since(since).nanos()),
        }
    }

    /// What happens at `at`, which is the next change.
    fn step(&mut self, at: SimTime, changed: &mut dyn FnMut(AvailabilityChange)) {
        self.now = at;
        if let Some(Reverse((_, client))) = self.queue.peek().filter(|Reverse((t, _))| *t == at) {
            let client = *client;
            self.queue.pop();
            let state = self.clients[client as usize];
            if state.absences > 0 {
                // Its comings and goings have no effect: they are made up for when it returns.
                return;
            }
            let cursor = self.after(client, &state);
            if cursor.until() < SimTime::NEVER {
                self.queue.push(Reverse((cursor.until(), client)));
            }
            self.set(client, ClientState { cursor, ..state }, changed);
        } else if let Some(Reverse((_, begins, index))) = self.turns.pop() {
            self.turn(index, begins, changed);
        }
    }

    fn turn(&mut self, index: usize, begins: bool, changed: &mut dyn FnMut(AvailabilityChange)) {
        self.turned += 1;
        let Absence { whom, until, .. } = self.absences[index].clone();
        let for_good = until == SimTime::NEVER;
        for client in (0..self.clients.len() as u32).filter(|client| whom.has(*client)) {
            let state = self.clients[client as usize];
            let (mut absences, mut gone) = (state.absences, state.gone);
            if begins {
                (absences, gone) = (absences + 1, gone + u16::from(for_good));
            } else {
                (absences, gone) = (absences - 1, gone - u16::from(for_good));
            }
            let returns = state.absences > 0 && absences == 0;
            let cursor = if returns { self.caught_up(client) } else { state.cursor };
            self.set(client, ClientState { absences, gone, cursor, ..state }, changed);
        }
    }

    /// The cursor of a client that the script kept away: what it has missed is over.
    fn caught_up(&mut self, client: u32) -> Cursor {
        let mut state = self.clients[client as usize];
        if state.cursor.until() > self.now {
            return state.cursor;
        }
        while state.cursor.until() <= self.now {
            state.cursor = self.after(client, &state);
        }
        if state.cursor.until() < SimTime::NEVER {
            self.queue.push(Reverse((state.cursor.until(), client)));
        }
        state.cursor
    }

    /// The cursor behind the one that ends now.
    fn after(&self, client: u32, state: &ClientState) -> Cursor {
        match (&self.laws[usize::from(state.class)], state.cursor) {
            (Coming::OnOff(law), Cursor::Random(episode)) => {
                Cursor::Random(law.next(self.seed, u64::from(client), episode))
            }
            (Coming::Recorded(trace), Cursor::Recorded { trace_cursor, until, .. }) => {
                recorded(trace, trace_cursor, until)
            }
            (_, cursor) => cursor,
        }
    }

    fn set(
        &mut self,
        client: u32,
        mut next: ClientState,
        changed: &mut dyn FnMut(AvailabilityChange),
    ) {
        let before = self.clients[client as usize].is_here();
        let here = next.is_here();
        match (self.clients[client as usize].is_gone(), next.is_gone()) {
            (false, true) => self.remaining -= 1,
            (true, false) => self.remaining += 1,
            _ => {}
        }
        if before != here {
            if here {
                next.away =
                    Span::from_nanos(next.away.nanos() + self.now.since(next.since).nanos());
                self.here += 1;
            } else {
                self.here -= 1;
            }
            next.since = self.now;
        }
        self.clients[client as usize] = next;
        if before != here {
            changed(AvailabilityChange { at: self.now, client, here });
        }
    }
}

#[cfg(test)]
mod tests;
