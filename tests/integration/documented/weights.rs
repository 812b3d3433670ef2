//! scenario.md, "Participation when not everyone takes part"; outputs.md on χ².

use super::{all_near, near, numbers, quadratic};
use crate::simulated::Simulated;
use std::collections::BTreeMap;

const UNEQUAL: &str = "clients = 2\ncenters = [[1.0], [-1.0]]\nweights = [0.75, 0.25]";

/// (round, client, weight) of every update used.
fn used(run: &Simulated) -> Vec<(u64, usize, f64)> {
    let rows = run.columns("clients.csv", ["round", "client", "outcome", "weight"]);
    let used = rows.iter().filter(|row| row[2] == "used");
    used.map(|row| (row[0].parse().unwrap(), row[1].parse().unwrap(), row[3].parse().unwrap()))
        .collect()
}

/// "With `weighting = "uniform"` 1/m stands for p_i everywhere: in τ_eff". (2 + 10)/2, not
/// 0.75·2 + 0.25·10 = 4.
#[test]
fn uniform_weights_count_everybody_alike_in_tau_eff() {
    let tau_eff = |weighting: &str| {
        let server = format!("close = \"all\"\nweighting = \"{weighting}\"");
        let run = Simulated::run(
            &quadratic("rounds = 1", UNEQUAL, "work.steps = [2, 10]", &server, ""),
            1,
        );
        (numbers(&run, "rounds.csv", "tau_eff")[0], numbers(&run, "clients.csv", "weight"))
    };
    assert_eq!(tau_eff("uniform"), (6.0, vec![0.5, 0.5]));
    assert_eq!(tau_eff("fednova").0, 4.0);
}

/// "and a client drawn by size counts 1/(m·p_i) for each draw": with one unbiased draw a round that is
/// 1/(2·0.75) or 1/(2·0.25).
#[test]
fn uniform_weights_take_the_size_of_a_draw_by_size_out_again() {
    let server = "close = \"all\"\nweighting = \"uniform\"\nparticipation = \"unbiased\"\n\
                  scheme = \"by-size\"\nsample.clients = 1";
    let run = Simulated::run(&quadratic("rounds = 20", UNEQUAL, "work.steps = 2", server, ""), 1);
    let used = used(&run);
    for (_, client, weight) in &used {
        near(*weight, [2.0 / 3.0, 2.0][*client]);
    }
    assert!((0..2).all(|client| used.iter().any(|row| row.1 == client)), "both are drawn");
}

/// π̂_i = (u_i + π_i)/(t + 1) with π_i = q/m: one of two clients in turn, so π_i = ½. Client 0 has
/// (1 + ½)/2 in aggregation 1 and (2 + ½)/4 in 3, client 1 has (1 + ½)/3 and (2 + ½)/5; weights are
/// ½ over that.
#[test]
fn the_chance_of_a_client_begins_with_q_over_m_and_counts_the_present_use() {
    let server = "close = \"all\"\nparticipation = \"inverse-probability\"\n\
                  scheme = \"round-robin\"\nsample.clients = 1";
    let run = Simulated::run(
        &quadratic("rounds = 4", "clients = 2\ndim = 1", "work.steps = 2", server, ""),
        1,
    );
    all_near(&numbers(&run, "clients.csv", "weight"), &[2.0 / 3.0, 1.0, 0.8, 1.0]);
}

/// "q·p_i by size": two draws a round, so π_i is 1.5 or 0.5. A round in which one client is asked drew it
/// twice, and it counts twice, in u_i too.
#[test]
fn the_chance_of_a_client_drawn_by_size_begins_with_q_times_p() {
    let server = "close = \"all\"\nparticipation = \"inverse-probability\"\n\
                  scheme = \"by-size\"\nsample.clients = 2";
    let run = Simulated::run(&quadratic("rounds = 20", UNEQUAL, "work.steps = 2", server, ""), 1);
    let used = used(&run);
    let mut asked = BTreeMap::<u64, f64>::new();
    used.iter().for_each(|row| *asked.entry(row.0).or_default() += 1.0);
    let mut uses = [0.0; 2];
    for (round, client, weight) in &used {
        let times = 2.0 / asked[round];
        uses[*client] += times;
        let p = [0.75, 0.25][*client];
        let chance = (uses[*client] + 2.0 * p) / (*round as f64 + 1.0);
        near(*weight, p * times / chance);
    }
    assert!(asked.values().any(|count| *count == 1.0) && asked.values().any(|count| *count == 2.0));
}

