//! Whatever devices do, and whatever happens to them: a client alone on its links, which knows its
//! whole way when it sets out, and one on shared links wide enough for everybody, which goes leg by
//! leg, are two programs for the same thing.

use crate::simulated::{Simulated, options, scenario};
use gruppetto::plugins::Plugins;
use gruppetto::run::{Options, run};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::path::Path;

const RECORDINGS: [(&str, &str); 4] = [
    (
        "all.csv",
        "device,time [s],step_time [ms],up [kbps],down [kbps],available\n\
         x,0,400,2,5,1\nx,4,900,1,,\nx,9,,0,,0\nx,12,200,3,1,1\nx,25,,,,lost\nx,30,,,,\n",
    ),
    (
        "speeds.csv",
        "device,time [s],step_time [ms],up [kbps],down [kbps]\n\
         x,0,400,2,5\nx,3.333333333,700,0,0\nx,5.000000001,,2,7\nx,11,,,\n",
    ),
    (
        "dying.csv",
        "device,time [s],step_time [ms],up [kbps],down [kbps]\nx,0,300,2,5\nx,21,400,0,0\n",
    ),
    (
        "presence.csv",
        "device,time [s],available\nx,0,1\nx,10,0\nx,13,1\nx,20,lost\nx,31,0\nx,40,\n",
    ),
];

/// Draws scenarios.
struct Author<'a> {
    rng: ChaCha8Rng,
    folder: &'a Path,
}

impl Author<'_> {
    fn chance(&mut self, percent: u32) -> bool {
        self.rng.random_range(0..100) < percent
    }

    fn one_of<'t>(&mut self, texts: &[&'t str]) -> &'t str {
        texts[self.rng.random_range(0..texts.len())]
    }

    fn scenario(&mut self) -> String {
        let clients = self.rng.random_range(1..=6usize);
        let (work, server) = self.policy(clients);
        let stop = self.one_of(&["time = \"3m\"", "rounds = 12\ntime = \"20m\""]);
        let mut text = format!(
            "name = \"any\"\nseed = {}\n[stop]\n{stop}\n[task]\nkind = \"quadratic\"\nclients = {clients}\n\
             dim = 100\n[client]\nwork = {work}\n[server]\n{server}\n[fleet]\nassign = \"in-order\"\n",
            self.rng.random_range(0..1000)
        );
        for i in 0..clients {
            text += &format!("[[fleet.class]]\nname = \"c{i}\"\n{}", self.device());
        }
        let events = self.rng.random_range(0..5);
        (0..events).for_each(|_| text += &self.event(clients, server.contains("deadline = \"")));
        text
    }

    fn policy(&mut self, clients: usize) -> (String, String) {
        if self.chance(30) {
            let deadline = self.one_of(&["20s", "7s", "1500ms", "90ms"]);
            let server = format!("close = {{ deadline = \"{deadline}\" }}");
            return ("{ until = \"deadline\" }".into(), server);
        }
        let mut server = self
            .one_of(&[
                "close = \"all\"",
                "close = { deadline = \"12s\" }",
                "close = { deadline = \"12s\" }\npartial = \"discard\"",
                "close = { deadline = \"12s\" }\npartial = \"discard\"\nlate = \"stale\"",
                "close = { deadline = { percentile = 70, of = 5 } }",
                "close = { first = 1, of = 1 }\nlate = \"next\"",
                "close = { buffer = 2 }",
                "close = \"each\"\nmax_staleness = 2",
                "close = { window = \"9s\" }",
            ])
            .to_string();
        let one_by_one = ["buffer", "each", "window"].iter().any(|rule| server.contains(rule));
        if one_by_one && self.chance(60) {
            server += &format!("\nconcurrency = {}", self.rng.random_range(1..=clients));
        } else if !one_by_one && !server.contains("first") && self.chance(40) {
            server += &format!("\nsample = {{ clients = {} }}", self.rng.random_range(1..=clients));
        }
        (format!("{{ steps = {} }}", self.rng.random_range(1..8)), server)
    }

    fn device(&mut self) -> String {
        let folder = self.folder.display().to_string();
        let mut text = if self.chance(30) {
            let file = self.one_of(&["all.csv", "speeds.csv", "dying.csv"]);
            let repeat = match file {
                "dying.csv" => "false",
                _ => self.one_of(&["true", "false", "\"7s\"", "\"60s\""]),
            };
            let shift = self.one_of(&["none", "random"]);
            format!(
                "trace = {{ file = '{folder}/{file}', repeat = {repeat}, shift = \"{shift}\" }}\n"
            )
        } else {
            let lognormal = "{ lognormal = { median = \"500ms\", sigma = 0.7 } }";
            let step = self.one_of(&["\"300ms\"", "\"2500ms\"", lognormal]);
            let up = self.one_of(&["1kbps", "3kbps", "900bps", "50kbps"]);
            let down = self.one_of(&["1kbps", "3kbps", "50kbps"]);
            format!("step_time = {step}\nuplink = \"{up}\"\ndownlink = \"{down}\"\n")
        };
        let presence = format!(
            "availability = {{ trace = '{folder}/presence.csv', repeat = true, shift = \"random\" }}\n"
        );
        for (percent, lines) in [
            (50, &["latency = \"150ms\"\n", "latency = \"1s\"\n", "latency = \"1ns\"\n"][..]),
            (30, &["jitter = 0.4\n"]),
            (25, &["dropout = 0.2\n", "dropout = 0.7\n"]),
            (
                25,
                &[
                    "slowdown = { factor = 5.0, every = { exponential = { mean = \"9s\" } }, lasting = \"3s\" }\n",
                    "slowdown = { factor = 0.3, every = \"5s\", lasting = { exponential = { mean = \"4s\" } } }\n",
                    "slowdown = { factor = 2.0, every = \"1ms\", lasting = \"1ms\" }\n",
                ],
            ),
            (
                25,
                &[
                    "thermal = { curve = [[\"3s\", 0.5], [\"10s\", 0.2]], cooling = 0.5 }\n",
                    "thermal = { curve = [[\"3s\", 0.5], [\"10s\", 0.2]], cooling = 0 }\n",
                ],
            ),
            (
                50,
                &[
                    "availability = { on = \"15s\", off = \"5s\" }\n",
                    "availability = { on = { exponential = { mean = \"20s\" } }, off = { exponential = { mean = \"8s\" } } }\n",
                    &presence,
                ],
            ),
        ] {
            if self.chance(percent) {
                text += self.one_of(lines);
            }
        }
        text
    }

    fn event(&mut self, clients: usize, deadline: bool) -> String {
        let (at, round) = (
            self.one_of(&["0s", "5s", "12s", "33333ms", "60s", "1ns"]),
            self.rng.random_range(1..9),
        );
        let by_round = self.chance(50);
        let when = if by_round { format!("round = {round}") } else { format!("at = \"{at}\"") };
        let lasting =
            self.one_of(&["", "lasting = \"4s\"\n", "lasting = \"15s\"\n", "lasting = \"1ns\"\n"]);
        let client = self.rng.random_range(0..clients);
        let select = match self.rng.random_range(0..3) {
            0 => String::new(),
            1 => format!("select = {{ clients = [{client}] }}\n"),
            _ => "select = { fraction = 0.5 }\n".into(),
        };
        let what = match self.rng.random_range(0..7) {
            0 => {
                let times = self.one_of(&["3.0", "0.25", "100.0"]);
                format!("slow = {times}\n{lasting}{select}")
            }
            1 | 2 => format!("offline = true\n{lasting}{select}"),
            3 => format!("leave = true\n{select}"),
            4 => format!("join = true\n{select}"),
            // What begins with a round and reaches bits under way is a latency off on shared links.
            5 if !by_round => {
                let network = self.one_of(&[
                    "0.0",
                    "0.3",
                    "{ up = 0.0, down = 1.0 }",
                    "{ up = 2.5, down = 0.1 }",
                ]);
                format!("network = {network}\nlasting = \"6s\"\n{select}")
            }
            6 if deadline => format!("deadline = \"{}\"\n{lasting}", self.one_of(&["3s", "200ms"])),
            _ => format!("lr = {{ times = 0.5 }}\n{lasting}"),
        };
        format!("[[event]]\n{when}\n{what}")
    }
}

