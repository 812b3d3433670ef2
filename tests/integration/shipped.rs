//! Every shipped scenario keeps its promises.

use gruppetto::actors::Pacemaker;
use gruppetto::run::{Options, has_failed, run};
use gruppetto::scenario::Scenario;
use std::path::Path;

#[test]
fn shipped_scenarios_run_and_their_expectations_are_met() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios");
    let mut files: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|kind| kind == "toml"));
    // Those need a data set that may not be there: tests/integration/deep_scenarios.rs.
    files.retain(|file| !std::fs::read_to_string(file).unwrap().contains("kind = \"images\""));
    assert!(files.len() >= 16);
    for file in files {
        let scenario = Scenario::load(&file, &[], None).unwrap_or_else(|error| panic!("{error}"));
        let stem = file.file_stem().unwrap().to_string_lossy().into_owned();
        assert_eq!(scenario.name, stem, "a scenario is called after its file");
        assert!(!scenario.description.is_empty() && !scenario.expects.is_empty(), "{stem}");
        let options = Options {
            out: None,
            force: false,
            threads: 2,
            pacemaker: Pacemaker::Virtual,
            timing_only: false,
            device: Default::default(),
        };
        let summary = run(&scenario, &options, &mut ()).unwrap();
        assert!(!has_failed(&scenario, &summary), "{stem} diverged");
        for expect in summary.expect {
            assert!(expect.ok, "{stem}: {} (measured {:?})", expect.that, expect.measured);
        }
    }
}
