//! Keeps checkpoints while a cell runs.
//!
//! The simulation waits for a copy of the numbers and no longer: a thread of the keeper's own puts them on the
//! disk. That thread also says when the next one is due. If they cost more than a fiftieth of the time, they come
//! more rarely.

use super::codec::{self, Memory, Places};
use super::vectors::{little_endian, write_tensors};
use super::{CellPath, log};
use crate::actors::Checkpoints;
use crate::clock::Span;
use crate::report::{FileError, create_folder};
use crate::server::{Checkpoint, RunLog};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tracing::warn;
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

/// Checkpoints may take one part in so many of the time.
const MOST: u32 = 50;
/// Files with vectors of clients; with more, all of them are written into one.
const FILES: u64 = 16;
/// Ends the process after so many events; keeps a checkpoint after every so many, which is on the disk before
/// the run goes on; waits before the end, so that rows are written: how tests see what a crash leaves.
const FAULT: [&str; 3] =
    ["GRUPPETTO_FAULT_AFTER", "GRUPPETTO_CHECKPOINT_EVENTS", "GRUPPETTO_FAULT_PAUSE_MS"];
/// The events of all cells so far.
static EVENTS: AtomicU64 = AtomicU64::new(0);

/// Keeps the checkpoints of one cell.
pub struct Keeper {
    due: Arc<AtomicBool>,
    thread: Option<(SyncSender<Delivery>, JoinHandle<()>)>,
    fault_after: Option<u64>,
    every: Option<u64>,
    pause: Option<u64>,
    events: u64,
    /// Checkpoints that were given to the thread, and that it is done with.
    given: u64,
    done: Arc<AtomicU64>,
}

/// What the thread is given: a checkpoint, and how long the simulation waited for the copy.
type Delivery = (Box<Checkpoint>, RunLog, Duration);

impl Keeper {
    /// Keeps a checkpoint of `cell` every `interval`.
    pub fn start(cell: CellPath, interval: Duration) -> Result<Self, FileError> {
        let (kept, log, next_file) = cell.using(|folder| {
            let at = |source| FileError { path: folder.to_owned(), source };
            create_folder(folder).map_err(at)?;
            let log = CheckpointLog::open(folder).map_err(at)?;
            Ok((folder.to_owned(), log, first_free_file(folder)))
        })?;
        let at = |source| FileError { path: kept, source };
        let (due, done) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let (sender, receiver) = sync_channel(1);
        let writer = CheckpointWriter {
            log,
            hashes: BTreeMap::new(),
            places: Places::new(),
            next_file,
            cell,
            due: due.clone(),
            done: done.clone(),
            asked: interval,
            interval,
            said: false,
        };
        let thread = std::thread::Builder::new().name("checkpoints".into());
        let thread = thread.spawn(move || writer.work(&receiver)).map_err(at)?;
        let [fault_after, every, pause] =
            FAULT.map(|name| std::env::var(name).ok().and_then(|text| text.parse().ok()));
        let thread = Some((sender, thread));
        Ok(Keeper { due, thread, fault_after, every, pause, events: 0, given: 0, done })
    }

    fn finish(&mut self) {
        if let Some((sender, thread)) = self.thread.take() {
            drop(sender);
            let _ = thread.join();
        }
    }
}

impl Checkpoints for Keeper {
    fn is_due(&mut self) -> bool {
        if let Some(after) = self.fault_after
            && EVENTS.fetch_add(1, Ordering::Relaxed) + 1 == after
        {
            std::thread::sleep(Duration::from_millis(self.pause.unwrap_or(0)));
            std::process::abort();
        }
        self.events += 1;
        match self.every {
            Some(every) => self.events.is_multiple_of(every),
            None => self.due.load(Ordering::Relaxed),
        }
    }

