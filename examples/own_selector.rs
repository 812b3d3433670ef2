//! A selector of your own: the fastest clients first, and some that were never heard.
//!
//! ```console
//! $ cargo run --release --example own_selector
//! ```

use gruppetto::plugins::{Parameters, PluginError};
use gruppetto::policy::{KeyedRng, Selector, View};
use gruppetto::{Options, Plugins, Scenario, run};
use rand::RngExt;

/// Asks the clients that were back soonest the last time. A part of each round explores clients that
/// were never heard.
struct FastestFirst {
    exploration: f64,
}

impl FastestFirst {
    fn new(parameters: &Parameters) -> Result<Self, PluginError> {
        let exploration = parameters.get_or("exploration", 0.2)?;
        if !(0.0..=1.0).contains(&exploration) {
            return Err(parameters.wrong("exploration", "a number from 0 to 1"));
        }
        Ok(FastestFirst { exploration })
    }
}

impl Selector for FastestFirst {
    fn select(&mut self, view: &View<'_>, rng: &KeyedRng) -> Vec<u32> {
        let took = |client: &u32| view.last_duration[*client as usize];
        let (mut unknown, mut known): (Vec<u32>, Vec<u32>) =
            view.available_clients().partition(|client| took(client).is_nan());
        known.sort_by(|a, b| took(a).total_cmp(&took(b)));
        // Randomness comes from the stream that is handed in: the same bits on any number of threads.
        let mut stream = rng.stream(0);
        let wanted = (self.exploration * view.wanted as f64).round() as usize;
        let explored = wanted.max(view.wanted.saturating_sub(known.len())).min(unknown.len());
        let mut chosen: Vec<u32> = (0..explored)
            .map(|_| unknown.swap_remove(stream.random_range(0..unknown.len())))
            .collect();
        chosen.extend(known.into_iter().take(view.wanted - explored));
        chosen
    }
}

const SCENARIO: &str = r#"
name = "own-selector"
stop.rounds = 60

[task]
kind = "synthetic"
clients = 40

[client]
work = { epochs = 1 }

[server]
close = "all"
sample = { clients = 5 }

[[fleet.class]]
name = "phone"
step_time = { lognormal = { median = "50ms", sigma = 1.0 } }

[[variant]]
name = "fastest-first"
set = { server.scheme = { plugin = "fastest-first", exploration = 0.2 } }

[[variant]]
name = "uniform"
"#;

/// Runs both variants; the fast clients finish sooner and are all that is heard.
pub fn main() {
    let plugins = Plugins::new()
        .selector("fastest-first", |parameters, _| Ok(Box::new(FastestFirst::new(parameters)?)));
    let scenario = Scenario::parse_with("own-selector.toml", SCENARIO, &[], None, &plugins)
        .unwrap_or_else(|error| panic!("{error}"));
    let summary = run(&scenario, &Options::default(), &plugins).unwrap_or_else(|e| panic!("{e}"));
    for variant in &summary.variants {
        let (seconds, chi2) = (variant.virtual_seconds, variant.chi2);
        println!("{:14} {seconds:7.1} s for 60 rounds, χ² {chi2:.2}", variant.name);
    }
    let [fastest, uniform] = [0, 1].map(|i| summary.variants[i].virtual_seconds);
    assert!(fastest < 0.7 * uniform, "fast clients make short rounds");
}
