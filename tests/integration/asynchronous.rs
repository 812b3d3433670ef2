//! Rounds that nobody waits for: buffers, windows, late work, staleness, by hand.

use crate::simulated::{Simulated, difference};

/// Two clients, one that takes a second for its one step and one that takes three.
fn two(server: &str, rounds: u64) -> String {
    format!(
        r#"
name = "two"
stop.rounds = {rounds}
task = {{ kind = "quadratic", clients = 2, centers = [[1.0], [-1.0]] }}
client = {{ lr = 0.5, work = {{ steps = 1 }} }}
[server]
{server}
[fleet]
assign = "in-order"
[[fleet.class]]
name = "fast"
step_time = "1s"
[[fleet.class]]
name = "slow"
step_time = "3s"
"#
    )
}

/// (second of arrival, client, version, staleness, outcome) of every row.
fn rows(run: &Simulated) -> Vec<(u64, u64, u64, u64, String)> {
    let columns = ["arrived_ns", "client", "version", "staleness", "outcome"];
    let number = |text: &str| text.parse::<u64>().unwrap();
    run.columns("clients.csv", columns)
        .into_iter()
        .map(|[at, client, version, staleness, outcome]| {
            let at = number(&at) / 1_000_000_000;
            (at, number(&client), number(&version), number(&staleness), outcome)
        })
        .collect()
}

fn used(at: u64, client: u64, version: u64, staleness: u64) -> (u64, u64, u64, u64, String) {
    (at, client, version, staleness, "used".into())
}

/// The fast client's updates of seconds 1 and 2 are aggregated before the slow one is back from the
/// first model, which has missed two aggregations; the fast one's third, of the same instant, has
/// then missed one.
#[test]
fn staleness_counts_the_aggregations_missed() {
    let run = Simulated::run(&two("close = \"each\"\nconcurrency = 2", 5), 2);
    let expected = [used(1, 0, 0, 0), used(2, 0, 1, 0), used(3, 1, 0, 2), used(3, 0, 2, 1)];
    assert_eq!(rows(&run)[..4], expected);
    // η = ½ and one step: x moves half of its way to ±1 from where the client started.
    // v0 = 0; v1 = ½; v2 = ¾; slow from v0: ¾ − ½ = ¼; fast from v2: ¼ + ½(1 − ¾) = ⅜;
    // at 4 s fast, from v4: ⅜ + ½·⅝ = 11/16.
    assert!((run.x("fednova")[0] - 0.6875).abs() < 1e-15, "{:?}", run.x("fednova"));
}

#[test]
fn stale_work_is_discounted_or_dropped() {
    let discounted = "close = \"each\"\nconcurrency = 2\nstaleness = { polynomial = 1.0 }";
    let run = Simulated::run(&two(discounted, 3), 2);
    let weights = run.columns("clients.csv", ["weight"]);
    assert_eq!(weights[2][0].parse::<f64>().unwrap(), 1.0 / 3.0);
    // ¾ − ⅓·½
    assert!((run.x("fednova")[0] - (0.75 - 0.5 / 3.0)).abs() < 1e-15);
    let dropped = "close = \"each\"\nconcurrency = 2\nmax_staleness = 1";
    let run = Simulated::run(&two(dropped, 3), 2);
    let outcomes: Vec<_> = rows(&run).into_iter().map(|row| (row.1, row.4)).collect();
    assert_eq!(outcomes[2], (1, "late".into()));
    assert!((run.x("fednova")[0] - 0.875).abs() < 1e-15, "the fast client's third");
}

#[test]
fn a_buffer_of_one_is_each() {
    let of = |close: &str| {
        let server =
            format!("close = {close}\nconcurrency = 2\nstaleness = {{ polynomial = 0.5 }}");
        Simulated::run(&two(&server, 40), 2).summary.variants.remove(0)
    };
    let (each, buffer) = (of("\"each\""), of("{ buffer = 1 }"));
    assert_eq!((each.digest, each.model_digest), (buffer.digest, buffer.model_digest));
}

/// A window of 700 ms: nothing in the first, the fast client's update in the second, nothing in the
/// third but the next one right at its edge is in the fourth.
#[test]
fn a_window_may_close_with_nothing_in_it() {
    let run = Simulated::run(&two("close = { window = \"700ms\" }\nconcurrency = 2", 5), 2);
    let rounds = run.columns("rounds.csv", ["arrived", "virtual_seconds"]);
    let arrived: Vec<&str> = rounds.iter().map(|row| row[0].as_str()).collect();
    // Fast at 1 s and 2 s and 3 s, slow at 3 s; windows end at 0.7, 1.4, 2.1, 2.8, 3.5.
    assert_eq!(arrived, ["0", "1", "1", "0", "2"]);
    assert_eq!(rounds[0][1], "0.700000000");
    assert_eq!(run.summary.variants[0].rounds, 5);
}

