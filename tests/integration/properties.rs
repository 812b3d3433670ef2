//! What holds for every fleet, policy and draw.

use crate::simulated::{Simulated, options, scenario};
use gruppetto::plugins::Plugins;
use gruppetto::run::{Options, run};
use proptest::prelude::*;

/// A scenario with random devices; `server` says how rounds close and how updates are weighed.
fn random_fleet(clients: usize, seed: u64, spread: f64, work: &str, server: &str) -> String {
    format!(
        r#"
name = "any"
seed = {seed}
stop.rounds = 8
[task]
kind = "synthetic"
clients = {clients}
size = {{ uniform = [10, 400] }}
[client]
work = {work}
[server]
{server}
[[fleet.class]]
name = "device"
step_time = {{ lognormal = {{ median = "100ms", sigma = {spread} }} }}
jitter = 0.3
uplink = {{ lognormal = {{ median = "200kbps", sigma = {spread} }} }}
latency = {{ uniform = ["0ms", "100ms"] }}
"#
    )
}

fn simulate(text: &str) -> Simulated {
    let folder = tempfile::tempdir().unwrap();
    let options = Options { timing_only: true, ..options(folder.path(), 1) };
    let summary =
        run(&scenario(text), &options, &Plugins::new()).unwrap_or_else(|error| panic!("{error}"));
    Simulated::new(summary, folder)
}

const CLOSES: [&str; 3] =
    ["close = \"all\"", "close = { deadline = \"3s\" }", "close = { first = 2, of = 3 }"];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn the_meter_reads_p_for_fednova_when_everyone_takes_part(
        clients in 1usize..40, seed in 0u64..1_000_000, spread in 0.0..1.5f64,
    ) {
        // Drawn once: with steps redrawn every round FedAvg's weights may average out to p by chance.
        let work = "{ epochs = { uniform = [1, 5] }, redraw = \"once\" }";
        let text = random_fleet(clients, seed, spread, work, CLOSES[0]);
        let fednova = &simulate(&text).summary.variants[0];
        prop_assert!(fednova.chi2 < 1e-10, "{}", fednova.chi2);
        prop_assert_eq!(fednova.missing_mass, 0.0);
        let fedavg = simulate(&text.replace("[server]", "[server]\nweighting = \"fedavg\""));
        let fedavg = &fedavg.summary.variants[0];
        if fedavg.tau.min < fedavg.tau.max {
            // FedAvg weighs by p_i tau_i (Section 3): away from p as soon as two taus differ.
            prop_assert!(fedavg.chi2 > 1e-9, "{}", fedavg.chi2);
        } else {
            prop_assert!(fedavg.chi2 < 1e-10, "{}", fedavg.chi2);
        }
    }

    #[test]
    fn events_never_go_back_in_time_and_nothing_is_lost(
        clients in 3usize..40, seed in 0u64..1_000_000, spread in 0.0..1.5f64,
        close in 0usize..3, discard in any::<bool>(),
    ) {
        let partial = if discard && close == 1 { "\npartial = \"discard\"" } else { "" };
        let server = format!("{}{partial}", CLOSES[close]);
        let run = simulate(&random_fleet(clients, seed, spread, "{ steps = 15 }", &server));
        let names = ["round", "dispatched_ns", "arrived_ns", "outcome", "tau"];
        let rows: Vec<[u64; 3]> = run
            .columns("clients.csv", names)
            .iter()
            .map(|row| [&row[0], &row[1], &row[2]].map(|text| text.parse().unwrap()))
            .collect();
        for pair in rows.windows(2) {
            prop_assert!(pair[0][2] <= pair[1][2], "{pair:?}");
        }
        prop_assert!(rows.iter().all(|[_, dispatched, arrived]| dispatched <= arrived));
        // Everybody asked has a row, those too who were on the way when the run ended.
        let asked: u64 =
            run.columns("rounds.csv", ["asked"]).iter().map(|row| row[0].parse::<u64>().unwrap()).sum();
        let outcomes = run.summary.variants[0].outcomes;
        prop_assert_eq!(outcomes.iter().sum::<u64>(), asked);
        prop_assert_eq!(rows.len() as u64, asked);
        let closed: Vec<f64> = run
            .columns("rounds.csv", ["virtual_seconds"])
            .iter()
            .map(|row| row[0].parse().unwrap())
            .collect();
        prop_assert!(closed.windows(2).all(|pair| pair[0] <= pair[1]));
    }

    #[test]
    fn weights_sum_to_one_and_tau_eff_lies_between_the_taus(
        clients in 3usize..30, seed in 0u64..1_000_000, spread in 0.0..1.5f64,
        close in 0usize..3, fedavg in any::<bool>(),
    ) {
        let weighting = if fedavg { "\nweighting = \"fedavg\"" } else { "" };
        let server = format!("{}{weighting}", CLOSES[close]);
        let work = if close == 1 { "{ until = \"deadline\" }" } else { "{ epochs = 2 }" };
        let run = simulate(&random_fleet(clients, seed, spread, work, &server));
        let mut sums = [0.0; 9];
        for [round, weight] in run.columns("clients.csv", ["round", "weight"]) {
            sums[round.parse::<usize>().unwrap()] += weight.parse::<f64>().unwrap();
        }
        for row in run.columns("rounds.csv", ["round", "arrived", "tau_min", "tau_eff", "tau_max"]) {
            let [round, arrived, least, tau_eff, most] = row.map(|text| text.parse::<f64>().unwrap());
            let whole = if arrived > 0.0 { 1.0 } else { 0.0 };
            prop_assert!((sums[round as usize] - whole).abs() < 1e-12);
            prop_assert!(least * (1.0 - 1e-12) <= tau_eff && tau_eff <= most * (1.0 + 1e-12));
        }
    }
}
