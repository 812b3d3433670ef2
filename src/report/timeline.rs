//! `timeline.json.gz`: what everybody did when, in the trace-event format that ui.perfetto.dev and
//! chrome://tracing open.
//!
//! A process for the server of every run and one for each of its classes; in a class a track for every
//! client that is shown. A participation is a slice with its download, steps and upload in it; between
//! two of them the client waits or is away, as it came and went. Arrows go from the server's round to the client and back to
//! the round in which it arrives.

use super::durable::sync_folder_of;
use super::row_file::FileError;
use crate::clock::{SimTime, Span};
use crate::device::AvailabilityChange;
use crate::record::{ClientRow, Leg, Outcome, RoundRow};
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

/// Participations that are shown where the scenario asks for some clients: about 10 MB to look at.
pub(super) const WINDOW: u64 = 20_000;
/// Processes of a run: its server and its classes.
pub(crate) const PROCESSES: u64 = 100_000;

/// The file, open for the whole scenario.
pub struct Timeline {
    path: PathBuf,
    /// There until the end is written.
    out: Option<TimelineOutput>,
    text: Vec<u8>,
    /// Bytes of text that were written.
    length: u64,
    /// Which clients are shown; `None`: all.
    shown: Option<Vec<bool>>,
    /// Clients are sent off at any time, not when a round opens.
    is_one_by_one: bool,
    /// How many participations of a run.
    most: u64,
    run: TimelineRun,
    /// The number of the next arrow: no two in a file are the same.
    arrows: u64,
}

/// Where the text goes.
enum TimelineOutput {
    /// The whole file.
    Whole(GzEncoder<BufWriter<File>>),
    /// The events of one run, which are added to the whole file later.
    Part(BufWriter<File>),
}

impl TimelineOutput {
    fn writer(&mut self) -> &mut dyn Write {
        match self {
            TimelineOutput::Whole(out) => out,
            TimelineOutput::Part(out) => out,
        }
    }

    fn file(&self) -> &File {
        match self {
            TimelineOutput::Whole(out) => out.get_ref().get_ref(),
            TimelineOutput::Part(out) => out.get_ref(),
        }
    }
}

/// Changes of a client's availability between two participations that are shown. A server may wait for enough clients
/// through millions of them: then the last one is shown after so many.
const MOST_TURNS: usize = 1000;

/// The run that is being written.
#[derive(Default)]
struct TimelineRun {
    /// Of its server; classes follow.
    process: u64,
    left: u64,
    /// When the last round closed.
    closed: SimTime,
    /// Clients that have a track.
    tracks: BTreeMap<u32, Track>,
    /// Clients that came back since.
    returned: usize,
    /// Changes of availability that are not written yet, by client.
    turns: BTreeMap<u32, Vec<AvailabilityChange>>,
}

/// What is known of a client.
struct Track {
    class: u16,
    /// Until when it is written.
    until: SimTime,
}

impl Timeline {
    /// Creates the file. `shown`: the clients to write, in a window; `None`: all of them, always.
    pub fn create(path: &Path, shown: Option<Vec<bool>>) -> Result<Self, FileError> {
        let file = File::create(path).map_err(FileError::at(path))?;
        let out = GzEncoder::new(BufWriter::with_capacity(1 << 16, file), Compression::fast());
        let mut timeline = Timeline::into(path, TimelineOutput::Whole(out), shown);
        timeline.text.extend_from_slice(b"{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n");
        timeline
            .text
            .extend_from_slice(b"{\"ph\":\"M\",\"name\":\"gruppetto\",\"pid\":0,\"args\":{}}");
        Ok(timeline)
    }

    /// Creates a file for the events of one run, without beginning and end.
    pub fn create_part(path: &Path, shown: Option<Vec<bool>>) -> Result<Self, FileError> {
        let file = File::create(path).map_err(FileError::at(path))?;
        Ok(Timeline::into(
            path,
            TimelineOutput::Part(BufWriter::with_capacity(1 << 16, file)),
            shown,
        ))
    }

    fn into(path: &Path, out: TimelineOutput, shown: Option<Vec<bool>>) -> Self {
        let most = if shown.is_some() { WINDOW } else { u64::MAX };
        Timeline {
            path: path.to_owned(),
            out: Some(out),
            text: Vec::new(),
            length: 0,
            shown,
            is_one_by_one: false,
            most,
            run: TimelineRun::default(),
            arrows: 0,
        }
    }

