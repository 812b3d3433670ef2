//! `gruppetto watch`: as text where there is no terminal, and in a real one, which tmux provides.

use crate::support::{Workshop, is_left_out, many_rows, names, stderr, stdout, summary};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Two variants, of which everybody makes a different number of steps and some are late.
const DEADLINE: &str = r#"
name = "watched"
stop.rounds = 40
task = { kind = "quadratic", clients = 12, dim = 3 }
client.work.until = "deadline"
server.close.deadline = "2s"

[[fleet.class]]
name = "phone"
step_time = { lognormal = { median = "100ms", sigma = 0.8 } }
jitter = 0.3
latency = "20ms"

[[variant]]
name = "nova"
[[variant]]
name = "avg"
set = { server.weighting = "fedavg" }
"#;

#[test]
fn without_a_terminal_it_prints_what_the_summary_says() {
    let workshop = Workshop::new(DEADLINE);
    let folder = workshop.run("out", &[]);
    let output = workshop.call(&["watch", "out"]);
    let text = stdout(&output);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let first = text.lines().next().unwrap();
    assert!(first.starts_with("watched · complete · round 40 · "), "{text}");
    assert!(!text.contains('\x1b') && text.lines().all(|line| line.chars().count() <= 80));
    for part in ["\nnova ", "\navg ", "train_loss", "p99", "local steps τ", "last events", "χ²"]
    {
        assert!(text.contains(part), "{part}\n{text}");
    }
    let told = &summary(&folder)["variants"][1];
    let count = |name: &str| told["outcomes"][name].as_u64().unwrap();
    assert!(text.contains(&format!("used {}", count("used"))), "{text}");
    let rounds = told["latency_seconds"]["round"]["count"].as_u64().unwrap();
    assert!(text.contains(&format!("latency of {rounds} clients' rounds\n")), "{text}");
    assert!(text.contains("over: stopped by rounds"), "{text}");
}

/// The histograms of the rows are those of the run: percentiles are the same before its summary tells
/// them as after.
#[test]
fn rows_tell_the_same_latencies_as_the_summary() {
    let workshop = Workshop::new(DEADLINE);
    let folder = workshop.run("out", &[]);
    let table = |text: &str| {
        let lines = text.lines().skip_while(|line| !line.contains("p50")).take(5);
        lines.map(str::to_string).collect::<Vec<_>>()
    };
    let after = table(&stdout(&workshop.call(&["watch", "out"])));
    let unfinished = r#"{"name": "watched", "status": "incomplete", "variants": []}"#;
    std::fs::write(folder.join("summary.json"), unfinished).unwrap();
    let text = stdout(&workshop.call(&["watch", "out"]));
    assert!(text.starts_with("watched · killed"), "{text}");
    assert_eq!(table(&text), after);
    assert_eq!(after.len(), 5);
}

#[test]
fn runs_that_record_no_clients_can_be_watched() {
    let workshop = Workshop::new(DEADLINE);
    let folder = workshop.run("out", &["--set", "record.clients=off", "--timing-only"]);
    assert!(!names(&folder).contains(&"clients.csv".to_string()));
    let text = stdout(&workshop.call(&["watch", "out"]));
    assert!(text.contains("no clients.csv") && text.contains("arrived / asked"), "{text}");
}

#[test]
fn a_folder_that_is_not_there_is_refused_or_waited_for() {
    let workshop = Workshop::new(DEADLINE);
    let output = workshop.call(&["watch", "nowhere"]);
    assert_eq!(output.status.code(), Some(1));
    let told = stderr(&output);
    assert!(told.starts_with("error: nowhere: there is no summary.json\n  = help:"), "{told}");
    let mut watch = workshop.command(&["watch", "out", "--wait"]);
    let child = watch.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    sleep(Duration::from_millis(200));
    workshop.run("out", &[]);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stdout(&output).starts_with("watched · "));
}

/// A terminal of its own; nothing of it is left when it goes out of scope.
struct Terminal {
    socket: String,
}

impl Terminal {
    /// `None` with `TERMINAL=0`.
    fn open(name: &str, folder: &Path) -> Option<Self> {
        if is_left_out("TERMINAL") {
            return None;
        }
        let terminal = Terminal { socket: format!("gruppetto-{name}-{}", std::process::id()) };
        let opened = terminal
            .command(&["-f", "/dev/null", "-u", "new-session", "-d", "-x", "80", "-y", "24", "sh"])
            .current_dir(folder)
            .env_remove("NO_COLOR")
            .env_remove("TMUX")
            .env("PS1", "$ ")
            .output()
            .expect("this test needs tmux: .ci/setup installs it, TERMINAL=0 leaves the test out");
        assert!(opened.status.success(), "tmux opens no terminal: {}", stderr(&opened));
        Some(terminal)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("tmux");
        command.args(["-L", &self.socket]).args(arguments);
        command
    }

    fn tell(&self, arguments: &[&str]) -> Output {
        let output = self.command(arguments).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", stderr(&output));
        output
    }

    fn press(&self, keys: &[&str]) {
        self.tell(&[&["send-keys"], keys].concat());
    }

    fn screen(&self) -> String {
        stdout(&self.tell(&["capture-pane", "-p"]))
    }

    /// The first screen on which all of `parts` are, which must come soon.
    fn wait_for(&self, parts: &[&str]) -> String {
        let began = Instant::now();
        loop {
            let screen = self.screen();
            if parts.iter().all(|part| screen.contains(part)) {
                return screen;
            }
            assert!(began.elapsed() < Duration::from_secs(20), "{parts:?} is not on\n{screen}");
            sleep(Duration::from_millis(20));
        }
    }

