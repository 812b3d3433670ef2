//! Every shipped scenario keeps its promises.

use gruppetto::actors::ClockMode;
use gruppetto::plugins::Plugins;
use gruppetto::run::{Options, has_failed, run};
use gruppetto::scenario::{Override, Scenario};
use std::path::{Path, PathBuf};

/// The scenarios in a folder that need no data set; the others are in
/// tests/integration/deep_scenarios.rs.
fn scenarios(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut files: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|kind| kind == "toml"));
    files.retain(|file| !std::fs::read_to_string(file).unwrap().contains("kind = \"images\""));
    files.sort();
    files
}

fn load(file: &Path, set: &[&str]) -> Scenario {
    let overrides: Vec<Override> = set.iter().map(|text| Override::parse(text).unwrap()).collect();
    let scenario = Scenario::load_with(file, &overrides, None, &Plugins::new())
        .unwrap_or_else(|error| panic!("{error}"));
    let stem = file.file_stem().unwrap().to_string_lossy().into_owned();
    assert_eq!(scenario.name, stem, "a scenario is called after its file");
    assert!(!scenario.description.is_empty() && !scenario.expects.is_empty(), "{stem}");
    scenario
}

fn keeps_its_promises(scenario: &Scenario) {
    let options = Options {
        out: None,
        force: false,
        threads: 2,
        clock_mode: ClockMode::Virtual,
        timing_only: false,
        device: Default::default(),
        ..Options::default()
    };
    let name = &scenario.name;
    let summary = run(scenario, &options, &Plugins::new()).unwrap();
    assert!(!has_failed(scenario, &summary), "{name} diverged");
    for expect in &summary.expect {
        assert!(expect.ok, "{name}: {} (measured {:?})", expect.that, expect.measured);
    }
}

#[test]
fn shipped_scenarios_run_and_their_expectations_are_met() {
    let files = scenarios("scenarios");
    assert!(files.len() >= 16);
    files.iter().for_each(|file| keeps_its_promises(&load(file, &[])));
}

/// The figures of the paper on quadratics and on synthetic data; of the latter fewer rounds and seeds.
#[test]
fn the_papers_figures_hold() {
    let files = scenarios("scenarios/paper");
    let names: Vec<_> = files.iter().map(|file| file.file_stem().unwrap().to_str()).collect();
    for name in ["figure-2-left", "figure-2-middle", "figure-2-right", "figure-4"] {
        assert!(names.contains(&Some(name)), "{name}");
    }
    for file in &files {
        let is_synthetic = file.to_string_lossy().contains("figure-5");
        let fewer = ["stop.rounds=60", "repeats=2"];
        keeps_its_promises(&load(file, if is_synthetic { &fewer } else { &[] }));
    }
}
