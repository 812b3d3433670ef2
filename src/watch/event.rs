//! The last things that happened, in a few words each.

use crate::clock::{SimTime, Span};
use crate::record::Outcome;
use crate::report::number;
use std::collections::VecDeque;
use std::fmt;

/// Events of a kind that are kept.
const MOST: usize = 64;
/// How far back clients of the same fate in the same round are looked for.
const TOGETHER: usize = 4;

/// Something that happened.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Event {
    /// When, in simulated seconds.
    pub seconds: f64,
    /// What.
    pub what: What,
}

/// What can happen.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub(super) enum What {
    /// A round closed.
    Aggregation { round: u64, asked: u64, arrived: u64, tau: f64 },
    /// The server had waited for clients before the round opened.
    Wait { round: u64, waited: f64 },
    /// Clients whose work was in vain; the last of them by name.
    Lost { round: u64, outcome: Outcome, count: u64, client: u32, class: String },
    /// The run is over.
    End { why: String },
}

impl What {
    /// Whether it is bad news.
    pub(super) fn is_trouble(&self) -> bool {
        matches!(self, What::Wait { .. } | What::Lost { .. })
    }
}

/// Simulated seconds as people say them.
pub(super) fn time(seconds: f64) -> String {
    Span::from_nanos_f64(seconds * 1e9).map_or("-".into(), |span| span.to_string())
}

impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            What::Aggregation { round, asked, arrived, tau } => {
                write!(f, "round {round}: {arrived} of {asked}, mean τ {}", number(*tau))
            }
            What::Wait { round, waited } => {
                write!(f, "round {round}: waited {} for clients", time(*waited))
            }
            What::Lost { round, outcome, count, client, class } => {
                let fate = match outcome {
                    Outcome::Used => "used",
                    Outcome::Late => "late",
                    Outcome::NoStep => "made no step",
                    Outcome::Unfinished => "unfinished",
                    Outcome::Dropped => "vanished",
                    Outcome::Offline => "went offline",
                };
                match count {
                    1 => write!(f, "round {round}: {client} ({class}) {fate}"),
                    _ => write!(f, "round {round}: {count} clients {fate}"),
                }
            }
            What::End { why } => write!(f, "over: {why}"),
        }
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:>8}  {}", time(self.seconds), self.what)
    }
}

/// The last events of a run. Rounds and clients come from two files, of which either may be ahead.
#[derive(Clone, Debug, Default)]
pub(super) struct RecentEvents {
    rounds: VecDeque<Event>,
    clients: VecDeque<Event>,
}

impl RecentEvents {
    /// Adds an event of a round.
    pub(super) fn add(&mut self, event: Event) {
        push(&mut self.rounds, event);
    }

    /// A client whose work was in vain. Many of them in a round are one event.
    pub(super) fn lose(
        &mut self,
        at: SimTime,
        round: u64,
        outcome: Outcome,
        client: u32,
        class: &str,
    ) {
        let seconds = at.seconds();
        for event in self.clients.iter_mut().rev().take(TOGETHER) {
            if let What::Lost { round: its, outcome: fate, count, client: last, class: of } =
                &mut event.what
                && (*its, *fate) == (round, outcome)
            {
                event.seconds = event.seconds.max(seconds);
                (*count, *last) = (*count + 1, client);
                of.clear();
                of.push_str(class);
                return;
            }
        }
        let what = What::Lost { round, outcome, count: 1, client, class: class.into() };
        push(&mut self.clients, Event { seconds, what });
    }

    /// The last `count`, the newest first.
    pub(super) fn last(&self, count: usize) -> Vec<&Event> {
        let mut all: Vec<&Event> = self.clients.iter().chain(&self.rounds).collect();
        all.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
        all.truncate(count);
        all
    }
}

fn push(events: &mut VecDeque<Event>, event: Event) {
    if events.len() == MOST {
        events.pop_front();
    }
    events.push_back(event);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_clients_of_one_fate_are_one_event_and_the_newest_comes_first() {
        let mut events = RecentEvents::default();
        let what = What::Aggregation { round: 1, asked: 9, arrived: 5, tau: 2.5 };
        events.add(Event { seconds: 2.0, what });
        for client in 0..3 {
            let at = SimTime::from_nanos(1_000_000_000 * (2 + u64::from(client)));
            events.lose(at, 1, Outcome::Late, client, "phone");
            events.lose(SimTime::ZERO, 1 + u64::from(client), Outcome::Dropped, client, "phone");
        }
        let texts: Vec<String> = events.last(3).iter().map(ToString::to_string).collect();
        assert_eq!(texts[0], "   4.00s  round 1: 3 clients late");
        assert_eq!(texts[1], "   2.00s  round 1: 5 of 9, mean τ 2.500");
        assert_eq!(texts[2], "      0s  round 1: 0 (phone) vanished");
    }

    #[test]
    fn only_the_last_are_kept() {
        let mut events = RecentEvents::default();
        for round in 0..1000 {
            events.add(Event { seconds: round as f64, what: What::Wait { round, waited: 1.0 } });
            events.lose(SimTime::ZERO, round, Outcome::Late, 1, "a");
        }
        assert_eq!(events.last(usize::MAX).len(), 2 * MOST);
    }
}