/// All or nothing with a deadline of 2 s: the slow client is back in the middle of the second round
/// and counts in it, fully or by its staleness; dropped, the model never hears it.
#[test]
fn late_work_is_dropped_or_kept_for_the_next_aggregation() {
    let run = |late: &str| {
        let server = format!(
            "close = {{ deadline = \"2s\" }}\npartial = \"discard\"\nlate = \"{late}\"\n\
             staleness = {{ polynomial = 1.0 }}"
        );
        Simulated::run(&two(&server, 2), 2)
    };
    let weights = |late: &str| {
        let run = run(late);
        let rows = run.columns("clients.csv", ["client", "round", "outcome", "weight"]);
        rows.into_iter().find(|row| row[0] == "1").map(|row| row[2..].to_vec())
    };
    assert_eq!(weights("drop").unwrap(), ["late", "0.0"]);
    // With the fast client's of the same round: half each, and half of that after one aggregation.
    assert_eq!(weights("next").unwrap(), ["used", "0.5"]);
    assert_eq!(weights("stale").unwrap(), ["used", "0.25"]);
    // Round 1: only the fast one, x = ½. Round 2: half of ½(1 − ½) and half of ½(−1 − 0).
    let x = run("next").x("fednova");
    assert!((x[0] - (0.5 + 0.5 * 0.25 - 0.5 * 0.5)).abs() < 1e-15, "{x:?}");
}

/// Rounds last as long as the median of the rounds before: the first waits for the slow client.
#[test]
fn an_adaptive_deadline_follows_the_clients() {
    let server = "close = { deadline = { percentile = 50, of = 1 } }\npartial = \"discard\"";
    let run = Simulated::run(&two(server, 3), 2);
    let ends: Vec<String> =
        run.columns("rounds.csv", ["virtual_seconds"]).into_iter().map(|[s]| s).collect();
    // 3 s; then the lower of (1 s, 3 s) as the deadline; then that of round 2, in which 1 s was seen.
    assert_eq!(ends, ["3.000000000", "4.000000000", "5.000000000"]);
}

/// Every client that is sent off ends in exactly one recorded outcome, or is still on its way.
#[test]
fn nobody_is_lost() {
    for server in [
        "close = { buffer = 3 }\nconcurrency = 2",
        "close = { window = \"1s\" }\nconcurrency = 1",
        "close = \"each\"\nconcurrency = 2\nmax_staleness = 0",
    ] {
        let run = Simulated::run(&two(server, 50), 2);
        let variant = &run.summary.variants[0];
        let rows = rows(&run).len() as u64;
        let unfinished = variant.outcomes[gruppetto::record::Outcome::Unfinished as usize];
        let sent: u64 = variant.outcomes.iter().sum();
        // Who is on the way at the end has no row of its own.
        assert!(sent >= rows && sent - rows <= unfinished && unfinished <= 2, "{server}");
        let asked: u64 = run
            .columns("rounds.csv", ["asked"])
            .into_iter()
            .map(|[asked]| asked.parse::<u64>().unwrap())
            .sum();
        assert!(asked == sent || asked + 2 >= sent, "{server}: {asked} {sent}");
    }
}

/// Inverse-probability weights take the fast clients' advantage away in asynchronous training too.
#[test]
fn the_bias_of_fast_clients_can_be_made_up_for() {
    let chi2 = |participation: &str| {
        let server = format!(
            "close = {{ buffer = 2 }}\nconcurrency = 2\nparticipation = \"{participation}\""
        );
        let run = Simulated::run(&two(&server, 2000).replace("lr = 0.5", "lr = 0.001"), 2);
        run.summary.variants[0].chi2
    };
    assert!(chi2("renormalize") > 0.3 && chi2("inverse-probability") < 0.001);
    // The same clients, waited for: nobody counts for more.
    let all = Simulated::run(&two("close = \"all\"", 100), 2);
    assert!(difference(&[all.summary.variants[0].chi2], &[0.0]) < 1e-12);
}

/// A client that vanishes is noticed at once: a round that waits for all goes on without it, its
/// computing is wasted, and inverse-probability weights make up for those who vanish often.
#[test]
fn clients_that_vanish_are_not_waited_for() {
    let flaky = |server: &str, rounds| {
        two(server, rounds).replace("step_time = \"3s\"", "step_time = \"3s\"\ndropout = 0.6")
    };
    let run = Simulated::run(&flaky("close = \"all\"", 1000), 2);
    let variant = &run.summary.variants[0];
    let dropped = variant.outcomes[gruppetto::record::Outcome::Dropped as usize];
    // Binomial with 1000 and 0.6: five standard deviations are 77.
    assert!(dropped.abs_diff(600) < 78, "{dropped}");
    assert_eq!(variant.outcomes.iter().sum::<u64>(), 2000);
    assert!(variant.waste > 0.2 && variant.waste < 0.6, "{}", variant.waste);
    let rows = run.columns("clients.csv", ["client", "tau", "outcome", "compute_ns"]);
    for [client, tau, outcome, compute] in rows {
        match outcome.as_str() {
            "dropped" => {
                assert_eq!((client.as_str(), tau.as_str()), ("1", "0"));
                assert!(compute.parse::<u64>().unwrap() < 3_000_000_000);
            }
            other => assert_eq!(other, "used"),
        }
    }
    // A round ends when the last of both is back or gone: never after more than 3 s.
    assert!(variant.virtual_seconds < 3000.0 && variant.virtual_seconds > 1000.0);
    let chi2 = |participation: &str| {
        let server = format!("close = \"all\"\nparticipation = \"{participation}\"");
        Simulated::run(&flaky(&server, 3000), 2).summary.variants[0].chi2
    };
    assert!(chi2("renormalize") > 0.1 && chi2("inverse-probability") < 0.005);
    // Where nobody is waited for, somebody else takes the place of who vanished.
    let each = Simulated::run(&flaky("close = \"each\"\nconcurrency = 2", 300), 2);
    assert_eq!(each.summary.variants[0].rounds, 300);
}