    /// Adds the events of one run, of which so many bytes were written.
    pub fn append(&mut self, path: &Path, length: u64) -> Result<(), FileError> {
        let mut part = BufReader::new(File::open(path).map_err(FileError::at(path))?).take(length);
        let mut left = length;
        while left > 0 {
            let read = part.by_ref().take(1 << 20).read_to_end(&mut self.text);
            let read = read.map_err(FileError::at(path))? as u64;
            if read == 0 {
                return Err(FileError::at(path)(io::ErrorKind::UnexpectedEof.into()));
            }
            left -= read;
            self.flush()?;
        }
        Ok(())
    }

    /// Goes on with the run that another file has begun, of which all is in this one.
    pub fn take_over(&mut self, part: &mut Timeline) {
        self.run = std::mem::take(&mut part.run);
        (self.is_one_by_one, self.arrows) = (part.is_one_by_one, part.arrows);
    }

    /// Adds events as they are written.
    pub fn add_text(&mut self, events: &str) -> Result<(), FileError> {
        self.text.extend_from_slice(events.as_bytes());
        self.flush()
    }

    /// Goes on with a file of which the first `length` bytes of text are kept. It is one compressed stream, so it is
    /// written again.
    pub fn resume(path: &Path, shown: Option<Vec<bool>>, length: u64) -> Result<Self, FileError> {
        let kept = (|| {
            let mut kept = Vec::new();
            let old = GzDecoder::new(BufReader::new(File::open(path)?));
            old.take(length).read_to_end(&mut kept)?;
            match kept.len() as u64 == length {
                true => Ok(kept),
                false => Err(io::Error::from(io::ErrorKind::UnexpectedEof)),
            }
        })();
        let kept = kept.map_err(FileError::at(path))?;
        // Beside the old one, which may be needed again, until everything is in it.
        let beside = path.with_file_name(".timeline.json.gz.partial");
        let mut timeline = Timeline::create(&beside, shown)?;
        timeline.text = kept;
        timeline.checkpoint()?;
        timeline.sync()?;
        let renamed = std::fs::rename(&beside, path).and_then(|()| sync_folder_of(path));
        renamed.map_err(FileError::at(path))?;
        timeline.path = path.to_owned();
        Ok(timeline)
    }

    /// Writes everything, so that it can be read though the file goes on: bytes of text so far.
    pub fn checkpoint(&mut self) -> Result<u64, FileError> {
        self.flush()?;
        // The compressor may keep the end to itself at the first call, some kilobytes of it.
        for _ in 0..2 {
            let flushed = self.out.as_mut().map_or(Ok(()), |out| out.writer().flush());
            flushed.map_err(FileError::at(&self.path))?;
        }
        Ok(self.length)
    }

    /// What is written is on the disk when this returns.
    pub fn sync(&self) -> Result<(), FileError> {
        let synced = self.out.as_ref().map_or(Ok(()), |out| out.file().sync_data());
        synced.map_err(FileError::at(&self.path))
    }

    /// The run of a cell begins, of devices of these classes; they may be sent off one by one.
    pub fn begin(&mut self, cell: u64, name: &str, classes: &[String], is_one_by_one: bool) {
        self.is_one_by_one = is_one_by_one;
        let process = 1 + cell * PROCESSES;
        self.arrows = cell << 32;
        self.run = TimelineRun { process, left: self.most, ..TimelineRun::default() };
        self.name(process, None, &format!("{name}: server"));
        self.name(process, Some(0), "rounds");
        for (class, class_name) in classes.iter().enumerate() {
            self.name(process + 1 + class as u64, None, &format!("{name}: {class_name}"));
        }
    }

    /// Whose comings and goings are shown; `None`: everybody's.
    pub fn shown(&self) -> Option<Vec<bool>> {
        self.shown.clone()
    }

    /// A client that is shown came or went.
    pub fn availability_changed(&mut self, turn: &AvailabilityChange) {
        if self.run.left == 0 {
            return;
        }
        let turns = self.run.turns.entry(turn.client).or_default();
        if turns.len() == MOST_TURNS {
            turns.pop();
        }
        turns.push(*turn);
    }

