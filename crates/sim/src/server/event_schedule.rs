//! What is scripted: when it begins, whom it concerns and when it is over.

use crate::clock::{SimTime, Span, TimeOverflow};
use crate::device::{
    Absence, ClientSet, DeviceEffect, Effect, EventConfig, Happening, LrEffect, When,
};
use crate::participation::Script;
use std::rc::Rc;

/// What an event does, with those whom it selects.
#[derive(Clone, Debug)]
enum SelectedEffect {
    Devices(ClientSet, DeviceEffect),
    ServerEffect(ServerEffect),
}

/// What an event tells the server.
#[derive(Clone, Copy, Debug)]
enum ServerEffect {
    Deadline(Span),
    Lr(LrEffect),
}

#[derive(Clone, Debug)]
struct PendingEvent {
    effect: SelectedEffect,
    lasting: Option<Span>,
    /// Of a client that joins: the absence that its joining ends.
    absence: Option<usize>,
}

/// All events of a run.
pub struct EventSchedule {
    /// By the round they begin with, later ones first.
    by_round: Vec<(u64, PendingEvent)>,
    /// In the order in which they begin.
    server_effects: Vec<(SimTime, SimTime, ServerEffect)>,
    script: Script,
}

/// What concerns presence when events begin.
#[derive(Debug, Default)]
pub struct Begun {
    /// Who is away from now on.
    pub absences: Vec<Absence>,
    /// Which absences are over.
    pub over: Vec<usize>,
    /// Whether devices on their way are concerned.
    pub devices: bool,
}

impl EventSchedule {
    /// The events of a run whose clients have the given classes. What begins at a time goes to the
    /// script and, as absences, to `absent`, which numbers them.
    pub fn new(
        events: &[EventConfig],
        seed: u64,
        classes: &[u16],
        mut absent: impl FnMut(Absence) -> usize,
    ) -> Result<Self, TimeOverflow> {
        let mut schedule = EventSchedule {
            by_round: Vec::new(),
            server_effects: Vec::new(),
            script: Script::default(),
        };
        for (number, event) in events.iter().enumerate() {
            let effect = match &event.effect {
                Effect::Devices(whom, effect) => {
                    SelectedEffect::Devices(whom.select(seed, number, classes), *effect)
                }
                Effect::Deadline(deadline) => {
                    SelectedEffect::ServerEffect(ServerEffect::Deadline(*deadline))
                }
                Effect::Lr(effect) => SelectedEffect::ServerEffect(ServerEffect::Lr(*effect)),
            };
            let entry = PendingEvent { effect, lasting: event.lasting, absence: None };
            match event.when {
                When::At(at) => {
                    let at = SimTime::from_nanos(at.nanos());
                    let begun = schedule.begin(&entry, at)?;
                    begun.absences.into_iter().for_each(|absence| {
                        absent(absence);
                    });
                }
                When::Round(round) => {
                    let absence = match &entry.effect {
                        // Until then they are not there.
                        SelectedEffect::Devices(whom, DeviceEffect::Join) => {
                            Some(absent(Absence {
                                whom: whom.clone(),
                                from: SimTime::ZERO,
                                until: SimTime::NEVER,
                            }))
                        }
                        _ => None,
                    };
                    schedule.by_round.push((round, PendingEvent { absence, ..entry }));
                }
            }
        }
        schedule.by_round.sort_by_key(|(round, _)| std::cmp::Reverse(*round));
        Ok(schedule)
    }

    /// What happens to devices; it grows as rounds open.
    pub fn script(&self) -> Script {
        Rc::clone(&self.script)
    }

    /// Begins what is to begin with `round`, which is about to open at `now`.
    pub fn open(&mut self, round: u64, now: SimTime) -> Result<Begun, TimeOverflow> {
        let mut all = Begun::default();
        while self.by_round.last().is_some_and(|(at, _)| *at <= round) {
            let Some((_, entry)) = self.by_round.pop() else { break };
            match entry.absence {
                Some(absence) => all.over.push(absence),
                None => {
                    let begun = self.begin(&entry, now)?;
                    all.absences.extend(begun.absences);
                    all.devices |= begun.devices;
                }
            }
        }
        Ok(all)
    }

    /// Whether clients join with a round that is still to come.
    pub fn brings_clients(&self) -> bool {
        self.by_round.iter().any(|(_, entry)| entry.absence.is_some())
    }

    /// The deadline of rounds opened at `now`, if an event set it: the one that began last.
    pub fn deadline(&self, now: SimTime) -> Option<Span> {
        self.active(now).fold(None, |known, order| match order {
            ServerEffect::Deadline(deadline) => Some(*deadline),
            ServerEffect::Lr(_) => known,
        })
    }

    /// What events make of learning rates in rounds opened at `now`: factors multiply, and the
    /// `common` rate is what the last event set it to.
    pub fn lr_factor(&self, now: SimTime, common: f64) -> f64 {
        let (mut set, mut times) = (1.0, 1.0);
        for order in self.active(now) {
            match order {
                ServerEffect::Lr(LrEffect::To(lr)) => set = lr / common,
                ServerEffect::Lr(LrEffect::Times(factor)) => times *= factor,
                ServerEffect::Deadline(_) => {}
            }
        }
        set * times
    }

    fn active(&self, now: SimTime) -> impl Iterator<Item = &ServerEffect> {
        let holds = move |(from, until, _): &&(SimTime, SimTime, ServerEffect)| {
            *from <= now && now < *until
        };
        self.server_effects.iter().filter(holds).map(|(_, _, order)| order)
    }

    fn begin(&mut self, entry: &PendingEvent, from: SimTime) -> Result<Begun, TimeOverflow> {
        let until = match entry.lasting {
            Some(lasting) => from.after(lasting)?,
            None => SimTime::NEVER,
        };
        let (whom, effect) = match &entry.effect {
            SelectedEffect::ServerEffect(order) => {
                // What begins with a round may begin before what has its time.
                let place = self.server_effects.partition_point(|(other, ..)| *other <= from);
                self.server_effects.insert(place, (from, until, *order));
                return Ok(Begun::default());
            }
            SelectedEffect::Devices(whom, effect) => (whom.clone(), *effect),
        };
        let mut begun = Begun { devices: true, ..Begun::default() };
        let plain = Happening { whom: whom.clone(), from, until, slow: 1.0, up: 1.0, down: 1.0 };
        let absence = |from, until| Absence { whom, from, until };
        match effect {
            DeviceEffect::Slow(slow) => {
                self.script.borrow_mut().push(Happening { slow, ..plain });
            }
            DeviceEffect::Network { up, down } => {
                self.script.borrow_mut().push(Happening { up, down, ..plain });
            }
            DeviceEffect::Offline => begun.absences.push(absence(from, until)),
            DeviceEffect::Leave => begun.absences.push(absence(from, SimTime::NEVER)),
            DeviceEffect::Join => begun.absences.push(absence(SimTime::ZERO, from)),
        }
        Ok(begun)
    }
}
