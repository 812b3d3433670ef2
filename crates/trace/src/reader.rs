//! A trace, device by device.

use super::columns::Columns;
use super::error::{TraceError, shown};
use super::rows::{MOST_CHANGES, Row, Rows, is_later};
use super::source::Input;
use super::{Change, Recording};
use std::collections::HashSet;
use std::path::Path;
use xxhash_rust::xxh3::xxh3_128;

/// Reads one [`Recording`] after the other, holding only one in memory. Stops at the first error.
pub struct Recordings {
    input: Input,
    rows: Rows,
    names: Names,
    /// The first row of the next device.
    next: Option<(String, Change, bool)>,
    over: bool,
}

impl Recordings {
    /// Opens a trace; its header is read and checked at once.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, TraceError> {
        Recordings::read(&Input::file(path.as_ref()))
    }

    /// Reads a trace from anywhere.
    pub fn read(input: &Input) -> Result<Self, TraceError> {
        let rows = Rows::open(input)?;
        let (input, names) = (input.clone(), Names::default());
        Ok(Recordings { input, rows, names, next: None, over: false })
    }

    /// The aspects the trace records.
    pub fn columns(&self) -> Columns {
        self.rows.columns()
    }

    fn recording(&mut self) -> Option<Result<Recording, TraceError>> {
        let mut recording = Recording::default();
        let mut last = None;
        if let Some((device, change, is_end)) = self.next.take() {
            recording.device = device;
            last = Some(change.at);
            if is_end { recording.end = last } else { recording.changes.push(change) }
        }
        loop {
            let row = match self.rows.next() {
                None => {
                    self.over = true;
                    return (!recording.device.is_empty()).then_some(Ok(recording));
                }
                Some(Err(error)) => return Some(Err(error)),
                Some(Ok(row)) => row,
            };
            let line = row.line;
            let wrong = |what: String| self.input.wrong(what).at(format!("line {line}"));
            if row.is_end && row.change.at.nanos() == 0 {
                let error = wrong("the recording ends when it begins".into());
                return Some(Err(error.help(END)));
            }
            if row.device != recording.device {
                if !self.names.is_new(row.device) {
                    let what = format!("device `{}` came before", shown(row.device));
                    return Some(Err(wrong(what).help("keep the rows of a device together")));
                }
                let Row { device, change, is_end, .. } = row;
                if recording.device.is_empty() {
                    recording.device = device.to_string();
                } else {
                    self.next = Some((device.to_string(), change, is_end));
                    return Some(Ok(recording));
                }
            } else if recording.end.is_some() {
                let what = format!("a row of `{}` after its recording ended", shown(row.device));
                return Some(Err(wrong(what).help(END)));
            } else if !is_later(row.change.at, last) {
                let (at, last) = (row.change.at.seconds(), last.unwrap_or_default().seconds());
                let what = format!("found {at} s, expected a time after {last} s of the row above");
                return Some(Err(wrong(what).help("sort the rows of each device by time")));
            }
            last = Some(row.change.at);
            if row.is_end {
                recording.end = last;
            } else if recording.changes.len() == MOST_CHANGES {
                let what = format!("more than {MOST_CHANGES} rows of one device");
                return Some(Err(wrong(what)));
            } else {
                recording.changes.push(row.change);
            }
        }
    }
}

const END: &str = "a row with nothing but device and time says when the recording ended: \
                   the last row of its device";

impl Iterator for Recordings {
    type Item = Result<Recording, TraceError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.over {
            return None;
        }
        let next = self.recording();
        if matches!(next, Some(Err(_))) {
            self.over = true;
        }
        next
    }
}

/// Names that were met. Only their hashes are kept: a million devices take 16 MB.
#[derive(Default)]
pub(super) struct Names(HashSet<u128>);

impl Names {
    /// Whether this is the first time.
    pub(super) fn is_new(&mut self, name: &str) -> bool {
        self.0.insert(xxh3_128(name.as_bytes()))
    }
}
