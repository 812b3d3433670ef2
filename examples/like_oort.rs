//! The built-in Oort, written as a user would: the same results to the bit.

use gruppetto::clock::Span;
use gruppetto::policy::{Feedback, KeyedRng, Selector, View, draw_uniform};
use gruppetto::{Options, Plugins, Scenario, run};
use rand::RngExt;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Oort with a given round time (Lai et al., OSDI 2021): a part of each round explores clients that
/// were never heard, the others are drawn by what they brought and how fast they were.
struct Oort {
    round_time: Span,
    p: Arc<[f64]>,
    /// Of every client heard: the last round, how long it took, p_i‖d_i‖.
    heard: BTreeMap<u32, (u64, Span, f64)>,
}

impl Oort {
    /// Score and client, best first.
    fn scores(&self, view: &View<'_>) -> Vec<(f64, u32)> {
        let heard = || self.heard.iter().filter(|(client, _)| view.available[**client as usize]);
        let mut brought: Vec<f64> = heard().map(|(_, (.., utility))| *utility).collect();
        brought.retain(|utility| *utility > 0.0);
        brought.sort_by(f64::total_cmp);
        let least = 0.999 * brought.first().copied().unwrap_or(f64::INFINITY);
        let clip = ((0.95 * brought.len() as f64) as usize).min(brought.len().max(1) - 1);
        let most = brought.get(clip).copied().unwrap_or(0.0);
        let score = |(client, (round, took, utility)): (&u32, &(u64, Span, f64))| {
            let above = utility.min(most) - least;
            let worth = if above > 0.0 { above / (most - least) } else { 0.0 };
            let score = worth + (0.1 * (view.round as f64).ln() / *round as f64).sqrt();
            let slow = self.round_time.nanos() as f64 / took.nanos() as f64;
            (if *took > self.round_time { score * slow.powf(2.0) } else { score }, *client)
        };
        let mut scores: Vec<(f64, u32)> = heard().map(score).collect();
        scores.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        scores
    }
}

impl Selector for Oort {
    fn select(&mut self, view: &View<'_>, rng: &KeyedRng) -> Vec<u32> {
        if view.wanted >= view.available_count {
            return view.available_clients().collect();
        }
        let mut scores = self.scores(view);
        let mut untried = view.available.to_vec();
        self.heard.keys().for_each(|client| untried[*client as usize] = false);
        let fresh = view.available_count - scores.len();
        let part = (0.9 * 0.98f64.powf(view.round as f64 - 1.0)).max(0.2) * view.wanted as f64;
        let explored = (part - 1e-9).ceil() as usize;
        let explored = explored.min(fresh).max(view.wanted.saturating_sub(scores.len()));
        let mut chosen = draw_uniform(explored, fresh, &untried, &mut rng.stream(3));
        if let Some(last) = (view.wanted - explored).checked_sub(1).map(|place| scores[place].0) {
            scores.retain(|(score, _)| *score >= 0.95 * last);
            scores.sort_by_key(|(_, client)| *client);
            // Each comes after a time drawn with its score as the rate; the first ones are asked.
            let mut stream = rng.stream(2);
            let comes = |(score, client)| (-(1.0 - stream.random::<f64>()).ln() / score, client);
            let mut coming: Vec<(f64, u32)> = scores.into_iter().map(comes).collect();
            coming.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            chosen.extend(coming.iter().take(view.wanted - explored).map(|(_, client)| *client));
        }
        chosen
    }

    fn heard(&mut self, told: &Feedback) {
        let utility = self.p[told.client as usize] * told.norm;
        if !utility.is_nan() {
            self.heard.insert(told.client, (told.round, told.duration, utility));
        }
    }
}

/// Registers it as "oort".
pub fn plugins() -> Plugins {
    Plugins::new().selector("oort", |parameters, fleet| {
        let (round_time, p) = (parameters.require("round_time")?, fleet.p.clone());
        Ok(Box::new(Oort { round_time, p, heard: BTreeMap::new() }))
    })
}

const SCENARIO: &str = r#"
name = "like-oort"
stop.rounds = 60
task.clients = 60
client.work = { epochs = 1 }
server = { close = "all", sample.clients = 6 }
fleet.class = [{ name = "phone", step_time = { lognormal = { median = "80ms", sigma = 0.9 } } }]
variant = [
    { name = "built-in", set = { server.scheme = { oort = { round_time = "1s" } } } },
    { name = "own", set = { server.scheme = { plugin = "oort", round_time = "1s" } } },
]
"#;

/// Runs both and compares their digests.
pub fn main() {
    let scenario = Scenario::parse_with("like-oort.toml", SCENARIO, &[], None, &plugins());
    let scenario = scenario.unwrap_or_else(|error| panic!("{error}"));
    let summary = run(&scenario, &Options::default(), &plugins()).unwrap();
    let digests: Vec<&String> = summary.variants.iter().map(|variant| &variant.digest).collect();
    println!("{digests:?}");
    assert_eq!(digests[0], digests[1]);
}
