//! An observer of your own: which clients does a run wait for?
//!
//! ```console
//! $ cargo run --release --example own_observer
//! ```

use gruppetto::observer::{Observer, ObserverError};
use gruppetto::record::{ClientRow, Outcome, RoundRow};
use gruppetto::{Options, Plugins, Scenario, run};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// Counts how often each client was the last whose update counted in a round.
#[derive(Default)]
struct Stragglers {
    last: Option<u32>,
    counts: BTreeMap<u32, u32>,
}

impl Observer for Stragglers {
    fn arrived(&mut self, rows: &[ClientRow]) -> Result<(), ObserverError> {
        let used = rows.iter().rev().find(|row| row.outcome == Outcome::Used);
        self.last = used.map(|row| row.client).or(self.last);
        Ok(())
    }

    fn closed(&mut self, _: &RoundRow) -> Result<(), ObserverError> {
        if let Some(client) = self.last.take() {
            *self.counts.entry(client).or_default() += 1;
        }
        Ok(())
    }
}

const SCENARIO: &str = r#"
name = "own-observer"
stop.rounds = 50
server.close = "all"
client.work = { epochs = 1 }

[[fleet.class]]
name = "phone"
step_time = { lognormal = { median = "50ms", sigma = 0.8 } }
jitter = 0.5
"#;

/// Observes a run, and prints the clients that it waited for most often.
pub fn main() {
    // One handle observes, the other is kept to look at it when the run is over.
    let stragglers = Arc::new(Mutex::new(Stragglers::default()));
    let handle = stragglers.clone();
    let plugins = Plugins::new().observer(move |_| Some(Box::new(handle.clone())));
    let scenario = Scenario::parse_with("own-observer.toml", SCENARIO, &[], None, &plugins)
        .unwrap_or_else(|error| panic!("{error}"));
    run(&scenario, &Options::default(), &plugins).unwrap_or_else(|error| panic!("{error}"));
    let stragglers = stragglers.lock().unwrap();
    let mut counts: Vec<(u32, u32)> = stragglers.counts.iter().map(|(c, n)| (*c, *n)).collect();
    counts.sort_by_key(|(client, count)| (std::cmp::Reverse(*count), *client));
    for (client, count) in counts.iter().take(5) {
        println!("client {client:3} was waited for in {count} of 50 rounds");
    }
    assert_eq!(counts.iter().map(|(_, count)| count).sum::<u32>(), 50);
}