    fn keep(&mut self, checkpoint: Checkpoint, log: RunLog, copying: Duration) {
        self.due.store(false, Ordering::Relaxed);
        // Interrupted before its first evaluation, there is nothing to go on from: the cell begins anew.
        if checkpoint.position.evaluations == 0 {
            return;
        }
        if let Some((thread, _)) = &self.thread {
            let _ = thread.send((Box::new(checkpoint), log, copying));
            self.given += 1;
            while self.every.is_some() && self.done.load(Ordering::Acquire) < self.given {
                std::thread::yield_now();
            }
        }
    }

    fn keep_last(&mut self, checkpoint: Checkpoint, log: RunLog, copying: Duration) {
        self.keep(checkpoint, log, copying);
        self.finish();
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.finish();
    }
}

/// The log file, which only grows.
struct CheckpointLog {
    file: File,
    length: u64,
    /// Of these bytes.
    digest: Xxh3,
    /// What could not be written yet: without it, no later checkpoint could be gone on from.
    pending: String,
}

impl CheckpointLog {
    fn open(folder: &Path) -> io::Result<Self> {
        let path = folder.join(codec::LOG);
        // Of a checkpoint that is gone on from, the log goes on; what came after it is cut off.
        let length = codec::log_bytes(folder).unwrap_or(0);
        let file = File::options().create(true).append(true).open(&path)?;
        file.set_len(length)?;
        let mut digest = Xxh3::new();
        digest.update(&fs::read(&path)?);
        Ok(CheckpointLog { file, length, digest, pending: String::new() })
    }

    fn add(&mut self, text: &str) -> io::Result<()> {
        self.pending.push_str(text);
        // Of an attempt that failed, a part may be there.
        self.file.set_len(self.length)?;
        self.file.write_all(self.pending.as_bytes())?;
        self.file.sync_data()?;
        self.length += self.pending.len() as u64;
        self.digest.update(self.pending.as_bytes());
        self.pending.clear();
        Ok(())
    }
}

/// The thread's side.
struct CheckpointWriter {
    cell: CellPath,
    log: CheckpointLog,
    /// Of the vectors that are on the disk.
    hashes: BTreeMap<(Memory, u32), u64>,
    places: Places,
    next_file: u64,
    due: Arc<AtomicBool>,
    done: Arc<AtomicU64>,
    asked: Duration,
    interval: Duration,
    /// Whether it was said that they come more rarely.
    said: bool,
}