/// "`concurrency`/m without rounds", and "every one within an aggregation included": one of two clients at a
/// time, π_i = ½, and two updates in an aggregation, often of the same client.
#[test]
fn the_chance_of_a_client_counts_every_use_within_an_aggregation() {
    let server = "close = { buffer = 2 }\nconcurrency = 1\nparticipation = \"inverse-probability\"";
    let run = Simulated::run(
        &quadratic("rounds = 20", "clients = 2\ndim = 1", "work.steps = 2", server, ""),
        1,
    );
    let (mut uses, mut twice) = ([0.0; 2], 0);
    let used = used(&run);
    for (i, (_, client, weight)) in used.iter().enumerate() {
        let aggregation = i as f64 / 2.0;
        uses[*client] += 1.0;
        near(*weight, 0.5 / ((uses[*client] + 0.5) / (aggregation.floor() + 2.0)));
        twice += usize::from(i % 2 == 1 && used[i - 1].1 == *client);
    }
    assert!(used.len() == 40 && twice > 0, "{twice} of {}", used.len());
}

/// "With `"fedavg"` and unbiased or inverse-probability weights, ‖a_i‖₁ is divided by its mean over everyone
/// heard so far": 2 and 10 steps, p_i = ½, one of the two a round. Alone, a client is its own mean; from
/// when both were heard on the mean is 6, whoever arrives.
#[test]
fn fedavg_divides_by_the_mean_of_everyone_heard_so_far() {
    let run = |participation: &str| {
        let server = format!(
            "close = \"all\"\nweighting = \"fedavg\"\nparticipation = \"{participation}\"\n\
             sample.clients = 1"
        );
        let clients = "clients = 2\ndim = 1";
        let text = quadratic("rounds = 12", clients, "work.steps = [2, 10]", &server, "");
        Simulated::run(&text, 1)
    };
    let (unbiased, inverse) = (run("unbiased"), run("inverse-probability"));
    for run in [&unbiased, &inverse] {
        let (mut heard, mut uses) = ([false; 2], [0.0; 2]);
        let tau_eff = numbers(run, "rounds.csv", "tau_eff");
        for ((round, client, weight), tau_eff) in used(run).into_iter().zip(tau_eff) {
            heard[client] = true;
            uses[client] += 1.0;
            let steps = [2.0, 10.0][client];
            let mean = if heard == [true; 2] { 6.0 } else { steps };
            near(tau_eff, mean);
            // p_i·m/q = 1, or ½ over how often it was used.
            let chance = (uses[client] + 0.5) / (round as f64 + 1.0);
            let share = if std::ptr::eq(run, &unbiased) { 1.0 } else { 0.5 / chance };
            near(weight, share * steps / mean);
        }
        assert_eq!(heard, [true; 2]);
    }
}

/// outputs.md: "χ² is that among the clients heard so far, with p renormalised over them: clients that are
/// never asked are not in it, but in `missing_mass`." Of p = ½, ¼, ¼ the last never makes a step. FedAvg
/// weighs ⅔ · 1 and ⅓ · 3 steps, which is 0.4 and 0.6:
/// χ² = (⅔ − 0.4)²/0.4 + (⅓ − 0.6)²/0.6 = 8/27.
#[test]
fn chi2_is_taken_over_those_heard() {
    let clients = "clients = 3\ndim = 1\nweights = [0.5, 0.25, 0.25]";
    let fleet = "[fleet]\nassign = \"in-order\"\n[[fleet.class]]\nname = \"ok\"\nshare = 0.67\n\
                 step_time = \"1ms\"\n[[fleet.class]]\nname = \"slow\"\nshare = 0.33\n\
                 step_time = \"1s\"";
    for (weighting, chi2) in [("fedavg", 8.0 / 27.0), ("fednova", 0.0)] {
        let server = format!("close.deadline = \"10ms\"\nweighting = \"{weighting}\"");
        let run = Simulated::run(
            &quadratic("rounds = 3", clients, "work.steps = [1, 3, 1]", &server, fleet),
            1,
        );
        all_near(&numbers(&run, "rounds.csv", "chi2"), &[chi2; 3]);
        all_near(&numbers(&run, "rounds.csv", "missing_mass"), &[0.25; 3]);
        let variant = &run.summary.variants[0];
        all_near(&[variant.chi2, variant.missing_mass], &[chi2, 0.25]);
    }
}
