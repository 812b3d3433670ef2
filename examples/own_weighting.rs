//! A weighting of your own: between FedNova, where steps do not count, and FedAvg, where they do.
//!
//! ```console
//! $ cargo run --release --example own_weighting
//! ```

use gruppetto::aggregate::{Contribution, Weight, Weighting};
use gruppetto::{Options, Plugins, Scenario, run};

/// w_i ∝ p_i √τ_i.
struct RootTau;

impl Weighting for RootTau {
    fn weigh(&mut self, update: &Contribution) -> Weight {
        Weight::from(update.p * (update.tau as f64).sqrt())
    }
}

const SCENARIO: &str = r#"
name = "own-weighting"
stop.rounds = 60

[client]
work = { steps = { uniform = [2, 60] }, redraw = "once" }

[server]
close = "all"

[[variant]]
name = "fednova"

[[variant]]
name = "root-tau"
set = { server.weighting = { plugin = "root-tau" } }

[[variant]]
name = "fedavg"
set = { server.weighting = "fedavg" }
"#;

/// Runs all three; how far the objective leans towards busy clients lies between the other two.
pub fn main() {
    let plugins = Plugins::new().weighting("root-tau", |_, _| Ok(Box::new(RootTau)));
    let scenario = Scenario::parse_with("own-weighting.toml", SCENARIO, &[], None, &plugins)
        .unwrap_or_else(|error| panic!("{error}"));
    let summary = run(&scenario, &Options::default(), &plugins).unwrap_or_else(|e| panic!("{e}"));
    for variant in &summary.variants {
        println!("{:10} χ² {:.4}", variant.name, variant.chi2);
    }
    let [fednova, root, fedavg] = [0, 1, 2].map(|i| summary.variants[i].chi2);
    assert!(fednova < root && root < fedavg);
}
