//! Memory does not grow with rounds, limits are known before a run starts, and no file takes more than there is.
//! Linux tells how much a process has.

use crate::support::{Workshop, stderr};
use std::io::Write;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The most memory a run had had, in kB, each time it was looked up.
fn peaks(scenario: &str) -> Vec<u64> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("long.toml");
    std::fs::write(&file, scenario).unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_gruppetto"))
        .args(["run", file.to_str().unwrap(), "-q", "--threads", "1", "--out"])
        .arg(folder.path().join("run"))
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let status = format!("/proc/{}/status", child.id());
    let mut seen = Vec::new();
    while child.try_wait().unwrap().is_none() {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        seen.extend(line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok()));
        std::thread::sleep(Duration::from_millis(2));
    }
    assert!(child.wait().unwrap().success());
    seen
}

/// A quarter of the way a run has all the memory it will ever have. One leaked row or timer per
/// client-round would be 30 MB and more by the end; what is written then takes two.
#[test]
fn the_last_rounds_take_no_more_memory_than_the_first() {
    // The deadline is far beyond the end of every round, so a timer is left behind by each.
    let seen = peaks(
        "name = \"long\"\nstop.rounds = 6000\n[task]\nkind = \"quadratic\"\nclients = 100\n\
         [client]\nwork = { steps = 3 }\n[server]\nclose = { deadline = \"30d\" }\n\
         evaluate_every = 100\n[[fleet.class]]\nname = \"a\"\njitter = 0.1\nstep_time = \"1ms\"\n",
    );
    let (early, last) = (seen[seen.len() / 4], seen[seen.len() - 1]);
    assert!(last < early + 6000, "{early} kB early on, {last} kB at the end");
}

/// A cell that is over leaves its summary and, one of the first 300, what is drawn of it: some ten kilobytes.
/// Its histograms were 400 to 800.
#[test]
fn cells_that_are_over_take_no_memory_to_speak_of() {
    let cells = |count: usize| {
        let variant =
            |i: usize| format!("[[variant]]\nname = \"v{i}\"\nset.client.lr = 1e-{}\n", i % 9 + 1);
        let variants: String = (0..count).map(variant).collect();
        let text = format!(
            "name = \"cells\"\nrepeats = 3\nstop.rounds = 5\n[task]\nkind = \"quadratic\"\nclients = 20\n\
             [client]\nwork = {{ steps = 3 }}\n[server]\nclose = \"all\"\n[[fleet.class]]\nname = \"a\"\n\
             step_time = {{ lognormal = {{ median = \"90ms\", sigma = 2 }} }}\nuplink = \"1Mbps\"\n{variants}"
        );
        *peaks(&text).last().unwrap()
    };
    let [few, many] = [cells(40), cells(240)];
    assert!(many < few + 600 * 100, "{few} kB for 120 cells, {many} kB for 720");
}

/// Models of 80 MB, one for each client and a few more.
const LARGE: &str = "name = \"large\"\nstop.rounds = 1\ntask = { kind = \"quadratic\", clients = 20, dim = 10_000_000 }\n\
                     client.work.steps = 1\nserver.close = \"all\"\n";

/// Refused by `check` and `run` with these words, where a shell has set a limit.
fn refused_within(limit: &str, words: &str) {
    let workshop = Workshop::new(LARGE);
    for command in ["check s.toml", "run s.toml --out out"] {
        let script = format!("{limit} && exec {} {command}", env!("CARGO_BIN_EXE_gruppetto"));
        let output = Command::new("sh")
            .args(["-c", &script])
            .current_dir(workshop.path("."))
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        assert!(stderr(&output).contains(words), "{}", stderr(&output));
        assert!(stderr(&output).contains("it needs at least "), "{}", stderr(&output));
    }
    assert!(!workshop.path("out").exists());
}

#[test]
fn limits_of_the_process_count() {
    refused_within("ulimit -v 1500000", "GB are free below the limit of `ulimit -v`");
    refused_within("ulimit -d 1200000", "GB are free below the limit of `ulimit -d`");
}

/// A few megabytes of gzip that hold gigabytes.
fn bomb(first: &str, line: &str) -> Vec<u8> {
    let mut zip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    zip.write_all(first.as_bytes()).unwrap();
    let block = line.repeat((1 << 20) / line.len());
    (0..400).for_each(|_| zip.write_all(block.as_bytes()).unwrap());
    zip.finish().unwrap()
}

#[test]
fn files_that_unfold_to_gigabytes_are_refused() {
    let text = |class: &str| {
        format!(
            "name = \"s\"\nstop.rounds = 1\ntask = {{ kind = \"quadratic\", clients = 2 }}\n\
             client.work.steps = 1\nserver.close = \"all\"\n[[fleet.class]]\nname = \"a\"\n{class}\n"
        )
    };
    let empirical = text("step_time = { empirical = \"b.csv.gz\", column = \"x\", unit = \"ms\" }");
    let trace = text("step_time = \"1ms\"\navailability = { trace = \"b.csv.gz\" }");
    for (text, file, words) in [
        (&empirical, bomb("x\n", "\n"), "it holds more than 256 MiB"),
        (&empirical, bomb("x\n", "1"), "a line of more than 1 MiB"),
        (&trace, bomb("device,time [s],available\n", "# nothing\n"), "16 MiB of comments"),
        (&trace, bomb("device,time [s],available\n", "a"), "a row of more than"),
    ] {
        let workshop = Workshop::new(text);
        std::fs::write(workshop.path("b.csv.gz"), file).unwrap();
        let began = Instant::now();
        let output = workshop.call(&["check", "s.toml"]);
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        assert!(stderr(&output).contains(words), "{}", stderr(&output));
        assert!(began.elapsed() < Duration::from_secs(8), "{words}: {:?}", began.elapsed());
    }
}

#[test]
fn files_without_an_end_are_refused() {
    let workshop = Workshop::new(LARGE);
    let output = workshop.call(&["check", "/dev/zero"]);
    assert!(stderr(&output).contains("it holds more than 64 MiB"), "{}", stderr(&output));
    let summary = workshop.path("summary.json");
    std::os::unix::fs::symlink("/dev/zero", &summary).unwrap();
    let output = workshop.call(&["compare", "."]);
    assert!(stderr(&output).contains("summary.json: it is not a file"), "{}", stderr(&output));
    std::fs::remove_file(&summary).unwrap();
    std::fs::File::create(&summary).unwrap().set_len(2 << 30).unwrap();
    let output = workshop.call(&["compare", "."]);
    assert!(stderr(&output).contains("it holds more than 1 GiB"), "{}", stderr(&output));
}
