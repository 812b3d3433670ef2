//! The built-in round-robin scheme, written as a user would: the same results to the bit.

use gruppetto::policy::{KeyedRng, Selector, View};
use gruppetto::{Options, Plugins, Scenario, run};

/// In turn, by number; a client that is not available when its turn comes is passed over.
#[derive(Default)]
struct InTurn {
    next: u32,
}

impl Selector for InTurn {
    fn select(&mut self, view: &View<'_>, _: &KeyedRng) -> Vec<u32> {
        let clients = view.clients() as u32;
        let order = (self.next..clients).chain(0..self.next);
        let available = order.filter(|client| view.available[*client as usize]);
        let chosen: Vec<u32> = available.take(view.wanted).collect();
        self.next = chosen.last().map_or(self.next, |last| (last + 1) % clients);
        chosen
    }
}

/// Registers it as "in-turn".
pub fn plugins() -> Plugins {
    Plugins::new().selector("in-turn", |_, _| Ok(Box::new(InTurn::default())))
}

const SCENARIO: &str = r#"
name = "like-round-robin"
stop.rounds = 40
client.work = { epochs = 1 }
server = { close = { deadline = "2s" }, late = "stale", partial = "discard", sample.clients = 4 }
fleet.class = [{ name = "phone", step_time = { lognormal = { median = "80ms", sigma = 0.9 } } }]
variant = [
    { name = "built-in", set = { server.scheme = "round-robin" } },
    { name = "own", set = { server.scheme = { plugin = "in-turn" } } },
]
"#;

/// Runs both and compares their digests.
pub fn main() {
    let scenario = Scenario::parse_with("like-round-robin.toml", SCENARIO, &[], None, &plugins());
    let scenario = scenario.unwrap_or_else(|error| panic!("{error}"));
    let summary = run(&scenario, &Options::default(), &plugins()).unwrap();
    let digests: Vec<&String> = summary.variants.iter().map(|variant| &variant.digest).collect();
    println!("{digests:?}");
    assert_eq!(digests[0], digests[1]);
}
