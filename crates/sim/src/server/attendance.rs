//! Who can be asked, and where everybody's time goes.

use crate::clock::{SimTime, Span};
use crate::device::{Absence, AvailabilityChange, Coming, Presence};
use crate::policy::{Columns, Feedback, Needs};
use crate::record::{Account, ClientRow};
use std::sync::Arc;

/// No client is free only from the last nanosecond on.
const ON_THE_WAY: SimTime = SimTime::NEVER;

/// Comings and goings that are looked at in one go: in between the run can be interrupted.
const AT_ONCE: usize = 1 << 18;

/// What is found by looking ahead for clients that can be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ahead {
    /// Then there are enough.
    Enough(SimTime),
    /// Until the horizon there are not; the first change behind it.
    Later(SimTime),
    /// The last change was then. There are too few, and that is how it stays.
    NoMore(SimTime),
    /// Nobody will ever be there.
    Never,
}

/// Everybody's state as the server sees it: there or not, on the way or free.
pub struct Attendance {
    /// `None`: everybody is always there.
    presence: Option<Presence>,
    /// Since when each client has been free; [`ON_THE_WAY`] while it is not.
    free_since: Vec<SimTime>,
    free: usize,
    /// Who has taken part before.
    known: Vec<bool>,
    /// Who is there, who is on the way, and so who can be asked.
    columns: Columns,
    /// How long each client had been away when it was last sent off; empty if nobody ever is.
    away: Vec<Span>,
    /// How long each client has been away by the end of a run that ends because nobody will come.
    today: Option<Vec<Span>>,
    /// What looking ahead has shown so far, while enough clients are waited for.
    lookout: Option<Lookout>,
    /// Comings and goings that somebody wants to know of.
    log: Option<AvailabilityLog>,
    classes: Arc<[u16]>,
    accounts: Vec<Account>,
}

/// A wait for clients, as far as it was looked ahead. It goes on where it was when the run was given a
/// chance to be interrupted.
struct Lookout {
    wanted: usize,
    /// [`Presence::turned`] when it began; what the script does makes it begin again.
    turned: u64,
    /// From when on everything happens again, if it does.
    again: Option<SimTime>,
    /// The most clients that were there together.
    most: usize,
}

/// How many clients are there at best, as far as that was looked at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AtBest {
    /// Never more than these at once.
    Together(usize),
    /// At random, or by periods of which none is another's, so many on average.
    Usually(f64),
}

/// Who came and went when.
struct AvailabilityLog {
    /// Of whom; `None`: of all.
    of: Option<Vec<bool>>,
    turns: Vec<AvailabilityChange>,
}

impl AvailabilityLog {
    fn note(&mut self, turn: AvailabilityChange) {
        if self.of.as_ref().is_none_or(|of| of[turn.client as usize]) {
            self.turns.push(turn);
        }
    }
}

impl Attendance {
    /// Of clients of the given `classes` before the run begins.
    pub fn new(
        presence: Option<Presence>,
        classes: Arc<[u16]>,
        p: Arc<[f64]>,
        needs: Needs,
    ) -> Self {
        let clients = classes.len();
        let mut columns = Columns::new(p, needs);
        if let Some(presence) = &presence {
            let all = 0..clients as u32;
            all.for_each(|client| columns.set_present(client, presence.is_here(client)));
        }
        let kinds = classes.iter().max().map_or(0, |most| usize::from(*most) + 1);
        Attendance {
            free_since: vec![SimTime::ZERO; clients],
            free: clients,
            known: vec![false; clients],
            columns,
            away: if presence.is_some() { vec![Span::ZERO; clients] } else { Vec::new() },
            today: None,
            lookout: None,
            log: None,
            accounts: vec![Account::default(); kinds],
            presence,
            classes,
        }
    }

    /// From now on, which is before the run begins, comings and goings are written down: those `of`
    /// some clients, or of all.
    pub fn log_availability(&mut self, of: Option<Vec<bool>>) {
        let mut log = AvailabilityLog { of, turns: Vec::new() };
        if let Some(presence) = &self.presence {
            let clients = 0..self.free_since.len() as u32;
            let away = clients.filter(|client| !presence.is_here(*client));
            away.for_each(|client| {
                log.note(AvailabilityChange { at: SimTime::ZERO, client, here: false })
            });
        }
        self.log = Some(log);
    }

    /// Who came and went since this was last asked; nobody, if no log is kept.
    pub fn take_availability_changes(&mut self) -> Vec<AvailabilityChange> {
        self.log.as_mut().map_or_else(Vec::new, |log| std::mem::take(&mut log.turns))
    }

    /// Moves on to `now`.
    pub fn advance(&mut self, now: SimTime) {
        let Attendance { presence, columns, log, .. } = self;
        if let Some(presence) = presence {
            presence.advance(now, &mut count(columns, log));
        }
    }