    /// A client is back, or lost.
    pub fn arrived(&mut self, row: &ClientRow) {
        self.run.returned += 1;
        let is_shown = match &self.shown {
            Some(shown) => shown[row.client as usize],
            None => true,
        };
        if !is_shown || self.run.left == 0 {
            return;
        }
        self.run.left -= 1;
        let process = self.run.process + 1 + u64::from(row.class);
        let track = (process, u64::from(row.client) + 1);
        let known = Track { class: row.class, until: row.arrived };
        let told = self.run.tracks.insert(row.client, known);
        if told.is_none() {
            self.name(process, Some(track.1), &format!("client {}", row.client));
        }
        let from = told.map_or(SimTime::ZERO, |told| told.until);
        self.between(track, row.client, from, row.dispatched);
        let args = format!(
            "\"round\":{},\"outcome\":\"{}\",\"tau\":{},\"staleness\":{}",
            row.round,
            row.outcome.name(),
            row.tau,
            row.staleness
        );
        let took = row.arrived.since(row.dispatched);
        self.slice(track, &format!("round {}", row.round), row.dispatched, took, &args);
        let mut at = row.dispatched;
        for (leg, name, took) in [
            (Leg::Download, "download", row.download),
            (Leg::Compute, "steps", row.compute),
            (Leg::Upload, "upload", row.upload),
        ] {
            if took > Span::ZERO && row.leg >= leg {
                let args = match leg {
                    Leg::Compute => format!("\"tau\":{}", row.tau),
                    _ => String::new(),
                };
                self.slice(track, name, at, took, &args);
            }
            at = at.after(took).unwrap_or(SimTime::NEVER);
        }
        let server = (self.run.process, 0);
        self.arrow("s", server, row.dispatched);
        self.arrow("t", track, row.dispatched);
        self.arrow("f", server, row.arrived);
        self.arrows += 1;
        if !matches!(row.outcome, Outcome::Used | Outcome::Unfinished) {
            let name = format!("{} client {}", row.outcome.name(), row.client);
            self.instant(server, &name, row.arrived, "");
        }
    }

    /// A round closed.
    pub fn closed(&mut self, row: &RoundRow) {
        if self.run.left == 0 {
            return;
        }
        let (server, from) = ((self.run.process, 0), self.run.closed);
        let args = format!(
            "\"asked\":{},\"arrived\":{},\"tau_eff\":{},\"chi2\":{}",
            row.asked,
            row.arrived,
            number(row.tau_eff),
            number(row.chi2)
        );
        self.slice(server, &format!("round {}", row.round), from, row.closed.since(from), &args);
        self.instant(server, "aggregation", row.closed, &args);
        self.counter("model version", row.closed, row.round as f64);
        if !self.is_one_by_one {
            let opened = from.after(row.waited).unwrap_or(from);
            self.counter("clients busy", opened, (row.busy + self.run.returned) as f64);
        }
        self.counter("clients busy", row.closed, row.busy as f64);
        (self.run.closed, self.run.returned) = (row.closed, 0);
    }

    /// The run is over: tells what those did who did not take part any more.
    pub fn ended(&mut self, now: SimTime) {
        if self.run.left == 0 {
            return;
        }
        for (client, Track { class, until }) in std::mem::take(&mut self.run.tracks) {
            let track = (self.run.process + 1 + u64::from(class), u64::from(client) + 1);
            self.between(track, client, until, now);
        }
    }

    /// Writes what is gathered.
    pub fn flush(&mut self) -> Result<(), FileError> {
        let written = match &mut self.out {
            Some(out) => out.writer().write_all(&self.text),
            None => Ok(()),
        };
        self.length += self.text.len() as u64;
        self.text.clear();
        written.map_err(FileError::at(&self.path))
    }

    /// Writes what is gathered if that is much.
    pub fn tick(&mut self) -> Result<(), FileError> {
        if self.text.len() > 1 << 16 { self.flush() } else { Ok(()) }
    }

    /// Everything has been written.
    pub fn finish(mut self) -> Result<(), FileError> {
        self.end()
    }

    fn end(&mut self) -> Result<(), FileError> {
        if let Some(TimelineOutput::Whole(_)) = self.out {
            self.text.extend_from_slice(b"\n]}\n");
        }
        self.flush()?;
        let ended: io::Result<()> = match self.out.take() {
            Some(TimelineOutput::Whole(out)) => out.finish().and_then(|mut file| {
                file.flush()?;
                file.get_ref().sync_data()
            }),
            Some(TimelineOutput::Part(mut out)) => out.flush(),
            None => Ok(()),
        };
        ended.map_err(FileError::at(&self.path))
    }

    /// How a client that did not take part spent its time.
    fn between(&mut self, track: (u64, u64), client: u32, from: SimTime, to: SimTime) {
        let mut turns = self.run.turns.remove(&client).unwrap_or_default();
        let later = turns.split_off(turns.partition_point(|turn| turn.at <= to));
        // Whoever goes after `to`, or has not turned up at all, was there.
        let (mut at, mut here) = (from, true);
        let mut write = |at: &mut SimTime, until: SimTime, here: bool| {
            if until > *at {
                let name = if here { "waiting" } else { "offline" };
                self.slice(track, name, *at, until.since(*at), "");
                *at = until;
            }
        };
        for turn in turns {
            write(&mut at, turn.at, here);
            here = turn.here;
        }
        write(&mut at, to, here);
        // Away at the end: it still is when the rest is written.
        let gone = (!here).then_some(AvailabilityChange { at: to, client, here });
        let rest: Vec<AvailabilityChange> = gone.into_iter().chain(later).collect();
        if !rest.is_empty() {
            self.run.turns.insert(client, rest);
        }
    }

