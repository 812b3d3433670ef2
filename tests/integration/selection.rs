//! Whom Oort and tiers ask in whole runs, and what comes of it.

use crate::simulated::{Simulated, options, scenario};
use gruppetto::run::Options;
use std::collections::{BTreeMap, BTreeSet};

/// Sixty phones, a few of them much slower than the others, with very different data.
fn phones(seed: u64, scheme: &str) -> String {
    format!(
        r#"
name = "phones"
seed = {seed}
stop.rounds = 150
[task]
clients = 60
features = 20
alpha = 1.0
beta = 1.0
size = {{ lognormal = {{ median = 80, sigma = 0.6 }}, min = 20 }}
[client]
lr = 0.02
work = {{ epochs = 1 }}
[server]
close = "all"
sample = {{ clients = 10 }}
scheme = "{scheme}"
[[fleet.class]]
name = "phone"
step_time = {{ lognormal = {{ median = "50ms", sigma = 1.0 }} }}
jitter = 0.1
uplink = {{ lognormal = {{ median = "1Mbps", sigma = 0.8 }} }}
"#
    )
}

/// The clients asked in each round.
fn asked(run: &Simulated) -> BTreeMap<u64, BTreeSet<u32>> {
    let mut rounds = BTreeMap::<u64, BTreeSet<u32>>::new();
    for [round, client] in run.columns("clients.csv", ["round", "client"]) {
        rounds.entry(round.parse().unwrap()).or_default().insert(client.parse().unwrap());
    }
    rounds
}

fn seconds(run: &Simulated) -> f64 {
    run.summary.variants[0].virtual_seconds
}

#[test]
fn oort_tries_everybody_and_its_rounds_are_shorter() {
    let mut saved = Vec::new();
    for seed in 1..=5 {
        let uniform = Simulated::run(&phones(seed, "uniform"), 2);
        let oort = Simulated::run(&phones(seed, "oort"), 2);
        assert_eq!(oort.summary.variants[0].rounds, 150);
        let rounds = asked(&oort);
        assert!(rounds.values().all(|clients| clients.len() == 10));
        let early: BTreeSet<u32> = rounds.range(..=20).flat_map(|(_, c)| c).copied().collect();
        assert_eq!(early.len(), 60, "sixty are found by eight and seven a round");
        let chi2 = |run: &Simulated| run.summary.variants[0].chi2;
        assert!(chi2(&oort) > 10.0 * chi2(&uniform), "it leans towards the few it asks");
        saved.push(seconds(&oort) / seconds(&uniform));
    }
    assert!(saved.iter().all(|part| *part < 0.5), "{saved:?}");
}

/// Phones that agree on what to learn but for a little: those heard most lead nearly to the same.
#[test]
fn where_clients_agree_oort_is_there_sooner() {
    for seed in 1..=5 {
        let until = |scheme: &str| {
            let text = format!(
                r#"
name = "agreed"
seed = {seed}
stop = {{ rounds = 600, target = {{ metric = "distance", at_most = 0.3 }} }}
[task]
kind = "quadratic"
clients = 60
dim = 5
centers = {{ normal = {{ mean = 1.0, std = 0.3 }} }}
gradient_noise = 0.1
[client]
lr = 0.02
work = {{ steps = 5 }}
[server]
close = "all"
sample = {{ clients = 10 }}
scheme = "{scheme}"
[[fleet.class]]
name = "phone"
step_time = {{ lognormal = {{ median = "50ms", sigma = 1.0 }} }}
jitter = 0.1
"#
            );
            let run = Simulated::run(&text, 2);
            assert!(run.summary.variants[0].rounds < 600, "{scheme} never got there");
            seconds(&run)
        };
        let [uniform, tiers, oort] = ["uniform", "tiers", "oort"].map(until);
        assert!(oort < 0.8 * uniform, "{oort:?} {uniform:?}");
        assert!(tiers < 0.9 * uniform, "{tiers:?} {uniform:?}");
    }
}

