//! `[[event]]`: what a scenario scripts to happen on the way.

use super::script::ClientSet;
use crate::clock::Span;
use crate::random::{Purpose, shuffle, stream};

/// One event.
#[derive(Clone, Debug, PartialEq)]
pub struct EventConfig {
    /// When it happens.
    pub when: When,
    /// For how long; `None`: for good.
    pub lasting: Option<Span>,
    /// What happens.
    pub effect: Effect,
}

/// When an event happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// At this time of the run.
    At(Span),
    /// When this round opens, from 1.
    Round(u64),
}

/// What an event does.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// To some of the devices.
    Devices(Whom, DeviceEffect),
    /// Rounds opened from now on have this deadline.
    Deadline(Span),
    /// Rounds opened from now on have another learning rate.
    Lr(LrEffect),
}

/// What an event does to devices.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DeviceEffect {
    /// Steps take so many times as long.
    Slow(f64),
    /// Links keep so much of their rate; 0: no connection.
    #[allow(missing_docs)]
    Network { up: f64, down: f64 },
    /// They are not there.
    Offline,
    /// They leave, for good.
    Leave,
    /// They come: before this they were not there.
    Join,
}

impl DeviceEffect {
    /// Whether it decides who is there.
    pub fn concerns_presence(self) -> bool {
        matches!(self, DeviceEffect::Offline | DeviceEffect::Leave | DeviceEffect::Join)
    }
}

/// What an event does to learning rates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LrEffect {
    /// The common one is this; what a schedule makes of it goes on.
    To(f64),
    /// All are multiplied by this.
    Times(f64),
}

/// Whom an event selects: part of a class, of everyone, or of a list.
#[derive(Clone, Debug, PartialEq)]
pub struct Whom {
    /// Among whom.
    pub among: Among,
    /// How many of them: a part of all, drawn by the event's own random stream.
    pub fraction: f64,
}

/// Among whom an event selects.
#[derive(Clone, Debug, PartialEq)]
pub enum Among {
    /// Everyone.
    Everyone,
    /// The devices of a class, by its index.
    Class(u16),
    /// These clients.
    Clients(Vec<u32>),
}

impl Whom {
    /// Everyone.
    pub const EVERYONE: Whom = Whom { among: Among::Everyone, fraction: 1.0 };

    /// How many of `among` clients are selected: rounded to the nearest.
    pub fn count(&self, among: usize) -> usize {
        (self.fraction * among as f64).round() as usize
    }

    /// The clients that event number `event` selects; `classes` are everybody's.
    pub fn select(&self, seed: u64, event: usize, classes: &[u16]) -> ClientSet {
        if *self == Whom::EVERYONE {
            return ClientSet::Everyone;
        }
        let everyone = 0..classes.len() as u32;
        let mut among: Vec<u32> = match &self.among {
            Among::Everyone => everyone.collect(),
            Among::Class(class) => everyone.filter(|c| classes[*c as usize] == *class).collect(),
            Among::Clients(clients) => clients.clone(),
        };
        let count = self.count(among.len());
        if count < among.len() {
            shuffle(&mut among, &mut stream(seed, Purpose::Event, event as u64, 0));
        }
        ClientSet::of(classes.len(), among.into_iter().take(count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_class_is_drawn_once_and_is_of_that_class() {
        let classes = [0u16, 1, 1, 0, 1, 1, 1, 1, 1, 1];
        let whom = Whom { among: Among::Class(1), fraction: 0.5 };
        let chosen = |seed, event| {
            let selection = whom.select(seed, event, &classes);
            (0..10u32).filter(|c| selection.has(*c)).collect::<Vec<_>>()
        };
        let first = chosen(1, 0);
        assert_eq!(first.len(), 4);
        assert!(first.iter().all(|c| classes[*c as usize] == 1));
        assert_eq!(first, chosen(1, 0));
        assert!((1..20).any(|event| chosen(1, event) != first), "every event draws for itself");
        let named = Whom { among: Among::Clients(vec![3, 7]), fraction: 1.0 };
        let named = named.select(1, 0, &classes);
        assert_eq!((0..10).filter(|c| named.has(*c)).collect::<Vec<_>>(), [3, 7]);
        assert!(Whom::EVERYONE.select(1, 0, &classes).has(9));
    }
}
