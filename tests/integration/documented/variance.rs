//! scenario.md, `[client]`: what corrects the local gradients.

use super::{near, quadratic};
use crate::simulated::Simulated;

/// "With `weighting = "uniform"` 1/m stands for p_i …, in the means of variance reduction".
///
/// η = ½, e = ±1, τ = 1 and 2. In round 1 Δ is ½ and −¾, so d is −1 and ¾, τ_eff 1.5, and
/// x = 1.5 · ½(½ − ⅜) = 3/32. The mean of d is −⅛, by p it would be −0.825. In round 2 the corrections are
/// ⅞ and −⅞. The first client's gradient is 3/32 − 1 + ⅞ = −1/32, Δ = 1/64. The second's are
/// 3/32 + 1 − ⅞ = 7/32, which takes it to −1/64, and 7/64 there: Δ = −7/64 − 7/128 = −21/128.
/// x = 3/32 + 1.5 · ½(1/64 − 21/256) = 45/1024.
#[test]
fn uniform_weights_count_everybody_alike_in_means_of_variance_reduction() {
    let clients = "clients = 2\ncenters = [[1.0], [-1.0]]\nweights = [0.9, 0.1]";
    let client = "lr = 0.5\nwork.steps = [1, 2]\nvariance_reduction = \"fednova\"";
    let server = "close = \"all\"\nweighting = \"uniform\"";
    let run = Simulated::run(&quadratic("rounds = 2", clients, client, server, ""), 1);
    near(run.x("uniform")[0], 45.0 / 1024.0);
}

/// Three clients with p = ½, ¼, ¼ and minima at 1, −1 and 9, one step of η = ½ each; the last never makes
/// its step. Round 1: Δ is ½ and −½.
fn two_of_three(method: &str, server: &str) -> f64 {
    let clients = "clients = 3\ncenters = [[1.0], [-1.0], [9.0]]\nweights = [0.5, 0.25, 0.25]";
    let client = format!("lr = 0.5\nwork.steps = 1\nvariance_reduction = \"{method}\"");
    let server = format!("close.deadline = \"10ms\"\n{server}");
    let fleet = "[fleet]\nassign = \"in-order\"\n[[fleet.class]]\nname = \"ok\"\nshare = 0.67\n\
                 step_time = \"1ms\"\n[[fleet.class]]\nname = \"slow\"\nshare = 0.33\n\
                 step_time = \"1s\"";
    let text = quadratic("rounds = 2", clients, &client, &server, fleet);
    Simulated::run(&text, 1).x("fednova")[0]
}

/// "clients never heard count as zero in that mean": it is ½·(−1) + ¼·1 + ¼·0 = −¼, and not −⅓ as over those
/// heard. x = ⅔·½ − ⅓·½ = 1/6 after round 1. In round 2 both have the gradient x − ¼ = −1/12, and move by
/// 1/24.
#[test]
fn clients_never_heard_count_as_zero_in_the_mean_that_is_sent_along() {
    for method in ["fednova", "scaffold"] {
        near(two_of_three(method, ""), 1.0 / 6.0 + 1.0 / 24.0);
    }
}

/// "The new average of `"vrlsgd"` is that of the models heard in the aggregation, by p_i, wherever the server
/// goes from there": (½·½ − ¼·½)/¾ = 1/6. Then Δ_i is (1/6 ∓ ½)/½ = −⅔ and 4/3, so both have the gradient
/// x − ⅓. A server of lr ½ has gone to 1/12; both move by ⅛ from there, and it goes half of that.
#[test]
fn vrlsgd_takes_the_mean_of_the_models_heard() {
    let server = "optimizer = { kind = \"sgd\", lr = 0.5 }";
    near(two_of_three("vrlsgd", server), 1.0 / 12.0 + 1.0 / 16.0);
}
