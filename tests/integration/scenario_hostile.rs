//! Inputs nobody writes on purpose. None may panic, hang, or fill the screen.

use gruppetto::scenario::{Override, Scenario};
use proptest::prelude::*;
use std::fs;
use std::path::Path;

const VALID: &str = r#"name = "phones"
description = "½ of them — slow"
seed = 3
repeats = 2

[stop]
rounds = 20
time = "1h30m"
target = { metric = "train_loss", at_most = 0.5 }

[task]
kind = "synthetic"
clients = 12
size = { lognormal = { median = 54.6, sigma = 2.0 }, plus = 50, max = 2000 }
init = { normal = 0.1 }

[client]
batch = 20
work = { epochs = { uniform = [1, 5] }, redraw = "once" }

[server]
close = { deadline = "30s" }
weighting = "fednova"

[fleet]
server_uplink = "1Gbps"
server_downlink = "500Mbps"

[[fleet.class]]
name = "fast"
share = 0.25
speed = { lognormal = { median = "4 GFLOPS", sigma = 0.2 } }
uplink = "20Mbps"
availability = { trace = "traces/six-phones.csv", repeat = true, shift = "random" }
thermal = { curve = [["2m", 0.7], ["10m", 0.5]], cooling = 0.5 }

[[fleet.class]]
name = "slow"
share = 0.5
step_time = "180ms"
jitter = 0.05
slowdown = { factor = 4.0, every = { exponential = { mean = "10m" } }, lasting = "1m" }
availability = { on = { exponential = { mean = "20m" } }, off = "40m" }

[[fleet.class]]
name = "recorded"
share = 0.25
trace = { file = "traces/six-phones.csv", devices = "budget", repeat = "24h", assign = "random" }

[[event]]
at = "10m"
select = { class = "slow", fraction = 0.5 }
slow = 4.0
lasting = "2m"

[[event]]
round = 7
select = { clients = [0, 11] }
network = { up = 0.5, down = 0 }

[[event]]
round = 9
deadline = "20s"

[[event]]
at = "1h"
lr = { times = 0.5 }

[[variant]]
name = "nova"

[[variant]]
name = "avg"
set = { server.weighting = "fedavg", fleet.class.slow.jitter = 0.1 }

[[expect]]
that = "chi2"
of = "nova"
at_most = "avg"
"#;

fn error_of(text: &str) -> String {
    Scenario::parse("odd.toml", text, &[], None).unwrap_err().to_string()
}

#[test]
fn the_valid_scenario_is_valid() {
    Scenario::parse("odd.toml", VALID, &[], None).unwrap();
}

#[test]
fn odd_texts_are_errors_with_a_place() {
    let deep_arrays = format!("x = {}{}", "[".repeat(200), "]".repeat(200));
    let deep_tables = format!("x = {}1{}", "{a=".repeat(200), "}".repeat(200));
    let deep_keys = format!("{}x = 1", "a.".repeat(200));
    let deep_headers = format!("[{}x]", "a.".repeat(200));
    let endless = "[".repeat(100_000);
    let long_line = format!("name = \"{}\"", "x".repeat(1 << 20));
    let long_key = format!("{} = 1", "k".repeat(1 << 20));
    let many_keys: String = (0..20_000).map(|i| format!("k{i} = {i}\n")).collect();
    for text in [
        "",
        " ",
        "\n\n\n",
        "\u{feff}",
        "#",
        "\0",
        "\u{1b}[31m",
        "=",
        "[",
        "]",
        "[]",
        "[[]]",
        "[[a]",
        "a",
        "a =",
        "a = =",
        "a.b",
        ".a = 1",
        "\"\" = 1",
        "'' = 1",
        "name = 'x",
        "name = \"\"\"x",
        "a = 1 b = 2",
        "name = 99999999999999999999",
        "name = 1e999",
        "seed = 0x",
        "seed = 1__0",
        "a = 2026-13-45",
        "name = \"\\ud800\"",
        "name = \"\\q\"",
        "a = [1, 2",
        "a = { b = 1, b = 2 }",
        "[a]\n[a]",
        "[a]\n[[a]]",
        "a = 1\na.b = 2",
        "[[a]]\n[a]",
        "name = \"x\"\nstop = 1979-05-27T07:32:00Z",
        "\r",
        "\r\r\n",
        "name = \"x\"\r\nstop.rounds = 5\rseed = 2",
        "stop.rounds = 5\nname = \"\u{202e}x\"",
        &deep_arrays,
        &deep_tables,
        &deep_keys,
        &deep_headers,
        &endless,
        &long_line,
        &long_key,
        &many_keys,
    ] {
        let error = error_of(text);
        let head: String = text.chars().take(40).collect();
        assert!(error.starts_with("error: "), "{head}\n{error}");
        assert!(error.contains("--> odd.toml:"), "{head}\n{error}");
        assert!(error.contains('^'), "{head}\n{error}");
        assert!(error.chars().all(|c| c == '\n' || !c.is_control()), "{head}\n{error:?}");
        let longest = error.lines().map(|line| line.chars().count()).max().unwrap_or(0);
        assert!(longest <= 120, "{head}\n{error}");
        assert!(error.lines().count() <= 12, "{head}\n{error}");
    }
}

