//! Writing a trace, device by device.

use super::columns::{Columns, ComputeColumn};
use super::error::{TraceError, shown};
use super::rows::{is_empty, is_later};
use super::{Change, Compute, Recording, number};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::fs::{self, File};
use std::io::{self, BufWriter, Stdout, Write};
use std::path::{Path, PathBuf};

/// Writes a trace under a temporary name; it gets its own when [`TraceWriter::finish`] says that
/// it is whole. Numbers are the shortest that read back as the same.
pub struct TraceWriter {
    path: PathBuf,
    partial: Option<PathBuf>,
    out: Out,
    columns: Columns,
    buffer: Vec<u8>,
}

enum Out {
    Plain(BufWriter<File>),
    Zipped(GzEncoder<BufWriter<File>>),
    Stdout(BufWriter<Stdout>),
}

impl TraceWriter {
    /// Begins a trace of the aspects in `columns`, gzipped if the name ends in `.gz`; `-` is
    /// stdout. Every line of `note` becomes a comment on top.
    pub fn create(
        path: impl AsRef<Path>,
        columns: Columns,
        note: &str,
    ) -> Result<Self, TraceError> {
        let path = path.as_ref();
        let broken = |error: io::Error| TraceError::io(path, "write", &error);
        let mut partial = None;
        let out = if path == Path::new("-") {
            Out::Stdout(BufWriter::with_capacity(1 << 16, io::stdout()))
        } else {
            // A device such as /dev/stdout is not replaced but written to.
            let replaced = fs::metadata(path).map_or(true, |known| known.is_file());
            let target = match path.file_name() {
                Some(name) if replaced => path.with_file_name(format!(
                    ".{}.{}.partial",
                    name.to_string_lossy(),
                    std::process::id()
                )),
                _ => path.to_owned(),
            };
            let file = File::create(&target).map_err(broken)?;
            partial = replaced.then_some(target);
            let file = BufWriter::with_capacity(1 << 16, file);
            match path.extension().is_some_and(|end| end == "gz") {
                true => Out::Zipped(GzEncoder::new(file, Compression::fast())),
                false => Out::Plain(file),
            }
        };
        let mut buffer = Vec::new();
        note.lines().for_each(|line| buffer.extend_from_slice(format!("# {line}\n").as_bytes()));
        buffer.extend_from_slice(columns.header().as_bytes());
        buffer.push(b'\n');
        let mut writer = TraceWriter { path: path.to_owned(), partial, out, columns, buffer };
        writer.write_out()?;
        Ok(writer)
    }

    /// Adds a device. One that could not be read back is an error, and nothing of it is written.
    pub fn write(&mut self, recording: &Recording) -> Result<(), TraceError> {
        let name = check_all(recording, self.columns).map_err(|what| {
            TraceError::new(&self.path, format!("device `{}`: {what}", shown(&recording.device)))
        })?;
        recording.changes.iter().for_each(|change| self.row(&name, change));
        if let Some(end) = recording.end {
            self.row(&name, &Change { at: end, ..Change::default() });
        }
        self.write_out()
    }

    /// Says that the trace is whole.
    pub fn finish(mut self) -> Result<(), TraceError> {
        let done = match &mut self.out {
            Out::Plain(out) => out.flush(),
            Out::Zipped(out) => out.try_finish().and_then(|()| out.get_mut().flush()),
            Out::Stdout(out) => out.flush(),
        };
        let renamed = done.and_then(|()| match self.partial.as_ref() {
            Some(partial) => fs::rename(partial, &self.path),
            None => Ok(()),
        });
        renamed.map_err(|error| TraceError::io(&self.path, "write", &error))?;
        self.partial = None;
        Ok(())
    }

    fn row(&mut self, name: &[u8], change: &Change) {
        let out = &mut self.buffer;
        out.extend_from_slice(name);
        out.push(b',');
        number::write_seconds(out, change.at);
        if self.columns.compute.is_some() {
            out.push(b',');
            match change.compute {
                Some(Compute::Step(nanos) | Compute::Sample(nanos)) => number::write(out, nanos, 6),
                Some(Compute::Flops(flops)) => number::write(out, flops, 9),
                None => {}
            }
        }
        let links = [(self.columns.up, change.up), (self.columns.down, change.down)];
        for (_, rate) in links.into_iter().filter(|(shown, _)| *shown) {
            out.push(b',');
            rate.into_iter().for_each(|rate| number::write(out, rate, 6));
        }
        if self.columns.available {
            out.push(b',');
            let cell = match (change.available, change.lost) {
                (Some(true), _) => "1",
                (Some(false), _) => "0",
                (None, true) => "lost",
                (None, false) => "",
            };
            out.extend_from_slice(cell.as_bytes());
        }
        out.push(b'\n');
    }

    fn write_out(&mut self) -> Result<(), TraceError> {
        let written = match &mut self.out {
            Out::Plain(out) => out.write_all(&self.buffer),
            Out::Zipped(out) => out.write_all(&self.buffer),
            Out::Stdout(out) => out.write_all(&self.buffer),
        };
        self.buffer.clear();
        written.map_err(|error| TraceError::io(&self.path, "write", &error))
    }
}

impl Drop for TraceWriter {
    fn drop(&mut self) {
        // Not finished: half a trace would look like a whole one.
        if let Some(partial) = &self.partial {
            let _ = fs::remove_file(partial);
        }
    }
}

/// The device's name as it is written, if all of the recording can be.
fn check_all(recording: &Recording, columns: Columns) -> Result<Vec<u8>, String> {
    let mut last = None;
    for change in &recording.changes {
        let at = change.at.seconds();
        if !is_later(change.at, last) {
            return Err(format!("a change at {at} s is not after the one before"));
        }
        check(change, columns).map_err(|what| format!("at {at} s: {what}"))?;
        last = Some(change.at);
    }
    match recording.end {
        Some(end) if end.nanos() == 0 || !is_later(end, last) => {
            Err(format!("it ends at {} s, too early", end.seconds()))
        }
        None if last.is_none() => Err("nothing was recorded".into()),
        _ => quoted(&recording.device),
    }
}

fn check(change: &Change, columns: Columns) -> Result<(), String> {
    let positive = |value: f64| value.is_finite() && value > 0.0;
    let rate = |value: &f64| value.is_finite() && *value >= 0.0;
    let numbers = change.compute.is_none_or(|compute| positive(compute.value()))
        && [change.up, change.down].iter().flatten().all(rate);
    let compute = change.compute.map(ComputeColumn::of);
    let columns = (compute.is_none() || compute == columns.compute)
        && (columns.up || change.up.is_none())
        && (columns.down || change.down.is_none())
        && (columns.available || (change.available.is_none() && !change.lost));
    match () {
        () if is_empty(change) => Err("a change of nothing".into()),
        () if change.lost && change.available.is_some() => {
            Err("it cannot come or go and lose what it is doing at once".into())
        }
        () if !columns => Err("it tells what the trace has no column for".into()),
        () if !numbers => Err(format!("not a speed or a rate: {change:?}")),
        () => Ok(()),
    }
}

fn quoted(name: &str) -> Result<Vec<u8>, String> {
    if name.is_empty() || name.trim() != name {
        return Err("a name is not empty and has no spaces around it".into());
    }
    let special = name.contains([',', '"', '\n', '\r']) || name.starts_with('#');
    Ok(match special {
        true => format!("\"{}\"", name.replace('"', "\"\"")).into_bytes(),
        false => name.into(),
    })
}
