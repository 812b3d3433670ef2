//! Follows a run folder: reads what its files have gained.

use super::rows::{ClientReader, RoundReader};
use super::state::State;
use super::tail::{Limits, Line, Reading, Tail};
use super::told::Told;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Curves should be whole: only a file that would take seconds to read is not read through.
const ROUNDS: Limits = Limits { at_once: 4 << 20, behind: 128 << 20 };
/// There are rows enough in a few megabytes to tell how latencies are spread.
const CLIENTS: Limits = Limits { at_once: 2 << 20, behind: 8 << 20 };

/// A folder cannot be followed.
#[derive(Debug, thiserror::Error)]
pub enum WatchError {
    /// There is no such folder, or it is not that of a run.
    #[error(
        "{}: there is no summary.json\n  = help: give the folder of a run, such as runs/demo; \
         --wait waits for one that is about to begin",
        .0.display()
    )]
    NoRun(PathBuf),
    /// A file of the folder cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    #[allow(missing_docs)]
    Read { path: PathBuf, source: io::Error },
    /// A file of the folder is not what it was.
    #[error("{}: {what}\n  = help: run the scenario again", path.display())]
    #[allow(missing_docs)]
    Broken { path: PathBuf, what: String },
    /// The terminal does not do what it should.
    #[error("cannot use the terminal: {0}")]
    Terminal(io::Error),
}

/// Reads the files of a folder as they grow.
pub struct Follower {
    summary: PathBuf,
    /// When `summary.json` was written that was read last, and how long it was.
    known: Option<(SystemTime, u64)>,
    rounds: Tail,
    clients: Tail,
    round_reader: Option<RoundReader>,
    client_reader: Option<ClientReader>,
    state: State,
}

impl Follower {
    /// Of the run in `folder`, of which nothing is read yet.
    pub fn new(folder: &Path) -> Self {
        Follower::limited(folder, ROUNDS, CLIENTS)
    }

    fn limited(folder: &Path, rounds: Limits, clients: Limits) -> Self {
        Follower {
            summary: folder.join("summary.json"),
            known: None,
            rounds: Tail::new(folder.join("rounds.csv"), rounds),
            clients: Tail::new(folder.join("clients.csv"), clients),
            round_reader: None,
            client_reader: None,
            state: State::default(),
        }
    }

    /// Whether there is a run to follow.
    pub fn is_there(&self) -> bool {
        self.summary.exists()
    }

    /// What is known.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Reads some of what is new.
    pub fn tick(&mut self) -> Result<&State, WatchError> {
        self.read_summary()?;
        let readings = [self.read_rounds()?, self.read_clients()?];
        if readings.contains(&Reading::Replaced) {
            self.begin_again();
            return Ok(&self.state);
        }
        let state = &mut self.state;
        state.is_behind = readings.contains(&Reading::Behind);
        state.has_clients |= readings[1] != Reading::Nothing;
        state.rounds_skipped = self.rounds.skipped();
        state.clients_skipped = self.clients.skipped();
        let files = [&self.summary, self.rounds.path(), self.clients.path()];
        state.silent = files.into_iter().filter_map(silent).min();
        Ok(&self.state)
    }

    /// Reads until nothing new is left: the state of the moment.
    pub fn catch_up(&mut self) -> Result<&State, WatchError> {
        if !self.is_there() {
            let folder = self.summary.parent().unwrap_or(&self.summary);
            return Err(WatchError::NoRun(folder.to_owned()));
        }
        // As often as it takes for all that may be read; a file that grows as fast has no end.
        let most = ROUNDS.behind / ROUNDS.at_once + CLIENTS.behind / CLIENTS.at_once;
        for _ in 0..most {
            if !self.tick()?.is_behind {
                break;
            }
        }
        Ok(&self.state)
    }