    /// Waits until `part` is on the screen no more, which must be soon.
    fn wait_until_gone(&self, part: &str) {
        let began = Instant::now();
        while self.screen().contains(part) {
            assert!(began.elapsed() < Duration::from_secs(20), "{part:?} is still there");
            sleep(Duration::from_millis(20));
        }
    }

    /// Whether the screen is the one programs draw on, rather than that of the shell.
    fn is_drawn_on(&self) -> bool {
        stdout(&self.tell(&["display", "-p", "#{alternate_on}"])).trim() == "1"
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.command(&["kill-server"]).output();
    }
}

/// A run that is ended with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn in_a_terminal_it_follows_a_run_and_leaves_no_trace() {
    let workshop = Workshop::new(DEADLINE);
    let Some(terminal) = Terminal::open("follows", &workshop.path("")) else {
        return;
    };
    // A second a round.
    let arguments = ["run", "s.toml", "--out", "out", "-q", "--clock", "wall", "--speedup", "2"];
    let mut run = Running(workshop.command(&arguments).stdout(Stdio::null()).spawn().unwrap());
    let watch = format!("echo before; '{}' watch out --wait; echo left $?", gruppetto_path());
    terminal.press(&[&watch, "Enter"]);
    let early = terminal.wait_for(&["watched · running", "seed 1", "p99", "q quit"]);
    assert!(terminal.is_drawn_on() && !early.contains("before"), "{early}");
    terminal.wait_for(&["train_loss over simulated time", "local steps τ:", " of 12, mean τ"]);

    terminal.press(&["m"]);
    terminal.wait_for(&["arrived / asked over simulated time"]);
    terminal.press(&["l"]);
    terminal.wait_for(&["arrived / asked, logarithmic"]);
    terminal.press(&["v"]);
    terminal.wait_for(&["nova, seed 1 (chosen)"]);
    terminal.press(&["?"]);
    terminal.wait_for(&["next measure"]);
    terminal.press(&["Escape"]);
    // Read together with the next key, Escape would be Alt.
    terminal.wait_until_gone("next measure");
    terminal.press(&["Space"]);
    terminal.wait_for(&[" paused "]);
    terminal.press(&["Space"]);

    terminal.tell(&["resize-window", "-x", "50", "-y", "20"]);
    terminal.wait_for(&["watched · running", "p99"]);
    terminal.tell(&["resize-window", "-x", "30", "-y", "8"]);
    terminal.wait_for(&["make this at least"]);
    terminal.tell(&["resize-window", "-x", "100", "-y", "30"]);
    terminal.wait_for(&["last events", "local steps τ:"]);

    // It stays when the run is killed, and when another one takes its folder.
    run.0.kill().unwrap();
    run.0.wait().unwrap();
    workshop.run("out", &["--force", "-q"]);
    terminal.wait_for(&["watched · complete · round 40"]);
    terminal.press(&["q"]);
    let screen = terminal.wait_for(&["left 0"]);
    assert!(screen.contains("before") && !terminal.is_drawn_on(), "{screen}");
    terminal.press(&["stty -a | tr ' ;' '\\n\\n' | grep -x -e icanon -e echo", "Enter"]);
    terminal.wait_for(&["\nicanon\n", "\necho\n"]);
}

#[test]
fn every_way_out_restores_the_terminal() {
    let workshop = Workshop::new(&many_rows(6, 50));
    workshop.run("out", &[]);
    let Some(terminal) = Terminal::open("ways-out", &workshop.path("")) else {
        return;
    };
    for (round, way) in ["q", "Escape", "C-c", "signal", "broken"].into_iter().enumerate() {
        let script = format!(
            "sh -c 'echo $$ > id; exec {} watch out'; echo way {round} $?",
            gruppetto_path()
        );
        terminal.press(&["clear; ", &script, "Enter"]);
        terminal.wait_for(&["many-rows · complete"]);
        let code = match way {
            "signal" => {
                let id = std::fs::read_to_string(workshop.path("id")).unwrap();
                assert!(Command::new("kill").arg(id.trim()).status().unwrap().success());
                130
            }
            "broken" => {
                std::fs::write(workshop.path("out/summary.json"), "{").unwrap();
                1
            }
            key => {
                terminal.press(&[key]);
                0
            }
        };
        let screen = terminal.wait_for(&[&format!("way {round} {code}")]);
        assert!(!terminal.is_drawn_on(), "{way}\n{screen}");
        assert_eq!(screen.contains("error: "), way == "broken", "{screen}");
    }
    terminal.press(&["stty -a | tr ' ;' '\\n\\n' | grep -x -e icanon -e echo", "Enter"]);
    terminal.wait_for(&["\nicanon\n", "\necho\n"]);
}

fn gruppetto_path() -> &'static str {
    env!("CARGO_BIN_EXE_gruppetto")
}

/// Waiting for keys of a terminal that is gone would keep a core busy for ever.
#[test]
fn it_ends_with_its_terminal() {
    let workshop = Workshop::new(&many_rows(6, 50));
    workshop.run("out", &[]);
    let Some(terminal) = Terminal::open("gone", &workshop.path("")) else {
        return;
    };
    let script = format!("sh -c 'echo $$ > id; exec {} watch out'", gruppetto_path());
    terminal.press(&["clear; ", &script, "Enter"]);
    terminal.wait_for(&["many-rows · complete"]);
    let id = std::fs::read_to_string(workshop.path("id")).unwrap();
    terminal.tell(&["kill-server"]);
    let is_there =
        || Command::new("kill").args(["-0", id.trim()]).output().unwrap().status.success();
    let began = Instant::now();
    while is_there() {
        assert!(began.elapsed() < Duration::from_secs(10), "it is still there");
        sleep(Duration::from_millis(50));
    }
}
