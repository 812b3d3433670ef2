//! scenario.md, "What clients do on such devices": the server's links. How latency and shares go together is
//! in `devices.rs`.

use super::quadratic;
use crate::simulated::Simulated;

/// "With `partial = "keep"` a client whose model is not there at the deadline gives up then (`no_step`, phase
/// `download`), and its share is free." A model is 32 bits, the server sends 64 a second. The first client
/// can take 16 of them and has half of its model after a second, when the round closes. The second, asked in
/// the next round, then has all 64, and its model in half a second. With `"discard"` the first goes on, and
/// leaves 48: ⅔ s.
#[test]
fn who_gives_up_a_download_leaves_its_share() {
    let fleet = "[fleet]\nassign = \"in-order\"\nserver_uplink = \"64bps\"\n\
                 [[fleet.class]]\nname = \"narrow\"\nstep_time = \"1ms\"\ndownlink = \"16bps\"\n\
                 [[fleet.class]]\nname = \"wide\"\nstep_time = \"1ms\"\n";
    for (partial, first, download) in [
        ("keep", ["no_step", "download"], "500000000"),
        ("discard", ["unfinished", "download"], "666666667"),
    ] {
        let server = format!(
            "close.deadline = \"1s\"\npartial = \"{partial}\"\nscheme = \"round-robin\"\n\
             sample.clients = 1"
        );
        let clients = "clients = 2\ndim = 1";
        let text = quadratic("rounds = 2", clients, "work.steps = 1", &server, fleet);
        let rows = Simulated::run(&text, 1)
            .columns("clients.csv", ["client", "outcome", "phase", "download_ns"]);
        let of = |client: &str| rows.iter().find(|row| row[0] == client).unwrap();
        assert_eq!(of("0")[1..3], first, "{partial}");
        assert_eq!(of("1")[1..], ["used", "done", download], "{partial}");
    }
}
