//! Traces that are made up: repeatable to the byte, and like what they are named after.

use crate::support::{Workshop, names, stderr, stdout};
use gruppetto::trace::{Input, Mixture, Recording, inspect};
use std::fs;
use std::io::Read;
use std::path::Path;

const HOUR: u64 = 3_600_000_000_000;

/// The text of a trace of the repository, and the arguments that its header says made it.
fn shipped(file: &Path) -> (String, Vec<String>) {
    let mut text = String::new();
    let zipped = fs::File::open(file).unwrap();
    flate2::read::GzDecoder::new(zipped).read_to_string(&mut text).unwrap();
    let command = text.lines().find_map(|line| line.strip_prefix("# gruppetto ")).unwrap();
    let arguments = command.split(' ').map(String::from).collect();
    (text, arguments)
}

#[test]
fn shipped_traces_are_what_their_headers_say() {
    let readme = fs::read_to_string("traces/README.md").unwrap();
    let files: Vec<_> =
        names(Path::new("traces")).into_iter().filter(|name| name.ends_with(".gz")).collect();
    assert_eq!(files.len(), 5);
    for name in files {
        let file = Path::new("traces").join(&name);
        assert!(fs::metadata(&file).unwrap().len() < 60_000, "{name} is large");
        let (text, arguments) = shipped(&file);
        let made = crate::support::gruppetto().args(&arguments).output().unwrap();
        assert_eq!(made.status.code(), Some(0), "{}", stderr(&made));
        // A later version makes the same devices and says its own number.
        let number = text.split("made up by Gruppetto ").nth(1).unwrap();
        let number = number.split(',').next().unwrap();
        let version = format!("Gruppetto {},", env!("CARGO_PKG_VERSION"));
        let text = text.replacen(&format!("Gruppetto {number},"), &version, 1);
        assert!(stdout(&made) == text, "{name} is not what {arguments:?} makes");
        assert!(text.starts_with("# Synthetic: "), "{name}");
        let command = format!("gruppetto {}{}", arguments.join(" ").trim_end_matches('-'), name);
        assert!(readme.contains(&command), "traces/README.md does not say `{command}`");
        let told = inspect(&Input::file(&file)).unwrap();
        assert!(told.problems.is_empty(), "{name}: {:?}", told.problems);
        assert_eq!(told.with_end, told.devices, "{name} can repeat");
    }
}