fn simulate(text: &str) -> Simulated {
    let folder = tempfile::tempdir().unwrap();
    let options = Options { timing_only: true, ..options(folder.path(), 1) };
    let summary = run(&scenario(text), &options, &Plugins::new())
        .unwrap_or_else(|error| panic!("{error}\n{text}"));
    Simulated::new(summary, folder)
}

/// Rows in an order that does not depend on who was first of those of one instant.
fn rows(run: &Simulated) -> Vec<String> {
    let mut rows: Vec<String> = run.file("clients.csv").lines().map(String::from).collect();
    rows.sort();
    rows
}

/// Nobody's time is lost, nobody is asked while on its way, and time does not go back.
fn is_sound(run: &Simulated) -> Result<(), TestCaseError> {
    let variant = &run.summary.variants[0];
    let length = (variant.virtual_seconds * 1e9).round() as u128;
    for (class, account) in &variant.time {
        prop_assert!(account.total().abs_diff(length) <= 1, "{}: {:?}", class, account);
    }
    let mut ways: Vec<[u64; 3]> = run
        .columns("clients.csv", ["client", "dispatched_ns", "arrived_ns"])
        .iter()
        .map(|row| row.clone().map(|text| text.parse().unwrap()))
        .collect();
    prop_assert!(ways.is_sorted_by_key(|way| way[2]));
    ways.sort();
    for pair in ways.windows(2).filter(|pair| pair[0][0] == pair[1][0]) {
        prop_assert!(pair[0][2] <= pair[1][1], "{:?}", pair);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(80))]

    #[test]
    fn links_that_are_wide_enough_change_nothing(seed in any::<u64>()) {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in RECORDINGS {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        let text = Author { rng: ChaCha8Rng::seed_from_u64(seed), folder: folder.path() }.scenario();
        let with = |links: &str| text.replace("[fleet]\n", &format!("[fleet]\n{links}\n"));
        let alone = simulate(&text);
        is_sound(&alone)?;
        let (up, down) = ("server_uplink = \"1000Gbps\"", "server_downlink = \"1000Gbps\"");
        for links in [up, down, &format!("{up}\n{down}")] {
            let shared = simulate(&with(links));
            is_sound(&shared)?;
            prop_assert_eq!(rows(&alone), rows(&shared), "{}\n{}", links, text);
        }
        is_sound(&simulate(&with("server_uplink = \"4kbps\"\nserver_downlink = \"3kbps\"")))?;
    }
}
