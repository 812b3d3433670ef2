//! When a round opens and who is asked; what the server does when too few clients are there.

use super::{Ahead, AtBest, Opening, Server, ServerError};
use crate::clock::{SimTime, Span, TimeOverflow};
use crate::participation::{Round, RoundNumbers};
use crate::policy::{Asked, Late, Opened, Partial, RoundOpened};
use crate::solver::Controls;
use crate::train::Model;
use std::sync::{Arc, OnceLock};

impl Server {
    /// Opens the next round and says who is asked, unless too few clients are there.
    pub fn open_round(&mut self, now: SimTime) -> Result<Opening, ServerError> {
        let number = self.round.number + 1;
        self.attendance.advance(now);
        self.begin_events(number, now)?;
        let asked = if self.is_asynchronous() {
            self.refill(now)?
        } else {
            if let Some(wait) = self.too_few(now) {
                return Ok(wait);
            }
            let attendance = &self.attendance;
            let asked = self.selection.select(number, now, attendance.columns())?;
            if asked.is_empty() {
                // Unbiased participation draws from all clients, and no client that was drawn can be asked:
                // the round opens when one of them can.
                let until = attendance.next_change();
                let never = |drawn: &[Asked]| {
                    !drawn.iter().any(|asked| attendance.may_be_asked(asked.client))
                };
                if self.selection.settled_draw().is_some_and(never) {
                    return Ok(Opening::Nobody);
                }
                return Ok(self.wait(now, until));
            }
            asked
        };
        self.waited = self.waiting_since.take().map_or(Span::ZERO, |since| now.since(since));
        // Where clients are sent off one by one, the closing policy waits for an update in any case.
        let expected = asked.len().max(1);
        let Opened { deadline, wake } = self.closing.opened(&RoundOpened {
            round: number,
            now,
            asked: expected,
            deadline: self.schedule.deadline(now),
        })?;
        self.wake = wake.or(deadline);
        let may_extend = self.config.close.character().may_extend;
        let lr_factor =
            self.recipe.factor(number) * self.schedule.lr_factor(now, self.recipe.common.lr);
        self.round = Arc::new(Round {
            number,
            opened: now,
            deadline,
            useless_after: deadline.filter(|_| self.config.late == Late::Drop && !may_extend),
            due: deadline.filter(|_| self.config.partial == Partial::Keep),
            numbers: OnceLock::new(),
            lr_factor,
            lr: self.recipe.lr(lr_factor),
            crowd: if self.is_asynchronous() { self.selection.wanted() } else { expected },
            closed: OnceLock::new(),
        });
        if self.training.is_some() && !self.is_replaying() {
            let model = Arc::new(Model::new(self.x.clone()));
            let shared = self.controls.as_ref().and_then(Controls::shared);
            let _ = self.round.numbers.set(RoundNumbers { model, shared });
        }
        self.remember_round();
        self.asked = asked.len();
        Ok(Opening::Asked(asked))
    }

    /// Begins the events of a round that is about to open.
    fn begin_events(&mut self, round: u64, now: SimTime) -> Result<(), TimeOverflow> {
        let begun = self.schedule.open(round, now)?;
        for absence in begun.absences {
            self.attendance.add(absence);
        }
        for absence in begun.over {
            self.attendance.end(absence);
        }
        self.replan |= begun.devices;
        Ok(())
    }

    /// Whether something has happened since this was last asked that concerns clients on their way
    /// and that they could not know of.
    pub fn take_replan(&mut self) -> bool {
        std::mem::take(&mut self.replan)
    }

    /// What to do about a round for which too few clients are there; `None` if they are enough.
    ///
    /// One rule for all scenarios: a round opens as soon as as many clients are there as it asks, and one
    /// of them can be asked. Clients that are busy with an earlier round count as there, but are passed
    /// over: to wait for stragglers is what closing early avoids.
    fn too_few(&mut self, now: SimTime) -> Option<Opening> {
        let attendance = &mut self.attendance;
        let wanted = self.selection.needed().min(attendance.remaining()).max(1);
        if attendance.present() >= wanted && attendance.candidates() > 0 {
            return None;
        }
        let until = if attendance.on_the_way() > 0 {
            // Who is on the way will be there again too, so every change counts.
            attendance.next_change()
        } else if attendance.remaining() == 0 {
            return Some(Opening::Nobody);
        } else {
            let end = self.stop.time.map_or(SimTime::NEVER, |end| SimTime::from_nanos(end.nanos()));
            match attendance.advance_until(wanted, end) {
                Ahead::Enough(at) | Ahead::Later(at) => Some(at),
                Ahead::Never => return Some(Opening::Nobody),
                // Those who are there must do.
                Ahead::NoMore(last) => Some(last).filter(|last| *last > now),
            }
        };
        if until.is_none() && attendance.on_the_way() == 0 {
            return None;
        }
        Some(self.wait(now, until))
    }

    /// Waits until an instant, or until somebody is back.
    fn wait(&mut self, now: SimTime, until: Option<SimTime>) -> Opening {
        if until.is_none() && self.attendance.on_the_way() == 0 {
            return Opening::Nobody;
        }
        self.waiting_since.get_or_insert(now);
        Opening::Wait(until)
    }

    /// Whether clients are sent off one by one, as others come back.
    pub fn is_asynchronous(&self) -> bool {
        self.config.close.is_asynchronous()
    }

    /// Who is sent off in the places of those who came back.
    pub fn refill(&mut self, now: SimTime) -> Result<Vec<Asked>, ServerError> {
        self.attendance.advance(now);
        self.draws += 1;
        let attendance = &self.attendance;
        let (on_the_way, columns) = (attendance.on_the_way(), attendance.columns());
        let asked = self.selection.refill(self.draws, now, on_the_way, columns)?;
        self.asked += asked.len();
        Ok(asked)
    }

    /// Where clients are sent off one by one: when somebody may come who could take a place that
    /// nobody could be found for.
    pub fn vacant_until(&self) -> Option<SimTime> {
        let vacant = self.is_asynchronous() && self.on_the_way() < self.selection.wanted();
        if vacant { self.attendance.next_change() } else { None }
    }

    /// Where clients are sent off one by one: whether nobody is on the way and nobody will come.
    pub fn is_deserted(&self) -> bool {
        let nobody = self.on_the_way() == 0 && self.attendance.candidates() == 0;
        let for_good = self.attendance.remaining() == 0 || !self.attendance.may_come();
        // A round that closes by itself is followed by another, which may bring clients.
        let more = self.wake.is_some() && self.schedule.brings_clients();
        nobody && for_good && !more && self.is_asynchronous()
    }

    /// How many clients are there at best, where enough for a round never are.
    pub fn at_best(&self) -> AtBest {
        self.attendance.at_best()
    }

    /// Clients that a round waits for.
    pub fn needed(&self) -> usize {
        self.selection.needed()
    }

    /// Whether clients are not always there.
    pub fn clients_come_and_go(&self) -> bool {
        self.attendance.varies()
    }

    /// Whether clients may go, or lose what they are doing.
    pub fn clients_may_be_lost(&self) -> bool {
        self.attendance.is_told()
    }
}