    /// Moves on to the first moment at which `wanted` can be asked, but not past `horizon`. For when
    /// nobody is on the way, so that nothing else happens meanwhile.
    pub fn advance_until(&mut self, wanted: usize, horizon: SimTime) -> Ahead {
        let is_open_ended = horizon == SimTime::NEVER;
        let hopeless = |presence: &Presence| presence.is_hopeless(wanted);
        if is_open_ended && self.presence.as_ref().is_some_and(hopeless) {
            return Ahead::Never;
        }
        // If they never come the run is over before all of this: its accounts are of today.
        let today = self.presence.as_ref().map(|presence| {
            let clients = 0..self.free_since.len() as u32;
            clients.map(|client| presence.away(client)).collect()
        });
        for _ in 0..AT_ONCE {
            let Some(next) = self.next_change().filter(|_| self.may_come()) else {
                let some = self.candidates() > 0;
                self.today = today.filter(|_| !some);
                return if some { Ahead::NoMore(self.now()) } else { Ahead::Never };
            };
            if next > horizon {
                return Ahead::Later(next);
            }
            // Where all of it happens again, nothing new is to be expected.
            let again = self.look_out(wanted);
            if is_open_ended && again.is_some_and(|again| next > again) {
                self.today = today;
                return Ahead::Never;
            }
            self.advance(next);
            if self.candidates() >= wanted {
                self.lookout = None;
                return Ahead::Enough(next);
            }
        }
        // Not found soon: that is worth a closer look.
        let hopeless = |presence: &Presence| presence.is_hopeless_by_periods(wanted);
        if is_open_ended && self.presence.as_ref().is_some_and(hopeless) {
            self.today = today;
            return Ahead::Never;
        }
        Ahead::Later(self.now())
    }

    /// Notes how many are there while `wanted` are waited for; from when on everything happens again.
    fn look_out(&mut self, wanted: usize) -> Option<SimTime> {
        let turned = self.presence.as_ref().map_or(0, Presence::turned);
        let here = self.candidates();
        let is_known = |known: &Lookout| known.wanted == wanted && known.turned == turned;
        if !self.lookout.as_ref().is_some_and(is_known) {
            let period = self.presence.as_ref().and_then(Presence::repeats_after);
            let again = period.and_then(|period| self.now().after(period).ok());
            self.lookout = Some(Lookout { wanted, turned, again, most: here });
        }
        let lookout = self.lookout.as_mut()?;
        lookout.most = lookout.most.max(here);
        lookout.again
    }

    /// How many clients are there at best: for when enough never are.
    pub fn at_best(&self) -> AtBest {
        let presence = self.presence.as_ref();
        match (&self.lookout, presence) {
            (Some(Lookout { most, again: Some(_), .. }), _) => AtBest::Together(*most),
            (None, Some(presence)) if presence.not_random() == presence.remaining() => {
                AtBest::Together(self.candidates())
            }
            (Some(lookout), Some(presence))
                if presence.not_random() == presence.remaining()
                    && presence.most_not_random() < lookout.wanted =>
            {
                AtBest::Together(presence.most_not_random())
            }
            (_, Some(presence)) => AtBest::Usually(presence.usually_here()),
            (_, None) => AtBest::Together(self.candidates()),
        }
    }

    /// The moment it has moved on to.
    pub fn now(&self) -> SimTime {
        self.presence.as_ref().map_or(SimTime::ZERO, Presence::now)
    }

    /// Clients that have not left for good, as far as is known.
    pub fn remaining(&self) -> usize {
        self.presence.as_ref().map_or(self.free_since.len(), Presence::remaining)
    }

    /// Whether a client is on its way, or may be here at some time.
    pub fn may_be_asked(&self, client: u32) -> bool {
        let comes = |presence: &Presence| presence.may_be_here(client);
        self.is_on_the_way(client) || self.presence.as_ref().is_none_or(comes)
    }

    /// Some are away for a while; its number, for [`Attendance::end`].
    pub fn add(&mut self, absence: Absence) -> usize {
        let Attendance { presence, columns, log, .. } = self;
        let presence = presence.as_mut().expect("events that concern presence make it known");
        presence.add(absence, &mut count(columns, log))
    }

    /// An absence is over.
    pub fn end(&mut self, absence: usize) {
        let Attendance { presence, columns, log, .. } = self;
        let presence = presence.as_mut().expect("it began, so presence is known");
        presence.end(absence, &mut count(columns, log));
    }

    /// A client on its way has lost its connection for good: it is not there any more.
    pub fn gone(&mut self, client: u32, now: SimTime) {
        let Attendance { presence, columns, log, classes, away, .. } = self;
        let presence = presence.get_or_insert_with(|| {
            away.resize(classes.len(), Span::ZERO);
            Presence::new(0, vec![Coming::Always], &vec![0; classes.len()], &[])
        });
        presence.advance(now, &mut count(columns, log));
        presence.remove(client, &mut count(columns, log));
    }

