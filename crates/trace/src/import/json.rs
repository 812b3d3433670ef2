//! A JSON object of devices, one entry after the other.

use super::{Outcome, Sink};
use crate::Input;
use crate::error::{TraceError, shown};
use crate::source::{Meter, Metered};
use serde::Deserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde_json::Value;
use std::fmt;

/// Longest entry, in bytes: a week of a phone's messages takes a hundred kilobytes.
const LONGEST: u64 = 1 << 24;

/// Hands what `read` makes of every entry to the sink.
pub(super) fn entries(
    input: &Input,
    sink: &mut Sink,
    read: &dyn Fn(String, Value) -> Outcome,
) -> Result<(), TraceError> {
    let (metered, meter) = Metered::new(input.open()?, LONGEST);
    let mut reader = serde_json::Deserializer::from_reader(metered);
    let mut stopped = None;
    let entries = Entries { input, sink, read, meter, stopped: &mut stopped };
    let done = reader.deserialize_map(entries).and_then(|()| reader.end());
    match (stopped, done) {
        (Some(error), _) => Err(error),
        (None, Ok(())) => Ok(()),
        (None, Err(error)) => Err(match error.classify() {
            serde_json::error::Category::Io => input.wrong(format!("cannot read on: {error}")),
            _ => input.wrong(format!("not the JSON that was expected: {error}")),
        }),
    }
}

struct Entries<'a, 'b> {
    input: &'a Input,
    sink: &'a mut Sink<'b>,
    read: &'a dyn Fn(String, Value) -> Outcome,
    meter: Meter,
    /// An error of ours: JSON's own errors cannot carry it.
    stopped: &'a mut Option<TraceError>,
}

impl<'de> Visitor<'de> for Entries<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("an object of devices")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(device) = map.next_key::<String>()? {
            let (line, byte) = (self.meter.line(), self.meter.bytes());
            let name = shown(&device);
            let value: Value = map.next_value()?;
            self.meter.next_record();
            let at = || format!("line {line}, byte {byte}, device `{name}`");
            if let Err(error) = self.sink.take(self.input, at, (self.read)(device, value)) {
                *self.stopped = Some(error);
                return Err(A::Error::custom("stopped"));
            }
        }
        Ok(())
    }
}
