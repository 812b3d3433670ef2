//! Selectors, work and closing policies in Python.

use super::{CallRng, Hook, bytes};
use gruppetto::clock::{SimTime, Span, TimeOverflow};
use gruppetto::plugins::FleetView;
use gruppetto::policy::{
    Character, Closing, Feedback, KeyedRng, Needs, Opened, RoundOpened, Selector, Then,
    UpdateArrived, Verdict, View, Work, WorkAmount, WorkAsked,
};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

pub struct PySelector {
    hook: Hook,
    hears: bool,
}

impl PySelector {
    pub fn new(hook: Hook, fleet: &FleetView) -> Self {
        let hears = hook.call(
            || "the beginning".into(),
            |object| {
                let p = bytes(object.py(), &fleet.p)?;
                let expected: Vec<f64> =
                    fleet.expected_duration.iter().map(|span| span.seconds()).collect();
                let expected = bytes(object.py(), &expected)?;
                object
                    .call_method1("_begin", (p, expected, fleet.parameters, fleet.seed))?
                    .extract()
            },
        );
        PySelector { hook, hears }
    }
}

fn truths<'py>(py: Python<'py>, values: &[bool]) -> PyResult<Bound<'py, PyBytes>> {
    PyBytes::new_with(py, values.len(), |buffer| {
        buffer.iter_mut().zip(values).for_each(|(into, value)| *into = u8::from(*value));
        Ok(())
    })
}

impl Selector for PySelector {
    fn select(&mut self, view: &View<'_>, rng: &KeyedRng) -> Vec<u32> {
        self.hook.call(
            || format!("round {}", view.round),
            |object| {
                let py = object.py();
                let times_used = PyBytes::new_with(py, 4 * view.times_used.len(), |buffer| {
                    for (into, value) in buffer.chunks_exact_mut(4).zip(view.times_used) {
                        into.copy_from_slice(&value.to_le_bytes());
                    }
                    Ok(())
                })?;
                let columns = (
                    truths(py, view.available)?,
                    truths(py, view.present)?,
                    truths(py, view.busy)?,
                    bytes(py, view.last_duration)?,
                    bytes(py, view.last_norm)?,
                    times_used,
                );
                let (round, now, wanted) = (view.round, view.now.nanos(), view.wanted);
                object
                    .call_method1(
                        intern!(py, "_select"),
                        (round, now, wanted, columns, CallRng(*rng)),
                    )?
                    .extract()
            },
        )
    }

    fn heard(&mut self, feedback: &Feedback) {
        if self.hears {
            let Feedback { client, round, outcome, tau, duration, norm, .. } = *feedback;
            self.hook.call(
                || format!("client {client}, round {round}"),
                |object| {
                    let told = (client, round, outcome.name(), tau, duration.seconds(), norm);
                    object.call_method1(intern!(object.py(), "_heard"), told).map(drop)
                },
            );
        }
    }

    fn needs(&self) -> Needs {
        Needs::Everything
    }
}

pub struct PyWork(pub Hook);

impl Work for PyWork {
    fn amount(&mut self, ask: &WorkAsked, rng: &KeyedRng) -> WorkAmount {
        let deadline = ask.deadline.map(|deadline| deadline.seconds());
        let told = (ask.client, ask.round, ask.now.seconds(), deadline);
        let (kind, amount): (u8, f64) = self.0.call(
            || format!("client {}, round {}", ask.client, ask.round),
            |object| {
                let more = (ask.step.seconds(), ask.samples, ask.batch as u64);
                object
                    .call_method1(intern!(object.py(), "_amount"), (told, more, CallRng(*rng)))?
                    .extract()
            },
        );
        match kind {
            0 => WorkAmount::Steps(amount as u64),
            1 => WorkAmount::Epochs(amount),
            _ => WorkAmount::UntilDeadline,
        }
    }
}

pub struct PyClosing(pub Hook);

/// What becomes of a round, as Python says it: 0 it goes on, 1 it closes, 2 it is looked at again at an instant.
fn then((code, at): (u8, u64)) -> Then {
    match code {
        0 => Then::Wait,
        1 => Then::Close,
        _ => Then::WakeAt(SimTime::from_nanos(at)),
    }
}

impl Closing for PyClosing {
    fn character(&self) -> Character {
        let (one_by_one, deadline, extends, leaves): (bool, bool, bool, bool) = self
            .0
            .call(|| "its character".into(), |object| object.call_method0("_character")?.extract());
        let mut character = if one_by_one { Character::ONE_BY_ONE } else { Character::ROUNDS };
        if leaves {
            character = character.leaving_behind();
        }
        if deadline {
            character = character.with_deadline();
        }
        if extends { character.extensible() } else { character }
    }

    fn opened(&mut self, round: &RoundOpened) -> Result<Opened, TimeOverflow> {
        let event = round.deadline.map(|span| span.seconds());
        let (deadline, wake): (Option<u64>, Option<u64>) = self.0.call(
            || format!("round {}", round.round),
            |object| {
                let told = (round.round, round.now.nanos(), round.asked, event);
                object.call_method1(intern!(object.py(), "_opened"), told)?.extract()
            },
        );
        let after = |nanos: Option<u64>| {
            nanos.map(|nanos| round.now.after(Span::from_nanos(nanos))).transpose()
        };
        Ok(Opened { deadline: after(deadline)?, wake: after(wake)? })
    }

    fn arrived(&mut self, update: &UpdateArrived) -> Verdict {
        let (counts, code, at): (f64, u8, u64) = self.0.call(
            || format!("client {}", update.client),
            |object| {
                let UpdateArrived { client, now, asked, tau, staleness, .. } = *update;
                let told = (client, now.nanos(), asked.nanos(), tau, staleness);
                object.call_method1(intern!(object.py(), "_arrived"), told)?.extract()
            },
        );
        // A negative factor: it is dropped.
        Verdict {
            counts: Some(counts).filter(|counts| *counts >= 0.0 || counts.is_nan()),
            then: then((code, at)),
        }
    }

    fn came_late(&mut self, update: &UpdateArrived) {
        self.0.call(
            || format!("client {}", update.client),
            |object| {
                let UpdateArrived { client, now, asked, tau, staleness, .. } = *update;
                let told = (client, now.nanos(), asked.nanos(), tau, staleness);
                object.call_method1(intern!(object.py(), "_came_late"), told).map(drop)
            },
        );
    }

    fn lost(&mut self, now: SimTime) -> Then {
        then(self.0.call(
            || format!("at {now}"),
            |object| object.call_method1(intern!(object.py(), "_lost"), (now.nanos(),))?.extract(),
        ))
    }

    fn time_is_up(&mut self, now: SimTime) -> Then {
        then(self.0.call(
            || format!("at {now}"),
            |object| {
                object.call_method1(intern!(object.py(), "_time_is_up"), (now.nanos(),))?.extract()
            },
        ))
    }

    fn closed(&mut self, now: SimTime) {
        self.0.call(
            || format!("at {now}"),
            |object| object.call_method1(intern!(object.py(), "_closed"), (now.nanos(),)).map(drop),
        );
    }
}
