//! FedScale's two pickles: how fast devices are, and when they are there.

use super::windows::{Windows, seconds};
use super::{Sink, TRAINING};
use crate::error::{TraceError, shown};
use crate::number::scaled;
use crate::pickle::{self, Value};
use crate::{Change, Compute, Input, Recording};
use gruppetto_sim::clock::Span;

/// `{id: {'computation': ms of inference per sample, 'communication': kbit/s}}`.
pub(super) fn capacity(input: &Input, sink: &mut Sink) -> Result<(), TraceError> {
    entries(input, sink, |device, value| {
        let sample = TRAINING * scaled(positive(value, "computation")?, 6);
        let rate = scaled(positive(value, "communication")?, 3);
        if !(sample.is_finite() && rate.is_finite()) {
            return Err("a number that is too large".into());
        }
        let change = Change {
            compute: Some(Compute::Sample(sample)),
            up: Some(rate),
            down: Some(rate),
            ..Change::default()
        };
        Ok(Recording { device, changes: vec![change], end: None })
    })
}

/// `{id: {'active': [s…], 'inactive': [s…], 'finish_time': s, …}}`: there from `active[i]` to
/// `inactive[i]`, and all over again after `finish_time`, which cuts off what is later.
pub(super) fn behavior(input: &Input, sink: &mut Sink) -> Result<(), TraceError> {
    entries(input, sink, |device, value| {
        let end = seconds(number(value, "finish_time")?)?;
        if end == Span::ZERO {
            return Err("'finish_time' is 0, expected a period in seconds".into());
        }
        let (active, inactive) = (list(value, "active")?, list(value, "inactive")?);
        if active.len() != inactive.len() {
            let (on, off) = (active.len(), inactive.len());
            return Err(format!("{on} times in 'active' but {off} in 'inactive'"));
        }
        let mut windows = Windows::new();
        for (from, to) in active.iter().zip(inactive) {
            let instant = |value: &Value| {
                let found = || format!("found {} in a list of seconds", value.kind());
                seconds(value.number().ok_or_else(found)?)
            };
            windows.add(instant(from)?, instant(to)?)?;
        }
        Ok(windows.recording(device, end))
    })
}

fn entries(
    input: &Input,
    sink: &mut Sink,
    read: impl Fn(String, &Value) -> Result<Recording, String>,
) -> Result<(), TraceError> {
    pickle::entries(input, &mut |key, value, at| {
        let name = match &key {
            Value::Int(id) => Ok(id.to_string()),
            Value::Text(name) => Ok(name.to_string()),
            other => Err(format!("found {} as a key, expected a device's number", other.kind())),
        };
        let shown = name.as_ref().map_or("?".into(), |name| shown(name));
        let outcome = name.and_then(|name| read(name, &value)).map(Some);
        sink.take(input, || format!("byte {at}, device `{shown}`"), outcome)
    })
}

fn field<'a>(value: &'a Value, key: &str) -> Result<&'a Value, String> {
    let missing = || match value.kind() {
        "a dict" => format!("there is no '{key}'"),
        other => format!("found {other}, expected a dict with '{key}'"),
    };
    value.get(key).ok_or_else(missing)
}

fn number(value: &Value, key: &str) -> Result<f64, String> {
    let found = field(value, key)?;
    let wrong = || format!("'{key}' is {}, expected a number", found.kind());
    found.number().filter(|number| number.is_finite()).ok_or_else(wrong)
}

fn positive(value: &Value, key: &str) -> Result<f64, String> {
    let found = number(value, key)?;
    match found > 0.0 {
        true => Ok(found),
        false => Err(format!("'{key}' is {found}, expected a number above 0")),
    }
}

fn list<'a>(value: &'a Value, key: &str) -> Result<&'a [Value], String> {
    let found = field(value, key)?;
    found.items().ok_or_else(|| format!("'{key}' is {}, expected a list", found.kind()))
}
