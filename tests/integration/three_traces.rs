//! One class takes its speed from one trace, its links from another, its presence from a third.

use crate::support::{Workshop, rows};
use std::fs;

/// Two clients; the model has 1,280 bits.
const SCENARIO: &str = r#"
name = "three"
stop.rounds = 2
task = { kind = "quadratic", clients = 2, dim = 40 }
client.work.steps = 10
server.close = "all"
[[fleet.class]]
name = "phone"
trace = "speeds.csv"
links = { trace = "links.csv", repeat = true }
availability = { trace = "presence.csv" }
"#;

fn workshop(scenario: &str) -> Workshop {
    let workshop = Workshop::new(scenario);
    // Other links and another presence than those of the other files: they do not count.
    let speeds = "device,time [s],step_time [ms],up [kbps],down [kbps],available\n\
                  a,0,10,1,1,0\nb,0,20,1,1,0\n";
    // 10 kbit/s each way for a second, then 20 kbit/s up, again and again after two seconds.
    let links = "device,time [s],step_time [ms],up [kbps],down [kbps]\n\
                 wifi,0,999,10,10\nwifi,1,999,20,10\nwifi,2,,,\n";
    let presence = "device,time [s],available\nx,0,1\ny,0,0\ny,0.5,1\n";
    for (name, text) in [("speeds.csv", speeds), ("links.csv", links), ("presence.csv", presence)] {
        fs::write(workshop.path(name), text).unwrap();
    }
    workshop
}

#[test]
fn each_aspect_comes_from_its_own_trace() {
    let workshop = workshop(SCENARIO);
    let run = workshop.run("out", &[]);
    let rows = rows(&run.join("clients.csv"));
    let legs = |row: usize| {
        let row = &rows[row];
        let ms = ["dispatched_ns", "download_ns", "compute_ns", "upload_ns"];
        (row.int("client"), ms.map(|column| row.int(column) / 1_000_000))
    };
    // Client 1 comes at 0.5 s, so the first round has client 0 alone: 128 ms down, 100 ms, 128 ms up.
    assert_eq!(legs(0), (0, [0, 128, 100, 128]));
    // Client 0 is asked again at 0.356 s, alone again.
    assert_eq!(legs(1), (0, [356, 128, 100, 128]));
    assert_eq!(rows.len(), 2);
    // From one second on the upload takes half: 0.9 + 0.128 + 0.2 = 1.228 s.
    let later = workshop.run(
        "later",
        &["--set", "fleet.class.phone.availability=always", "--set", "stop.rounds=5"],
    );
    let rows = crate::support::rows(&later.join("clients.csv"));
    let uploads = |client: u64| -> Vec<u64> {
        let own = rows.iter().filter(|row| row.int("client") == client);
        own.map(|row| row.int("upload_ns") / 1_000_000).collect()
    };
    // Rounds of 128 + 200 + 128 ms: client 1 uploads at 0.328, 0.784, 1.24, 1.632 and 2.024 s.
    assert_eq!(uploads(1), [128, 128, 64, 64, 128]);
}

/// Which recording a client gets and where it begins is drawn for each aspect by itself.
#[test]
fn each_aspect_is_drawn_by_itself() {
    let shifted = SCENARIO.replace("repeat = true", "repeat = true, shift = \"random\"");
    let column = |scenario: &str, column: &str| {
        let workshop = workshop(scenario);
        let set = ["--set", "stop.rounds=4", "--set", "fleet.class.phone.availability=always"];
        let rows = rows(&workshop.run("out", &set).join("clients.csv"));
        let mut cells: Vec<u64> = rows.iter().map(|row| row.int(column)).collect();
        cells.sort();
        cells
    };
    assert_eq!(
        column(SCENARIO, "compute_ns"),
        column(&shifted, "compute_ns"),
        "speeds stay as they were"
    );
    assert_ne!(column(SCENARIO, "upload_ns"), column(&shifted, "upload_ns"));
}

/// The recorded run replays: its links and its presence are in the one trace.
#[test]
fn the_run_is_recorded_with_all_of_them() {
    let workshop = workshop(SCENARIO);
    let original = workshop.run("out", &["--timing-only", "--set", "stop.rounds=8"]);
    let recorded = workshop.call(&["trace", "record", "out", "--out", "recorded.csv"]);
    let class = crate::support::stdout(&recorded);
    let head = SCENARIO.split("[[fleet.class]]").next().unwrap();
    fs::write(workshop.path("s.toml"), format!("{head}{class}")).unwrap();
    let replay = workshop.run("replay", &["--timing-only", "--set", "stop.rounds=8"]);
    let times = |run: &std::path::Path| -> Vec<(u64, u64)> {
        let rows = rows(&run.join("clients.csv"));
        rows.iter().map(|row| (row.int("client"), row.int("arrived_ns"))).collect()
    };
    assert_eq!(times(&original), times(&replay));
}
