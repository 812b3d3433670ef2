//! Folders as runs leave them, and as they do not.

use super::*;
use crate::record::{ClientRow, Leg, Outcome, RoundRow};
use crate::report::TableFile;
use crate::run_files::{CellId, RunKey, WeightedRow};
use std::io::Write;
use tempfile::TempDir;

const ONE: &str = r#"{"name": "test", "status": "incomplete", "variants": []}"#;

fn round(round: u64) -> RoundRow {
    RoundRow {
        round,
        closed: crate::clock::SimTime::from_nanos(round * 2_000_000_000),
        waited: crate::clock::Span::ZERO,
        lr_factor: 1.0,
        asked: 10,
        arrived: 8,
        busy: 0,
        tau_eff: 3.0,
        tau: [1.0, 3.0, 5.0],
        chi2: 0.25,
        missing_mass: 0.0,
        weight_scale: 1.0,
        metrics: None,
        gradients: None,
    }
}

fn client(client: u32) -> ClientRow {
    let span = crate::clock::Span::from_nanos;
    ClientRow {
        round: 1,
        client,
        class: 0,
        outcome: Outcome::Used,
        leg: Leg::Done,
        staleness: 0,
        tau: 3,
        accumulation: 3.0,
        dispatched: crate::clock::SimTime::ZERO,
        download: span(1),
        compute: span(2),
        upload: span(3),
        arrived: crate::clock::SimTime::from_nanos(6),
        idle: None,
        superseded: span(0),
        raw_weight: 1.0,
    }
}

/// A folder as a run of `variants` makes it, with as many rounds and clients in each.
fn write(folder: &TempDir, variants: &[&str], rows: u64, clients: bool) {
    let path = folder.path();
    for name in ["rounds.csv", "clients.csv", "summary.json"] {
        let _ = fs::remove_file(path.join(name));
    }
    fs::write(path.join("summary.json"), ONE).unwrap();
    let mut file = clients.then(|| TableFile::<ClientsCsv>::create(path, &[]).unwrap());
    let mut rounds = TableFile::<RoundsCsv>::create(path, &[]).unwrap();
    for variant in variants {
        let run =
            RunKey::new(&CellId { variant: variant.to_string(), seed: 1, ..CellId::default() });
        for row in 1..=rows {
            rounds.add(&run, &round(row)).unwrap();
            if let Some(file) = &mut file {
                let row = client(row as u32);
                file.add(&run, &WeightedRow { row: &row, class: "phone", weight: 0.1 }).unwrap();
            }
        }
    }
}

fn seen(state: &State) -> Vec<(&str, u64, u64)> {
    state.runs.iter().map(|run| (run.variant.as_str(), run.round(), run.outcomes()[0])).collect()
}

#[test]
fn files_are_followed_as_they_grow() {
    let folder = tempfile::tempdir().unwrap();
    write(&folder, &["a", "b"], 3, true);
    let mut follower = Follower::new(folder.path());
    assert_eq!(seen(follower.catch_up().unwrap()), [("a", 3, 3), ("b", 3, 3)]);
    let path = folder.path().join("rounds.csv");
    let text = fs::read_to_string(&path).unwrap();
    let last = text.lines().last().unwrap().replacen("b,1,3", "b,1,4", 1);
    let mut file = fs::OpenOptions::new().append(true).open(&path).unwrap();
    let (one, two) = last.split_at(20);
    file.write_all(one.as_bytes()).unwrap();
    assert_eq!(seen(follower.tick().unwrap())[1], ("b", 3, 3), "half a line");
    file.write_all(format!("{two}\n").as_bytes()).unwrap();
    assert_eq!(seen(follower.tick().unwrap())[1], ("b", 4, 3));
}

#[test]
fn another_run_in_the_folder_begins_anew() {
    let folder = tempfile::tempdir().unwrap();
    write(&folder, &["a", "b"], 9, true);
    let mut follower = Follower::new(folder.path());
    follower.catch_up().unwrap();
    for (variants, clients, expected) in
        [(&["c"][..], true, ("c", 2, 2)), (&["d"], false, ("d", 2, 0))]
    {
        write(&folder, variants, 2, clients);
        assert!(follower.tick().unwrap().is_behind);
        assert_eq!(seen(follower.tick().unwrap()), [expected]);
        assert_eq!(follower.state().has_clients, clients);
        assert_eq!(follower.state().name(), "test");
    }
}

#[test]
fn a_folder_without_clients_will_do_and_one_without_a_summary_will_not() {
    let folder = tempfile::tempdir().unwrap();
    let mut follower = Follower::new(folder.path());
    assert!(matches!(follower.catch_up(), Err(WatchError::Read(ReadError::NoRun(_)))));
    write(&folder, &["a"], 2, false);
    assert_eq!(seen(follower.catch_up().unwrap()), [("a", 2, 0)]);
    fs::remove_dir_all(folder.path()).unwrap();
    assert_eq!(seen(follower.tick().unwrap()), [("a", 2, 0)], "gone, and still shown");
}

#[test]
fn of_a_huge_file_only_the_end_is_read() {
    let folder = tempfile::tempdir().unwrap();
    write(&folder, &["a"], 2000, true);
    let limits = Limits { at_once: 1000, behind: 5000 };
    let mut follower = Follower::limited(folder.path(), ROUNDS, limits);
    let state = follower.catch_up().unwrap();
    assert_eq!(state.runs[0].round(), 2000);
    assert!((10..200).contains(&state.runs[0].outcomes()[0]), "{}", state.runs[0].outcomes()[0]);
    assert!(state.clients_skipped > 50_000);
}

#[test]
fn files_with_other_columns_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    write(&folder, &["a"], 2, false);
    fs::write(folder.path().join("clients.csv"), "who,when\n1,2\n").unwrap();
    let mut follower = Follower::new(folder.path());
    let error = follower.catch_up().err().unwrap().to_string();
    assert!(error.contains("clients.csv, line 1: there is no column `variant`"), "{error}");
}
