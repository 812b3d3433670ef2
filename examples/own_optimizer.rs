//! A server optimiser of your own that looks at every update: a trimmed mean.
//!
//! ```console
//! $ cargo run --release --example own_optimizer
//! ```

use gruppetto::aggregate::{AggregatedUpdate, ServerOptimizer};
use gruppetto::{Options, Plugins, Scenario, run};

/// Of every coordinate the largest and the smallest part of the normalised updates is left out, and
/// the mean of the others is taken.
struct TrimmedMean {
    part: f64,
}

impl ServerOptimizer for TrimmedMean {
    fn collects(&self) -> bool {
        true
    }

    fn apply(&mut self, x: &mut [f64], update: &AggregatedUpdate<'_>) {
        let updates = update.updates;
        let out = (self.part * updates.len() as f64) as usize;
        let kept = out..updates.len() - out;
        let mut values = Vec::with_capacity(updates.len());
        for (i, x) in x.iter_mut().enumerate() {
            values.clear();
            values.extend(updates.iter().map(|held| held.delta[i] / held.update.accumulation));
            values.sort_by(f64::total_cmp);
            let mean = values[kept.clone()].iter().sum::<f64>() / kept.len() as f64;
            *x += update.applied.tau_eff * mean;
        }
    }
}

const SCENARIO: &str = r#"
name = "own-optimizer"
stop.rounds = 80

[task]
kind = "quadratic"
clients = 11
dim = 2
centers = [[1, 0], [0, 1], [1, 1], [0, 0], [1, 0], [0, 1], [1, 1], [0, 0], [1, 0], [0, 1], [900, 900]]

[client]
lr = 0.1
work = { steps = 4 }

[server]
close = "all"

[[variant]]
name = "trimmed"
set = { server.optimizer = { plugin = "trimmed-mean", part = 0.1 } }

[[variant]]
name = "mean"
"#;

/// Runs both variants; one wild client drags the mean away and leaves the trimmed mean where it is.
pub fn main() {
    let plugins = Plugins::new().optimizer("trimmed-mean", |parameters, _| {
        let part = parameters.get_or("part", 0.1)?;
        match (0.0..0.5).contains(&part) {
            true => Ok(Box::new(TrimmedMean { part })),
            false => Err(parameters.wrong("part", "a number from 0 to below 0.5")),
        }
    });
    let scenario = Scenario::parse_with("own-optimizer.toml", SCENARIO, &[], None, &plugins)
        .unwrap_or_else(|error| panic!("{error}"));
    let summary = run(&scenario, &Options::default(), &plugins).unwrap_or_else(|e| panic!("{e}"));
    for variant in &summary.variants {
        let distance = variant.metrics.get(gruppetto::metric::Metric::Distance).unwrap();
        // Which client moved the model how far is unknown where updates are trimmed.
        println!("{:8} {distance:.1} from the mean's minimum, χ² {}", variant.name, variant.chi2);
    }
    assert!(summary.variants[0].chi2.is_nan() && summary.variants[1].chi2 < 1e-12);
}