impl CheckpointWriter {
    fn work(mut self, deliveries: &Receiver<Delivery>) {
        let mut next = Instant::now() + self.interval;
        loop {
            let wait = next.saturating_duration_since(Instant::now());
            match deliveries.recv_timeout(wait) {
                Ok((checkpoint, log, copying)) => {
                    let began = Instant::now();
                    match self.write(&checkpoint, &log) {
                        Ok(()) => {
                            if let Err(error) = self.cell.settle() {
                                warn!("the earlier run is not replaced yet: {error}");
                            }
                        }
                        Err(error) => warn!("no checkpoint was kept, the run goes on: {error}"),
                    }
                    self.done.fetch_add(1, Ordering::Release);
                    self.slow_down(began.elapsed() + copying);
                    next = began + self.interval;
                }
                Err(RecvTimeoutError::Timeout) => {
                    self.due.store(true, Ordering::Relaxed);
                    // Nothing else to do until one comes.
                    next = Instant::now() + Duration::from_secs(3600);
                }
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    fn slow_down(&mut self, cost: Duration) {
        self.interval = self.asked.max(cost * MOST);
        if self.interval > self.asked && !self.said {
            self.said = true;
            let [cost, interval, asked] = [cost, self.interval, self.asked].map(rounded);
            warn!(
                "a checkpoint takes {cost}, so there is one every {interval} instead of every {asked}"
            );
        }
    }

    fn write(&mut self, checkpoint: &Checkpoint, log: &RunLog) -> Result<(), FileError> {
        // The folder stays where it is until everything is written.
        self.cell.clone().using(|folder| self.write_into(folder, checkpoint, log))
    }

    fn write_into(
        &mut self,
        folder: &Path,
        checkpoint: &Checkpoint,
        log: &RunLog,
    ) -> Result<(), FileError> {
        let text = log::lines(log);
        let path = folder.join(codec::LOG);
        self.log.add(&text).map_err(|source| FileError { path, source })?;
        self.write_vectors(folder, checkpoint)?;
        let log = (self.log.length, self.log.digest.digest());
        codec::save(folder, checkpoint, &self.places, log)?;
        self.remove_old_files(folder);
        Ok(())
    }

    /// Writes the vectors of clients that have changed, into a file of their own.
    fn write_vectors(&mut self, folder: &Path, checkpoint: &Checkpoint) -> Result<(), FileError> {
        let own = checkpoint.controls.iter().flat_map(|controls| (0..).zip(&controls.own));
        let own = own.map(|(client, own)| ((Memory::Own, client), own));
        let residuals = (0..).zip(&checkpoint.residuals);
        let residuals = residuals.map(|(client, own)| ((Memory::Residual, client), own));
        let all = own.chain(residuals);
        let all = all.filter_map(|(whose, vector)| Some((whose, vector.as_ref()?)));
        let files: BTreeSet<u64> = self.places.values().copied().collect();
        if files.len() as u64 >= FILES {
            self.hashes.clear();
        }
        let (mut tensors, mut changed) = (Vec::new(), Vec::new());
        for (whose @ (memory, client), vector) in all {
            let hash = xxh3_64(&little_endian(vector));
            if self.hashes.get(&whose) != Some(&hash) {
                tensors.push((codec::vector_name(memory, client), &vector[..]));
                changed.push((whose, hash));
            }
        }
        if tensors.is_empty() {
            return Ok(());
        }
        let number = self.next_file;
        write_tensors(&folder.join(codec::vectors_file(number)), &tensors, None)?;
        self.next_file += 1;
        for (whose, hash) in changed {
            self.places.insert(whose, number);
            self.hashes.insert(whose, hash);
        }
        Ok(())
    }

    /// Removes files of vectors that no checkpoint needs any more.
    fn remove_old_files(&self, folder: &Path) {
        let needed: BTreeSet<String> =
            self.places.values().map(|number| codec::vectors_file(*number)).collect();
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.starts_with("vectors-") && !needed.contains(&name) {
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}

/// A duration as people read it.
fn rounded(duration: Duration) -> String {
    // To two digits: it is another one the next time.
    let nanos = duration.as_nanos() as f64;
    let unit = 10f64.powf(nanos.log10().floor() - 1.0).max(1.0);
    Span::from_nanos_f64((nanos / unit).round() * unit).unwrap_or_default().to_string()
}

/// A number that no file of vectors has: those that a checkpoint needs stay until the next one is there.
fn first_free_file(folder: &Path) -> u64 {
    let names = fs::read_dir(folder).into_iter().flatten().flatten();
    let numbers = names.filter_map(|entry| {
        let name = entry.file_name().to_string_lossy().into_owned();
        name.strip_prefix("vectors-")?.strip_suffix(".safetensors")?.parse::<u64>().ok()
    });
    numbers.max().map_or(0, |number| number + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_told_in_two_digits() {
        for (millis, told) in [(0, "0s"), (4, "4.0ms"), (206, "210.0ms"), (105_300, "1m 50s")] {
            assert_eq!(rounded(Duration::from_millis(millis)), told);
        }
    }

    /// What a full disk did not take is written with the next entry, and nothing twice.
    #[test]
    fn entries_that_could_not_be_written_come_with_the_next() {
        let folder = tempfile::tempdir().unwrap();
        let mut log = CheckpointLog::open(folder.path()).unwrap();
        log.add("n 1\n").unwrap();
        let path = folder.path().join(codec::LOG);
        let writable = std::mem::replace(&mut log.file, File::open(&path).unwrap());
        assert!(log.add("n 2\n").is_err());
        log.file = writable;
        // A part of the attempt was on the disk.
        log.file.write_all(b"n ").unwrap();
        log.add("n 3\n").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "n 1\nn 2\nn 3\n");
        assert_eq!((log.length, log.pending.as_str()), (12, ""));
    }
}
