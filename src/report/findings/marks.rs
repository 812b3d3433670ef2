//! Events on the time axis.

use crate::clock::{SimTime, Span};
use crate::device::{Among, DeviceEffect, Effect, EventConfig, LrEffect, When, Whom};
use crate::record::RoundRow;
use serde_json::{Value, json};

/// An event, and when it happened.
#[derive(Clone, Debug)]
pub struct Mark {
    when: When,
    lasting: Option<Span>,
    what: String,
    at: Option<SimTime>,
}

impl Mark {
    /// Of an event, for a fleet whose classes have these names.
    pub fn of(event: &EventConfig, classes: &[String]) -> Self {
        let at = match event.when {
            When::At(after) => Some(SimTime::from_nanos(after.nanos())),
            When::Round(1) => Some(SimTime::ZERO),
            When::Round(_) => None,
        };
        let EventConfig { when, lasting, ref effect } = *event;
        Mark { when, lasting, what: in_words(effect, classes), at }
    }

    /// A round closed: the next one opens.
    pub(super) fn closed(&mut self, row: &RoundRow) {
        if self.at.is_none() && self.when == When::Round(row.round + 1) {
            self.at = Some(row.closed);
        }
    }

    /// What happened when, if it did by `end`.
    pub(super) fn json(&self, end: SimTime) -> Option<Value> {
        let at = self.at.filter(|at| *at <= end)?;
        let until = self.lasting.and_then(|lasting| at.after(lasting).ok());
        Some(json!({
            "at": at.seconds(),
            "until": until.map(SimTime::seconds),
            "what": self.what,
        }))
    }
}

fn in_words(effect: &Effect, classes: &[String]) -> String {
    match effect {
        Effect::Deadline(deadline) => format!("deadline {deadline}"),
        Effect::Lr(LrEffect::To(rate)) => format!("learning rate {rate}"),
        Effect::Lr(LrEffect::Times(factor)) => format!("learning rate × {factor}"),
        Effect::Devices(whom, effect) => {
            let effect = match effect {
                DeviceEffect::Slow(factor) => format!("slow × {factor}"),
                DeviceEffect::Network { up, down } if up == down => format!("network × {up}"),
                DeviceEffect::Network { up, down } => format!("network × {up} up, × {down} down"),
                DeviceEffect::Offline => "offline".into(),
                DeviceEffect::Leave => "leave".into(),
                DeviceEffect::Join => "join".into(),
            };
            format!("{effect}: {}", selected(whom, classes))
        }
    }
}

fn selected(whom: &Whom, classes: &[String]) -> String {
    let among = match &whom.among {
        Among::Everyone => "everyone".to_string(),
        Among::Class(class) => classes.get(usize::from(*class)).cloned().unwrap_or_default(),
        Among::Clients(clients) if clients.len() == 1 => format!("client {}", clients[0]),
        Among::Clients(clients) => format!("{} clients", clients.len()),
    };
    match whom.fraction {
        1.0 => among,
        part => format!("{:.3} % of {among}", 100.0 * part).replace(".000 %", " %"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_said_in_words() {
        let classes = ["phone".to_string()];
        let whom = |fraction| Whom { among: Among::Class(0), fraction };
        for (effect, said) in [
            (Effect::Devices(whom(0.3), DeviceEffect::Slow(3.0)), "slow × 3: 30 % of phone"),
            (Effect::Devices(Whom::EVERYONE, DeviceEffect::Offline), "offline: everyone"),
            (Effect::Lr(LrEffect::Times(0.1)), "learning rate × 0.1"),
        ] {
            assert_eq!(in_words(&effect, &classes), said);
        }
    }
}