    fn slice(&mut self, track: (u64, u64), name: &str, at: SimTime, took: Span, args: &str) {
        self.event("X", track, name, at);
        let _ = write!(self.text, ",\"dur\":{},\"args\":{{{args}}}}}", micros(took.nanos()));
    }

    fn instant(&mut self, track: (u64, u64), name: &str, at: SimTime, args: &str) {
        self.event("i", track, name, at);
        let _ = write!(self.text, ",\"s\":\"t\",\"args\":{{{args}}}}}");
    }

    fn counter(&mut self, name: &str, at: SimTime, value: f64) {
        self.event("C", (self.run.process, 0), name, at);
        let _ = write!(self.text, ",\"args\":{{\"value\":{}}}}}", number(value));
    }

    fn arrow(&mut self, end: &str, track: (u64, u64), at: SimTime) {
        let id = self.arrows;
        self.event(end, track, "update", at);
        let binding = if end == "f" { ",\"bp\":\"e\"" } else { "" };
        let _ = write!(self.text, ",\"cat\":\"update\",\"id\":{id}{binding}}}");
    }

    fn event(&mut self, kind: &str, (process, thread): (u64, u64), name: &str, at: SimTime) {
        let at = micros(at.nanos());
        let _ = write!(
            self.text,
            ",\n{{\"ph\":\"{kind}\",\"name\":\"{name}\",\"pid\":{process},\"tid\":{thread},\"ts\":{at}"
        );
    }

    /// Names a process or one of its tracks.
    fn name(&mut self, process: u64, track: Option<u64>, name: &str) {
        let (kind, track) = match track {
            Some(track) => ("thread_name", format!(",\"tid\":{track}")),
            None => ("process_name", String::new()),
        };
        let name = serde_json::json!(name);
        let _ = write!(
            self.text,
            ",\n{{\"ph\":\"M\",\"name\":\"{kind}\",\"pid\":{process}{track},\"args\":{{\"name\":{name}}}}}"
        );
    }
}

impl Drop for Timeline {
    fn drop(&mut self) {
        // Reached without an end only when the run failed: what there is can still be opened.
        if self.out.is_some() {
            let _ = self.end();
        }
    }
}

/// Microseconds, to the nanosecond.
fn micros(nanos: u64) -> String {
    format!("{}.{:03}", nanos / 1000, nanos % 1000)
}

/// A number that JSON has.
fn number(value: f64) -> f64 {
    if value.is_finite() { value } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Killed after it, a run goes on with all that was there; the compressor's own flush leaves a part out once in
    /// many times.
    #[test]
    fn a_checkpoint_has_everything() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.json.gz");
        let mut state = 12345u64;
        for events in (10..6000).step_by(23) {
            let mut timeline = Timeline::create(&path, None).unwrap();
            for event in 0..events {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                let (at, took) = (state % 100_000_000, Span::from_nanos(state % 1_000_000_000));
                let track = (state % 4, state % 50);
                timeline.slice(track, &format!("round {event}"), SimTime::from_nanos(at), took, "");
            }
            let length = timeline.checkpoint().unwrap();
            let mut whole = Vec::new();
            // There is no end yet.
            let file = File::open(&path).unwrap();
            GzDecoder::new(file).take(length).read_to_end(&mut whole).unwrap();
            assert_eq!(whole.len() as u64, length, "{events} events");
        }
    }

    /// A server may wait for enough clients through millions of changes.
    #[test]
    fn a_long_wait_takes_no_memory_to_speak_of() {
        let folder = tempfile::tempdir().unwrap();
        let mut timeline = Timeline::create(&folder.path().join("t.json.gz"), None).unwrap();
        timeline.begin(0, "a", &["phone".into()], false);
        for second in 1..=50_001u64 {
            let (at, here) = (SimTime::from_nanos(second * 1_000_000_000), second % 2 == 0);
            timeline.availability_changed(&AvailabilityChange { at, client: 7, here });
        }
        assert_eq!(timeline.run.turns[&7].len(), MOST_TURNS);
        let last = timeline.run.turns[&7].last().unwrap();
        assert_eq!((last.at.seconds(), last.here), (50_001.0, false), "how it is now is known");
    }
}