    /// Everybody's class.
    pub fn classes(&self) -> Arc<[u16]> {
        self.classes.clone()
    }

    /// Whether anybody who is away may come.
    pub fn may_come(&self) -> bool {
        self.presence.as_ref().is_some_and(Presence::may_come)
    }

    /// When somebody may come or go next.
    pub fn next_change(&self) -> Option<SimTime> {
        self.presence.as_ref()?.next_change()
    }

    /// Whether anything is known of who is there, or who loses what it is doing.
    pub fn is_told(&self) -> bool {
        self.presence.is_some()
    }

    /// Whether clients may come and go.
    pub fn varies(&self) -> bool {
        self.presence.as_ref().is_some_and(Presence::varies)
    }

    /// When a client will go, at once if it is not there; [`SimTime::NEVER`] if it stays.
    pub fn leaves(&self, client: u32) -> SimTime {
        self.presence.as_ref().map_or(SimTime::NEVER, |presence| presence.leaves(client))
    }

    /// Whether a client is free and there.
    pub fn can_be_asked(&self, client: u32) -> bool {
        self.columns.is_available(client)
    }

    /// Whether `client` is on its way.
    pub fn is_on_the_way(&self, client: u32) -> bool {
        self.free_since[client as usize] == ON_THE_WAY
    }

    /// How many are there, busy or not.
    pub fn present(&self) -> usize {
        self.presence.as_ref().map_or(self.free_since.len(), Presence::here)
    }

    /// How many can be asked.
    pub fn candidates(&self) -> usize {
        self.columns.available_count()
    }

    /// What selectors see.
    pub fn columns(&self) -> &Columns {
        &self.columns
    }

    /// A participation ended, as selectors hear of it.
    pub fn hear(&mut self, feedback: &Feedback) {
        self.columns.hear(feedback);
    }

    /// How many are on their way.
    pub fn on_the_way(&self) -> usize {
        self.free_since.len() - self.free
    }

    /// A client is sent off; how long it had been idle since it was last back, if it ever was.
    pub fn send_off(&mut self, client: u32, at: SimTime) -> Option<Span> {
        let (idle, offline) = self.rest(client, at);
        let account = &mut self.accounts[usize::from(self.classes[client as usize])];
        account.idle += u128::from(idle.nanos());
        account.offline += u128::from(offline.nanos());
        self.free_since[client as usize] = ON_THE_WAY;
        self.free -= 1;
        self.columns.set_busy(client, true);
        std::mem::replace(&mut self.known[client as usize], true).then_some(idle)
    }

    /// A client is back, or lost.
    pub fn back(&mut self, row: &ClientRow) {
        self.accounts[usize::from(row.class)].take_part(row);
        self.free_since[row.client as usize] = row.arrived;
        self.free += 1;
        self.columns.set_busy(row.client, false);
    }

    /// The run is over at `now`: settles the accounts of those who are not on their way.
    pub fn call_off(&mut self, now: SimTime) {
        self.advance(now);
        for client in 0..self.free_since.len() as u32 {
            if !self.is_on_the_way(client) {
                let (idle, offline) = self.rest(client, now);
                let account = &mut self.accounts[usize::from(self.classes[client as usize])];
                account.idle += u128::from(idle.nanos());
                account.offline += u128::from(offline.nanos());
            }
        }
    }

    /// Where everybody's time went, by class.
    pub fn take_accounts(&mut self) -> Vec<Account> {
        std::mem::take(&mut self.accounts)
    }

    /// How much of a client's time since it was last back it was idle, and how much away.
    fn rest(&mut self, client: u32, now: SimTime) -> (Span, Span) {
        let all = now.since(self.free_since[client as usize]);
        let Some(presence) = &self.presence else {
            return (all, Span::ZERO);
        };
        let away = match &self.today {
            Some(today) => today[client as usize],
            None => presence.away(client),
        };
        let before = std::mem::replace(&mut self.away[client as usize], away);
        // Who waits for clients looks ahead. A wait that is interrupted ends before what was seen there.
        let offline = (away.nanos() - before.nanos()).min(all.nanos());
        (Span::from_nanos(all.nanos() - offline), Span::from_nanos(offline))
    }
}

/// Notes who comes and goes.
fn count<'a>(
    columns: &'a mut Columns,
    log: &'a mut Option<AvailabilityLog>,
) -> impl FnMut(AvailabilityChange) + 'a {
    move |turn| {
        columns.set_present(turn.client, turn.here);
        if let Some(log) = log {
            log.note(turn);
        }
    }
}
