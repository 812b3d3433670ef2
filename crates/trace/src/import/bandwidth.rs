//! Logs of mobile links: lines of `seconds Mbit/s`.

use super::{Direction, Sink};
use crate::error::{TraceError, shown};
use crate::number::{Scale, nearest_time, parse};
use crate::rows::MOST_CHANGES;
use crate::{Change, Input, Recording};
use gruppetto_sim::clock::Span;
use std::fs;
use std::io::{BufRead, Read};
use std::path::Path;

/// Longest line, in bytes.
const LONGEST: u64 = 4096;

/// One log, or every log of a folder in the order of their names: one device each.
pub(super) fn import(
    input: &Input,
    direction: Direction,
    sink: &mut Sink,
) -> Result<(), TraceError> {
    if !input.is_folder() {
        return log(input, direction, sink);
    }
    let broken = |error: std::io::Error| input.broken(&error);
    let mut files = Vec::new();
    for entry in fs::read_dir(input.path()).map_err(broken)? {
        let path = entry.map_err(broken)?.path();
        let is_hidden = path.file_name().is_some_and(|name| name.as_encoded_bytes()[0] == b'.');
        if !is_hidden && path.is_file() {
            files.push(path);
        }
    }
    files.sort();
    files.into_iter().try_for_each(|path| log(&Input::file(path), direction, sink))
}

fn log(input: &Input, direction: Direction, sink: &mut Sink) -> Result<(), TraceError> {
    let mut reader = input.open()?;
    let (mut line, mut number) = (Vec::new(), 0u64);
    let mut changes: Vec<Change> = Vec::new();
    let mut begin = None;
    loop {
        line.clear();
        let read = reader.by_ref().take(LONGEST).read_until(b'\n', &mut line);
        if read.map_err(|error| input.broken(&error))? == 0 {
            break;
        }
        number += 1;
        let at = || format!("line {number}");
        if line.len() as u64 == LONGEST {
            return Err(input.wrong(format!("a line of {LONGEST} bytes or more")).at(at()));
        }
        let text = String::from_utf8_lossy(&line);
        let text = text.trim();
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        let last = changes.last().map(|change| change.at);
        match read_line(text, begin, last) {
            Ok(_) if changes.len() == MOST_CHANGES => {
                return Err(input.wrong(format!("more than {MOST_CHANGES} lines")).at(at()));
            }
            Ok((start, at, rate)) => {
                begin = Some(start);
                changes.push(Change {
                    at,
                    up: (direction != Direction::Down).then_some(rate),
                    down: (direction != Direction::Up).then_some(rate),
                    ..Change::default()
                });
            }
            Err(what) => sink.bad(input, at(), what)?,
        }
    }
    let device = name(input.path());
    // A rate holds until the next is measured; the last as long as the one before it.
    let end = match changes.as_slice() {
        [.., before, last] => {
            let step = last.at.nanos() - before.at.nanos();
            last.at.nanos().checked_add(step).map(Span::from_nanos)
        }
        _ => None,
    };
    let outcome = match changes.is_empty() {
        true => Err("there is no line of `seconds Mbit/s` in it".into()),
        false => Ok(Some(Recording { device, changes, end })),
    };
    sink.take(input, || format!("line {number}"), outcome)
}

/// When the log begins, the time since then, and bits per second.
fn read_line(
    text: &str,
    begin: Option<Span>,
    last: Option<Span>,
) -> Result<(Span, Span, f64), String> {
    let wrong = || format!("found `{}`, expected seconds and Mbit/s", shown(text));
    let mut cells = text.split_whitespace();
    let (Some(time), Some(rate), None) = (cells.next(), cells.next(), cells.next()) else {
        return Err(wrong());
    };
    let time = nearest_time(time, "s", Scale::Power(9)).ok_or_else(wrong)?;
    let rate = parse(rate, Scale::Power(6)).filter(|rate| *rate >= 0.0).ok_or_else(wrong)?;
    let begin = begin.unwrap_or(time);
    let at = time.nanos().checked_sub(begin.nanos()).map(Span::from_nanos);
    match at {
        Some(at) if last.is_none_or(|last| at > last) => Ok((begin, at, rate + 0.0)),
        _ => Err(format!("found {} s, expected a time after the line above", time.seconds())),
    }
}

/// `logs/bus-1.log.gz` is `bus-1`.
fn name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    let stem = Path::new(name).file_stem().unwrap_or_default();
    stem.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_named_after_their_files() {
        for (path, device) in
            [("logs/bus-1.log.gz", "bus-1"), ("tram", "tram"), ("a.b.txt", "a.b"), ("x.gz", "x")]
        {
            assert_eq!(name(Path::new(path)), device);
        }
    }

    #[test]
    fn time_begins_with_the_log() {
        let span = Span::from_nanos;
        assert_eq!(read_line("5 2", None, None), Ok((span(5_000_000_000), Span::ZERO, 2e6)));
        let begin = Some(span(5_000_000_000));
        let second = read_line("6.5\t0", begin, Some(Span::ZERO));
        assert_eq!(second, Ok((span(5_000_000_000), span(1_500_000_000), 0.0)));
        for text in ["4 1", "5 1", "6", "6 -1", "6 x", "6 1 1", "-1 2", "6 nan"] {
            assert!(read_line(text, begin, Some(Span::ZERO)).is_err(), "{text}");
        }
    }
}
