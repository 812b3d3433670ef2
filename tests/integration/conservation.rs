//! Nothing is lost: everybody's time, and everybody who was asked.

use crate::simulated::Simulated;
use gruppetto::record::Outcome;

/// One client in every class, so that what is told of a class is told of a client.
fn scenario(server: &str, links: &str, events: &str) -> String {
    let mut text = format!(
        "name = \"all\"\nstop.time = \"2h\"\n[task]\nkind = \"quadratic\"\nclients = 12\ndim = 1000\n\
         [client]\nwork = {{ steps = 20 }}\n[server]\n{server}\n[fleet]\nassign = \"in-order\"\n{links}\n"
    );
    for i in 0..12 {
        let more = match i % 4 {
            0 => {
                "availability = { on = { exponential = { mean = \"5m\" } }, off = { exponential = { mean = \"3m\" } } }"
            }
            1 => {
                "slowdown = { factor = 5.0, every = { exponential = { mean = \"2m\" } }, lasting = \"30s\" }\ndropout = 0.2"
            }
            2 => {
                "thermal = { curve = [[\"1m\", 0.5], [\"3m\", 0.2]], cooling = 0.5 }\njitter = 0.4"
            }
            _ => "availability = { on = \"4m\", off = \"90s\" }\njitter = 0.2\ndropout = 0.05",
        };
        text += &format!(
            "[[fleet.class]]\nname = \"c{i}\"\nstep_time = {{ lognormal = {{ median = \"500ms\", sigma = 0.7 }} }}\n\
             uplink = {{ lognormal = {{ median = \"9kbps\", sigma = 0.5 }} }}\ndownlink = \"40kbps\"\n\
             latency = \"150ms\"\n{more}\n"
        );
    }
    text + events
}

const EVENTS: &str = r#"
[[event]]
at = "20m"
select = { fraction = 0.5 }
slow = 3.0
lasting = "10m"
[[event]]
round = 7
select = { fraction = 0.3 }
offline = true
lasting = "2m"
[[event]]
round = 9
network = 0.2
lasting = "5m"
[[event]]
at = "30m"
network = 0.0
lasting = "1m"
[[event]]
at = "50m"
select = { clients = [3, 4] }
leave = true
[[event]]
at = "10m"
select = { clients = [5] }
join = true
[[event]]
round = 12
select = { clients = [6] }
join = true
"#;

const POLICIES: [&str; 7] = [
    "close = \"all\"",
    "close = { deadline = \"40s\" }",
    "close = { deadline = \"40s\" }\npartial = \"discard\"\nlate = \"stale\"",
    "close = { first = 3, of = 5 }\nlate = \"next\"",
    "close = { buffer = 3 }\nconcurrency = 6",
    "close = \"each\"\nconcurrency = 6\nmax_staleness = 4",
    "close = { window = \"25s\" }\nconcurrency = 8",
];

#[test]
fn the_time_of_every_client_is_accounted_for() {
    let links = "server_uplink = \"200kbps\"\nserver_downlink = \"25kbps\"";
    for server in POLICIES {
        for links in ["", links] {
            for events in ["", EVENTS] {
                let run = Simulated::run(&scenario(server, links, events), 1);
                let variant = &run.summary.variants[0];
                let length = (variant.virtual_seconds * 1e9).round() as u128;
                let told = format!("{server} {links} {}", !events.is_empty());
                assert_eq!(variant.time.len(), 12, "{told}");
                for (class, account) in &variant.time {
                    assert_eq!(account.total(), length, "{class}: {account:?}, {told}");
                }
                let offline: u128 = variant.time.iter().map(|(_, account)| account.offline).sum();
                assert!(offline > 0, "{told}");
            }
        }
    }
}

#[test]
fn everybody_who_is_asked_comes_to_one_end() {
    let links = "server_uplink = \"200kbps\"\nserver_downlink = \"25kbps\"";
    let mut seen = [0; Outcome::ALL.len()];
    for server in POLICIES {
        for links in ["", links] {
            let run = Simulated::run(&scenario(server, links, EVENTS), 1);
            let variant = &run.summary.variants[0];
            let rows = run.columns("clients.csv", ["outcome", "round", "client", "dispatched_ns"]);
            let asked: u64 = run
                .columns("rounds.csv", ["asked"])
                .iter()
                .map(|[asked]| asked.parse::<u64>().unwrap())
                .sum();
            for outcome in Outcome::ALL {
                let count = rows.iter().filter(|row| row[0] == outcome.name()).count() as u64;
                assert_eq!(
                    variant.outcomes[outcome as usize],
                    count,
                    "{} {server}",
                    outcome.name()
                );
                seen[outcome as usize] += count;
            }
            // Those asked in a round that never closed are in no row of rounds.csv.
            let open = rows.iter().filter(|row| row[1] == (variant.rounds + 1).to_string()).count();
            assert_eq!(rows.len(), asked as usize + open, "{server}");
            let mut jobs: Vec<_> = rows.iter().map(|row| (&row[2], &row[3])).collect();
            jobs.sort();
            jobs.dedup();
            assert_eq!(jobs.len(), rows.len(), "{server}");
            // Nobody is asked while it is on its way.
            let mut ways: Vec<[u64; 3]> = run
                .columns("clients.csv", ["client", "dispatched_ns", "arrived_ns"])
                .iter()
                .map(|row| row.clone().map(|text| text.parse().unwrap()))
                .collect();
            ways.sort();
            for pair in ways.windows(2).filter(|pair| pair[0][0] == pair[1][0]) {
                assert!(pair[0][2] <= pair[1][1], "{pair:?} {server}");
            }
        }
    }
    assert!(seen.iter().all(|count| *count > 0), "{seen:?}");
}