#[test]
fn the_same_seed_makes_the_same_devices_and_more_of_them_come_after() {
    let workshop = Workshop::new("");
    let make = |devices: &str, seed: &str| {
        let output = workshop.call(&[
            "trace",
            "synth",
            "phones",
            "--devices",
            devices,
            "--seed",
            seed,
            "--out",
            "-",
        ]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let text = stdout(&output);
        text.lines().skip(2).map(String::from).collect::<Vec<_>>()
    };
    let few = make("20", "7");
    assert_eq!(few, make("20", "7"));
    assert_eq!(few[..], make("300", "7")[..few.len()]);
    assert_ne!(few, make("20", "8"));
    for (given, told) in [
        (&["rack", "--length", "90m"][..], "--length 5400s"),
        (&["rack", "--length", "48h"], "--days 2"),
        (&["rack"], "--length 12h"),
    ] {
        let arguments = [&["trace", "synth", "--devices", "1", "--out", "-"], given].concat();
        let text = stdout(&workshop.call(&arguments));
        let line = text.lines().nth(1).unwrap();
        assert_eq!(
            line,
            format!("# gruppetto trace synth rack --devices 1 {told} --seed 1 --out -")
        );
    }
}

fn devices(mixture: &str, count: usize) -> Vec<Recording> {
    let mixture = Mixture::named(mixture).unwrap();
    mixture.devices(5, mixture.length).take(count).collect()
}

/// The median over devices of their uplink at an hour of the recording.
fn uplink(devices: &[Recording], tier: &str, hour: u64) -> f64 {
    let at = |device: &Recording| {
        let told = device.changes.iter().filter(|change| change.at.nanos() <= hour * HOUR);
        told.filter_map(|change| change.up).next_back().unwrap()
    };
    let mut rates: Vec<f64> =
        devices.iter().filter(|device| device.device.starts_with(tier)).map(at).collect();
    rates.sort_by(f64::total_cmp);
    rates[rates.len() / 2]
}

#[test]
fn mixtures_do_what_they_are_named_after() {
    let workshop = Workshop::new("");
    let output = workshop.call(&[
        "trace",
        "synth",
        "phones",
        "--devices",
        "500",
        "--days",
        "3",
        "--out",
        "p.csv.gz",
    ]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stderr(&output).starts_with("500 devices, "), "{}", stderr(&output));
    let told = inspect(&Input::file(workshop.path("p.csv.gz"))).unwrap();
    let hours = told.availability.unwrap().by_hour;
    assert!(hours[1..4].iter().all(|share| *share > 0.75), "charging at night: {hours:?}");
    assert!(hours[10..18].iter().all(|share| *share < 0.2), "short windows by day: {hours:?}");
    assert!(told.problems.is_empty() && told.longest == 3.0 * 86_400.0);

    let laptops = devices("campus-wifi", 400);
    assert!(uplink(&laptops, "dorm", 4) < 0.25 * uplink(&laptops, "dorm", 0));
    assert!(uplink(&laptops, "library", 4) > 2.0 * uplink(&laptops, "dorm", 4));

    for server in devices("rack", 50) {
        let mut steps: Vec<f64> =
            server.changes.iter().filter_map(|change| Some(change.compute?.value())).collect();
        let own = steps[0];
        steps.dedup();
        assert!(steps.iter().all(|step| *step >= own && *step < 4.1 * own), "{steps:?}");
        assert!(server.changes.iter().skip(1).all(|change| change.up.is_none()));
    }
    let laptops = devices("outage", 100);
    assert_eq!(uplink(&laptops, "north", 2), 0.0);
    assert!(uplink(&laptops, "north", 1) > 0.0 && uplink(&laptops, "north", 3) > 0.0);
    let south = laptops.iter().filter(|device| device.device.starts_with("south"));
    assert!(south.flat_map(|device| &device.changes).all(|change| change.up != Some(0.0)));
}

/// Quantiles of 51,496 phones: inference in ms a sample, and kbit/s.
#[test]
fn capacity_is_like_the_phones_it_is_fitted_to() {
    let published = [
        (0.05, 19.0, 1393.0),
        (0.1, 21.0, 1818.0),
        (0.25, 24.0, 2856.0),
        (0.5, 41.0, 6075.0),
        (0.75, 148.0, 13_882.0),
        (0.9, 174.0, 32_546.0),
        (0.95, 189.0, 51_663.0),
    ];
    let phones = devices("capacity", 20_000);
    let sorted = |of: fn(&Recording) -> f64| {
        let mut values: Vec<f64> = phones.iter().map(of).collect();
        values.sort_by(f64::total_cmp);
        values
    };
    let times = sorted(|phone| phone.changes[0].compute.unwrap().value() / 3e6);
    let rates = sorted(|phone| phone.changes[0].up.unwrap() / 1e3);
    for (part, time, rate) in published {
        let at = (part * 19_999.0) as usize;
        let off = (times[at] / time - 1.0, rates[at] / rate - 1.0);
        assert!(off.0.abs() < 0.12 && off.1.abs() < 0.2, "{part}: {off:?}");
    }
    assert!(phones.iter().all(|phone| phone.changes[0].up == phone.changes[0].down));
}

#[test]
fn what_cannot_be_made_up_is_refused() {
    let workshop = Workshop::new("");
    fs::create_dir(workshop.path("folder")).unwrap();
    for (arguments, code, said) in [
        (&["phones", "--devices", "0", "--out", "x"][..], 2, "0 is not in 1..=100000000"),
        (&["phones", "--devices", "99999999999999999999", "--out", "x"], 2, "--devices"),
        (&["phones", "--devices", "1"], 2, "--out <FILE>"),
        (&["phons", "--devices", "1", "--out", "x"], 2, "similar value exists: 'phones'"),
        (&["rack", "--devices", "1", "--days", "0", "--out", "x"], 2, "0 is not in 1..=366"),
        (
            &["rack", "--devices", "1", "--days", "1", "--length", "1h", "--out", "x"],
            2,
            "cannot be used with",
        ),
        (
            &["phones", "--devices", "1", "--length", "36h", "--out", "x"],
            2,
            "`phones` has a daily rhythm, expected whole days",
        ),
        (&["phones", "--devices", "1", "--length", "0s", "--out", "x"], 2, "whole days"),
        (&["rack", "--devices", "1", "--length", "90", "--out", "x"], 2, "`90` has no unit"),
        (&["rack", "--devices", "1", "--length", "1s", "--out", "x"], 2, "a minute or more"),
        (&["rack", "--devices", "1", "--length", "9999d", "--out", "x"], 2, "up to 366 days"),
        (&["rack", "--devices", "1", "--length", "1h1ms", "--out", "x"], 2, "whole seconds"),
        (&["rack", "--devices", "1", "--out", "nowhere/x"], 1, "nowhere/x: cannot write"),
        (&["rack", "--devices", "1", "--out", "folder"], 1, "folder: cannot write"),
    ] {
        let output = workshop.call(&[&["trace", "synth"], arguments].concat());
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(said), "{arguments:?}: {}", stderr(&output));
    }
    assert_eq!(names(&workshop.path(".")), ["folder", "s.toml"], "nothing is left");
}
