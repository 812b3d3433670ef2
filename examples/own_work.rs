//! Work of your own: every client is busy for about as long, however slow it is.
//!
//! ```console
//! $ cargo run --release --example own_work
//! ```

use gruppetto::policy::{KeyedRng, Work, WorkAmount, WorkAsked};
use gruppetto::{Options, Plugins, Scenario, run};

/// As many steps as fit into a budget of time, but never more than one pass over the client's data.
struct TimeBudget {
    seconds: f64,
}

impl Work for TimeBudget {
    fn amount(&mut self, ask: &WorkAsked, rng: &KeyedRng) -> WorkAmount {
        self.typical(ask, rng).unwrap_or(WorkAmount::Steps(1))
    }

    /// The same in every round: `check` can say how many steps that will be.
    fn typical(&self, ask: &WorkAsked, _: &KeyedRng) -> Option<WorkAmount> {
        let fits = (self.seconds / ask.step.seconds()) as u64;
        let one_pass = u64::from(ask.samples).div_ceil(ask.batch as u64);
        Some(WorkAmount::Steps(fits.clamp(1, one_pass.max(1))))
    }
}

const SCENARIO: &str = r#"
name = "own-work"
stop.rounds = 60

[server]
close = "all"

[[fleet.class]]
name = "phone"
step_time = { lognormal = { median = "100ms", sigma = 1.0 } }

[[variant]]
name = "one-pass"
set = { client.work = { epochs = 1 } }

[[variant]]
name = "two-seconds"
set = { client.work = { plugin = "time-budget", seconds = 2.0 } }
"#;

/// The server does not wait for the slowest client's whole pass, so the same rounds take less time.
pub fn main() {
    let plugins = Plugins::new().work("time-budget", |parameters, _| {
        let seconds = parameters.require("seconds")?;
        Ok(Box::new(TimeBudget { seconds }))
    });
    let scenario = Scenario::parse_with("own-work.toml", SCENARIO, &[], None, &plugins)
        .unwrap_or_else(|error| panic!("{error}"));
    let run = run(&scenario, &Options::default(), &plugins).unwrap_or_else(|e| panic!("{e}"));
    for variant in &run.variants {
        println!(
            "{:12} {:6.1} s, τ up to {}",
            variant.name, variant.virtual_seconds, variant.tau.max
        );
    }
    let [pass, budget] = [0, 1].map(|i| &run.variants[i]);
    assert!(budget.virtual_seconds < pass.virtual_seconds && budget.tau.max <= pass.tau.max);
}