    /// Another run has taken the folder.
    fn begin_again(&mut self) {
        self.rounds.rewind();
        self.clients.rewind();
        self.known = None;
        // Until the new one is read there is more to come.
        self.state = State { is_behind: true, ..State::default() };
    }

    fn read_summary(&mut self) -> Result<(), WatchError> {
        let path = &self.summary;
        let read = |source| WatchError::Read { path: path.clone(), source };
        let stamp = match fs::metadata(path) {
            Ok(file) => (file.modified().unwrap_or(SystemTime::UNIX_EPOCH), file.len()),
            // Gone, or about to be written anew: what is known is still worth looking at.
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(read(error)),
        };
        if self.known == Some(stamp) {
            return Ok(());
        }
        let text = match fs::read(path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(read(error)),
        };
        let told: Told = serde_json::from_slice(&text)
            .map_err(|error| WatchError::Broken { path: path.clone(), what: error.to_string() })?;
        self.state.tell(told);
        self.known = Some(stamp);
        Ok(())
    }

    fn read_rounds(&mut self) -> Result<Reading, WatchError> {
        let (reader, state) = (&mut self.round_reader, &mut self.state);
        let reading = self.rounds.read(&mut |line| match line {
            Line::Header(header) => *reader = RoundReader::new(header),
            Line::Row(row) => {
                if let Some(line) = reader.as_ref().and_then(|reader| reader.read(row)) {
                    state.close(&line);
                }
            }
            // A curve goes straight on.
            Line::Gap => {}
        });
        reading.map_err(at(self.rounds.path()))
    }

    fn read_clients(&mut self) -> Result<Reading, WatchError> {
        let (reader, state) = (&mut self.client_reader, &mut self.state);
        let reading = self.clients.read(&mut |line| match line {
            Line::Header(header) => *reader = ClientReader::new(header),
            Line::Row(row) => {
                if let Some(line) = reader.as_ref().and_then(|reader| reader.read(row)) {
                    state.take_part(&line);
                }
            }
            Line::Gap => state.lose_sight(),
        });
        reading.map_err(at(self.clients.path()))
    }
}

fn at(path: &Path) -> impl FnOnce(io::Error) -> WatchError + '_ {
    move |source| WatchError::Read { path: path.to_owned(), source }
}

/// How long ago a file was written to.
fn silent(path: impl AsRef<Path>) -> Option<Duration> {
    let modified = fs::metadata(path).ok()?.modified().ok()?;
    Some(SystemTime::now().duration_since(modified).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{ClientRow, Leg, Outcome, RoundRow};
    use crate::report::{ClientsCsv, RoundsCsv};
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
            idle: span(0),
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
        let mut file = clients.then(|| ClientsCsv::create(&path.join("clients.csv")).unwrap());
        let mut rounds = RoundsCsv::create(&path.join("rounds.csv")).unwrap();
        for variant in variants {
            for row in 1..=rows {
                rounds.add(&format!("{variant},1"), &round(row)).unwrap();
                if let Some(file) = &mut file {
                    let row = client(row as u32);
                    file.add(&format!("{variant},1"), &["phone".into()], &row, 0.1).unwrap();
                }
            }
        }
    }

    fn seen(state: &State) -> Vec<(&str, u64, u64)> {
        state
            .runs
            .iter()
            .map(|run| (run.variant.as_str(), run.round(), run.outcomes()[0]))
            .collect()
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
            assert_eq!(follower.state().told.name, "test");
        }
    }

    #[test]
    fn a_folder_without_clients_will_do_and_one_without_a_summary_will_not() {
        let folder = tempfile::tempdir().unwrap();
        let mut follower = Follower::new(folder.path());
        assert!(matches!(follower.catch_up(), Err(WatchError::NoRun(_))));
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
        assert!(
            (10..200).contains(&state.runs[0].outcomes()[0]),
            "{}",
            state.runs[0].outcomes()[0]
        );
        assert!(state.clients_skipped > 50_000);
    }
}
