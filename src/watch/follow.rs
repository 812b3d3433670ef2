//! Follows a run folder: reads what its files have gained.

use super::rows::{ClientReader, RoundReader};
use super::state::State;
use super::tail::{Limits, Reading, Tail, TailLine};
use crate::memory::read_at_most;
use crate::report::holder;
use crate::run_files::{
    ClientsCsv, MOST_TEXT, ReadError, RoundsCsv, RunTable, Status, Summary, TableHeader,
};
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
    /// There is no run, or it cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The terminal does not do what it should.
    #[error("cannot use the terminal: {0}")]
    Terminal(io::Error),
}

/// Reads the files of a folder as they grow.
pub(super) struct Follower {
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
    pub(super) fn new(folder: &Path) -> Self {
        Follower::limited(folder, ROUNDS, CLIENTS)
    }

    fn limited(folder: &Path, rounds: Limits, clients: Limits) -> Self {
        Follower {
            summary: folder.join(Summary::FILE),
            known: None,
            rounds: Tail::new(folder.join(RoundsCsv::FILE), rounds),
            clients: Tail::new(folder.join(ClientsCsv::FILE), clients),
            round_reader: None,
            client_reader: None,
            state: State::default(),
        }
    }

    /// Whether there is a run to follow.
    pub(super) fn is_there(&self) -> bool {
        self.summary.exists()
    }

    /// What is known.
    pub(super) fn state(&self) -> &State {
        &self.state
    }

    /// Reads some of what is new.
    pub(super) fn tick(&mut self) -> Result<&State, WatchError> {
        // In this order: a run says that it is over before it leaves its folder.
        let is_free = self.summary.parent().is_some_and(|run| holder(run).is_none());
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
        let goes_on = state.summary.as_ref().is_some_and(|run| run.status == Status::Incomplete);
        state.is_gone = is_free && goes_on;
        Ok(&self.state)
    }

    /// Reads until nothing new is left: the state of the moment.
    pub(super) fn catch_up(&mut self) -> Result<&State, WatchError> {
        if !self.is_there() {
            let folder = self.summary.parent().unwrap_or(&self.summary);
            return Err(ReadError::NoRun(folder.to_owned()).into());
        }
        // As often as it takes for all that may be read, each time a line less than allowed; a file that grows as fast
        // has no end.
        let most = ROUNDS.behind / ROUNDS.at_once + CLIENTS.behind / CLIENTS.at_once;
        for _ in 0..most + 2 {
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
        let text = match read_at_most(path, MOST_TEXT) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(read(error).into()),
        };
        self.state.summarize(Summary::parse(path, &text)?);
        self.known = Some(stamp);
        Ok(())
    }

    fn read_rounds(&mut self) -> Result<Reading, WatchError> {
        let (reader, state) = (&mut self.round_reader, &mut self.state);
        let path = self.rounds.path().to_owned();
        let mut broken = None;
        let reading = self.rounds.read(&mut |line| match line {
            TailLine::Header(header) => {
                let found = RoundReader::new(TableHeader::new(&path, header));
                *reader = found.map_err(|error| broken = Some(error)).ok();
            }
            // A line that cannot be understood says nothing: a run may still be writing it.
            TailLine::Row(row) => {
                if let Some(Ok(line)) = reader.as_mut().map(|reader| reader.read(row)) {
                    state.close(&line);
                }
            }
            // A curve goes straight on.
            TailLine::Gap => {}
        });
        understood(reading, broken, path)
    }

    fn read_clients(&mut self) -> Result<Reading, WatchError> {
        let (reader, state) = (&mut self.client_reader, &mut self.state);
        let path = self.clients.path().to_owned();
        let mut broken = None;
        let reading = self.clients.read(&mut |line| match line {
            TailLine::Header(header) => {
                let found = ClientReader::new(TableHeader::new(&path, header));
                *reader = found.map_err(|error| broken = Some(error)).ok();
            }
            TailLine::Row(row) => {
                if let Some(Ok(line)) = reader.as_mut().map(|reader| reader.read(row)) {
                    state.take_part(&line);
                }
            }
            TailLine::Gap => state.lose_sight(),
        });
        understood(reading, broken, path)
    }
}

/// What came of reading a file, whose header must have what is shown.
fn understood(
    reading: io::Result<Reading>,
    broken: Option<ReadError>,
    path: PathBuf,
) -> Result<Reading, WatchError> {
    match (reading, broken) {
        (_, Some(error)) => Err(error.into()),
        (Ok(reading), None) => Ok(reading),
        (Err(source), None) => Err(ReadError::Read { path, source }.into()),
    }
}

/// How long ago a file was written to.
fn silent(path: impl AsRef<Path>) -> Option<Duration> {
    let modified = fs::metadata(path).ok()?.modified().ok()?;
    Some(SystemTime::now().duration_since(modified).unwrap_or_default())
}

#[cfg(test)]
mod tests;