#[test]
fn a_long_line_is_shown_around_its_caret() {
    let text = format!(
        "name = \"x\"\nclient = {{ lr = 1, {:1000}oops = 2, batch = 1 }}{:1000}# end",
        "", ""
    );
    let error = error_of(&text);
    let lines: Vec<&str> = error.lines().collect();
    assert_eq!(lines[1], " --> odd.toml:2:1020");
    let caret = lines[4].chars().position(|c| c == '^').unwrap();
    let under: String = lines[3].chars().skip(caret).take(4).collect();
    assert_eq!((under.as_str(), lines[4].matches('^').count()), ("oops", 4), "{error}");
    assert!(lines[3].contains('…'), "{error}");
}

#[test]
fn files_that_cannot_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let load = |path: &Path| {
        Scenario::load(path, &gruppetto::plugins::Plugins::new()).unwrap_err().to_string()
    };
    let absent = load(&folder.path().join("absent.toml"));
    assert!(absent.starts_with("error: cannot read the scenario: "), "{absent}");
    assert!(absent.contains("absent.toml"), "{absent}");
    assert!(load(folder.path()).starts_with("error: cannot read the scenario: "));
    let binary = folder.path().join("b.toml");
    fs::write(&binary, b"name = \"x\"\nseed = \xff\xfe\x00\x80").unwrap();
    let error = load(&binary);
    assert!(error.starts_with("error: the file is not text"), "{error}");
    assert!(error.contains("b.toml:2:8\n"), "{error}");
    fs::write(&binary, (0..=255u8).cycle().take(5000).collect::<Vec<_>>()).unwrap();
    assert!(load(&binary).contains("b.toml:"));
}

#[test]
fn deep_overrides_are_errors() {
    let deep = format!("client.lr={}", "[".repeat(100_000));
    assert!(Override::parse(&deep).is_err());
    let path = format!("{}=1", vec!["a"; 10_000].join("."));
    let long = Override::parse(&path).unwrap();
    assert!(Scenario::parse("x.toml", VALID, &[long], None).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever happens to the bytes of a scenario, reading it comes to an end.
    #[test]
    fn mutated_scenarios_return(
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..4u8), 1..8)
    ) {
        let mut bytes = VALID.as_bytes().to_vec();
        for (index, byte, kind) in edits {
            let at = index.index(bytes.len());
            match kind {
                0 => bytes[at] = byte,
                1 => bytes.insert(at, byte),
                2 => drop(bytes.remove(at)),
                // Pieces of the language in the wrong place.
                _ => drop(bytes.splice(at..at, PIECES[byte as usize % PIECES.len()].bytes())),
            }
        }
        if let Err(error) = Scenario::parse("m.toml", &String::from_utf8_lossy(&bytes), &[], None) {
            prop_assert!(error.to_string().contains("m.toml:"));
        }
    }

    #[test]
    fn mutated_overrides_return(text in "(server|fleet|client|task|[a-z]{1,4})?(\\.[a-z_.]{0,9}){0,3}=?.{0,20}") {
        if let Ok(one) = Override::parse(&text) {
            let _ = Scenario::parse("m.toml", VALID, &[one], None).map_err(|error| error.to_string());
        }
    }
}

const PIECES: &[&str] = &[
    "[",
    "]",
    "{",
    "}",
    "=",
    ".",
    ",",
    "\"",
    "'",
    "\n",
    "\r",
    "-",
    "1",
    "nan",
    "inf",
    "[[",
    "]]",
    "\"\"\"",
    "\u{feff}",
    "set = { a.b = 1 }",
    "server.",
    "\n[fleet]\n",
    "\n[[event]]\n",
    "join = true\n",
    "select = \"all\"\n",
    "trace = \"traces/six-phones.csv\"\n",
    "{ trace = \"traces\" }",
    " GFLOPS",
    "1e308",
    "9223372036854775807",
    "\n[[variant]]\n",
    "µ",
    "\\u0000",
];
