//! A closing policy of your own: a round closes when the next update would be an outlier.
//!
//! ```console
//! $ cargo run --release --example own_closing
//! ```

use gruppetto::clock::{SimTime, Span, TimeOverflow};
use gruppetto::policy::{Character, Closing, Opened, RoundOpened, Then, UpdateArrived, Verdict};
use gruppetto::{Options, Plugins, Scenario, run};

/// Closes at median + k·MAD of the times of the updates that have arrived, once half of the clients
/// have answered. MAD is the median absolute deviation.
struct Outliers {
    k: f64,
    opened: SimTime,
    asked: usize,
    took: Vec<u64>,
}

fn median(values: &mut [u64]) -> f64 {
    values.sort_unstable();
    values[values.len() / 2] as f64
}

impl Closing for Outliers {
    fn character(&self) -> Character {
        // Clients are not told a deadline, and some may be left behind.
        Character::ROUNDS.leaving_behind()
    }

    fn opened(&mut self, round: &RoundOpened) -> Result<Opened, TimeOverflow> {
        (self.opened, self.asked) = (round.now, round.asked);
        self.took.clear();
        Ok(Opened::default())
    }

    fn arrived(&mut self, update: &UpdateArrived) -> Verdict {
        if update.staleness > 0 {
            // Of an earlier round: it counts half, and the open round does not wait for it.
            return Verdict::discount(0.5);
        }
        self.took.push(update.now.since(self.opened).nanos());
        if self.took.len() == self.asked {
            return Verdict::COUNT_AND_CLOSE;
        }
        if 2 * self.took.len() < self.asked {
            return Verdict::COUNT;
        }
        let middle = median(&mut self.took);
        let away = |took: &u64| (*took as f64 - middle).abs() as u64;
        let mad = median(&mut self.took.iter().map(away).collect::<Vec<_>>());
        let after = Span::from_nanos((middle + self.k * mad) as u64);
        // An instant that has passed is now: then the round closes with this update.
        Verdict::COUNT.then(Then::WakeAt(self.opened.after(after).unwrap_or(SimTime::NEVER)))
    }
}

const SCENARIO: &str = r#"
name = "own-closing"
stop.rounds = 40

[client]
work = { steps = 20 }

[server]
late = "next"

[[fleet.class]]
name = "phone"
step_time = { lognormal = { median = "50ms", sigma = 0.6 } }
jitter = 0.2

[[variant]]
name = "median-mad"
set = { server.close = { plugin = "median-mad", k = 3.0 } }

[[variant]]
name = "all"
set = { server.close = "all" }
"#;

/// Runs both variants; without the slowest clients rounds are much shorter.
pub fn main() {
    let plugins = Plugins::new().closing("median-mad", |parameters, _| {
        let k = parameters.get_or("k", 3.0)?;
        let (opened, asked, took) = (SimTime::ZERO, 0, Vec::new());
        Ok(Box::new(Outliers { k, opened, asked, took }))
    });
    let scenario = Scenario::parse_with("own-closing.toml", SCENARIO, &[], None, &plugins)
        .unwrap_or_else(|error| panic!("{error}"));
    let summary = run(&scenario, &Options::default(), &plugins).unwrap_or_else(|e| panic!("{e}"));
    for variant in &summary.variants {
        let (seconds, missing) = (variant.virtual_seconds, variant.missing_mass);
        println!("{:12} {seconds:7.1} s for 40 rounds, never heard {missing:.3}", variant.name);
    }
    let [outliers, all] = [0, 1].map(|i| summary.variants[i].virtual_seconds);
    assert!(outliers < 0.8 * all, "rounds do not wait for outliers");
}
