//! TimelineEvents of `timeline.json.gz`: those of a cell are one after the other, a line each.

use crate::report::PROCESSES;
use crate::run_files::{CellId, ReadError};
use flate2::read::GzDecoder;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, Read};
use std::ops::Range;
use std::path::Path;

/// Text of the longest timeline that is read.
const MOST: u64 = 4 << 30;

/// The events of a run.
pub(super) struct TimelineEvents {
    text: String,
    /// Where those of a cell are, by its number.
    cells: BTreeMap<u64, Range<usize>>,
}

impl TimelineEvents {
    pub(super) fn read(path: &Path) -> Result<Self, ReadError> {
        let failed = |source| ReadError::Read { path: path.to_owned(), source };
        let file = BufReader::new(File::open(path).map_err(failed)?);
        let mut text = String::new();
        GzDecoder::new(file).take(MOST).read_to_string(&mut text).map_err(failed)?;
        let mut cells = BTreeMap::<u64, Range<usize>>::new();
        // An event begins with the end of the line before it.
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            let (begin, end) = (at, at + line.len());
            at = end;
            let Some(process) = number(line, "\"pid\":").filter(|process| *process > 0) else {
                continue;
            };
            // `,\n` stands before every event; the line itself ends with the comma of the next, or with nothing.
            let body = line.trim_end_matches(['\n', ',']).len();
            let cell = cells.entry((process - 1) / PROCESSES).or_insert(begin..begin);
            cell.end = begin + body;
        }
        Ok(TimelineEvents { text, cells })
    }

    /// Those of the cell with number `then`, which has number `now` in the merged run, as text that follows other events.
    pub(super) fn of(&self, then: u64, now: u64, (old, new): (&CellId, &CellId)) -> String {
        let Some(range) = self.cells.get(&then) else { return String::new() };
        let events = format!(",\n{}", &self.text[range.clone()]);
        if (then, old) == (now, new) {
            return events;
        }
        let mut moved = String::with_capacity(events.len());
        let titles = [old, new].map(|id| match id.cell {
            Some(_) => id.title(),
            None => id.file_name(),
        });
        for line in events.split_inclusive('\n') {
            let shift = |number: u64, of: u64| number - then * of + now * of;
            let line = replaced(line, "\"pid\":", |process| shift(process, PROCESSES));
            let line = replaced(&line, "\"cat\":\"update\",\"id\":", |id| shift(id, 1 << 32));
            let is_name = line.contains("\"process_name\"");
            let [from, to] = titles.clone().map(|title| format!("\"name\":\"{title}: "));
            moved.push_str(&if is_name { line.replacen(&from, &to, 1) } else { line });
        }
        moved
    }
}

/// The number after a key.
fn number(line: &str, key: &str) -> Option<u64> {
    let rest = &line[line.find(key)? + key.len()..];
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    rest[..end].parse().ok()
}

/// The line with another number after a key.
fn replaced(line: &str, key: &str, new: impl Fn(u64) -> u64) -> String {
    let Some((at, old)) = line.find(key).zip(number(line, key)) else { return line.into() };
    let from = at + key.len();
    format!("{}{}{}", &line[..from], new(old), &line[from + old.to_string().len()..])
}