/// Two clients far away on either side of ten others, between whom the model stays: theirs are the
/// large gradients.
#[test]
fn the_norm_of_what_is_heard_decides() {
    let centers = ["[10.0], [-10.0]", &[", [0.01]", ", [-0.01]"].concat().repeat(5)].concat();
    let text = format!(
        "name = \"far\"\nstop.rounds = 80\n\
         task = {{ kind = \"quadratic\", clients = 12, centers = [{centers}] }}\n\
         client = {{ lr = 0.01, work = {{ steps = 2 }} }}\n\
         [server]\nclose = \"all\"\nsample = {{ clients = 3 }}\nscheme = \"oort\""
    );
    let counts = |run: &Simulated| {
        let mut counts = [0; 12];
        asked(run).values().flatten().for_each(|client| counts[*client as usize] += 1);
        counts
    };
    let trained = counts(&Simulated::run(&text, 2));
    let others = trained[2..].iter().max().unwrap();
    assert!(trained[..2].iter().all(|far| far > &(2 * others)), "{trained:?}");
    // Without training all gradients count the same.
    let folder = tempfile::tempdir().unwrap();
    let timing = Options { timing_only: true, ..options(folder.path(), 1) };
    let summary =
        gruppetto::run::run(&scenario(&text), &timing, &gruppetto::plugins::Plugins::new())
            .unwrap();
    let timed = counts(&Simulated::new(summary, folder));
    assert!(timed[..2].iter().all(|count| *count < 2 * timed[2..].iter().max().unwrap()));
    assert!(timed[0] + timed[1] < (trained[0] + trained[1]) / 2, "{timed:?} {trained:?}");
}

/// Five clients each of four speeds, where it is steps that take long or links.
const SPEEDS: &str = r#"
[fleet]
assign = "in-order"
[[fleet.class]]
name = "fast"
step_time = "10ms"
[[fleet.class]]
name = "middling"
step_time = "20ms"
[[fleet.class]]
name = "distant"
step_time = "10ms"
latency = "200ms"
[[fleet.class]]
name = "slow"
step_time = "90ms"
"#;

#[test]
fn a_round_of_tiers_asks_clients_of_one_speed() {
    let text = format!(
        "name = \"tiers\"\nstop.rounds = 200\ntask = {{ kind = \"quadratic\", clients = 20 }}\n\
         client.work.steps = {{ uniform = [8, 12] }}\n\
         [server]\nclose = \"all\"\nsample = {{ clients = 3 }}\n\
         scheme = {{ tiers = {{ count = 4 }} }}\n{SPEEDS}"
    );
    let run = Simulated::run(&text, 2);
    let mut turns = [0; 4];
    for clients in asked(&run).values() {
        assert_eq!(clients.len(), 3);
        let classes: BTreeSet<u32> = clients.iter().map(|client| client / 5).collect();
        assert_eq!(classes.len(), 1, "{clients:?}");
        turns[*classes.first().unwrap() as usize] += 1;
    }
    assert!(turns.iter().all(|turns| (25..80).contains(turns)), "{turns:?}");
}

/// With work until the deadline it is the steps alone that tell fast clients from slow ones.
#[test]
fn tiers_go_by_steps_where_work_ends_with_the_deadline() {
    let text = format!(
        "name = \"tiers\"\nstop.rounds = 60\ntask = {{ kind = \"quadratic\", clients = 20 }}\n\
         [server]\nclose = {{ deadline = \"1s\" }}\nsample = {{ clients = 5 }}\n\
         scheme = {{ tiers = {{ count = 2 }} }}\n{SPEEDS}"
    );
    for clients in asked(&Simulated::run(&text, 2)).values() {
        let fast = clients.iter().filter(|client| [0, 2].contains(&(*client / 5))).count();
        assert!(fast == 5 || fast == 0, "{clients:?}");
    }
}

/// Clients come and go: rounds wait for as many as they ask, and go on.
#[test]
fn rounds_wait_for_clients_to_choose_from() {
    for (scheme, least) in [("\"oort\"", 2), ("{ tiers = { count = 3 } }", 1)] {
        let text = format!(
            "name = \"coming\"\nstop.rounds = 200\n\
             task = {{ kind = \"quadratic\", clients = 12 }}\nclient.work.steps = 3\n\
             [server]\nclose = \"all\"\nsample = {{ clients = 2 }}\nscheme = {scheme}\n\
             [[fleet.class]]\nname = \"d\"\nstep_time = \"1s\"\n\
             availability = {{ on = {{ exponential = {{ mean = \"30s\" }} }}, \
             off = {{ exponential = {{ mean = \"60s\" }} }} }}"
        );
        let run = Simulated::run(&text, 2);
        assert_eq!(run.summary.variants[0].rounds, 200);
        let rounds = asked(&run);
        assert!(rounds.values().all(|clients| (least..=2).contains(&clients.len())), "{rounds:?}");
        assert!(rounds.values().any(|clients| clients.len() == 2));
        let heard: BTreeSet<&u32> = rounds.values().flatten().collect();
        assert_eq!(heard.len(), 12);
    }
}
