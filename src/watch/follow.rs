//! Follows a run folder: reads what its files have gained.

use super::rows::{ClientReader, RoundReader};
use super::state::State;
use super::tail::{Limits, Line, Reading, Tail};
use super::told::Told;
use crate::report::ReadError;
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
    /// What there is of a run cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
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
        let read = |source| ReadError::Read { path: path.clone(), source };
        let stamp = match fs::metadata(path) {
            Ok(file) => (file.modified().unwrap_or(SystemTime::UNIX_EPOCH), file.len()),
            // Gone, or about to be written anew: what is known is still worth looking at.
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(read(error).into()),
        };
        if self.known == Some(stamp) {
            return Ok(());
        }
        let text = match fs::read(path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(read(error).into()),
        };
        let told: Told =
            serde_json::from_slice(&text).map_err(|error| ReadError::broken(path, error))?;
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
        understood(reading, self.round_reader.is_some(), self.rounds.path())
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
        understood(reading, self.client_reader.is_some(), self.clients.path())
    }
}

/// What came of reading a file, whose header must have made sense if there is one.
fn understood(
    reading: io::Result<Reading>,
    makes_sense: bool,
    path: &Path,
) -> Result<Reading, WatchError> {
    match reading {
        Ok(Reading::UpToDate | Reading::Behind) if !makes_sense => {
            Err(ReadError::broken(path, "it lacks columns that this version shows").into())
        }
        Ok(reading) => Ok(reading),
        Err(source) => Err(ReadError::Read { path: path.to_owned(), source }.into()),
    }
}

/// How long ago a file was written to.
fn silent(path: impl AsRef<Path>) -> Option<Duration> {
    let modified = fs::metadata(path).ok()?.modified().ok()?;
    Some(SystemTime::now().duration_since(modified).unwrap_or_default())
}

#[cfg(test)]
mod tests;
